package train

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// EarlyStoppingConfig is the settings of an [EarlyStopping].
type EarlyStoppingConfig struct {
	Patience int     // how many values without progress, one after the other, end training; required
	MinDelta float64 // by how much more than this a value has to be better than the best one
	Rising   bool    // progress is upwards, as of an accuracy; otherwise downwards, as of a loss
}

// EarlyStopping says when training is to end, since a value on held-back data, such as the loss after an
// epoch, stopped getting better, and keeps the weights of the best value:
//
//	stop := train.NewEarlyStopping(net, train.EarlyStoppingConfig{Patience: 5})
//	for range epochs {
//		// train, and compute the loss on held-back data
//		if stop.Measured(loss) {
//			break
//		}
//	}
//	err := stop.RestoreBest()
//
// A value is progress as in Keras and PyTorch Lightning: loss < best − MinDelta, or the first one. A NaN
// or an infinity is no progress. The weights are kept on the device. State and Weights are for package
// checkpoint:
//
//	parts := checkpoint.State{"stop": stop, "best": stop.Weights(), …}
type EarlyStopping struct {
	cfg   EarlyStoppingConfig
	model any
	best  tensor.Dict // the weights of the best value
	state EarlyStoppingState
}

// EarlyStoppingState is the memory of an EarlyStopping, but for the weights.
type EarlyStoppingState struct {
	Best     float64 // value so far, if Measured is above Bad
	Measured int     // values so far
	Bad      int     // values without progress, one after the other
}

// NewEarlyStopping returns one for a model, whose parameters and buffers it copies: they are the best
// until a value comes. It panics with tensor.ErrValue for settings out of range, and as [nn.StateDict]
// does.
func NewEarlyStopping(model any, cfg EarlyStoppingConfig) *EarlyStopping {
	const op = "NewEarlyStopping"
	switch {
	case cfg.Patience < 1:
		misuse(op, tensor.ErrValue, "Patience is %d: it counts values, 1 at least", cfg.Patience)
	case !(cfg.MinDelta >= 0) || math.IsInf(cfg.MinDelta, 1):
		misuse(op, tensor.ErrValue, "MinDelta is %v: it is a number, 0 at least", cfg.MinDelta)
	}
	s := &EarlyStopping{cfg: cfg, model: model, best: tensor.Dict{}}
	for name, t := range nn.StateDict(model) {
		s.best[name] = t.Copy().Retain()
	}
	return s
}

// Measured takes a value, and reports whether training is to end. If the value is progress, the weights
// of the model are kept. A failure of the device is returned by [EarlyStopping.RestoreBest], as by all
// that reads of it.
func (s *EarlyStopping) Measured(value float64) (stop bool) {
	if s.better(value) {
		s.state.Best, s.state.Bad = value, 0
		for name, t := range nn.StateDict(s.model) {
			s.best[name].SetInPlace(t)
		}
	} else {
		s.state.Bad++
	}
	s.state.Measured++
	return s.state.Bad >= s.cfg.Patience
}

// better reports whether a value is progress.
func (s *EarlyStopping) better(value float64) bool {
	switch _, seen := s.Best(); {
	case math.IsNaN(value) || math.IsInf(value, 0):
		return false
	case !seen:
		return true
	case s.cfg.Rising:
		return value > s.state.Best+s.cfg.MinDelta
	default:
		return value < s.state.Best-s.cfg.MinDelta
	}
}

// Best returns the best value, if there was one that is finite.
func (s *EarlyStopping) Best() (value float64, ok bool) {
	return s.state.Best, s.state.Measured > s.state.Bad
}

// BestEpoch returns how many values came before the best one: its epoch, counted from 0, where each
// epoch has a value. It is −1 if there is none.
func (s *EarlyStopping) BestEpoch() int { return s.state.Measured - s.state.Bad - 1 }

// RestoreBest gives the model the weights that it had at the best value. The error is the device's first
// failure.
func (s *EarlyStopping) RestoreBest() error { return nn.LoadStateDict(s.model, s.best) }

// Weights returns the weights of the best value, which are the EarlyStopping's own.
func (s *EarlyStopping) Weights() tensor.Dict { return s.best }

// State returns what Restore needs to resume as if never stopped, but for the weights.
func (s *EarlyStopping) State() EarlyStoppingState { return s.state }

// Restore sets a state that State returned. It returns an error, with nothing changed, for one that State
// cannot return.
func (s *EarlyStopping) Restore(state EarlyStoppingState) error {
	if state.Bad < 0 || state.Bad > state.Measured || math.IsNaN(state.Best) || math.IsInf(state.Best, 0) {
		return fmt.Errorf("train: restore: the state of an early stopping has the best value %v, %d values, and %d without progress",
			state.Best, state.Measured, state.Bad)
	}
	s.state = state
	return nil
}

// Free releases the weights that are kept. The model keeps its own.
func (s *EarlyStopping) Free() {
	for _, t := range s.best {
		t.Free()
	}
}
