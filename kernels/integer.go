package kernels

import "github.com/clgrad/clgrad/internal/par"

// integerUnaryTwin is y = f(x), computed in int32.
func integerUnaryTwin[T Integer](f func(x, a, b int32) int32) Twin {
	if f == nil {
		return Twin{}
	}
	return ElementTwin(func(c Call[T]) {
		x, y, a, b := c.Reals(0), c.Reals(1), int32(c.Int(3)), int32(c.Int(4))
		par.For(len(y), par.Grain, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				y[i] = T(f(int32(x[i]), a, b))
			}
		})
	})
}

// integerRowTwin repeats the row y over x.
func integerRowTwin[T Integer](f func(x, y int32) int32) Twin {
	if f == nil {
		return Twin{}
	}
	return ElementTwin(func(c Call[T]) {
		x, y, z, cols := c.Reals(0), c.Reals(1), c.Reals(2), c.Int(4)
		par.For(c.Int(3), max(1, par.Grain/max(cols, 1)), func(lo, hi int) {
			for r := lo; r < hi; r++ {
				x, z := x[r*cols:(r+1)*cols], z[r*cols:(r+1)*cols]
				for i, v := range y {
					z[i] = T(f(int32(x[i]), int32(v)))
				}
			}
		})
	})
}
