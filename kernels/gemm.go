package kernels

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// Gemm is a matrix product C [m, n] = op(A)·op(B), or C += op(A)·op(B) if accumulate is not 0. Arguments:
// A, B, C, m, n, K, lda, ldb, ldc, accumulate, rows (of GemmRows), slice (of GemmSlice). Each ld is the
// distance of two rows in memory. With slice < K, C is [⌈K/slice⌉, m, ldc]: a share for each slice of the sum.
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

// GemmSlice chooses the length of the slices in which K is summed up: K on a CPU, and on a GPU whose units
// the tiles of C alone would not fill, so much less that they do.
func GemmSlice(m, n, k int, l Limits) int {
	const short = 128 // a slice of less is not worth the share that it writes
	tiles := ceilDiv(m, gemmTile) * ceilDiv(n, gemmTile)
	if l.CPU || tiles >= l.Units || k < 2*short {
		return max(k, 1)
	}
	slices := min(2*l.Units/tiles, k/short)
	return roundUp(ceilDiv(k, max(slices, 1)), 16)
}

func gemm(form string, ta, tb blas.Transpose) *Kernel {
	return &Kernel{
		Name: "k_gemm_" + form, File: "gemm_cpu.cl", GPU: "gemm_gpu.cl",
		Params: []Param{{"A", In}, {"B", In}, {"C", InOut}, {"m", IntArg}, {"n", IntArg}, {"K", IntArg},
			{"lda", IntArg}, {"ldb", IntArg}, {"ldc", IntArg}, {"accumulate", IntArg}, {"rows", IntArg}, {"slice", IntArg}},
		Grid: func(a []Arg, l Limits) Grid {
			m, n, rows := int(a[3].Int), int(a[4].Int), int(a[10].Int)
			slices := ceilDiv(int(a[5].Int), int(a[11].Int))
			if l.CPU {
				return Grid{Dims: 3, Local: [3]int{1, 1, 1}, Global: [3]int{ceilDiv(n, gemmPanel), ceilDiv(m, rows), slices}}
			}
			return Grid{Dims: 3, Local: [3]int{gemmItems, gemmItems, 1},
				Global: [3]int{ceilDiv(n, gemmTile) * gemmItems, ceilDiv(m, gemmTile) * gemmItems, slices}}
		},
		Twin: Twin{gemmTwin(ta, tb, blas32.Implementation().Sgemm), gemmTwin(ta, tb, blas64.Implementation().Dgemm)},
		Tol: Tolerance{ULP: 4, Rel: 8, Scale: func(a []Arg) float64 {
			return float64(a[5].Int) * maxAbs(a, 0) * maxAbs(a, 1)
		}},
	}
}

// gemmTwin computes a product with gonum's BLAS, the rows of C shared among the cores. A·B is computed
// as A·(Bᵀ)ᵀ: gonum's inner loop is then a dot product of two rows, which runs about twice as fast as the
// one that adds multiples of rows, and transposing B costs O(kn) against O(mnk).
func gemmTwin[T Real](ta, tb blas.Transpose, gemm blasGemm[T]) func(Call[T]) {
	var scratch sync.Pool // of *[]T: a launch leaves nothing to the garbage collector
	return func(c Call[T]) {
		m, n, K, lda, ldb, ldc, slice := c.Int(3), c.Int(4), c.Int(5), c.Int(6), c.Int(7), c.Int(8), c.Int(11)
		var beta T // of C's old elements; BLAS does not read C where it is 0
		if c.Int(9) != 0 {
			beta = 1
		}
		for from := 0; from < K; from += slice {
			k, out := min(slice, K-from), c.Reals(2)[from/slice*m*ldc:]
			a, row := c.Reals(0)[from:], lda // row is the distance of two rows of op(A)
			b, tb, ldb := c.Reals(1)[from:], tb, ldb
			if ta == blas.Trans {
				a, row = c.Reals(0)[from*lda:], 1
			}
			if tb == blas.NoTrans {
				b = c.Reals(1)[from*ldb:]
			}
			if ta == blas.NoTrans && tb == blas.NoTrans {
				buf := transposed(&scratch, b, k, n, ldb)
				defer scratch.Put(buf)
				b, ldb, tb = *buf, k, blas.Trans
			}
			parallel(m, max(1, 4*grain/max(n*k, 1)), func(lo, hi int) {
				gemm(ta, tb, hi-lo, n, k, 1, a[lo*row:], lda, b, ldb, beta, out[lo*ldc:], ldc)
			})
		}
	}
}

// blasGemm is C = alpha·op(A)·op(B) + beta·C, as BLAS has it.
type blasGemm[T Real] func(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)

// transposed returns the transpose of x [rows, cols], whose rows are ld apart, in a slice of the pool.
func transposed[T Real](pool *sync.Pool, x []T, rows, cols, ld int) *[]T {
	buf, _ := pool.Get().(*[]T)
	if buf == nil || cap(*buf) < rows*cols {
		buf = new([]T)
		*buf = make([]T, rows*cols)
	}
	*buf = (*buf)[:rows*cols]
	y := *buf
	const block = 32 // columns at a time: as many lines of y stay in the cache
	for c0 := 0; c0 < cols; c0 += block {
		c1 := min(c0+block, cols)
		for r := range rows {
			for c, v := range x[r*ld+c0 : r*ld+c1] {
				y[(c0+c)*rows+r] = v
			}
		}
	}
	return buf
}
