package autograd_test

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/lowbit"
	"github.com/clgrad/clgrad/tensor"
)

// TestStorageGradients: To a float for storage passes gradients on, in float32, also where elements are
// moved between; an integer for storage is a constant.
func TestStorageGradients(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	weight := devtest.New(d, []float32{1, 10, 100, 1000, 7, 5}, 2, 3)
	moved := func(x *node) *node {
		return autograd.Concat(0, x.Transpose(1, 0).Reshape(2, 3).Slice(0, 1, 2), x.GatherRows(devtest.New(d, []int32{0})))
	}
	for _, typ := range []tensor.Type{tensor.Float8E4M3FN, tensor.Float8E5M2, tensor.Float8E8M0, tensor.Float4E2M1, tensor.Int4} {
		grads := map[bool][]float64{}
		for _, cast := range []bool{false, true} {
			x := param(d, 0.3, 1.7, -20, 500, 0, 6.1).Reshape(2, 3)
			y := x
			if cast {
				y = x.To(typ)
			}
			y = moved(y).To(tensor.Float32)
			if cast && y.NeedsGrad() != (typ != tensor.Int4) {
				t.Errorf("%v: it needs a gradient: %v", typ, y.NeedsGrad())
			}
			if !y.NeedsGrad() {
				continue
			}
			loss := y.Mul(autograd.Const(weight)).Sum()
			got, err := autograd.Grad(loss, []*node{x})
			if err != nil {
				t.Fatalf("%v: %v", typ, err)
			}
			if got[0].Type() != tensor.Float32 {
				t.Errorf("%v: the gradient is of %v", typ, got[0].Type())
			}
			grads[cast] = devtest.Float64s(t, got[0].Value())
		}
		if typ != tensor.Int4 && !slices.Equal(grads[true], grads[false]) {
			t.Errorf("%v: gradients are %v, and %v without it", typ, grads[true], grads[false])
		}
	}
	if err := tensor.Try(func() { autograd.Param(devtest.New(d, []lowbit.Float8E5M2{1}), "w") }); err == nil {
		t.Error("a parameter is of Float8E5M2")
	}
	if err := tensor.Try(func() { autograd.Autocast(d, tensor.Float8E5M2, func() {}) }); err == nil {
		t.Error("Autocast to Float8E5M2")
	}
}
