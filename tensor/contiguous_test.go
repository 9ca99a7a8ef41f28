package tensor_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestContiguous: of a contiguous tensor it is a view on the same elements, of any other a copy.
// Freeing either leaves the tensor.
func TestContiguous(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := devtest.New(d, []float64{1, 2, 3, 4, 5, 6}, 2, 3)
		for _, whole := range []*tensor.Tensor{x, x.Slice(0, 1, 2), x.Reshape(3, 2), tensor.Scalar(d, 7), tensor.Empty(d, 0, 4), x.Slice(1, 2, 2)} {
			p := whole.Contiguous()
			if whole.Len() > 0 {
				p.SetInPlace(tensor.Full(d, 9, whole.Shape()...))
			}
			got, _ := p.Float64s()
			if elements, err := whole.Float64s(); err != nil || !slices.Equal(got, elements) {
				t.Errorf("%v, contiguous: it is a copy, or err = %v", whole, err)
			}
			if p.Free(); whole.Freed() {
				t.Errorf("%v, contiguous: it is freed with its view", whole)
			}
		}
		for want, gaps := range map[string]*tensor.Tensor{
			"columns": x.T(), "part of rows": x.Slice(1, 1, 3), "repeated": tensor.Scalar(d, 7).Expand(2, 2),
		} {
			p := gaps.Contiguous()
			p.Arg()
			got, err := p.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			if elements, _ := gaps.Float64s(); !slices.Equal(got, elements) || !slices.Equal(p.Shape(), gaps.Shape()) {
				t.Errorf("%s: %v of shape %v, want %v", want, got, p.Shape(), elements)
			}
			if p.Free(); !p.Freed() || gaps.Freed() {
				t.Errorf("%s: afterwards the copy is not freed, or the view is", want)
			}
		}
		if n := testing.AllocsPerRun(100, func() { x.Contiguous().Free() }); n > 1 {
			t.Errorf("%v allocations for a contiguous tensor", n)
		}
		x.Free()
		if err := tensor.Try(func() { x.Contiguous() }); !errors.Is(err, tensor.ErrFreed) {
			t.Errorf("of a freed tensor: err = %v", err)
		}
	})
}
