package linalg

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/clgrad/clgrad/tensor"
)

// mostRows is how many rows a matrix may have that the device factorises; tests change it.
var mostRows = 512

// onHost factorises the matrices of v, which m describes, on the host in float64, one after the other:
// f computes from a matrix what results have of it. It waits for the device.
func onHost(m matrices, v *tensor.Tensor, results []*tensor.Tensor, f func(m matrices, a []float64, results [][]float64)) {
	all, err := v.Float64s()
	if err != nil { // the device failed, or records: it says so itself
		return
	}
	data := make([][]float64, len(results))
	for i, y := range results {
		data[i] = make([]float64, y.Len())
	}
	for at := range m.count {
		parts := make([][]float64, len(results))
		for i, list := range data {
			size := len(list) / m.count
			parts[i] = list[at*size:][:size]
		}
		f(m, all[at*m.rows*m.cols:][:m.rows*m.cols], parts)
	}
	for i, y := range results {
		from := tensor.NewOf(v.Device(), y.Type(), data[i], y.Shape()...)
		y.SetInPlace(from)
		from.Free()
	}
}

// lapackCholesky computes L [n, n].
func lapackCholesky(m matrices, a []float64, results [][]float64) {
	n, l := m.rows, results[0]
	for i := range n {
		copy(l[i*n:][:i+1], a[i*n:])
	}
	if _, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: n, Data: l}); !ok {
		fill(l, math.NaN())
	}
}

// lapackLU computes LU [n, n], the permutation [n], and its sign.
func lapackLU(m matrices, a []float64, results [][]float64) {
	n, rows := m.rows, results[1]
	copy(results[0], a)
	swaps := make([]int, n)
	lapack64.Getrf(blas64.General{Rows: n, Cols: n, Stride: n, Data: results[0]}, swaps)
	sign := 1.0
	for i := range rows {
		rows[i] = float64(i)
	}
	for i, j := range swaps {
		if i != j {
			rows[i], rows[j] = rows[j], rows[i]
			sign = -sign
		}
	}
	results[2][0] = sign
}

// lapackQR computes Qᵀ [k, m] and R [k, n].
func lapackQR(m matrices, a []float64, results [][]float64) {
	k := len(results[0]) / m.rows
	qr := blas64.General{Rows: m.rows, Cols: k, Stride: k, Data: make([]float64, m.rows*k)}
	for i := range m.rows {
		copy(qr.Data[i*k:][:m.cols], a[i*m.cols:])
	}
	factors := make([]float64, m.cols)
	part := qr
	part.Cols = m.cols
	work := make([]float64, 64*m.rows)
	lapack64.Geqrf(part, factors, work, len(work))
	for i := range m.cols {
		copy(results[1][i*m.cols+i:][:m.cols-i], qr.Data[i*k+i:])
	}
	lapack64.Orgqr(qr, factors, work, len(work))
	turned(results[0], qr.Data, k, 1)
}

// lapackSVD computes Uᵀ [n, m], the singular values [n] and Vᵀ [n, n], one after the other.
func lapackSVD(m matrices, a []float64, results [][]float64) {
	n, p := m.cols, results[0]
	if !finite(a) {
		fill(p, math.NaN())
		return
	}
	u := blas64.General{Rows: m.rows, Cols: n, Stride: n, Data: make([]float64, m.rows*n)}
	v := blas64.General{Rows: n, Cols: n, Stride: n, Data: p[n*m.rows+n:]}
	from := blas64.General{Rows: m.rows, Cols: n, Stride: n, Data: append([]float64(nil), a...)}
	work := make([]float64, 1)
	s := p[n*m.rows:][:n]
	lapack64.Gesvd(lapack.SVDStore, lapack.SVDStore, from, u, v, s, work, -1)
	work = make([]float64, int(work[0]))
	if ok := lapack64.Gesvd(lapack.SVDStore, lapack.SVDStore, from, u, v, s, work, len(work)); !ok {
		fill(p, math.NaN())
		return
	}
	turned(p[:n*m.rows], u.Data, n, 1)
}

// lapackEigh computes the eigenvectors [n, n] as rows and the eigenvalues [n].
func lapackEigh(m matrices, a []float64, results [][]float64) {
	n, p := m.rows, results[0]
	lower := make([]float64, n*n)
	for i := range n {
		copy(lower[i*n:][:i+1], a[i*n:])
	}
	if !finite(lower) {
		fill(p, math.NaN())
		return
	}
	of := blas64.Symmetric{Uplo: blas.Lower, N: n, Stride: n, Data: lower}
	work := make([]float64, 1)
	lapack64.Syev(lapack.EVCompute, of, p[n*n:], work, -1)
	work = make([]float64, int(work[0]))
	if ok := lapack64.Syev(lapack.EVCompute, of, p[n*n:], work, len(work)); !ok {
		fill(p, math.NaN())
		return
	}
	turned(p[:n*n], lower, n, 1)
}

func finite(x []float64) bool {
	sum := 0.0
	for _, v := range x {
		sum += v * 0
	}
	return sum == 0
}
