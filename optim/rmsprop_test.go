package optim_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// TestRMSpropCentered: of gradients that stay the same, the mean of the squares less the square of
// the mean rounds to numbers below 0, whose root is none.
func TestRMSpropCentered(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		const n = 64
		g := make([]float64, n)
		for i := range g {
			g[i] = 0.1 + 0.37*float64(i)
		}
		for _, momentum := range []float64{0, 0.5} {
			p := autograd.Param(tensor.Zeros(d, n), "p")
			cfg := optim.RMSpropDefaults(optim.Constant(1e-6))
			cfg.Alpha, cfg.Centered, cfg.Momentum = 0.5, true, momentum
			opt := optim.NewRMSprop([]*autograd.Node{p}, cfg)
			seed := devtest.New(d, g)
			for range 60 {
				opt.ZeroGrad()
				if err := p.Backward(autograd.BackwardOptions{Seed: seed}); err != nil {
					t.Fatal(err)
				}
				if err := opt.Step(); err != nil {
					t.Fatal(err)
				}
			}
			v, err := p.Value().Float64s()
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range v {
				if math.IsNaN(x) || math.IsInf(x, 0) {
					t.Fatalf("momentum %v: gradients of %v make %v of a parameter", momentum, g[i], x)
				}
			}
			opt.Free()
		}
	})
}
