package optim_test

import (
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// TestEdgesOfParams: parameters without axes and without elements are updated as others are, and
// what is not finite in the gradient of one stays in that one.
func TestEdgesOfParams(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for name, rule := range rules {
			run := func(bad float64) (whole, hit []float64) {
				scalar, empty := autograd.Param(devtest.New(d, []float64{2}, []int{}...), "scalar"), autograd.Param(tensor.Zeros(d, 0, 3), "empty")
				long, odd := autograd.Param(tensor.Full(d, 0.5, 300), "long"), autograd.Param(devtest.New(d, []float64{1, 2, 3}), "odd")
				zero := autograd.Param(tensor.Zeros(d, 130), "zero")
				opt := rule([]*autograd.Node{scalar, empty, odd, long, zero})
				defer opt.Free()
				for range 2 {
					g := autograd.Const(devtest.New(d, []float64{1, bad, -1}))
					loss := scalar.Square().Add(long.Square().Sum()).Add(empty.Sum()).Add(odd.Mul(g).Sum()).Add(zero.Sum())
					if err := loss.Backward(); err != nil {
						t.Fatal(err)
					}
					if err := opt.Step(); err != nil {
						t.Fatal(err)
					}
					opt.ZeroGrad()
				}
				return read(t, scalar.Value(), empty.Value(), long.Value(), zero.Value()), read(t, odd.Value())
			}
			want, own := run(4)
			start := slices.Concat([]float64{2}, slices.Repeat([]float64{0.5}, 300), make([]float64, 130))
			for i, v := range want {
				if math.IsNaN(v) || math.IsInf(v, 0) || v == start[i] {
					t.Fatalf("%s: element %d is %v", name, i, v)
				}
			}
			if own[0] == 1 {
				t.Errorf("%s: %v did not move", name, own)
			}
			for _, bad := range []float64{math.NaN(), math.Inf(1)} {
				got, hit := run(bad)
				if !slices.Equal(got, want) {
					t.Errorf("%s: a gradient of %v in another parameter changed %v to %v", name, bad, want[:3], got[:3])
				}
				if math.IsNaN(bad) && !math.IsNaN(hit[1]) {
					t.Errorf("%s: a gradient of NaN made %v", name, hit)
				}
			}
		}
	})
}

// TestPlateauRecorded: what a plateau measured between replays of a step is the learning rate of
// the next.
func TestPlateauRecorded(t *testing.T) {
	d := devtest.CPU(t)
	run := func(recorded bool) []float64 {
		cfg := optim.PlateauDefaults(0.1)
		cfg.Patience = 0
		plateau := optim.NewPlateau(cfg)
		p := autograd.Param(devtest.New(d, []float64{1, 2, 3}), "p")
		opt := optim.NewAdagrad([]*autograd.Node{p}, optim.AdagradDefaults(plateau.LR))
		step := func() ([]*tensor.Tensor, error) {
			if err := p.Square().Sum().Backward(); err != nil {
				return nil, err
			}
			if err := opt.Step(); err != nil {
				return nil, err
			}
			opt.ZeroGrad()
			return nil, nil
		}
		next := stepping(t, d, step, recorded)
		for _, loss := range []float64{3, 4, 2, 5} {
			plateau.Measured(loss)
			if err := next(); err != nil {
				t.Fatal(err)
			}
		}
		return append(read(t, p.Value()), opt.LR())
	}
	if got, want := run(true), run(false); !slices.Equal(got, want) || math.Abs(want[3]-0.001) > 1e-9 {
		t.Errorf("recorded %v, want %v", got, want)
	}
}

// TestNoMomentum: without momentum a gradient that was not finite says nothing once the parameters
// are as they were, eagerly and, with Nesterov's rule, recorded.
func TestNoMomentum(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, recorded := range []bool{false, true} {
			p, g := autograd.Param(tensor.Zeros(d, 3), "p"), tensor.Zeros(d, 3)
			opt := optim.NewSGD([]*autograd.Node{p}, optim.SGDConfig{LR: optim.Constant(0.5), Nesterov: recorded})
			next := stepping(t, d, func() ([]*tensor.Tensor, error) {
				if err := p.Mul(autograd.Const(g)).Sum().Backward(); err != nil {
					return nil, err
				}
				err := opt.Step()
				opt.ZeroGrad()
				return nil, err
			}, recorded)
			for _, bad := range []float64{math.Inf(1), math.NaN(), 4} {
				tensor.Upload(p.Value(), []float64{1, 2, 3})
				tensor.Upload(g, []float64{2, bad, -2})
				if err := next(); err != nil {
					t.Fatal(err)
				}
			}
			if got := read(t, p.Value()); !slices.Equal(got, []float64{0, 0, 4}) {
				t.Errorf("recorded %v: %v", recorded, got)
			}
			opt.Free()
		}
	})
}

// TestInfiniteParameter: a weight decay of 0 leaves an infinite parameter as it is, of which 0·p is NaN, and of a NaN
// nothing gets into the moments, eagerly and recorded.
func TestInfiniteParameter(t *testing.T) {
	lr := optim.Constant(0.5)
	made := map[string]func(p []*autograd.Node) optim.Optimizer{
		"SGD": func(p []*autograd.Node) optim.Optimizer {
			return optim.NewSGD(p, optim.SGDConfig{LR: lr, Momentum: 0.5})
		},
		"Nesterov": func(p []*autograd.Node) optim.Optimizer {
			return optim.NewSGD(p, optim.SGDConfig{LR: lr, Momentum: 0.5, Nesterov: true})
		},
		"AdamW": func(p []*autograd.Node) optim.Optimizer {
			cfg := optim.AdamWDefaults(lr)
			cfg.WeightDecay = 0
			return optim.NewAdamW(p, cfg)
		},
		"Adam":    func(p []*autograd.Node) optim.Optimizer { return optim.NewAdam(p, optim.AdamDefaults(lr)) },
		"RMSprop": func(p []*autograd.Node) optim.Optimizer { return optim.NewRMSprop(p, optim.RMSpropDefaults(lr)) },
		"Adagrad": func(p []*autograd.Node) optim.Optimizer { return optim.NewAdagrad(p, optim.AdagradDefaults(lr)) },
		"Lion":    func(p []*autograd.Node) optim.Optimizer { return optim.NewLion(p, optim.LionDefaults(lr)) },
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for name, rule := range made {
			for _, recorded := range []bool{false, true} {
				values := []float64{1, math.Inf(1), math.Inf(-1), math.NaN()}
				p, g := autograd.Param(devtest.New(d, values), "p"), tensor.Full(d, 2, 4)
				opt := rule([]*autograd.Node{p})
				next := stepping(t, d, func() ([]*tensor.Tensor, error) {
					if err := p.Mul(autograd.Const(g)).Sum().Backward(); err != nil {
						return nil, err
					}
					err := opt.Step()
					opt.ZeroGrad()
					return nil, err
				}, recorded)
				if err := next(); err != nil {
					t.Fatal(err)
				}
				got := read(t, p.Value())
				if !(got[0] < 1) || got[1] != values[1] || got[2] != values[2] || !math.IsNaN(got[3]) {
					t.Errorf("%s, recorded %v: %v", name, recorded, got)
				}
				for moment, m := range opt.State().Tensors {
					if v := read(t, m); slices.ContainsFunc(v, func(v float64) bool { return v != v || math.IsInf(v, 0) }) {
						t.Errorf("%s, recorded %v: %s is %v", name, recorded, moment, v)
					}
				}
				opt.Free()
			}
		}
	})
}
