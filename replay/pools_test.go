package replay_test

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestStoredPools: maps of what pools and their gradients store are computed there, whatever the
// rows are: those of no vector, several that a work-item has at a time, and one that is too long
// for that on a CPU.
func TestStoredPools(t *testing.T) {
	devices := devtest.Keep(t)
	for name, c := range map[string]struct {
		shape []int
		pool  func(x *autograd.Node) *autograd.Node
		apart bool // on a CPU
	}{
		"pairs":     {[]int{3, 2, 9, 13}, func(x *autograd.Node) *autograd.Node { return x.MaxPool([]int{2, 2}) }, false},
		"many rows": {[]int{4, 5, 20, 16}, func(x *autograd.Node) *autograd.Node { return x.MaxPool([]int{2, 2}) }, false},
		"means":     {[]int{2, 3, 7, 11}, func(x *autograd.Node) *autograd.Node { return x.AvgPool([]int{3, 2}) }, false},
		"windows apart": {[]int{2, 1, 5, 40}, func(x *autograd.Node) *autograd.Node {
			return x.MaxPool([]int{1, 3}, tensor.MaxPoolOptions{Stride: []int{2, 1}})
		}, false},
		"a long row": {[]int{1, 1, 2, 2100}, func(x *autograd.Node) *autograd.Node { return x.MaxPool([]int{2, 2}) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			devices.Each(t, true, func(t *testing.T, d tensor.Device) {
				explained, report := rewritten(t, d, func() (func() []*tensor.Tensor, []*tensor.Tensor, []*tensor.Tensor) {
					rng := tensor.NewRNG(3)
					x := rng.Uniform(d, -1, 1, c.shape...)
					p := autograd.Param(rng.Uniform(d, -1, 1, c.shape...), "p")
					return func() []*tensor.Tensor {
						y := c.pool(autograd.Const(x).Mul(p).ReLU()).Tanh()
						y.Retain()
						if err := y.Sum().Backward(); err != nil {
							t.Fatal(err)
						}
						grads := []*tensor.Tensor{p.Grad().Copy(), y.Value()}
						p.ZeroGrad()
						return grads
					}, []*tensor.Tensor{x}, nil
				})
				refused := strings.Contains(explained, "a long row is put together there")
				if joined := strings.Count(explained, "_pool") > 0 && strings.Contains(explained, "_pool_grad stores its result"); joined == (c.apart && d.Target().CPU) || refused != (c.apart && d.Target().CPU) {
					t.Errorf("of %d launches %d are left:\n%s", report.Step, report.Launches, explained)
				}
			})
		})
	}
}
