package kernels

import "github.com/clgrad/clgrad/internal/par"

// Outer products summed over a batch: C [m, n] += Σ_b U [b, m] ⊗ V [b, n].
var (
	// OuterAcc adds in the order of b: U, V, C, batch, m, n.
	OuterAcc = &Kernel{Name: "k_outer_acc", File: "outer.cl",
		Grid:   func(a []Arg, l Limits) Grid { return plane(int(a[5].Int), int(a[4].Int), l) },
		Params: []Param{{"U", In}, {"V", In}, {"C", InOut}, {"batch", IntArg}, {"m", IntArg}, {"n", IntArg}},
		Twin:   Twin{outerTwin[float32], outerTwin[float64]}, Tol: outerTol}
	// OuterAccAtomic adds slices of the batch with float atomics: U, V, C, batch, m, n, slice.
	OuterAccAtomic = &Kernel{Name: "k_outer_acc_atomic", File: "outer.cl",
		Grid: func(a []Arg, l Limits) Grid {
			g := plane(int(a[5].Int), int(a[4].Int), l)
			g.Dims, g.Global[2], g.Local[2] = 3, ceilDiv(int(a[3].Int), int(a[6].Int)), 1
			return g
		},
		Params: []Param{{"U", In}, {"V", In}, {"C", InOut}, {"batch", IntArg}, {"m", IntArg}, {"n", IntArg}, {"slice", IntArg}},
		Twin:   Twin{outerTwin[float32], outerTwin[float64]}, Tol: outerTol}
)

var outerTol = Tolerance{ULP: 4, Rel: 8, Scale: func(a []Arg) float64 {
	return MaxAbs(a, 2) + float64(a[3].Int)*MaxAbs(a, 0)*MaxAbs(a, 1)
}}

func outerTwin[T Real](c Call[T]) {
	u, v, out, batch, m, n := c.Reals(0), c.Reals(1), c.Reals(2), c.Int(3), c.Int(4), c.Int(5)
	par.For(m, max(1, par.Grain/max(batch*n, 1)), func(lo, hi int) {
		for b := range batch {
			for i := lo; i < hi; i++ {
				x, row := u[b*m+i], out[i*n:(i+1)*n]
				for j, w := range v[b*n : (b+1)*n] {
					row[j] += x * w
				}
			}
		}
	})
}
