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

//go:embed qr.cl
var qrSource string

// qr factorises: X [count, m, n], W [count, n, m], T [count, min(m, n)], m, n.
var qr = &kernels.Kernel{Name: "k_qr", Text: qrSource, File: "qr.cl",
	Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "W", Mode: kernels.Out}, {Name: "T", Mode: kernels.Out},
		{Name: "m", Mode: kernels.IntParam}, {Name: "n", Mode: kernels.IntParam}},
	Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		return groups(a[0].N/max(1, int(a[3].Int*a[4].Int)), l)
	},
	Host: kernels.HostKernel{F32: runQR[float32], F64: runQR[float64]},
	Cases: func(few bool) (list []kernels.Case) {
		for _, n := range sizes(few) {
			for _, m := range []int{n, n + 3, n/2 + 1} {
				list = append(list, kernels.Case{Name: fmt.Sprint("m=", m, " n=", n), Build: func(o *kernels.Operands) {
					o.In(2*m*n, -1, 1).Out(2*m*n).Out(2*min(m, n)).Int(m, n)
				}})
			}
		}
		return append(list, kernels.Case{Name: "zero", Build: func(o *kernels.Operands) {
			o.In(2*3*2, 0, 0).Out(2*3*2).Out(2*2).Int(3, 2)
		}})
	}}

// qrQ makes Q: W [count, n, m], T [count, k], Q [count, c, m], m, n, k, c, rows.
var qrQ = &kernels.Kernel{Name: "k_qr_q", Text: qrSource, File: "qr.cl",
	Params: []kernels.Param{{Name: "W", Mode: kernels.In}, {Name: "T", Mode: kernels.In}, {Name: "Q", Mode: kernels.Out},
		{Name: "m", Mode: kernels.IntParam}, {Name: "n", Mode: kernels.IntParam}, {Name: "k", Mode: kernels.IntParam},
		{Name: "c", Mode: kernels.IntParam}, {Name: "rows", Mode: kernels.IntParam}},
	Grid: kernels.GridFromArg(7),
	Host: kernels.HostKernel{F32: runQRQ[float32], F64: runQRQ[float64]},
	Cases: func(few bool) (list []kernels.Case) {
		for _, m := range sizes(few) {
			n := m/2 + 1
			list = append(list, kernels.Case{Name: fmt.Sprint("m=", m), Build: func(o *kernels.Operands) {
				o.In(2*m*n, -1, 1).In(2*n, 0, 0.5).Out(2*m*m).Int(m, n, min(m, n), m, 2*m)
			}})
		}
		return list
	}}

func init() {
	qr.Tol = conditioned.Tolerance(qr)
	qrQ.Tol = conditioned.Tolerance(qrQ)
}

func runQR[T kernels.Float](c kernels.HostArgs[T]) {
	x, w, t, m, n := c.Floats(0), c.Floats(1), c.Floats(2), c.Int(3), c.Int(4)
	k := min(m, n)
	c.Parallel(len(x)/(m*n), 2*m*n*k, func(lo, hi int) {
		for at := lo; at < hi; at++ {
			turned(w[at*m*n:][:m*n], x[at*m*n:][:m*n], n, 1)
			for j := range k {
				t[at*k+j] = reflect(w[at*m*n:][:m*n], j, m, n)
			}
		}
	})
}

// turned sets to to the transpose of rows of n elements, divided by a number.
func turned[T kernels.Float](to, from []T, n int, by T) {
	m := len(from) / n
	for i := range m {
		for j, v := range from[i*n:][:n] {
			to[j*m+i] = v / by
		}
	}
}

// reflect makes reflection j of w [n, m], applies it to the rows behind, and returns its factor.
func reflect[T kernels.Float](w []T, j, m, n int) (factor T) {
	v := w[j*m:][:m]
	head, rest := v[j], v[j+1:]
	var most, tail, sum T
	for _, e := range rest {
		most = max(most, abs(e))
		tail += e * 0
	}
	if most > 0 {
		for _, e := range rest {
			sum += e / most * (e / most)
		}
		tail += most * T(math.Sqrt(float64(sum)))
	}
	if tail == 0 {
		return 0
	}
	beta := T(-math.Copysign(math.Hypot(float64(head), float64(tail)), float64(head)))
	factor = (beta - head) / beta
	for i := range rest {
		rest[i] *= 1 / (head - beta)
	}
	v[j] = beta
	for c := j + 1; c < n; c++ {
		reflected(w[c*m+j:][:m-j], rest, factor)
	}
	return factor
}

// reflected applies a reflection, whose vector is 1 and rest, to y.
func reflected[T kernels.Float](y, rest []T, factor T) {
	s, behind := y[0], y[1:][:len(rest)]
	for i, v := range rest {
		s += v * behind[i]
	}
	s *= factor
	y[0] -= s
	for i, v := range rest {
		behind[i] -= s * v
	}
}

func runQRQ[T kernels.Float](c kernels.HostArgs[T]) {
	w, t, q, m, n, k, cols, rows := c.Floats(0), c.Floats(1), c.Floats(2), c.Int(3), c.Int(4), c.Int(5), c.Int(6), c.Int(7)
	c.Parallel(rows, 4*m*k, func(lo, hi int) {
		for id := lo; id < hi; id++ {
			at, y := id/cols, q[id*m:][:m]
			clear(y)
			y[id%cols] = 1
			for j := k - 1; j >= 0; j-- {
				reflected(y[j:], w[at*m*n+j*m:][j+1:m], t[at*k+j])
			}
		}
	})
}

// QROptions says what [QR] returns.
type QROptions struct {
	// Complete asks for all columns of Q [..., m, m], and R [..., m, n]; otherwise they are
	// [..., m, k] and [..., k, n], with the lesser of m and n as k.
	Complete bool
}

// QR returns the factors of matrices A [..., m, n]: Q with orthonormal columns and the upper
// triangular R, with Q·R = A. It is computed by Householder reflections: the diagonal of R may be
// negative, as in PyTorch. It panics with tensor.ErrType unless A is of float32 or float64.
//
// Gradient: (G + Q·copyltu(M))·R⁻ᵀ, where G and H are the gradients of Q and R, M is R·Hᵀ − Gᵀ·Q, and
// copyltu repeats the lower triangle in the upper one. Columns of A beyond its rows have that of
// Qᵀ·A. A complete Q of more rows than A has columns has no gradient: Backward panics with
// tensor.ErrValue. Where R is singular it is infinite or NaN.
func QR(a *autograd.Node, options ...QROptions) (q, r *autograd.Node) {
	const op = "QR"
	o, m := optional(op, a, options), matricesOf(op, a)
	if m.cols > m.rows {
		left := a.Slice(-1, 0, m.rows)
		q, r = QR(left, options...)
		return q, autograd.Concat(-1, r, transposed(q).MatMul(a.Slice(-1, m.rows, m.cols)))
	}
	k := m.cols
	if o.Complete {
		k = m.rows
	}
	both := qrOf(op, a, m, k)
	q = transposed(both.Slice(-1, 0, k*m.rows).Reshape(m.shape(k, m.rows)...))
	return q, both.Slice(-1, k*m.rows, k*(m.rows+m.cols)).Reshape(m.shape(k, m.cols)...)
}

// qrOf returns Qᵀ [k, m] and R [k, n] of matrices [m, n], m ≥ n, one after the other on the last axis.
func qrOf(op string, a *autograd.Node, m matrices, k int) *autograd.Node {
	av := a.ValueFor(op)
	q, r := qrValues(m, av, k)
	defer q.Free()
	defer r.Free()
	both := tensor.Concat(-1, q, r)
	return autograd.NewOp(op, both, []*autograd.Node{a}, func(g *autograd.Node, in *autograd.Grads) {
		if k != m.cols {
			misuse(op, tensor.ErrValue, "a complete Q of more rows than columns has no gradient: leave Complete out", a)
		}
		part := func(x *autograd.Node) (qt, r *autograd.Node) {
			qt, r = x.Slice(-1, 0, k*m.rows), x.Slice(-1, k*m.rows, k*(m.rows+k))
			return qt.Reshape(m.shape(k, m.rows)...), r.Reshape(m.shape(k, k)...)
		}
		qt, r := part(in.Output())
		gqt, gr := part(g)
		sum := gqt.Add(symmetric(r.MatMul(transposed(gr)).Sub(gqt.MatMul(transposed(qt)))).MatMul(qt))
		in.AccumulateNode(0, transposed(solveTriangularOf(op, r, sum, upper)))
	}, both)
}

// symmetric returns x with the lower triangle of each matrix repeated in the upper one.
func symmetric(x *autograd.Node) *autograd.Node { return x.Tril(0).Add(transposed(x.Tril(-1))) }

// qrValues returns Qᵀ [..., k·m] and R [..., k·n].
func qrValues(m matrices, v *tensor.Tensor, k int) (q, r *tensor.Tensor) {
	n := m.cols
	if v.Len() == 0 || m.rows > mostRows {
		q, r = empty(v, m.count, k, m.rows), empty(v, m.count, k, n)
		defer q.Free()
		defer r.Free()
		if v.Len() > 0 {
			onHost(m, v, []*tensor.Tensor{q, r}, lapackQR)
		}
		return q.Reshape(m.shape(k * m.rows)...), r.Reshape(m.shape(k * n)...)
	}
	d := v.Device()
	w, t, qt := empty(v, m.count, n, m.rows), empty(v, m.count, n), empty(v, m.count, k, m.rows)
	x := v.Contiguous()
	tensor.Launch(d, qr, x.Arg(), w.Arg(), t.Arg(), kernels.IntArg(m.rows), kernels.IntArg(n))
	tensor.Launch(d, qrQ, w.Arg(), t.Arg(), qt.Arg(), kernels.IntArg(m.rows), kernels.IntArg(n), kernels.IntArg(n),
		kernels.IntArg(k), kernels.IntArg(m.count*k))
	turned := w.MoveDim(-1, -2)
	rows := turned.Slice(-2, 0, k)
	whole := rows.Triu(0)
	for _, t := range []*tensor.Tensor{w, t, x, turned, rows} {
		defer t.Free()
	}
	defer qt.Free()
	defer whole.Free()
	return qt.Reshape(m.shape(k * m.rows)...), whole.Reshape(m.shape(k * n)...)
}
