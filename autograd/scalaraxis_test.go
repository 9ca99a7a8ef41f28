package autograd_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestAxisOfScalar: a scalar has axis 0 for all that works along axes, as in PyTorch, and no other.
func TestAxisOfScalar(t *testing.T) {
	ops := map[string]struct {
		f           func(x *node, axes ...int) *node
		value, grad float64 // of 3
		keeps       bool    // whether it takes Keepdims
	}{
		"Sum": {(*node).Sum, 3, 1, true}, "Mean": {(*node).Mean, 3, 1, true}, "Prod": {(*node).Prod, 3, 1, true},
		"Max": {(*node).Max, 3, 1, true}, "Min": {(*node).Min, 3, 1, true}, "LogSumExp": {(*node).LogSumExp, 3, 1, true},
		"Norm":    {func(x *node, axes ...int) *node { return x.Norm(2, axes...) }, 3, 1, true},
		"Var":     {func(x *node, axes ...int) *node { return x.Var(0, axes...) }, 0, 0, true},
		"Median":  {func(x *node, axes ...int) *node { v, _ := x.Median(axes...); return v }, 3, 1, true},
		"Any":     {func(x *node, axes ...int) *node { return autograd.Const(x.Value().Any(axes...)).To(tensor.Float32) }, 1, math.NaN(), true},
		"ArgMax":  {func(x *node, axes ...int) *node { return autograd.Const(x.Value().ArgMax(axes...)).To(tensor.Float32) }, 0, math.NaN(), true},
		"Squeeze": {(*node).Squeeze, 3, 1, false},
	}
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for name, op := range ops {
			for _, axes := range [][]int{{}, {0}, {-1}, {0, tensor.Keepdims}} {
				if len(axes) > 1 && !op.keeps {
					continue
				}
				p := autograd.Param(tensor.Scalar(d, 3), "p")
				y := op.f(p, axes...)
				want(t, fmt.Sprint(name, axes), y.Value(), op.value)
				if y.Rank() != 0 {
					t.Errorf("%s%v of a scalar has shape %v", name, axes, y.Shape())
				}
				if math.IsNaN(op.grad) {
					continue
				}
				if err := y.Backward(); err != nil {
					t.Fatal(err)
				}
				want(t, fmt.Sprint("gradient of ", name, axes), p.Grad(), op.grad)
			}
			for _, axes := range [][]int{{1}, {-2}, {0, 0}, {0, -1}} {
				err := tensor.Try(func() { op.f(autograd.Param(tensor.Scalar(d, 3), "p"), axes...) })
				if !errors.Is(err, tensor.ErrAxis) {
					t.Errorf("%s%v of a scalar: %v", name, axes, err)
				}
			}
		}
	})
}
