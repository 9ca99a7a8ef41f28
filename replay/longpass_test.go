package replay_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestLongFusedSteps: the loss and the gradients of a fused step over 50,000 samples, whose terms
// are of one sign, are those of the eager step. A loss that is summed up one sample after the other
// is off by a part in ten thousand.
func TestLongFusedSteps(t *testing.T) {
	const samples, outputs = 50_003, 3
	for _, c := range []struct {
		kernel        string
		inputs, width int
		bias          bool // of the output
	}{{"k_perceptron", 5, 16, true}, {"k_mlp_loss", 16, 64, false}} {
		t.Run(c.kernel, func(t *testing.T) {
			devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
				rng := tensor.NewRNG(3)
				x := autograd.Const(rng.Uniform(d, 0, 1, samples, c.inputs))
				target := autograd.Const(rng.Normal(d, 2000, 10, samples, outputs))
				var params []*autograd.Node
				param := func(shape ...int) *autograd.Node {
					p := autograd.Param(rng.Uniform(d, -0.3, 0.3, shape...), fmt.Sprint("p", len(params)))
					params = append(params, p)
					return p
				}
				w1, b1, w2, b2, w3 := param(c.inputs, c.width), param(c.width), param(c.width, c.width), param(c.width), param(c.width, outputs)
				var b3 *autograd.Node
				if c.bias {
					b3 = param(outputs)
				}
				opt := optim.NewAdamW(params, optim.AdamWDefaults(optim.Constant(0)))
				step := func() ([]*tensor.Tensor, error) {
					opt.ZeroGrad()
					h := x.Linear(w1, b1, fn.LeakyReLU, 0.1).Linear(w2, b2, fn.LeakyReLU, 0.1)
					loss := h.Linear(w3, b3, nil).SquaredError(target)
					return []*tensor.Tensor{loss.Value()}, loss.Backward()
				}
				values := func(out []*tensor.Tensor) (all [][]float64) {
					for _, p := range params {
						out = append(out, p.Grad())
					}
					for _, y := range out {
						v, err := y.Float64s()
						if err != nil {
							t.Fatal(err)
						}
						all = append(all, v)
					}
					return all
				}
				out, err := step()
				if err != nil {
					t.Fatal(err)
				}
				want := values(out)
				rec, err := replay.Record(d, step)
				if err != nil {
					t.Fatal(err)
				}
				defer rec.Free()
				if err := rec.Run(); err != nil {
					t.Fatal(err)
				}
				pass := func(l replay.Launch) bool { return l.Kernel == c.kernel }
				if l := rec.Launches(); !slices.ContainsFunc(l, pass) {
					t.Fatalf("recorded as %v, without %s: %v", l, c.kernel, rec.Report().NotFused)
				}
				for i, got := range values(rec.Outputs()) {
					largest := 0.0
					for _, v := range want[i] {
						largest = math.Max(largest, math.Abs(v))
					}
					for j, v := range got {
						if math.Abs(v-want[i][j]) > 1e-5*largest {
							t.Errorf("value %d, element %d: %v, eagerly %v", i, j, v, want[i][j])
						}
					}
				}
			})
		})
	}
}
