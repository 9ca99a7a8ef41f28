package ops

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// OuterAccAtomic is C [m, n] += Σ_b U [b, m] ⊗ V [b, n], of slices of the batch with float atomics: U, V, C, batch, m, n, slice.
var OuterAccAtomic = &kernels.Kernel{Name: "k_outer_acc_atomic", File: "outer.cl",
	Grid: func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
		g := kernels.Plane(int(a[5].Int), int(a[4].Int), l)
		g.Dims, g.Global[2], g.Local[2] = 3, intmath.CeilDiv(int(a[3].Int), int(a[6].Int)), 1
		return g
	},
	Params: []kernels.Param{in("U"), in("V"), inOut("C"), intArg("batch"), intArg("m"), intArg("n"), intArg("slice")},
	Twin:   kernels.Twin{F32: outerTwin[float32], F64: outerTwin[float64]}, Tol: outerTol, Trial: smallOnly}

var outerTol = kernels.Tolerance{ULP: 4, Rel: 8, Scale: func(a []kernels.Arg) float64 {
	return kernels.MaxAbs(a, 2) + float64(a[3].Int)*kernels.MaxAbs(a, 0)*kernels.MaxAbs(a, 1)
}}

func outerTwin[T kernels.Real](c kernels.Call[T]) {
	u, v, out, batch, m, n := c.Reals(0), c.Reals(1), c.Reals(2), c.Int(3), c.Int(4), c.Int(5)
	c.Parallel(m, batch*n, func(lo, hi int) {
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
