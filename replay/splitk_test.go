package replay_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestShares: AdamW adds up the shares of its gradient with the bits of the step; not where others
// read the gradient, or it is there after the run.
func TestShares(t *testing.T) {
	onGPUs(t, func(t *testing.T, d tensor.Device) {
		for _, c := range []struct {
			name   string
			middle func(params []*autograd.Node) // between the gradient and the update
			keep   bool
			sums   int // launches of them that are left
			says   string
		}{
			{"all", nil, false, 0, "k_adamw (7 launches): one launch"},
			{"clipped", func(params []*autograd.Node) { optim.ClipNorm(params, 1) }, false, -1, "refused: the gradient is read by others"},
			{"kept", nil, true, 1, "refused: the gradient is read by others, or is there after the run"},
		} {
			train := func(opt *replay.Options) (state string, sums int) {
				rng := tensor.NewRNG(7)
				x, y := rng.Normal(d, 0, 1, 600, 20), rng.Normal(d, 0, 1, 600, 5)
				var params []*autograd.Node
				var layers [][2]*autograd.Node
				for i, w := range [][2]int{{20, 60}, {60, 17}, {17, 5}} {
					l := [2]*autograd.Node{autograd.Param(rng.Normal(d, 0, 0.3, w[0], w[1]), fmt.Sprint("w", i)), autograd.Param(tensor.Zeros(d, w[1]), fmt.Sprint("b", i))}
					layers, params = append(layers, l), append(params, l[0], l[1])
				}
				// Its gradient is no sum.
				scale := autograd.Param(rng.Normal(d, 1, 0.1, 600, 5), "scale")
				params = append(params, scale)
				adam := optim.NewAdamW(params, optim.AdamWDefaults(optim.Constant(0.01)))
				step := func() ([]*tensor.Tensor, error) {
					adam.ZeroGrad()
					h := autograd.Const(x)
					for _, l := range layers {
						h = h.Linear(l[0], l[1], fn.Tanh)
					}
					loss := h.Mul(scale).SquaredError(autograd.Const(y))
					if err := loss.Backward(); err != nil {
						return nil, err
					}
					if c.middle != nil {
						c.middle(params)
					}
					if err := adam.Step(); err != nil || c.keep {
						return nil, err
					}
					adam.ZeroGrad()
					return nil, nil
				}
				for _, l := range doSteps(t, d, 5, step, opt) {
					if strings.HasPrefix(l.Kernel, "k_sum_axis") {
						sums++
					}
				}
				var all []*tensor.Tensor
				for _, p := range params {
					all = append(all, p.Value())
				}
				return bits(t, all), sums
			}
			want, _ := train(nil)
			var explained bytes.Buffer
			got, sums := train(&replay.Options{Without: []string{"fused-training-step"}, Explain: &explained})
			if got != want {
				t.Errorf("%s: replays leave\n%.300s\nwant\n%.300s", c.name, got, want)
			}
			if c.sums >= 0 && sums != c.sums || !strings.Contains(explained.String(), c.says) {
				t.Errorf("%s: %d launches of sums are left, want %d, and that it is said %q\n%s", c.name, sums, c.sums, c.says, explained.String())
			}
		}
	})
}
