package tensor_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestPacked: a tensor without gaps is passed as it is and outlives the launch; of one with gaps there is a copy, which
// does not.
func TestPacked(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := tensor.New(d, []float64{1, 2, 3, 4, 5, 6}, 2, 3)
		for _, whole := range []*tensor.Tensor{x, x.Slice(0, 1, 2), x.Reshape(3, 2), tensor.Scalar(d, 7), tensor.Empty(d, 0, 4), x.Slice(1, 2, 2)} {
			p, done := whole.Packed()
			if done(); p != whole || whole.Freed() {
				t.Errorf("%v, without gaps: another tensor, or freed", whole)
			}
		}
		for want, gaps := range map[string]*tensor.Tensor{
			"columns": x.T(), "part of rows": x.Slice(1, 1, 3), "repeated": tensor.Scalar(d, 7).Expand(2, 2),
		} {
			p, done := gaps.Packed()
			p.Arg()
			got, err := p.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			if elements, _ := gaps.Float64s(); !slices.Equal(got, elements) || !slices.Equal(p.Shape(), gaps.Shape()) {
				t.Errorf("%s: %v of shape %v, want %v", want, got, p.Shape(), elements)
			}
			if done(); !p.Freed() || gaps.Freed() {
				t.Errorf("%s: afterwards the copy is not freed, or the view is", want)
			}
		}
		if n := testing.AllocsPerRun(100, func() { _, done := x.Packed(); done() }); n > 0 {
			t.Errorf("%v allocations for a tensor without gaps", n)
		}
		x.Free()
		if err := tensor.Maybe(func() { x.Packed() }); !errors.Is(err, tensor.ErrFreed) {
			t.Errorf("of a freed tensor: err = %v", err)
		}
	})
}
