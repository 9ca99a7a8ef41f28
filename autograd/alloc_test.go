//go:build !race

package autograd_test

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// TestAllocationsOfAStep holds what the host allocates in a training step of three layers: the
// launches are short, so that it shows. The bounds are about a twentieth more than it allocates.
func TestAllocationsOfAStep(t *testing.T) {
	d := devtest.CPU(t)
	params := perceptron(d, 8, 16, 16, 2)
	opt := optim.NewSGD(params, optim.SGDConfig{LR: optim.Constant(1e-4)})
	x, y := autograd.Const(tensor.Full(d, 0.5, 16, 8)), autograd.Const(tensor.Full(d, 1, 16, 2))
	for name, c := range map[string]struct {
		loss func() *node
		most float64
	}{
		"layers in one launch": {func() *node {
			h := x.Linear(params[0], params[1], fn.Tanh).Linear(params[2], params[3], fn.Tanh)
			return h.Linear(params[4], nil, nil).SquaredError(y)
		}, 100},
		"operation by operation": {func() *node {
			h := x.MatMul(params[0]).Add(params[1]).Tanh().MatMul(params[2]).Add(params[3]).LeakyReLU(0.1)
			return h.MatMul(params[4]).Sub(y).Square().Mean()
		}, 145},
	} {
		got := testing.AllocsPerRun(100, func() {
			loss := c.loss()
			if err := loss.Backward(); err != nil {
				t.Fatal(err)
			}
			loss.Free()
			if err := opt.Step(); err != nil {
				t.Fatal(err)
			}
			opt.ZeroGrad()
		})
		if t.Logf("%s: %v", name, got); got > c.most {
			t.Errorf("%s: %v allocations, at most %v", name, got, c.most)
		}
	}
}
