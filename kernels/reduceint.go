package kernels

import "github.com/clgrad/clgrad/internal/par"

// SumIntegers sums parts of the middle axis of X [outer, len, inner], of int32 or uint8, to int32, wrapping around:
// Y [outer, runs, inner] is Σ X[:, k, :] over k = r, r + runs, … for each run r: X, Y, outer, len, inner, runs. It has
// no form for reals.
var SumIntegers = Typed(&Kernel{
	Grid:   func(a []Arg, l Limits) Grid { return plane(int(a[4].Int), int(a[2].Int)*int(a[5].Int), l) },
	Params: []Param{{"X", In}, {"Y", OutInts}, {"outer", IntArg}, {"len", IntArg}, {"inner", IntArg}, {"runs", IntArg}},
}, "integer.cl", "k_int_sum_axis", ElementTwin(sumIntegersTwin[int32]), ElementTwin(sumIntegersTwin[uint8]), Twin{})

func sumIntegersTwin[T Integer](c Call[T]) {
	x, y, outer, n, inner, runs := c.Reals(0), c.Ints(1), c.Int(2), c.Int(3), c.Int(4), c.Int(5)
	clear(y)
	par.For(outer*runs, max(1, par.Grain*runs/max(n*inner, 1)), func(lo, hi int) {
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
func extremeIntegerTwin[T Integer](least bool) func(Call[T]) {
	return func(c Call[T]) {
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
