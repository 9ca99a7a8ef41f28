package kernels

import "github.com/clgrad/clgrad/internal/par"

// FMAChains measures the peak of a device's arithmetic: Y[i] is the sum of 128 chains x = a·x + b of `steps`
// fused multiply-adds, chain j starting from j: 256·steps operations for each element. Y, n, steps, a, b.
var FMAChains = &Kernel{Name: "k_fma_chains", File: "peak.cl",
	Grid: func(a []Arg, l Limits) Grid {
		if l.CPU { // a work-item is vectors already
			return Grid{Dims: 1, Global: [3]int{a[0].N}, Local: [3]int{1}}
		}
		return Line(a[0].N, l)
	},
	Params: []Param{{"Y", Out}, {"n", IntArg}, {"steps", IntArg}, {"a", RealArg}, {"b", RealArg}},
	Twin:   Twin{fmaChainsTwin[float32], fmaChainsTwin[float64]},
	Tol:    Tolerance{ULP: 256}}

func fmaChainsTwin[T Real](c Call[T]) {
	y, steps, a, b := c.Reals(0), c.Int(2), c.Real(3), c.Real(4)
	par.For(len(y), 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			var sum T
			for j := range 128 {
				x := T(j)
				for range steps {
					x = x*a + b
				}
				sum += x
			}
			y[i] = sum
		}
	})
}
