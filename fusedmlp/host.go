package fusedmlp

import (
	"sync"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"gonum.org/v1/gonum/blas"
)

// loopsOf returns the vector loops that a call computes with; nil if there are none.
func loopsOf[T kernels.Float](c kernels.HostArgs[T]) *vec.Loops[T] {
	if !c.Vectors() {
		return nil
	}
	set, _ := vec.Chosen() // a device that is open has seen the error
	if set == nil {
		return nil
	}
	return vec.On[T](set)
}

// blasGemm is a matrix product of gonum's BLAS, for processors without vector loops.
type blasGemm[T kernels.Float] func(tA, tB blas.Transpose, m, n, k int, alpha T, a []T, lda int, b []T, ldb int, beta T, c []T, ldc int)

// scratch returns n elements, from a multiple of 32 bytes on, as memory of devices is: gonum adds
// the products of two rows in an order that depends on where they lie. It is not inlined: what does
// not leave a function may lie on its stack.
//
//go:noinline
func scratch[T kernels.Float](n int) []T { return make([]T, intmath.RoundUp(n, 8))[:n] }

// transposed returns the transpose of x [rows, cols] in a slice of the pool.
func transposed[T kernels.Float](pool *sync.Pool, x []T, rows, cols int) *[]T {
	buf, _ := pool.Get().(*[]T)
	if buf == nil || cap(*buf) < rows*cols {
		buf = new([]T)
		*buf = scratch[T](rows * cols)
	}
	*buf = (*buf)[:rows*cols]
	transpose(*buf, x, rows, cols)
	return buf
}

// transpose writes the transpose of x [rows, cols] to y.
func transpose[T kernels.Float](y, x []T, rows, cols int) {
	for r := range rows {
		for c, v := range x[r*cols : (r+1)*cols] {
			y[c*rows+r] = v
		}
	}
}

// columnSums sets sums to those of the columns of d, which has n rows. It adds in double precision.
func columnSums[T kernels.Float](sums, d []T, n int) {
	wide := make([]float64, len(sums))
	for r := range n {
		for j, v := range d[r*len(sums) : (r+1)*len(sums)] {
			wide[j] += float64(v)
		}
	}
	for j, v := range wide {
		sums[j] = T(v)
	}
}

// pairTerms is PAIR_TERMS of pairwise.cl.
const pairTerms = 64

// pairwise sums x as a balanced tree over blocks, in the precision of its elements, as pairwise.cl
// does.
func pairwise[T kernels.Float](x []T) T {
	if len(x) <= pairTerms {
		var s T
		for _, v := range x {
			s += v
		}
		return s
	}
	half := (len(x)/2 + pairTerms - 1) / pairTerms * pairTerms
	return pairwise(x[:half]) + pairwise(x[half:])
}
