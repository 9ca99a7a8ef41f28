package optim_test

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// TestAccumulation: the steps of a large batch are those of its parts, of several sizes, whose
// gradients add up until ZeroGrad; clipped, too.
func TestAccumulation(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		run := func(bounds ...int) []float64 {
			rng := tensor.NewRNG(3)
			x, y := rng.Uniform(d, -1, 1, 40, 8), rng.Uniform(d, 0, 1, 40, 2)
			w0, b0, w1 := autograd.Param(rng.Normal(d, 0, 0.3, 8, 16), "w0"), autograd.Param(rng.Normal(d, 0, 0.3, 16), "b0"), autograd.Param(rng.Normal(d, 0, 0.3, 16, 2), "w1")
			params := []*autograd.Node{w0, b0, w1}
			opt := optim.NewSGD(params, optim.SGDConfig{LR: optim.Constant(0.5), Momentum: 0.9})
			defer opt.Free()
			for range 3 {
				for i := 1; i < len(bounds); i++ {
					from, to := bounds[i-1], bounds[i]
					in, out := autograd.Const(x.Slice(0, from, to).Copy()), autograd.Const(y.Slice(0, from, to).Copy())
					loss := in.MatMul(w0).Add(b0).LeakyReLU(0.1).MatMul(w1).Sub(out).Square().Mean().MulScalar(float64(to-from) / 40)
					if err := loss.Backward(); err != nil {
						t.Fatal(err)
					}
				}
				norm, err := optim.ClipNorm(params, 0.05).Item()
				if err != nil || norm <= 0.05 {
					t.Fatalf("the norm is %v: nothing was clipped (err %v)", norm, err)
				}
				if err := opt.Step(); err != nil {
					t.Fatal(err)
				}
				opt.ZeroGrad()
			}
			return read(t, w0.Value(), b0.Value(), w1.Value())
		}
		closeTo(t, "in parts", run(0, 8, 20, 39, 40), run(0, 40), 1e-5)
	})
}
