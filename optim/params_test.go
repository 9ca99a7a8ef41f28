package optim_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// TestGivenTensor: the tensor that a parameter was made of stays its value, before, under and after
// an optimizer.
func TestGivenTensor(t *testing.T) {
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
				given := devtest.New(d, []float64{1, 5, -2, 7}, 2, 2)
				other := given.T().View() // of the old storage: it stays as it is
				p := autograd.Param(given, "p")
				before := p.Square().Sum()
				opt := rule([]*autograd.Node{p, autograd.Param(given.T().Copy(), "q")})
				same := func(when string) {
					t.Helper()
					a, err := given.Float64s()
					if err != nil {
						t.Fatal(err)
					}
					if b, err := p.Value().Float64s(); err != nil || fmt.Sprint(a) != fmt.Sprint(b) || p.Value() != given {
						t.Errorf("%s the tensor is %v, the parameter %v (err %v)", when, a, b, err)
					}
				}
				same("with an optimizer")
				if err := before.Backward(); !errors.Is(err, autograd.ErrChanged) {
					t.Errorf("a graph from before the move: err = %v", err)
				}
				if err := p.Sum().Backward(); err != nil {
					t.Fatal(err)
				}
				if err := opt.Step(); err != nil {
					t.Fatal(err)
				}
				same("after a step")
				if v, _ := given.Float64s(); v[0] == 1 {
					t.Error("the step changed nothing")
				}
				if v, err := other.Float64s(); err != nil || fmt.Sprint(v) != "[1 -2 5 7]" {
					t.Errorf("another view of the old storage is %v (err %v)", v, err)
				}
				given.FillInPlace(3)
				same("written")
				for what, twice := range map[string][]*autograd.Node{
					"another optimizer": {autograd.Param(given, "again")}, "the same tensor": {autograd.Param(other, "a"), autograd.Param(other, "b")},
				} {
					if err := tensor.Try(func() { rule(twice) }); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), "make one parameter") {
						t.Errorf("%s: err = %v", what, err)
					}
				}
				opt.(interface{ Free() }).Free()
				same("after the optimizer")
				next := rule([]*autograd.Node{p})
				same("with the next optimizer")
				next.(interface{ Free() }).Free()
			})
		})
	}
}

// TestStepWithoutGradients: a step that has nothing to do says so, and is not counted.
func TestStepWithoutGradients(t *testing.T) {
	for name, rule := range rules {
		d := devtest.CPU(t)
		p, idle := autograd.Param(devtest.New(d, []float64{1}), "p"), autograd.Param(devtest.New(d, []float64{2}), "idle")
		opt := rule([]*autograd.Node{p, idle})
		refused := func(steps int) {
			t.Helper()
			rate, launches := opt.LR(), d.Stats().Launches
			if err := opt.Step(); !errors.Is(err, optim.ErrNoGradients) || !strings.Contains(err.Error(), "Backward") {
				t.Errorf("%s: err = %v", name, err)
			}
			if opt.Steps() != steps || opt.LR() != rate || d.Stats().Launches != launches {
				t.Errorf("%s: %d steps counted, want %d", name, opt.Steps(), steps)
			}
		}
		refused(0)
		if err := p.Backward(); err != nil {
			t.Fatal(err)
		}
		if err := opt.Step(); err != nil || opt.Steps() != 1 {
			t.Errorf("%s: %d steps, err = %v", name, opt.Steps(), err)
		}
		opt.ZeroGrad()
		refused(1)
	}
}

// TestFreedOptimizer: one that was freed has no hold on its parameters, which another may have by
// now.
func TestFreedOptimizer(t *testing.T) {
	for name, rule := range rules {
		d := devtest.CPU(t)
		p := autograd.Param(devtest.New(d, []float64{1, 2}), "p")
		first := rule([]*autograd.Node{p})
		first.Free()
		second := rule([]*autograd.Node{p})
		if err := p.Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		first.Free()
		first.ZeroGrad()
		if err := tensor.Try(func() { _ = first.Step() }); !errors.Is(err, tensor.ErrFreed) {
			t.Errorf("%s: a step of one that was freed: err = %v", name, err)
		}
		if err := second.Step(); err != nil || second.Steps() != 1 {
			t.Errorf("%s: %d steps of the second, err = %v", name, second.Steps(), err)
		}
		if v, err := p.Value().Float64s(); err != nil || v[0] == 1 {
			t.Errorf("%s: the parameter is %v (err %v)", name, v, err)
		}
	}
}

// TestZeroValues: what no function made says so.
func TestZeroValues(t *testing.T) {
	var none *optim.EMA
	for name, f := range map[string]func(){"Update": func() { _ = none.Update() }, "Use": func() { _ = new(optim.EMA).Use(func() {}) },
		"State": func() { new(optim.EMA).State() }, "Restore": func() { _ = new(optim.EMA).Restore(optim.State{}) }, "Free": new(optim.EMA).Free} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), name+": ") || !strings.Contains(err.Error(), "NewEMA makes them") {
			t.Errorf("EMA: %s: err = %v", name, err)
		}
	}
	for _, o := range []optim.Optimizer{&optim.AdamW{}, &optim.Adam{}, &optim.SGD{}, &optim.RMSprop{}, &optim.Adagrad{}, &optim.Lion{}, &optim.LAMB{}} {
		for name, f := range map[string]func(){"Step": func() { _ = o.Step() }, "ZeroGrad": o.ZeroGrad, "Steps": func() { o.Steps() }, "LR": func() { o.LR() },
			"State": func() { o.State() }, "Restore": func() { _ = o.Restore(optim.State{}) }, "Free": o.Free} {
			if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), "optim: "+name+": ") {
				t.Errorf("%T: %s: err = %v", o, name, err)
			}
		}
	}
}

// TestRefusedParams: parameters that cannot go together stay as they were, and may join another
// optimizer.
func TestRefusedParams(t *testing.T) {
	d, other := devtest.CPU(t), devtest.CPU(t)
	p := autograd.Param(devtest.New(d, []float64{1, 2}), "p")
	freed := autograd.Param(devtest.New(d, []float64{1, 2}), "freed")
	freed.Value().Free()
	for kind, q := range map[error]*autograd.Node{tensor.ErrDevice: autograd.Param(devtest.New(other, []float64{1, 2}), "q"), tensor.ErrFreed: freed,
		tensor.ErrValue: nil} {
		for name, rule := range rules {
			if err := tensor.Try(func() { rule([]*autograd.Node{p, q}) }); !errors.Is(err, kind) {
				t.Errorf("%s: err = %v, want %v", name, err, kind)
			}
			rule([]*autograd.Node{p}).Free()
		}
	}
}
