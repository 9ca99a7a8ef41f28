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

//go:embed eigh.cl
var eighSource string

// eigh decomposes: X [count, n, n], P [count, n·n + n], W [count, n, n], C [count, n + 1], n.
var eigh = &kernels.Kernel{Name: "k_eigh", Text: jacobiSource + eighSource, File: "eigh.cl",
	Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "P", Mode: kernels.Out}, {Name: "W", Mode: kernels.Out},
		{Name: "C", Mode: kernels.Out}, {Name: "n", Mode: kernels.IntParam}},
	Grid: perMatrix(0, 4),
	Host: kernels.HostKernel{F32: runEigh[float32], F64: runEigh[float64]},
	Cases: func(few bool) (list []kernels.Case) {
		of := func(name string, n int, f func(o *kernels.Operands) func(int) float64) {
			list = append(list, kernels.Case{Name: name, Build: func(o *kernels.Operands) {
				o.Floats(2*n*n, f(o)).Out(2 * (n*n + n)).Out(2 * n * n).Out(2 * (n + 1)).Int(n)
			}})
		}
		for _, n := range sizes(few) {
			of(fmt.Sprint("n=", n), n, func(o *kernels.Operands) func(int) float64 {
				return func(int) float64 { return 2*o.Rand.Float64() - 1 }
			})
		}
		plain := func(f func(i int) float64) func(*kernels.Operands) func(int) float64 {
			return func(*kernels.Operands) func(int) float64 { return f }
		}
		of("zero", 3, plain(func(int) float64 { return 0 }))
		of("nan", 3, plain(func(i int) float64 { return math.Sqrt(float64(i - 1)) }))
		of("large", 3, plain(func(i int) float64 { return 1e30 * float64(i*i%7) }))
		return list
	}}

func init() { eigh.Tol = conditioned.Tolerance(eigh) }

func runEigh[T kernels.Float](c kernels.HostArgs[T]) {
	x, p, work, turns, n := c.Floats(0), c.Floats(1), c.Floats(2), c.Floats(3), c.Int(4)
	c.Parallel(len(x)/(n*n), 20*n*n*n, func(lo, hi int) {
		for at := lo; at < hi; at++ {
			w, turn := work[at*n*n:][:n*n], turns[at*(n+1):][:n+1]
			eighOf(x[at*n*n:][:n*n], p[at*(n*n+n):][:n*n+n], w, turn, n)
			clear(w)
			clear(turn)
		}
	})
}

// eighOf is k_eigh of one matrix.
func eighOf[T kernels.Float](x, p, w, turn []T, n int) {
	v, lambda := p[:n*n], p[n*n:]
	var most, strange, sum T
	for i := range n {
		for _, e := range x[i*n:][:i+1] {
			most = max(most, abs(e))
			strange += e * 0
		}
	}
	if strange != 0 {
		fill(p, T(math.NaN()))
		return
	}
	if most == 0 {
		most = 1
	}
	clear(v)
	for i := range n {
		v[i*n+i] = 1
		for j := range i + 1 {
			e := x[i*n+j] / most
			w[i*n+j], w[j*n+i] = e, e
			if sum += e * e; i != j {
				sum += e * e
			}
		}
	}
	least := epsilon[T]() * T(math.Sqrt(float64(sum))) / T(2*n)
	for sweep := 0; sweep < sweeps && eighSweep(v, w, turn, n, least); sweep++ {
	}
	for i := range n {
		lambda[i] = w[i*n+i] * most
	}
	for i := range n {
		best := i
		for k := i + 1; k < n; k++ {
			if lambda[k] < lambda[best] {
				best = k
			}
		}
		if best != i {
			lambda[i], lambda[best] = lambda[best], lambda[i]
			swap(v[i*n:][:n], v[best*n:][:n])
		}
	}
}

// eighSweep makes 0 of every element beside the diagonal of w once, and reports whether one was more than least.
func eighSweep[T kernels.Float](v, w, turn []T, n int, least T) (moved bool) {
	for step := 1; step < 2*n-2; step++ { // pairs of one sum: see jacobi.cl
		first, last, any := max(0, step-n+1), (step-1)/2, false
		for p := first; p <= last; p++ {
			q, to := step-p, turn[2*(p-first):][:2]
			to[0] = 0
			wp, wq := w[p*n:][:n], w[q*n:][:n]
			if apq := wp[q]; abs(apq) > least {
				any = true
				_, co, si := rotation(wp[p], wq[q], apq)
				to[0], to[1] = si, co
				rotate(wp, wq, co, si)
				rotate(v[p*n:][:n], v[q*n:][:n], co, si)
			}
		}
		if !any {
			continue
		}
		moved = true
		for p := first; p <= last; p++ {
			q, si, co := step-p, turn[2*(p-first)], turn[2*(p-first)+1]
			if si == 0 {
				continue
			}
			for at := 0; at < n*n; at += n {
				x, y := w[at+p], w[at+q]
				w[at+p], w[at+q] = co*x-si*y, si*x+co*y
			}
			w[q*n+p], w[p*n+q] = 0, 0
		}
	}
	return moved
}

// Eigh returns the eigenvalues L [..., n] of symmetric matrices A [..., n, n] in ascending order, and
// their eigenvectors as the columns of V [..., n, n], with V·diag(L)·Vᵀ = A. Only the lower triangle of
// A is read. A column may have the other sign in PyTorch, or on another device. A matrix with NaN or an
// infinity gives NaN. It is computed by rotations of Jacobi. It panics with tensor.ErrShape if matrices
// are not square, and with tensor.ErrType unless they are of float32 or float64.
//
// Gradient: V·(D + E)·Vᵀ, where D has that of L on its diagonal, and E is
// (M_ij − M_ji) / (2·(L_j − L_i)) of M = Vᵀ·G for the gradient G of V, 0 for equal eigenvalues. A loss
// that depends on signs has none.
func Eigh(a *autograd.Node) (values, vectors *autograd.Node) {
	const op = "Eigh"
	m := squareOf(op, a)
	n := m.rows
	av := a.ValueFor(op)
	p := empty(av, m.shape(n*n+n)...)
	switch {
	case p.Len() == 0:
	case n > mostRows:
		onHost(m, av, []*tensor.Tensor{p}, lapackEigh)
	default:
		x, work, turns := av.Contiguous(), empty(av, m.count, n, n), empty(av, m.count, n+1)
		defer x.Free()
		defer work.Free()
		defer turns.Free()
		tensor.Launch(av.Device(), eigh, x.Arg(), p.Arg(), work.Arg(), turns.Arg(), kernels.IntArg(n))
	}
	parts := func(x *autograd.Node) (vt, l *autograd.Node) {
		return x.Slice(-1, 0, n*n).Reshape(m.shape(n, n)...), x.Slice(-1, n*n, n*n+n)
	}
	vt, l := parts(autograd.NewOp(op, p, []*autograd.Node{a}, func(g *autograd.Node, in *autograd.Grads) {
		vt, l := parts(in.Output())
		gvt, gl := parts(g)
		turn := vt.MatMul(transposed(gvt))
		turn = turn.Sub(transposed(turn)).MulScalar(0.5).Mul(inverse(l.Unsqueeze(-2).Sub(l.Unsqueeze(-1))))
		core := turn.Add(identity(a, n).Mul(gl.Unsqueeze(-1)))
		in.AccumulateNode(0, transposed(vt).MatMul(core).MatMul(vt))
	}, p))
	return l, transposed(vt)
}
