package optim

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// PlateauConfig is the settings of a Plateau. Start from [PlateauDefaults], and change what should
// differ: a field that is 0 means 0.
type PlateauConfig struct {
	LR        float64 // the first one; required
	Factor    float64 // what it is multiplied by, in (0, 1)
	Patience  int     // how many values without progress are let pass
	Threshold float64 // what counts as progress: a loss below best·(1 − Threshold)
	Absolute  bool    // below best − Threshold, rather
	Rising    bool    // progress is upwards, as of an accuracy: above best·(1 + Threshold), or best + Threshold
	Cooldown  int     // how many values after a reduction are not counted
	Least     float64 // the rate is never below
	Eps       float64 // a reduction by less is left out
}

// PlateauDefaults returns PyTorch's settings: factor 0.1, patience 10, threshold 1e-4, no cooldown,
// eps 1e-8.
func PlateauDefaults(lr float64) PlateauConfig {
	return PlateauConfig{LR: lr, Factor: 0.1, Patience: 10, Threshold: 1e-4, Eps: 1e-8}
}

// Plateau is a schedule that multiplies the learning rate by a factor when a value, such as the
// loss on held-back data, stops getting better. Its method LR is the [Schedule]; Measured gives it
// a value, once in an epoch, say:
//
//	plateau := optim.NewPlateau(optim.PlateauDefaults(0.1))
//	opt := optim.NewSGD(params, optim.SGDConfig{LR: plateau.LR})
//	…
//	plateau.Measured(loss)
//
// A NaN is no progress. Its numbers are those of PyTorch's ReduceLROnPlateau.
type Plateau struct {
	cfg   PlateauConfig
	state PlateauState
}

// PlateauState is the memory of a Plateau.
type PlateauState struct {
	LR   float64 // of the next step
	Best float64 // value so far, if Seen
	Seen bool    // a value better than none
	Bad  int     // values without progress, one after the other
	Cool int     // values yet to come that are not counted
}

// NewPlateau returns a schedule that begins with cfg.LR. It panics with tensor.ErrValue for
// settings out of range, as a Factor of 0 is, which a config has that was not made of
// [PlateauDefaults].
func NewPlateau(cfg PlateauConfig) *Plateau {
	misuse := func(format string, a ...any) {
		panic(&tensor.Error{Pkg: "optim", Op: "NewPlateau", Kind: tensor.ErrValue, Detail: fmt.Sprintf(format, a...)})
	}
	switch {
	case !(cfg.LR > 0) || math.IsInf(cfg.LR, 1):
		misuse("LR is %v: it is a number above 0", cfg.LR)
	case !(cfg.Factor > 0 && cfg.Factor < 1):
		misuse("Factor is %v, not in (0, 1): start from optim.PlateauDefaults(lr)", cfg.Factor)
	case cfg.Patience < 0 || cfg.Cooldown < 0:
		misuse("Patience is %d and Cooldown is %d: both count values", cfg.Patience, cfg.Cooldown)
	}
	for name, v := range map[string]float64{"Threshold": cfg.Threshold, "Least": cfg.Least, "Eps": cfg.Eps} {
		if !(v >= 0) || math.IsInf(v, 1) {
			misuse("%s is %v: it is a number, 0 at least", name, v)
		}
	}
	return &Plateau{cfg, PlateauState{LR: cfg.LR}}
}

// LR returns the learning rate now, whatever the step: it is a [Schedule].
func (p *Plateau) LR(int) float64 { return p.state.LR }

// Measured takes a value, from which the learning rate of the steps after it follows.
func (p *Plateau) Measured(value float64) {
	tensorapi.NotRecorded("Measured of a Plateau")
	s, cfg := &p.state, &p.cfg
	if p.better(value) {
		s.Best, s.Seen, s.Bad = value, true, 0
	} else {
		s.Bad++
	}
	if s.Cool > 0 {
		s.Cool--
		s.Bad = 0
	}
	if s.Bad > cfg.Patience {
		if lr := max(s.LR*cfg.Factor, cfg.Least); s.LR-lr > cfg.Eps {
			s.LR = lr
		}
		s.Cool, s.Bad = cfg.Cooldown, 0
	}
}

// better reports whether a value is progress.
func (p *Plateau) better(value float64) bool {
	best, by, sign := p.state.Best, p.cfg.Threshold, -1.0
	if p.cfg.Rising {
		sign = 1
	}
	if !p.state.Seen {
		return sign*value > math.Inf(-1)
	}
	bound := best + sign*by
	if !p.cfg.Absolute {
		bound = best * (1 + sign*by)
	}
	return sign*value > sign*bound
}

// State returns what Restore needs to resume as if never stopped.
func (p *Plateau) State() PlateauState { return p.state }

// Restore sets a state that State returned. It returns an error, with nothing changed, for one that
// State cannot return.
func (p *Plateau) Restore(s PlateauState) error {
	if !(s.LR >= 0) || math.IsInf(s.LR, 1) || s.Bad < 0 || s.Cool < 0 || math.IsNaN(s.Best) {
		return fmt.Errorf("optim: restore: the state of a plateau has the learning rate %v, the best value %v, and the counts %d and %d", s.LR, s.Best, s.Bad, s.Cool)
	}
	tensorapi.NotRecorded("Restore of a Plateau")
	p.state = s
	return nil
}
