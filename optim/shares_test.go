package optim_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// TestShares: AdamW reads the gradients of a fused pass in the form in which the pass left them. Reading one
// before or after the step, or adding to it, changes nothing but where it lies.
func TestShares(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		run := func(between func(params []*autograd.Node)) (after [][]float64, launches int64) {
			rng := tensor.NewRNG(3)
			x, y := autograd.Const(rng.Uniform(d, -1, 1, 40, 8)), autograd.Const(rng.Uniform(d, 0, 1, 40, 2))
			params := []*autograd.Node{autograd.Param(rng.Normal(d, 0, 0.3, 8, 16), "w0"), autograd.Param(rng.Normal(d, 0, 0.3, 16), "b0"),
				autograd.Param(rng.Normal(d, 0, 0.3, 16, 2), "w1")}
			opt := optim.NewAdamW(params, optim.AdamWDefaults(optim.Constant(0.01)))
			fused, err := autograd.NewFusedMLP(opt.Arena(), 0.1, autograd.SquaredLoss)
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				before := d.Stats().Launches
				loss := fused.Loss(x, y)
				if err := loss.Backward(); err != nil {
					t.Fatal(err)
				}
				if between != nil {
					between(params)
				}
				if err := opt.Step(); err != nil {
					t.Fatal(err)
				}
				launches = d.Stats().Launches - before
				loss.Free()
				opt.ZeroGrad()
			}
			for _, p := range params {
				v, err := p.Value().Float64s()
				if err != nil {
					t.Fatal(err)
				}
				after = append(after, v)
			}
			opt.Free()
			return after, launches
		}
		want, launches := run(nil)
		if launches != 2 {
			t.Errorf("a pass and a step are %d launches, want 2", launches)
		}
		same := func(what string, got [][]float64) {
			for i := range want {
				for j := range want[i] {
					if math.Abs(got[i][j]-want[i][j]) > 1e-6 {
						t.Fatalf("%s: parameter %d is %v, want %v", what, i, got[i], want[i])
					}
				}
			}
		}
		got, _ := run(func(params []*autograd.Node) {
			if g, err := params[1].Grad().Float64s(); err != nil || fmt.Sprint(g) == fmt.Sprint(make([]float64, len(g))) {
				t.Fatalf("the gradient is %v (err %v)", g, err)
			}
		})
		same("gradient read before the step", got)
		got, _ = run(func(params []*autograd.Node) {
			zero := params[2].MulScalar(0).Sum()
			if err := zero.Backward(); err != nil {
				t.Fatal(err)
			}
			zero.Free()
		})
		same("zeros added to a gradient", got)
		got, _ = run(func(params []*autograd.Node) { params[0].ZeroGrad() })
		if fmt.Sprint(got[2]) == fmt.Sprint(want[2]) || got[1][0] == 0 {
			t.Error("without the first gradient, the others must still be there, and lead elsewhere")
		}
	})
}
