package optim_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// everything returns the values of parameters and the state of their optimizer but for the loss
// scale, in a fixed order.
func everything(t *testing.T, params []*autograd.Node, opt optim.Optimizer) (all []float64) {
	t.Helper()
	for _, p := range params {
		all = append(all, read(t, p.Value())...)
	}
	s := opt.State()
	for _, name := range slices.Sorted(maps.Keys(s.Tensors)) {
		if name != "loss_scale" {
			all = append(all, read(t, s.Tensors[name])...)
		}
		s.Tensors[name].Free()
	}
	return all
}

func current(t *testing.T, s *optim.LossScaler) float64 {
	t.Helper()
	v, err := s.Current().Item()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// underflowing trains two layers whose products take part in the precision of the device, by a loss
// whose gradients are far below what float16 holds, with a scaler or without, and returns the first
// and the last loss over that factor.
func underflowing(t *testing.T, d tensor.Device, initial float64, recorded bool) (first, last float64) {
	t.Helper()
	const rows, width, steps, tiny = 256, 64, 20, 1e-6
	rng := tensor.NewRNG(5)
	draw := func(scale float64, shape ...int) *tensor.Tensor {
		return rng.Normal(d, 0, scale, shape...).Retain()
	}
	x, target := autograd.Const(draw(1, rows, width)), autograd.Const(draw(1, rows, width))
	w1, w2 := autograd.Param(draw(0.15, width, width), "w1"), autograd.Param(draw(0.15, width, width), "w2")
	b1 := autograd.Param(tensor.Zeros(d, width), "b1")
	cfg := optim.AdamWDefaults(optim.Constant(0.01))
	cfg.Eps, cfg.WeightDecay = 1e-15, 0
	var opt optim.Optimizer = optim.NewAdamW([]*autograd.Node{w1, b1, w2}, cfg)
	if initial > 0 {
		settings := optim.LossScalerDefaults()
		settings.Initial, settings.Every = initial, 5
		opt = optim.NewLossScaler(opt, settings)
	}
	defer opt.Free()
	// The gradient of b1 and of w1 passes a product with w2, that of w2 one with the hidden layer.
	step := func() ([]*tensor.Tensor, error) {
		loss := x.Linear(w1, b1, fn.Tanh).MatMul(w2).Sub(target).Square().Mean().MulScalar(tiny)
		value := loss.Value()
		if err := optim.Minimize(opt, loss); err != nil {
			return nil, err
		}
		return []*tensor.Tensor{value}, nil
	}
	next := func() float64 {
		out, err := step()
		if err != nil {
			t.Fatal(err)
		}
		v, err := out[0].Item()
		if err != nil {
			t.Fatal(err)
		}
		return v / tiny
	}
	if recorded {
		rec, err := replay.Record(d, step)
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		next = func() float64 {
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
			v, err := rec.Outputs()[0].Item()
			if err != nil {
				t.Fatal(err)
			}
			return v / tiny
		}
	}
	first = next()
	for range steps {
		last = next()
	}
	return first, last
}

// TestLossScalerTrains: in float16 gradients of less than it holds are 0 without a scaler, and
// nothing is learned of them. With one they are learned from as in float32, also where its first
// scale is far too large, in recorded steps and in others.
func TestLossScalerTrains(t *testing.T) {
	for _, sel := range devtest.Selected() {
		first, want := underflowing(t, devtest.Open(t, sel, tensor.Options{}), 0, false)
		if want > 0.8*first {
			t.Fatalf("%s: in float32 the loss goes from %v to %v", sel, first, want)
		}
		halves := devtest.Open(t, sel, devtest.GPUKernels(tensor.Options{Precision: tensor.PrecisionFloat16, SkipSelfTest: true}))
		tensorapi.Impl.AsMatrixUnits(halves, false)
		if first, last := underflowing(t, halves, 0, false); !(last > 0.97*first) {
			t.Errorf("%s: without a scaler the loss goes from %v to %v: the test is of gradients that vanish", sel, first, last)
		}
		for _, initial := range []float64{1 << 20, 1 << 50} {
			for _, recorded := range []bool{false, true} {
				if recorded != (initial > 1<<40) && !devtest.More() { // a CPU is slow in the kernels of matrix units
					continue
				}
				most := 0.02 * (first - want)
				if initial > 1<<40 {
					most = 0.75 * (first - want) // half of the steps are left out until the scale fits
				}
				if _, last := underflowing(t, halves, initial, recorded); !(math.Abs(last-want) <= most) {
					t.Errorf("%s: from a scale of %v (recorded: %v) the loss goes from %v to %v, in float32 to %v", sel, initial, recorded, first, last, want)
				}
			}
		}
	}
}

// TestLossScalerExact: scales round nothing. Every rule makes the bits that it makes without a
// scaler, eagerly and recorded, with parameters that are empty, have no axes or no gradient, while
// the scale doubles.
func TestLossScalerExact(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for name, rule := range rules {
			run := func(scaled, recorded bool) []float64 {
				params := []*autograd.Node{autograd.Param(devtest.New(d, []float64{1, -2, 0.3}), "a"), autograd.Param(tensor.Zeros(d, 2, 0), "empty"),
					autograd.Param(devtest.New(d, []float64{5}), "idle"), autograd.Param(devtest.New(d, []float64{-0.7}, []int{}...), "scalar"), autograd.Param(tensor.Full(d, 0.2, 5, 60), "long")}
				opt := rule(params)
				if scaled {
					opt = optim.NewLossScaler(opt, optim.LossScalerConfig{Initial: 64, Every: 2})
				}
				defer opt.Free()
				step := func() ([]*tensor.Tensor, error) {
					loss := params[0].Square().Sum().Add(params[1].Sum()).Add(params[3].Mul(params[4].Mean()).Square())
					return nil, optim.Minimize(opt, loss)
				}
				next := func() error { _, err := step(); return err }
				steps := 6
				if recorded {
					rec, err := replay.Record(d, step)
					if err != nil {
						t.Fatal(err)
					}
					defer rec.Free()
					next, steps = rec.Run, 4
				}
				for range steps {
					if err := next(); err != nil {
						t.Fatal(err)
					}
				}
				if s, ok := opt.(*optim.LossScaler); ok {
					if got := current(t, s); got != 64*8 {
						t.Errorf("%s: after 6 steps the scale is %v", name, got)
					}
				}
				return append(everything(t, params, opt), float64(opt.Steps()), opt.LR())
			}
			want := run(false, false)
			for _, recorded := range []bool{false, true} {
				for i, v := range run(true, recorded) {
					if v != want[i] {
						t.Fatalf("%s, recorded %v: number %d is %v, without a scaler %v", name, recorded, i, v, want[i])
					}
				}
			}
		}
	})
}

// TestLossScalerSkips: of a step with a gradient that is no finite number nothing stays but a scale
// of half the size, whatever the rule, and the next step is one as if it had not been, but for what
// counts steps.
func TestLossScalerSkips(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for name, rule := range rules {
			for _, recorded := range []bool{false, true} {
				p, other := autograd.Param(devtest.New(d, []float64{1, -2, 0.3}), "p"), autograd.Param(tensor.Full(d, 0.5, 200), "other")
				params := []*autograd.Node{p, other}
				s := optim.NewLossScaler(rule(params), optim.LossScalerConfig{Initial: 8, Every: 3})
				by := devtest.New(d, []float64{1, 1, 1}).Retain()
				step := func() ([]*tensor.Tensor, error) {
					return nil, optim.Minimize(s, p.Mul(autograd.Const(by)).Sum().Add(other.Square().Sum()))
				}
				next := stepping(t, d, step, recorded)
				scale := 8.0
				for _, bad := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
					before := everything(t, params, s)
					tensor.Upload(by, []float64{1, bad, 1})
					if err := next(); err != nil {
						t.Fatal(err)
					}
					scale /= 2
					if after := everything(t, params, s); !slices.Equal(before, after) || current(t, s) != scale {
						t.Fatalf("%s, recorded %v: a gradient of %v made of %v %v and a scale of %v", name, recorded, bad, before[:4], after[:4], current(t, s))
					}
				}
				tensor.Upload(by, []float64{1, 1, 1})
				before := everything(t, params, s)
				for range 2 {
					if err := next(); err != nil {
						t.Fatal(err)
					}
				}
				after := everything(t, params, s)
				if slices.Equal(before, after) || slices.ContainsFunc(after, func(v float64) bool { return v-v != 0 }) || current(t, s) != scale || s.Steps() != 7 {
					t.Errorf("%s, recorded %v: then %v, a scale of %v after %d steps", name, recorded, after[:4], current(t, s), s.Steps())
				}
				if err := next(); err != nil || current(t, s) != 2*scale {
					t.Errorf("%s, recorded %v: after three finite steps in a row a scale of %v (%v)", name, recorded, current(t, s), err)
				}
				s.Free()
			}
		}
	})
}

// TestLossScalerBounds: the scale stays in its range, however many steps are finite or not, and a
// gradient that overflows as it is divided is found.
func TestLossScalerBounds(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for _, c := range []struct{ initial, by, want float64 }{
			{0x1p60, 0, 0x1p60}, {0x1p-60, math.NaN(), 0x1p-60}, {0x1p59, 0, 0x1p60}, {0x1p-59, math.Inf(1), 0x1p-60}, {0x1p-60, 1e37, 0x1p-60},
		} {
			p := autograd.Param(devtest.New(d, []float64{1}), "p")
			s := optim.NewLossScaler(rules["sgd"]([]*autograd.Node{p}), optim.LossScalerConfig{Initial: c.initial, Every: 1})
			for range 3 {
				// The gradient of by·p is scale·by, and that of 1e37 is one of float32's before it
				// is divided by the scale.
				by := c.by
				if by > 1e30 {
					by *= 1 / c.initial
				}
				if d.DefaultType() == tensor.Float64 && by > 1e30 {
					by = math.Inf(1)
				}
				if err := optim.Minimize(s, p.Mul(autograd.Const(devtest.New(d, []float64{by}))).Sum()); err != nil {
					t.Fatal(err)
				}
			}
			if got := current(t, s); got != c.want {
				t.Errorf("from %v with gradients of %v the scale is %v", c.initial, c.by, got)
			}
			if v := read(t, p.Value()); math.IsNaN(v[0]) || math.IsInf(v[0], 0) {
				t.Errorf("from %v with gradients of %v the parameter is %v", c.initial, c.by, v)
			}
			s.Free()
		}
	})
}

// TestLossScalerUnscale: between Unscale and Step gradients are what they are without a scaler, and
// can be clipped; they may come from several losses, and from one with a seed.
func TestLossScalerUnscale(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		run := func(scaled bool) ([]float64, []float64) {
			p := autograd.Param(devtest.New(d, []float64{3, -4}), "p")
			params := []*autograd.Node{p}
			opt := rules["adam"](params)
			backward := func(loss *autograd.Node, o ...autograd.BackwardOptions) error { return loss.Backward(o...) }
			unscale := func() {}
			if scaled {
				s := optim.NewLossScaler(opt, optim.LossScalerConfig{Initial: 1024, Every: 2})
				opt, backward, unscale = s, s.Backward, s.Unscale
			}
			var grads []float64
			for range 3 {
				seed := devtest.New(d, []float64{0.5, -1})
				for _, err := range []error{backward(p.Square().Sum()), backward(p.Sin(), autograd.BackwardOptions{Seed: seed}),
					backward(p.Exp().Sum().Reshape(1, 1), autograd.BackwardOptions{Retain: true})} {
					if err != nil {
						t.Fatal(err)
					}
				}
				unscale()
				norm := optim.ClipNorm(params, 2)
				grads = append(grads, append(read(t, norm), read(t, p.Grad())...)...)
				if err := opt.Step(); err != nil {
					t.Fatal(err)
				}
				opt.ZeroGrad()
			}
			return grads, everything(t, params, opt)
		}
		grads, all := run(true)
		if wantGrads, want := run(false); !slices.Equal(grads, wantGrads) || !slices.Equal(all, want) {
			t.Errorf("gradients %v and then %v, without a scaler %v and %v", grads, all, wantGrads, want)
		}
	})
}

// TestLossScalerNoGradients: a Step that finds no gradients forgets an Unscale before it.
func TestLossScalerNoGradients(t *testing.T) {
	d := devtest.CPU(t)
	x, other := autograd.Param(tensor.Scalar(d, 1), "x"), autograd.Param(tensor.Scalar(d, 1), "other")
	s := optim.NewLossScaler(optim.NewSGD([]*autograd.Node{x}, optim.SGDConfig{LR: optim.Constant(1)}),
		optim.LossScalerDefaults())
	if err := s.Backward(other.MulScalar(2)); err != nil {
		t.Fatal(err)
	}
	s.Unscale()
	if err := s.Step(); !errors.Is(err, optim.ErrNoGradients) {
		t.Fatal(err)
	}
	if err := s.Backward(x.MulScalar(3)); err != nil {
		t.Fatal(err)
	}
	if err := s.Step(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, x.Value())[0]; got != -2 {
		t.Errorf("the parameter is %v, not 1 − 3", got)
	}
}

// TestLossScalerState: a state resumes bit for bit, scale and all; one that is damaged changes
// nothing; without the scale it is one of the optimizer.
func TestLossScalerState(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		start := func() ([]*autograd.Node, *optim.LossScaler, optim.Optimizer) {
			params := []*autograd.Node{autograd.Param(devtest.New(d, []float64{1, -2}), "p")}
			opt := rules["adamw"](params)
			return params, optim.NewLossScaler(opt, optim.LossScalerConfig{Initial: 16, Every: 3}), opt
		}
		steps := func(params []*autograd.Node, o optim.Optimizer, n int) {
			t.Helper()
			for range n {
				if err := optim.Minimize(o, params[0].Square().Sum()); err != nil {
					t.Fatal(err)
				}
			}
		}
		params, s, _ := start()
		steps(params, s, 2)
		saved := optim.State{Steps: s.State().Steps, Tensors: tensor.Dict{}}
		for name, x := range s.State().Tensors {
			saved.Tensors[name] = x.Copy().Retain()
		}
		values := params[0].Value().Copy()
		steps(params, s, 2)
		want := append(everything(t, params, s), current(t, s), float64(s.Steps()))
		params, s, opt := start()
		params[0].Value().SetInPlace(values)
		if err := s.Restore(saved); err != nil {
			t.Fatal(err)
		}
		steps(params, s, 2)
		if got := append(everything(t, params, s), current(t, s), float64(s.Steps())); !slices.Equal(got, want) || got[len(got)-2] != 32 {
			t.Errorf("resumed %v, want %v", got, want)
		}
		if err := s.Restore(s.State()); err != nil || current(t, s) != 32 {
			t.Errorf("its own state: a scale of %v (%v)", current(t, s), err)
		}
		before := append(everything(t, params, s), current(t, s), float64(s.Steps()))
		for what, change := range map[string]func(tensors tensor.Dict){
			`no tensor "loss_scale": of an optimizer without`: func(tensors tensor.Dict) { delete(tensors, "loss_scale") },
			"[3 0.3333333432674408 1]":                        func(tensors tensor.Dict) { tensors["loss_scale"] = devtest.New(d, []float64{3, 1. / 3, 1}) },
			"[NaN NaN NaN]":                                   func(tensors tensor.Dict) { tensors["loss_scale"] = tensor.Full(d, math.NaN(), 3) },
			"[+Inf 0 0]":                                      func(tensors tensor.Dict) { tensors["loss_scale"] = devtest.New(d, []float64{math.Inf(1), 0, 0}) },
			"[4 0.5 1]":                                       func(tensors tensor.Dict) { tensors["loss_scale"] = devtest.New(d, []float64{4, 0.5, 1}) },
			"[4 0.25 -1]":                                     func(tensors tensor.Dict) { tensors["loss_scale"] = devtest.New(d, []float64{4, 0.25, -1}) },
			"[4 0.25 0.5]":                                    func(tensors tensor.Dict) { tensors["loss_scale"] = devtest.New(d, []float64{4, 0.25, 0.5}) },
			"[-4 -0.25 0]":                                    func(tensors tensor.Dict) { tensors["loss_scale"] = devtest.New(d, []float64{-4, -0.25, 0}) },
			"has shape [2]":                                   func(tensors tensor.Dict) { tensors["loss_scale"] = tensor.Full(d, 1, 2) },
			"is nil":                                          func(tensors tensor.Dict) { tensors["loss_scale"] = nil },
			"is of type":                                      func(tensors tensor.Dict) { tensors["loss_scale"] = devtest.New(d, []int32{1, 1, 1}) },
			`no tensor "v.p"`:                                 func(tensors tensor.Dict) { tensors["v.q"] = tensors["v.p"]; delete(tensors, "v.p") },
		} {
			damaged := optim.State{Steps: 1, Tensors: maps.Clone(saved.Tensors)}
			change(damaged.Tensors)
			if err := s.Restore(damaged); err == nil || !strings.Contains(err.Error(), what) {
				t.Errorf("%s: %v", what, err)
			}
			if after := append(everything(t, params, s), current(t, s), float64(s.Steps())); !slices.Equal(before, after) {
				t.Errorf("%s: it is %v, was %v", what, after, before)
			}
		}
		without := optim.State{Steps: saved.Steps, Tensors: maps.Clone(saved.Tensors)}
		delete(without.Tensors, "loss_scale")
		if err := opt.Restore(without); err != nil || s.Steps() != 2 {
			t.Errorf("the optimizer's: %v", err)
		}
	})
}

// TestLossScalerMisuse: what it cannot do is refused, and says what to do.
func TestLossScalerMisuse(t *testing.T) {
	d := devtest.CPU(t)
	p := autograd.Param(devtest.New(d, []float64{3, -4}), "p")
	opt := rules["adamw"]([]*autograd.Node{p})
	defaults := optim.LossScalerDefaults()
	s := optim.NewLossScaler(opt, defaults)
	settings := func(initial float64, every int) func() {
		return func() { optim.NewLossScaler(opt, optim.LossScalerConfig{Initial: initial, Every: every}) }
	}
	var none *optim.LossScaler
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"not of a <nil>", func() { optim.NewLossScaler(nil, defaults) }},
		{"not of a *optim.LossScaler", func() { optim.NewLossScaler(s, defaults) }},
		{"not of a *optim.AdamW", func() { optim.NewLossScaler(&optim.AdamW{}, defaults) }},
		{"the first scale is 0", settings(0, 1)}, {"the first scale is 3", settings(3, 1)}, {"the first scale is -4", settings(-4, 1)},
		{"the first scale is NaN", settings(math.NaN(), 1)}, {"the first scale is +Inf", settings(math.Inf(1), 1)}, {"the first scale is 2.3", settings(0x1p61, 1)},
		{"doubles after 0 steps", settings(1, 0)}, {"doubles after 16777217 steps", settings(1, 1<<24+1)},
		{"NewLossScaler makes one", func() { _ = none.Step() }}, {"NewLossScaler makes one", func() { (&optim.LossScaler{}).Free() }},
		{"no loss was scaled", func() { s.Unscale() }},
		{"no loss was scaled", func() {
			defer s.ZeroGrad()
			_ = p.Sum().Backward()
			_ = s.Step()
		}},
		{"divided by the scale already", func() {
			defer s.ZeroGrad()
			_ = s.Backward(p.Sum())
			s.Unscale()
			s.Unscale()
		}},
	} {
		err := tensor.Try(c.f)
		if !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v", c.want, err)
		}
	}
	if err := s.Step(); !errors.Is(err, optim.ErrNoGradients) || s.Steps() != 0 {
		t.Errorf("without gradients: %v", err)
	}
	if err := s.Backward(p.Mul(p)); !errors.Is(err, autograd.ErrSeed) {
		t.Errorf("of two elements: %v", err)
	}
	for what, seed := range map[error]*tensor.Tensor{tensor.ErrShape: tensor.Full(d, 1, 3), tensor.ErrType: devtest.New(d, []int32{1, 1}), tensor.ErrDevice: tensor.Full(devtest.CPU(t), 1, 2)} {
		if err := s.Backward(p.Mul(p), autograd.BackwardOptions{Seed: seed}); !errors.Is(err, what) {
			t.Errorf("a seed of another kind: %v, want %v", err, what)
		}
	}
	if got := fmt.Sprint(read(t, p.Value()), p.Grad() == nil, current(t, s)); got != "[3 -4] true 65536" {
		t.Errorf("then there are %s", got)
	}
	if err := s.Backward(p.Square().Sum(), autograd.BackwardOptions{CreateGraph: true}); err != nil {
		t.Error(err)
	}
	if s.Unscale(); fmt.Sprint(read(t, p.Grad())) != "[6 -8]" || fmt.Sprint(read(t, p.GradNode().Value())) != "[393216 -524288]" {
		t.Errorf("with a graph the gradient is %v, on the graph %v", read(t, p.Grad()), read(t, p.GradNode().Value()))
	}
	s.Free()
	again := rules["sgd"]([]*autograd.Node{p}) // the parameters are free
	again.Free()
}

// TestLossScalerSurface: it has the methods of an optimizer, and its own.
func TestLossScalerSurface(t *testing.T) {
	var got []string
	typ := reflect.TypeFor[*optim.LossScaler]()
	for i := range typ.NumMethod() {
		got = append(got, typ.Method(i).Name)
	}
	if want := "[Backward Current Free LR Restore State Step Steps Unscale ZeroGrad]"; fmt.Sprint(got) != want {
		t.Errorf("it has the methods %v, want %v", got, want)
	}
}
