package optim_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestEMA: the averages are those of the formula, whether an optimizer has the parameters or not,
// some of them or all; an update of all of an optimizer's is one launch.
func TestEMA(t *testing.T) {
	ref := numbers(t, "optimizers.npz")
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for _, c := range []struct {
			what     string
			launches int64 // of an update
			params   func(a, b *autograd.Node) []*autograd.Node
		}{
			{"all of an optimizer", 1, func(a, b *autograd.Node) []*autograd.Node { return []*autograd.Node{b, a} }},
			{"one of an optimizer", 1, func(a, b *autograd.Node) []*autograd.Node { return []*autograd.Node{a} }},
			{"before the optimizer", 2, func(a, b *autograd.Node) []*autograd.Node { return []*autograd.Node{a, b} }},
		} {
			a, b := autograd.Param(devtest.New(d, ref["a0"], 3, 50), "a"), autograd.Param(devtest.New(d, ref["b0"]), "b")
			params := c.params(a, b)
			var ema *optim.EMA
			make := func() { ema = optim.NewEMA(params, 0.9) }
			if c.launches == 2 {
				make()
			}
			opt := optim.NewSGD([]*autograd.Node{a, b}, optim.SGDConfig{LR: optim.Constant(lr)})
			if c.launches == 1 {
				make()
			}
			for step := range 20 {
				gradient := func(p *autograd.Node, all []float64) *autograd.Node {
					return p.Mul(autograd.Const(devtest.New(d, all[step*p.Len():(step+1)*p.Len()], p.Shape()...))).Sum()
				}
				if err := gradient(a, ref["a_grads"]).Add(gradient(b, ref["b_grads"])).Backward(); err != nil {
					t.Fatal(err)
				}
				if err := opt.Step(); err != nil {
					t.Fatal(err)
				}
				opt.ZeroGrad()
				before := d.Stats().Launches
				if err := ema.Update(); err != nil {
					t.Fatal(err)
				}
				if n := d.Stats().Launches - before; n != c.launches {
					t.Errorf("%s: an update is %d launches, want %d", c.what, n, c.launches)
				}
				if step == 15 && c.launches == 1 {
					opt.Free() // the averages continue with the parameters
					opt = optim.NewSGD([]*autograd.Node{a, b}, optim.SGDConfig{LR: optim.Constant(lr)})
					c.launches = int64(len(params))
				}
			}
			tol := 1e-12
			if d.DefaultType() == kernels.Float32 {
				tol = 1e-5
			}
			own, other := read(t, a.Value()), read(t, b.Value())
			averages := ema.State().Tensors
			for i, p := range params {
				closeTo(t, c.what+": "+p.Name(), read(t, averages["average."+p.Name()]), ref[p.Name()+"_ema"], tol)
				if i == 0 {
					if err := ema.Use(func() { closeTo(t, c.what+", in use: "+p.Name(), read(t, p.Value()), ref[p.Name()+"_ema"], tol) }); err != nil {
						t.Fatal(err)
					}
				}
			}
			if !slices.Equal(own, read(t, a.Value())) || !slices.Equal(other, read(t, b.Value())) {
				t.Errorf("%s: after use the parameters are not what they were", c.what)
			}
			if err := ema.Assign(); err != nil {
				t.Fatal(err)
			}
			closeTo(t, c.what+", assigned", read(t, params[0].Value()), ref[params[0].Name()+"_ema"], tol)
			if len(params) == 1 && !slices.Equal(other, read(t, b.Value())) {
				t.Errorf("%s: a parameter that is not listed changed", c.what)
			}
			ema.Free()
			if got := read(t, params[0].Value()); len(got) == 0 {
				t.Errorf("%s: the parameter is gone", c.what)
			}
			opt.Free()
		}
	})
}

// TestEMARestore: a restored state resumes with the same bits; what is not the average's changes
// nothing.
func TestEMARestore(t *testing.T) {
	d := devtest.CPU(t)
	start := func() (*autograd.Node, *optim.EMA) {
		p := autograd.Param(devtest.New(d, []float64{1, 2}), "p")
		return p, optim.NewEMA([]*autograd.Node{p, autograd.Param(tensor.Zeros(d), ""), autograd.Param(tensor.Zeros(d, 0, 3), "empty")}, 0.7)
	}
	p, ema := start()
	p.Value().FillInPlace(5)
	if err := ema.Update(); err != nil {
		t.Fatal(err)
	}
	q, again := start()
	q.Value().FillInPlace(5)
	if err := again.Restore(ema.State()); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*optim.EMA{ema, again} {
		if err := e.Update(); err != nil {
			t.Fatal(err)
		}
	}
	want := read(t, ema.State().Tensors["average.p"])
	if got := read(t, again.State().Tensors["average.p"]); !slices.Equal(got, want) || got[0] == 5 {
		t.Errorf("restored: %v, want %v", got, want)
	}
	s := ema.State()
	delete(s.Tensors, "average.#1")
	if err := again.Restore(s); err == nil || !strings.Contains(err.Error(), "2 tensors, the average 3") {
		t.Errorf("a state without a tensor: err = %v", err)
	}
}

// TestEMAPanic: a function that panics leaves the parameters their own values.
func TestEMAPanic(t *testing.T) {
	d := devtest.CPU(t)
	p := autograd.Param(devtest.New(d, []float64{1, 2}), "p")
	ema := optim.NewEMA([]*autograd.Node{p}, 0.5)
	p.Value().FillInPlace(3)
	err := tensor.Try(func() {
		_ = ema.Use(func() { p.Reshape(7) })
	})
	if !errors.Is(err, tensor.ErrShape) || read(t, p.Value())[1] != 3 {
		t.Errorf("err = %v, the parameter is %v", err, read(t, p.Value()))
	}
	if err := ema.Use(func() {}); err != nil {
		t.Error(err)
	}
}

// TestEMAMisuse: what cannot be averaged is named, and so are calls within Use.
func TestEMAMisuse(t *testing.T) {
	d, other := devtest.CPU(t), devtest.CPU(t)
	p := autograd.Param(tensor.Zeros(d, 1), "p")
	for say, f := range map[string]func(){
		"there are no parameters": func() { optim.NewEMA(nil, 0.5) },
		"the decay is -0.1":       func() { optim.NewEMA([]*autograd.Node{p}, -0.1) },
		"the decay is NaN":        func() { optim.NewEMA([]*autograd.Node{p}, math.NaN()) },
		"the decay is 1":          func() { optim.NewEMA([]*autograd.Node{p}, 1) },
		"parameter 1 is nil":      func() { optim.NewEMA([]*autograd.Node{p, p}, 0.5) },
		`"c" is no parameter`:     func() { optim.NewEMA([]*autograd.Node{autograd.Const(tensor.Zeros(d, 1)).Named("c")}, 0.5) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), say) {
			t.Errorf("err = %v, want %q", err, say)
		}
	}
	if err := tensor.Try(func() { optim.NewEMA([]*autograd.Node{p, autograd.Param(tensor.Zeros(other, 1), "q")}, 0.5) }); !errors.Is(err, tensor.ErrDevice) {
		t.Errorf("two devices: err = %v", err)
	}
	now := optim.NewEMA([]*autograd.Node{p}, 0) // is the parameter after each update
	p.Value().FillInPlace(7)
	if err := now.Update(); err != nil || read(t, now.State().Tensors["average.p"])[0] != 7 {
		t.Errorf("without decay the average is %v (err %v)", now.State().Tensors["average.p"], err)
	}
	ema := optim.NewEMA([]*autograd.Node{p}, 0.5)
	state := ema.State()
	for what, f := range map[string]func(){
		"Update": func() { _ = ema.Update() }, "Use": func() { _ = ema.Use(func() {}) }, "Assign": func() { _ = ema.Assign() },
		"State": func() { ema.State() }, "Restore": func() { _ = ema.Restore(state) }, "Free": ema.Free,
	} {
		var err error
		if used := ema.Use(func() { err = tensor.Try(f) }); used != nil {
			t.Fatal(used)
		}
		if !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), what+":") || !strings.Contains(err.Error(), "the averages are in use") {
			t.Errorf("%s in use: err = %v", what, err)
		}
	}
	if v, err := ema.State().Tensors["average.p"].Float64s(); err != nil || v[0] != 7 {
		t.Errorf("afterwards the average is %v (err %v)", v, err)
	}
}

// TestEMARecorded: a recorded step brings the averages up to the parameters with the bits of eager
// ones.
func TestEMARecorded(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		run := func(recorded bool) string {
			p := autograd.Param(devtest.New(d, []float64{1, 2, 3}), "p")
			opt := optim.NewLion([]*autograd.Node{p}, optim.LionDefaults(optim.Exponential(0.1, 0.9)))
			ema := optim.NewEMA([]*autograd.Node{p}, 0.9)
			step := func() ([]*tensor.Tensor, error) {
				if err := p.Square().Sum().Backward(); err != nil {
					return nil, err
				}
				if err := opt.Step(); err != nil {
					return nil, err
				}
				opt.ZeroGrad()
				return nil, ema.Update()
			}
			run := func() error { _, err := step(); return err }
			if recorded {
				rec, err := replay.Record(d, step)
				if err != nil {
					t.Fatal(err)
				}
				defer rec.Free()
				run = rec.Run
			} else {
				for range 2 {
					if err := run(); err != nil {
						t.Fatal(err)
					}
				}
			}
			for range 6 {
				if err := run(); err != nil {
					t.Fatal(err)
				}
				if err := ema.Use(func() { p.Square().Sum().Free() }); err != nil {
					t.Fatal(err)
				}
			}
			return fmt.Sprint(opt.Steps(), read(t, p.Value(), ema.State().Tensors["average.p"]))
		}
		if got, want := run(true), run(false); got != want {
			t.Errorf("recorded %s, want %s", got, want)
		}
	})
}

// TestEMAOfGoroutines: another goroutine cannot train, nor evaluate, while the averages stand in
// for the parameters.
func TestEMAOfGoroutines(t *testing.T) {
	d := devtest.CPU(t)
	p := autograd.Param(tensor.Full(d, 1, 3), "p")
	e := optim.NewEMA([]*autograd.Node{p}, 0.5)
	ran := false
	if err := e.Use(func() {
		ran = true
		for name, f := range map[string]func(){"Add": func() { p.Add(p) }, "NoGrad": func() { autograd.NoGrad(d, func() {}) }} {
			met := make(chan error)
			go func() { met <- tensor.Try(f) }()
			if err := <-met; !errors.Is(err, tensor.ErrGoroutine) {
				t.Errorf("%s of another goroutine: err = %v, want ErrGoroutine", name, err)
			}
		}
		autograd.NoGrad(d, func() { p.Add(p).Free() })
	}); err != nil || !ran {
		t.Errorf("Use: %v", err)
	}
	met := make(chan error)
	go func() { met <- tensor.Try(func() { autograd.NoGrad(d, func() { _ = e.Use(func() {}) }) }) }()
	if err := <-met; err != nil {
		t.Errorf("afterwards, in another goroutine: %v", err)
	}
}
