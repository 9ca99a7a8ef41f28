package linalg

import (
	_ "embed"
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/conditioned"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

//go:embed lu.cl
var luSource string

// lu factorises: X [count, n, n], LU, P [count, n], S [count], n.
var lu = &kernels.Kernel{Name: "k_lu", Text: luSource, File: "lu.cl",
	Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "LU", Mode: kernels.Out}, {Name: "P", Mode: kernels.OutInts},
		{Name: "S", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}},
	Grid: perMatrix(0, 4),
	Host: kernels.HostKernel{F32: runLU[float32], F64: runLU[float64]},
	Cases: func(few bool) (list []kernels.Case) {
		for _, n := range sizes(few) {
			list = append(list, kernels.Case{Name: fmt.Sprint("n=", n), Build: func(o *kernels.Operands) {
				o.In(3*n*n, -1, 1).Out(3*n*n).Ints(3*n, func(int) int { return -1 }).Out(3).Int(n)
			}})
		}
		return append(list, kernels.Case{Name: "singular", Build: func(o *kernels.Operands) {
			o.Floats(2*4*4, func(i int) float64 { return float64(i % 4) }).Out(2 * 4 * 4)
			o.Ints(2*4, func(int) int { return -1 }).Out(2).Int(4)
		}})
	}}

// luSolve solves: LU [count, n, n], P [count, n], B [count, n, m], X, n, m, columns.
var luSolve = &kernels.Kernel{Name: "k_lu_solve", Text: luSource, File: "lu.cl",
	Params: []kernels.Param{{Name: "LU", Mode: kernels.In}, {Name: "P", Mode: kernels.InInts}, {Name: "B", Mode: kernels.In},
		{Name: "X", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}, {Name: "m", Mode: kernels.IntParam},
		{Name: "columns", Mode: kernels.IntParam}},
	Grid:     kernels.GridFromArg(6),
	Host:     kernels.HostKernel{F32: runLUSolve[float32], F64: runLUSolve[float64]},
	SelfTest: func([]kernels.Arg) []kernels.Operand { return nil }, // P is a permutation: see Cases
	Cases: func(few bool) (list []kernels.Case) {
		for _, n := range sizes(few) {
			list = append(list, kernels.Case{Name: fmt.Sprint("n=", n), Build: func(o *kernels.Operands) {
				m := n%4 + 1
				definite(o, 2, n).Ints(2*n, func(i int) int { return n - 1 - i%n }).In(2*n*m, -1, 1).Out(2*n*m).Int(n, m, 2*m)
			}})
		}
		return append(list, kernels.Case{Name: "singular", Build: func(o *kernels.Operands) {
			definite(o, 2, 3).Start(0)
			o.Ints(2*3, func(i int) int { return i % 3 }).In(2*3*2, -1, 1).Out(2*3*2).Int(3, 2, 4)
		}})
	}}

func init() {
	lu.Tol = conditioned.Tolerance(lu)
	luSolve.Tol = conditioned.Tolerance(luSolve)
}

func runLU[T kernels.Float](c kernels.HostArgs[T]) {
	x, a, p, sign, n := c.Floats(0), c.Floats(1), c.Ints(2), c.Floats(3), c.Int(4)
	copy(a, x)
	c.Parallel(len(sign), n*n*n/2, func(lo, hi int) {
		for at := lo; at < hi; at++ {
			sign[at] = luOf(a[at*n*n:][:n*n], p[at*n:][:n], n)
		}
	})
}

// luOf factorises one matrix in its place, and returns the sign of the permutation p.
func luOf[T kernels.Float](a []T, p []int32, n int) T {
	sign := T(1)
	for i := range p {
		p[i] = int32(i)
	}
	for k := range n {
		best, most := k, abs(a[k*n+k])
		for i := k + 1; i < n; i++ {
			if v := abs(a[i*n+k]); v > most {
				best, most = i, v
			}
		}
		row := a[k*n:][:n]
		if best != k {
			sign = -sign
			p[k], p[best] = p[best], p[k]
			for j, v := range a[best*n:][:n] {
				a[best*n+j], row[j] = row[j], v
			}
		}
		pivot := row[k]
		for i := k + 1; i < n; i++ {
			f := a[i*n+k]
			if pivot != 0 {
				f /= pivot
			}
			a[i*n+k] = f
			to := a[i*n+k+1:][:n-k-1]
			for j, v := range row[k+1:] {
				to[j] -= f * v
			}
		}
	}
	return sign
}

func abs[T kernels.Float](v T) T { return T(math.Abs(float64(v))) }

func runLUSolve[T kernels.Float](c kernels.HostArgs[T]) {
	a, p, b, x, n, m := c.Floats(0), c.Ints(1), c.Floats(2), c.Floats(3), c.Int(4), c.Int(5)
	c.Parallel(len(x)/(n*m), 2*n*n*m, func(lo, hi int) {
		for at := lo; at < hi; at++ {
			lu, from, y := a[at*n*n:][:n*n], b[at*n*m:][:n*m], x[at*n*m:][:n*m]
			good := true
			for i, row := range p[at*n:][:n] {
				copy(y[i*m:][:m], from[int(row)*m:])
				good = good && lu[i*n+i] != 0
			}
			if !good {
				fill(y, T(math.NaN()))
				continue
			}
			substitute(lu, y, n, m, unit)
			substitute(lu, y, n, m, upper)
		}
	})
}

// factors is the LU factorisation of a batch of matrices: see k_lu.
type factors struct{ lu, rows, sign *tensor.Tensor }

// factorise returns that of v, which m describes.
func factorise(op string, m matrices, v *tensor.Tensor) factors {
	rows := tensor.EmptyOf(v.Device(), tensor.Int32, m.count, m.rows)
	f := factors{empty(v, m.count, m.rows, m.rows), rows, empty(v, m.count)}
	switch {
	case v.Len() == 0:
		f.sign.Free()
		f.sign = tensor.FullOf(v.Device(), v.Type(), 1, m.count)
	case m.rows > mostRows:
		onHost(m, v, []*tensor.Tensor{f.lu, f.rows, f.sign}, lapackLU)
	default:
		x := v.Contiguous()
		defer x.Free()
		tensor.Launch(v.Device(), lu, x.Arg(), f.lu.Arg(), f.rows.Arg(), f.sign.Arg(), kernels.IntArg(m.rows))
	}
	return f
}

// solve returns X with A·X = b [..., n, m].
func (f factors) solve(b *tensor.Tensor) *tensor.Tensor {
	x := empty(b, b.Shape()...)
	if n, m := b.Shape()[b.Rank()-2], b.Shape()[b.Rank()-1]; x.Len() > 0 {
		from := b.Contiguous()
		defer from.Free()
		tensor.Launch(b.Device(), luSolve, f.lu.Arg(), f.rows.Arg(), from.Arg(), x.Arg(),
			kernels.IntArg(n), kernels.IntArg(m), kernels.IntArg(x.Len()/n))
	}
	return x
}

func (f factors) free() {
	f.lu.Free()
	f.rows.Free()
	f.sign.Free()
}
