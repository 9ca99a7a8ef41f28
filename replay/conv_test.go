package replay_test

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestConvolutions: a step of a small convolutional net has the same bits recorded as eager.
func TestConvolutions(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		train := func(how *replay.Options) string {
			rng := tensor.NewRNG(4)
			x, target := autograd.Const(rng.Uniform(d, -1, 1, 3, 2, 9, 8)), autograd.Const(rng.Uniform(d, -1, 1, 3, 4, 7, 6))
			w := autograd.Param(rng.Uniform(d, -1, 1, 6, 1, 3, 3), "w")
			b := autograd.Param(rng.Uniform(d, -1, 1, 6), "b")
			v := autograd.Param(rng.Uniform(d, -1, 1, 6, 4, 2, 2), "v")
			opt := optim.NewSGD([]*autograd.Node{w, b, v}, optim.SGDConfig{LR: optim.Constant(1e-3)})
			step := func() ([]*tensor.Tensor, error) {
				y := x.Conv(w, b, tensor.ConvOptions{Padding: []int{1}, Groups: 2}).MaxPool([]int{3, 2}, tensor.MaxPoolOptions{Stride: []int{2}, Padding: []int{1}})
				y = y.ConvTranspose(v, nil, tensor.ConvTransposeOptions{Stride: []int{2}}).AvgPool([]int{2, 2}, tensor.AvgPoolOptions{Stride: []int{1}})
				loss := y.Interpolate([]int{7, 6}, tensor.InterpolateOptions{Linear: true}).SquaredError(target)
				_, err := descend(loss, opt)
				return []*tensor.Tensor{loss.Value()}, err
			}
			doSteps(t, d, 5, step, how)
			return bits(t, []*tensor.Tensor{w.Value(), b.Value(), v.Value()})
		}
		if eager, replayed := train(nil), train(&replay.Options{}); eager != replayed {
			t.Errorf("replayed %v\nwant %v", replayed, eager)
		}
	})
}
