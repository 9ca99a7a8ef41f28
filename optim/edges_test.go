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
