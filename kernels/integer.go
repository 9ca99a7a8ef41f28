package kernels

// SumIntegers sums parts of the middle axis of X [outer, len, inner], of int32 or uint8, to int32, wrapping around:
// Y [outer, runs, inner] is Σ X[:, k, :] over k = r, r + runs, … for each run r: X, Y, outer, len, inner, runs. It has
// no form for reals.
var SumIntegers = typed(&Kernel{
	Grid:   func(a []Arg, l Limits) Grid { return plane(int(a[4].Int), int(a[2].Int)*int(a[5].Int), l) },
	Params: []Param{{"X", In}, {"Y", OutInts}, {"outer", IntArg}, {"len", IntArg}, {"inner", IntArg}, {"runs", IntArg}},
}, "integer.cl", "k_int_sum_axis", elementTwin(sumIntegersTwin[int32]), elementTwin(sumIntegersTwin[uint8]), Twin{})

// integer is what integer.cl computes with.
type integer interface{ int32 | uint8 }

func sumIntegersTwin[T integer](c Call[T]) {
	x, y, outer, n, inner, runs := c.Reals(0), c.Ints(1), c.Int(2), c.Int(3), c.Int(4), c.Int(5)
	clear(y)
	parallel(outer*runs, max(1, grain*runs/max(n*inner, 1)), func(lo, hi int) {
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
func extremeIntegerTwin[T integer](least bool) func(Call[T]) {
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

// integerUnaryTwin is y = f(x), computed in int32.
func integerUnaryTwin[T integer](f func(x, a, b int32) int32) Twin {
	if f == nil {
		return Twin{}
	}
	return elementTwin(func(c Call[T]) {
		x, y, a, b := c.Reals(0), c.Reals(1), int32(c.Int(3)), int32(c.Int(4))
		parallel(len(y), grain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				y[i] = T(f(int32(x[i]), a, b))
			}
		})
	})
}

// integerRowTwin repeats the row y over x.
func integerRowTwin[T integer](f func(x, y int32) int32) Twin {
	if f == nil {
		return Twin{}
	}
	return elementTwin(func(c Call[T]) {
		x, y, z, cols := c.Reals(0), c.Reals(1), c.Reals(2), c.Int(4)
		parallel(c.Int(3), max(1, grain/max(cols, 1)), func(lo, hi int) {
			for r := lo; r < hi; r++ {
				x, z := x[r*cols:(r+1)*cols], z[r*cols:(r+1)*cols]
				for i, v := range y {
					z[i] = T(f(int32(x[i]), int32(v)))
				}
			}
		})
	})
}
