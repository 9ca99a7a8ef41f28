package kernels

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Gemm is a matrix product C [m, n] = op(A)·op(B), or C += op(A)·op(B) if accumulate is not 0. Arguments:
// A, B, C, m, n, K, lda, ldb, ldc, accumulate, rows (of GemmRows). Each ld is the distance of two rows
// in memory.
var (
	GemmNN = gemm("nn", blas.NoTrans, blas.NoTrans) // A [m, K], B [K, n]
	GemmNT = gemm("nt", blas.NoTrans, blas.Trans)   // A [m, K], B [n, K]
	GemmTN = gemm("tn", blas.Trans, blas.NoTrans)   // A [K, m], B [K, n]
)

// The tiles of gemm_cpu.cl and gemm_gpu.cl.
const (
	gemmPanel           = 64 // columns of C per work-item of a CPU
	gemmTile, gemmItems = 64, 16
)

// GemmRows chooses the rows of C that one work-item of a CPU computes: enough that packing its panel
// of B is a small part of the work, few enough that every core gets a share.
func GemmRows(m, n int, l Limits) int {
	panels := ceilDiv(n, gemmPanel)
	share := ceilDiv(m*panels, l.Units)
	return max(12, min(roundUp(share, 12), 240))
}

func gemm(form string, ta, tb blas.Transpose) *Kernel {
	return &Kernel{
		Name: "k_gemm_" + form, File: "gemm_cpu.cl", GPU: "gemm_gpu.cl",
		Params: []Param{{"A", In}, {"B", In}, {"C", InOut}, {"m", IntArg}, {"n", IntArg}, {"K", IntArg},
			{"lda", IntArg}, {"ldb", IntArg}, {"ldc", IntArg}, {"accumulate", IntArg}, {"rows", IntArg}},
		Grid: func(a []Arg, l Limits) Grid {
			m, n, rows := int(a[3].Int), int(a[4].Int), int(a[10].Int)
			if l.CPU {
				return groups(ceilDiv(n, gemmPanel), ceilDiv(m, rows))
			}
			return Grid{Dims: 2, Local: [3]int{gemmItems, gemmItems},
				Global: [3]int{ceilDiv(n, gemmTile) * gemmItems, ceilDiv(m, gemmTile) * gemmItems}}
		},
		Twin: Twin{
			func(c Call[float32]) {
				m, n, k := c.Int(3), c.Int(4), c.Int(5)
				blas32.Implementation().Sgemm(ta, tb, m, n, k, 1, c.Reals(0), c.Int(6), c.Reals(1), c.Int(7),
					beta[float32](c), c.Reals(2), c.Int(8))
			},
			func(c Call[float64]) {
				m, n, k := c.Int(3), c.Int(4), c.Int(5)
				blas64.Implementation().Dgemm(ta, tb, m, n, k, 1, c.Reals(0), c.Int(6), c.Reals(1), c.Int(7),
					beta[float64](c), c.Reals(2), c.Int(8))
			},
		},
		Tol: Tolerance{ULP: 4, Rel: 2, Scale: func(a []Arg) float64 {
			return float64(a[5].Int) * maxAbs(a, 0) * maxAbs(a, 1)
		}},
	}
}

// beta is the factor of C's old elements. BLAS does not read C where it is 0.
func beta[T Real](c Call[T]) T {
	if c.Int(9) != 0 {
		return 1
	}
	return 0
}
