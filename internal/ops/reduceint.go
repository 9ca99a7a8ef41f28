package ops

import (
	"github.com/clgrad/clgrad/kernels"
)

// SumIntegers sums parts of the middle axis of X [outer, len, inner], of int32 or uint8, to int32, wrapping around:
// Y [outer, runs, inner] is Σ X[:, k, :] over k = r, r + runs, … for each run r: X, Y, outer, len, inner, runs. It has
// no form for reals.
var SumIntegers = kernels.Typed(&kernels.Kernel{
	Grid: func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
		return kernels.Plane(int(a[4].Int), int(a[2].Int)*int(a[5].Int), l)
	},
	Params: []kernels.Param{in("X"), outInts("Y"), intArg("outer"), intArg("len"), intArg("inner"), intArg("runs")}, Describe: describeSumIntegers,
}, "integer.cl", "k_int_sum_axis",
	kernels.ElementTwin(sumIntegersTwin[int32]), kernels.ElementTwin(sumIntegersTwin[uint8]), kernels.Twin{})

func sumIntegersTwin[T kernels.Integer](c kernels.Call[T]) {
	x, y, outer, n, inner, runs := c.Reals(0), c.Ints(1), c.Int(2), c.Int(3), c.Int(4), c.Int(5)
	clear(y)
	c.Parallel(outer*runs, n*inner/runs, func(lo, hi int) {
		for row := lo; row < hi; row++ {
			sum := y[row*inner : (row+1)*inner]
			for k := row % runs; k < n; k += runs {
				for i, v := range x[(row/runs*n+k)*inner:][:inner] {
					sum[i] += int32(v)
				}
			}
		}
	})
}

// extremeIntegerTwin is the maximum over the middle axis, or the minimum.
func extremeIntegerTwin[T kernels.Integer](least bool) func(kernels.Call[T]) {
	return func(c kernels.Call[T]) {
		x, y, outer, n, inner := c.Reals(0), c.Reals(1), c.Int(2), c.Int(3), c.Int(4)
		for o := range outer {
			best := y[o*inner : (o+1)*inner]
			copy(best, x[o*n*inner:])
			for k := range n {
				for i, v := range x[(o*n+k)*inner:][:inner] {
					if (v < best[i]) == least {
						best[i] = v
					}
				}
			}
		}
	}
}
