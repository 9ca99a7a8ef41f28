package replay_test

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestGradientsBetweenRuns: a gradient that was forgotten or made between runs, where the step
// depends on whether there is one, is an error before anything has changed; one that the step
// forgets first is not, nor that of a parameter that it makes. Runs continue once it is as it was.
func TestGradientsBetweenRuns(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(1)
		x := autograd.Const(rng.Normal(d, 0, 1, 6, 4))
		const gone, there = "has no gradient, and had one", "has a gradient, and had none"
		for _, c := range []struct {
			name   string
			flat   bool // an optimizer holds the parameters
			before bool // they have gradients
			step   func(back func() error, opt optim.Optimizer) error
			says   string // when that is otherwise; "": nothing
			kind   error
		}{
			{"adds", true, true, func(back func() error, _ optim.Optimizer) error { return back() }, gone, tensor.ErrValue},
			{"adds to its own", false, true, func(back func() error, _ optim.Optimizer) error { return back() }, "which the step uses", tensor.ErrFreed},
			{"updates", true, true, func(_ func() error, opt optim.Optimizer) error { return opt.Step() }, gone, tensor.ErrValue},
			{"forgets last", true, false, func(back func() error, opt optim.Optimizer) error {
				err := back()
				opt.ZeroGrad()
				return err
			}, there, tensor.ErrValue},
			{"makes its own", true, true, func(_ func() error, _ optim.Optimizer) error {
				w := autograd.Param(x.Value().View(), "x")
				return w.Square().Sum().Backward()
			}, "", nil},
			{"forgets first", true, true, func(back func() error, opt optim.Optimizer) error {
				opt.ZeroGrad()
				return back()
			}, "", nil},
		} {
			w, b := autograd.Param(rng.Normal(d, 0, 1, 4, 3), "w"), autograd.Param(rng.Normal(d, 0, 1, 3), "b")
			opt := optim.NewSGD([]*autograd.Node{w, b}, optim.SGDConfig{LR: optim.Constant(0.1)})
			if !c.flat {
				opt.Free()
			}
			back := func() error { return x.Linear(w, b, fn.Tanh).Square().Mean().Backward() }
			change := func(has bool) {
				w.ZeroGrad()
				b.ZeroGrad()
				if has {
					if err := back(); err != nil {
						t.Fatal(err)
					}
				}
			}
			change(c.before)
			rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return nil, c.step(back, opt) })
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			run := func() error {
				steps := opt.Steps()
				err := rec.Run()
				if err != nil && opt.Steps() != steps {
					t.Errorf("%s: the optimizer counted a run that was refused", c.name)
				}
				return err
			}
			if err := run(); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			change(!c.before)
			if err := run(); c.says != "" {
				refused(t, c.name, err, c.kind, c.says)
			} else if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if change(c.before); c.flat {
				if err := run(); err != nil {
					t.Errorf("%s, as it was: %v", c.name, err)
				}
			}
			rec.Free()
			opt.Free()
		}
	})
}
