package kernels

import (
	"math"

	"github.com/clgrad/clgrad/internal/cond"
	"github.com/clgrad/clgrad/internal/par"
)

// leakyTwin is y = x > 0 ? x : a·x. Either factor leaves a NaN one.
func leakyTwin[T Real](c Call[T]) {
	x, y := c.Reals(0), c.Reals(1)
	factor := [2]T{c.Real(3), 1}
	par.For(len(y), 2*par.Grain, func(lo, hi int) {
		y := y[lo:hi]
		for i, v := range x[lo:hi] {
			y[i] = v * factor[cond.Positive(v)]
		}
	})
}

// leakyGradTwin is d = x > 0 ? g : a·g.
func leakyGradTwin[T Real](c Call[T]) {
	x, g, d := c.Reals(0), c.Reals(2), c.Reals(3)
	factor := [2]T{c.Real(5), 1}
	par.For(len(d), 2*par.Grain, func(lo, hi int) {
		g, d := g[lo:hi], d[lo:hi]
		for i, v := range x[lo:hi] {
			f := factor[cond.Positive(v)]
			if v != v {
				f = factor[0]
			}
			d[i] = g[i] * f
		}
	})
}

// sineTwin is y = sin(a·x), of the product as a device rounds it.
func sineTwin[T Real](c Call[T]) {
	x, y, a := c.Reals(0), c.Reals(1), c.Real(3)
	par.For(len(y), par.Grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			y[i] = T(math.Sin(float64(a * x[i])))
		}
	})
}

// sineGradTwin is d = a·cos(a·x)·g.
func sineGradTwin[T Real](c Call[T]) {
	x, g, d, a := c.Reals(0), c.Reals(2), c.Reals(3), c.Real(5)
	par.For(len(d), par.Grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d[i] = T(float64(a) * math.Cos(float64(a*x[i])) * float64(g[i]))
		}
	})
}

// addRowTwin is z[r, c] = x[r, c] + y[c].
func addRowTwin[T Real](c Call[T]) {
	x, y, z, cols := c.Reals(0), c.Reals(1), c.Reals(2), c.Int(4)
	par.For(c.Int(3), max(1, 2*par.Grain/max(cols, 1)), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			x, z := x[r*cols:(r+1)*cols], z[r*cols:(r+1)*cols]
			for i, v := range y {
				z[i] = x[i] + v
			}
		}
	})
}
