package tensor_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestManyAxes: operations on twelve axes in another order, which cannot be joined to the loops of one kernel, are those
// on the tensor in its order.
func TestManyAxes(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		shape := []int{2, 1, 2, 2, 1, 2, 2, 3, 2, 2, 2, 2}
		rank := len(shape)
		r := rand.New(rand.NewPCG(1, 2))
		data := make([]float64, 1536)
		for i := range data {
			data[i] = float64(r.IntN(100))
		}
		x := devtest.New(d, data, shape...)
		order := r.Perm(rank)
		at := func(axis int) int { return slices.Index(order, axis) } // where the axis is in that order
		one := func(what string, f func(x *tensor.Tensor, axis func(a int) int) *tensor.Tensor) {
			got := f(x.Transpose(order...), at)
			want := f(x, func(a int) int { return a })
			if got.Rank() == want.Rank() && want.Rank() == rank {
				want = want.Transpose(order...)
			}
			same := slices.Equal(got.Shape(), want.Shape()) && slices.Equal(devtest.Float64s(t, got), devtest.Float64s(t, want))
			if !same {
				t.Errorf("%s: shapes %v and %v", what, got.Shape(), want.Shape())
			}
		}
		type axes = func(a int) int
		one("Copy", func(x *tensor.Tensor, _ axes) *tensor.Tensor { return x.Copy() })
		one("Add", func(x *tensor.Tensor, at axes) *tensor.Tensor {
			return x.Add(x.Slice(at(7), 1, 2)).Mul(x.Flip(at(0), at(11)))
		})
		one("Lt", func(x *tensor.Tensor, at axes) *tensor.Tensor { return x.Lt(x.Flip(at(3))).To(tensor.Int32) })
		one("Sum", func(x *tensor.Tensor, at axes) *tensor.Tensor { return x.Sum(at(0), at(5), at(7), tensor.Keepdims) })
		one("Max", func(x *tensor.Tensor, at axes) *tensor.Tensor { return x.Max(at(2), at(11), at(8), tensor.Keepdims) })
		one("Sort", func(x *tensor.Tensor, at axes) *tensor.Tensor {
			y, _ := x.Sort(at(7))
			return y
		})
		one("CumSum", func(x *tensor.Tensor, at axes) *tensor.Tensor { return x.CumSum(at(7)) })
		one("Pad", func(x *tensor.Tensor, at axes) *tensor.Tensor {
			widths := make([][2]int, rank)
			widths[at(0)], widths[at(3)], widths[at(7)], widths[at(10)] = [2]int{1, 0}, [2]int{0, 1}, [2]int{-1, 2}, [2]int{1, 1}
			return x.Pad(widths)
		})
		one("Concat", func(x *tensor.Tensor, at axes) *tensor.Tensor { return tensor.Concat(at(3), x, x.Square()) })
		one("IndexSelect", func(x *tensor.Tensor, at axes) *tensor.Tensor {
			return x.IndexSelect(at(7), tensor.New(d, []int32{2, 0, 0, 1}))
		})
		one("Gather", func(x *tensor.Tensor, at axes) *tensor.Tensor {
			return x.Gather(at(7), x.Remainder(x.MulScalar(0).AddScalar(3)).To(tensor.Int64))
		})
		one("SetInPlace", func(x *tensor.Tensor, at axes) *tensor.Tensor {
			y := x.Copy()
			y.Step(at(7), 2).SetInPlace(x.Slice(at(7), 0, 2))
			return y
		})
		if y := x.Reshape(append([]int{1, 1, 1, 1}, shape...)...); y.Rank() != tensor.MaxRank {
			t.Errorf("rank %d", y.Rank())
		}
		if tensor.Try(func() { x.Reshape(append([]int{1, 1, 1, 1, 1}, shape...)...) }) == nil {
			t.Error("a rank of 17 was not refused")
		}
	})
}
