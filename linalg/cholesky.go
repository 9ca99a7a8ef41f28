package linalg

import (
	_ "embed"
	"fmt"
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/conditioned"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

//go:embed cholesky.cl
var choleskySource string

// cholesky factorises: X [count, n, n], L, n.
var cholesky = &kernels.Kernel{Name: "k_cholesky", Text: choleskySource, File: "cholesky.cl",
	Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "L", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}},
	Grid:   perMatrix(0, 2),
	Host:   kernels.HostKernel{F32: runCholesky[float32], F64: runCholesky[float64]},
	Cases: func(few bool) (list []kernels.Case) {
		for _, n := range sizes(few) {
			list = append(list, kernels.Case{Name: fmt.Sprint("n=", n), Build: func(o *kernels.Operands) {
				definite(o, 3, n).Out(3 * n * n).Int(n)
			}})
		}
		return append(list, kernels.Case{Name: "indefinite", Build: func(o *kernels.Operands) {
			o.In(2*5*5, -1, 1).Start(-1)
			o.Out(2 * 5 * 5).Int(5)
		}})
	}}

func init() { cholesky.Tol = conditioned.Tolerance(cholesky) }

// definite adds count symmetric and positive definite matrices of n rows.
func definite(o *kernels.Operands, count, n int) *kernels.Operands {
	all := make([]float64, 0, count*n*n)
	for range count {
		a := make([]float64, n*n)
		for i := range n {
			for j := range i {
				a[i*n+j] = 2*o.Rand.Float64() - 1
				a[j*n+i] = a[i*n+j]
			}
			a[i*n+i] = float64(n) + o.Rand.Float64()
		}
		all = append(all, a...)
	}
	return o.Floats(len(all), func(i int) float64 { return all[i] })
}

func runCholesky[T kernels.Float](c kernels.HostArgs[T]) {
	x, y, n := c.Floats(0), c.Floats(1), c.Int(2)
	c.Parallel(len(x)/(n*n), n*n*n/3, func(lo, hi int) {
		for at := lo; at < hi; at++ {
			choleskyOf(x[at*n*n:][:n*n], y[at*n*n:][:n*n], n)
		}
	})
}

// choleskyOf factorises one matrix.
func choleskyOf[T kernels.Float](x, l []T, n int) {
	good := true
	for i := range n {
		row := l[i*n:][:n]
		for j := range i + 1 {
			s, other := x[i*n+j], l[j*n:][:j]
			for k, v := range other {
				s -= row[k] * v
			}
			if i == j {
				good = good && s > 0
				row[j] = T(math.Sqrt(float64(s)))
			} else {
				row[j] = s / l[j*n+j]
			}
		}
		clear(row[i+1:])
	}
	if !good {
		fill(l, T(math.NaN()))
	}
}

func fill[T any](x []T, v T) {
	for i := range x {
		x[i] = v
	}
}

// Cholesky returns the lower triangular L [..., n, n] with L·Lᵀ = A, of symmetric and positive
// definite matrices A [..., n, n], of which only the lower triangle is read. Of a matrix that is not
// positive definite it is NaN. It panics with tensor.ErrShape if matrices are not square, and with
// tensor.ErrType unless they are of float32 or float64.
//
// Gradient: L⁻ᵀ·S·L⁻¹ with the symmetric part S of the lower triangle of Lᵀ·g, its diagonal halved.
func Cholesky(a *autograd.Node) *autograd.Node {
	const op = "Cholesky"
	m := squareOf(op, a)
	v := a.ValueFor(op)
	l := empty(v, v.Shape()...)
	switch {
	case l.Len() == 0:
	case m.rows > mostRows:
		onHost(m, v, []*tensor.Tensor{l}, lapackCholesky)
	default:
		x := v.Contiguous()
		defer x.Free()
		tensor.Launch(v.Device(), cholesky, x.Arg(), l.Arg(), kernels.IntArg(m.rows))
	}
	return autograd.NewOp(op, l, []*autograd.Node{a}, func(g *autograd.Node, in *autograd.Grads) {
		l := in.Output()
		p := transposed(l).MatMul(g.Tril(0))
		s := p.Tril(0).Add(p.Tril(-1)) // twice the triangle with half of the diagonal
		s = s.Add(transposed(s)).MulScalar(0.25)
		lower := solveTriangularOf("Cholesky", transposed(l), s, 1)                // L⁻ᵀ·S
		both := solveTriangularOf("Cholesky", transposed(l), transposed(lower), 1) // (L⁻ᵀ·S·L⁻¹)ᵀ, which is symmetric
		in.AccumulateNode(0, both)
	}, l)
}
