package imagefit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// record records a step, and leaves the fit as it was: what Record's two steps change is put back.
// So all steps are replays, of which each has the same bits whether others were done before it or a
// checkpoint was resumed. A step that cannot be recorded is done eagerly. The error is the
// device's.
func (f *Fit) record() error {
	before := f.remember()
	defer before.free()
	rec, err := replay.Record(f.device, func() ([]*tensor.Tensor, error) {
		if err := f.eagerStep(); err != nil {
			return nil, err
		}
		return []*tensor.Tensor{f.loss}, nil
	})
	f.freeLoss()
	restored := before.restore()
	if failed := cmp.Or(f.device.Err(), restored); failed != nil {
		if rec != nil {
			rec.Free()
		}
		return failed
	}
	if errors.Is(err, replay.ErrEnvironment) {
		return err
	}
	if err != nil {
		f.whyNot = err
		return nil
	}
	f.recorded = rec
	switch report := rec.Report(); {
	case report.FusedSteps > 0:
	case report.NotFused != nil:
		f.whyNot = report.NotFused
	default: // as the environment asks for
		f.whyNot = errors.New("the rewrite of perceptrons is switched off")
	}
	return nil
}

// memory is what a step changes of a fit, as it was.
type memory struct {
	fit    *Fit
	values tensor.Dict // of the parameters
	states []optim.State
	calls  uint32
}

// remember copies what a step changes.
func (f *Fit) remember() *memory {
	m := &memory{fit: f, values: tensor.Dict{}, calls: f.rng.Calls}
	for _, p := range f.Model.Params() {
		m.values[p.Name()] = p.Value().Copy().Retain()
	}
	for _, o := range f.opts {
		own := o.State()
		copies := optim.State{Steps: own.Steps, Tensors: tensor.Dict{}}
		for name, t := range own.Tensors {
			copies.Tensors[name] = t.Copy().Retain()
			t.Free()
		}
		m.states = append(m.states, copies)
	}
	return m
}

// restore puts it back.
func (m *memory) restore() error {
	for _, p := range m.fit.Model.Params() {
		p.Value().SetInPlace(m.values[p.Name()])
	}
	for i, o := range m.fit.opts {
		o.ZeroGrad()
		if err := o.Restore(m.states[i]); err != nil {
			return fmt.Errorf("imagefit: %w", err)
		}
	}
	m.fit.rng.Calls, m.fit.Model.Steps = m.calls, m.fit.Steps()
	return nil
}

func (m *memory) free() {
	all := []tensor.Dict{m.values}
	for _, s := range m.states {
		all = append(all, s.Tensors)
	}
	for _, dict := range all {
		for t := range maps.Values(dict) {
			t.Free()
		}
	}
}
