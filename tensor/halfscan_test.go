package tensor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestHalfScans: scans and sorts of floats of 16 bits give the bits of those of float32, rounded once, in no more
// launches, with ties, NaN, infinities, and zeros of both signs, of views, of no elements and of scalars.
func TestHalfScans(t *testing.T) {
	type tensors = []*tensor.Tensor
	operations := map[string]func(x *tensor.Tensor, axis int) tensors{
		"CumSum":       func(x *tensor.Tensor, axis int) tensors { return tensors{x.CumSum(axis)} },
		"CumProd":      func(x *tensor.Tensor, axis int) tensors { return tensors{x.CumProd(axis)} },
		"LogCumSumExp": func(x *tensor.Tensor, axis int) tensors { return tensors{x.LogCumSumExp(axis)} },
		"CumMax":       func(x *tensor.Tensor, axis int) tensors { y, at := x.CumMax(axis); return tensors{y, at} },
		"CumMin":       func(x *tensor.Tensor, axis int) tensors { y, at := x.CumMin(axis); return tensors{y, at} },
		"Sort":         func(x *tensor.Tensor, axis int) tensors { y, at := x.Sort(axis); return tensors{y, at} },
		"TopK": func(x *tensor.Tensor, axis int) tensors {
			y, at := x.TopK(min(1, x.Len()), axis)
			return tensors{y, at}
		},
		"KeepTopK": func(x *tensor.Tensor, axis int) tensors { return tensors{x.KeepTopK(min(1, x.Len()), axis)} },
	}
	onEveryVariant(t, func(t *testing.T, d tensor.Device) {
		for _, shape := range [][]int{{}, {0}, {5, 0, 3}, {7}, {3, 33, 5}, {2, 9001}, {1, 300, 19}, {3, 70, 16}} {
			r := rand.New(rand.NewPCG(30, uint64(len(shape))))
			data := make([]float64, size(shape))
			for i := range data {
				data[i] = math.Round(8*r.NormFloat64()) / 8
			}
			for i, v := range []float64{math.Copysign(0, -1), math.Inf(-1), 0, math.Inf(1), math.NaN()} {
				if at := len(data)/2 + 3*i; at < len(data) && len(shape) > 0 {
					data[at] = v
				}
			}
			whole := devtest.New(d, data, shape...)
			views := map[string]*tensor.Tensor{"whole": whole}
			if len(shape) > 1 {
				views["transposed"], views["steps"] = whole.Transpose(), whole.Step(len(shape)-1, 2)
			}
			for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
				for view, x := range views {
					x := x.To(typ)
					wide := x.To(tensor.Float32)
					if view != "whole" {
						x, wide = x.Transpose().Copy().Transpose(), wide.Transpose().Copy().Transpose()
					}
					for name, f := range operations {
						for axis := range max(1, x.Rank()) {
							what := fmt.Sprintf("%s of %v %v, %s, axis %d", name, typ, shape, view, axis)
							before := d.Stats().Launches
							want := f(wide, axis)
							most := d.Stats().Launches - before
							got := f(x, axis)
							if launches := d.Stats().Launches - before - most; launches > most {
								t.Errorf("%s: %d launches, %d in float32", what, launches, most)
							}
							for i, y := range got {
								if i == 0 && y.Type() != typ {
									t.Errorf("%s is of %v", what, y.Type())
								}
								if v, w := devtest.Float64s(t, y), devtest.Float64s(t, want[i].To(y.Type())); !sameNumbers(v, w) {
									t.Errorf("%s: result %d is %v, want %v", what, i, v, w)
								}
							}
						}
					}
				}
			}
		}
	})
}
