package linalg

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/conditioned"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

//go:embed svd.cl
var svdSource string

// svd decomposes: X [count, m, n], P [count, n·m + n + n·n], m, n.
var svd = &kernels.Kernel{Name: "k_svd", Text: jacobiSource + svdSource, File: "svd.cl",
	Params: []kernels.Param{{Name: "X", Mode: kernels.In}, {Name: "P", Mode: kernels.Out},
		{Name: "m", Mode: kernels.IntParam}, {Name: "n", Mode: kernels.IntParam}},
	Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		return groups(a[0].N/max(1, int(a[2].Int*a[3].Int)), l)
	},
	Host: kernels.HostKernel{F32: runSVD[float32], F64: runSVD[float64]},
	Cases: func(few bool) (list []kernels.Case) {
		for _, n := range sizes(few) {
			for _, m := range []int{n, n + 4} {
				list = append(list, kernels.Case{Name: fmt.Sprint("m=", m, " n=", n), Build: func(o *kernels.Operands) {
					o.In(3*m*n, -1, 1).Out(3*(n*m+n+n*n)).Int(m, n)
				}})
			}
		}
		of := func(name string, f func(i int) float64) {
			list = append(list, kernels.Case{Name: name, Build: func(o *kernels.Operands) {
				o.Floats(2*4*3, f).Out(2*(3*4+3+3*3)).Int(4, 3)
			}})
		}
		of("zero", func(int) float64 { return 0 })
		of("rank 1", func(i int) float64 { return float64((i/3 + 1) * (i%3 + 1)) })
		of("nan", func(i int) float64 { return math.Sqrt(float64(i - 1)) })
		of("large", func(i int) float64 { return 1e30 * float64(i*i%7) })
		return list
	}}

func init() { svd.Tol = conditioned.Tolerance(svd) }

func runSVD[T kernels.Float](c kernels.HostArgs[T]) {
	x, p, m, n := c.Floats(0), c.Floats(1), c.Int(2), c.Int(3)
	size := n*m + n + n*n
	var set *vec.Set
	if c.Vectors() {
		set, _ = vec.Chosen()
	}
	c.Parallel(len(p)/size, 8*n*n*(m+n), func(lo, hi int) {
		j := jacobi[T]{m: m, n: n, rows: make([]T, n*(m+n)), squares: make([]T, n)}
		if set != nil {
			j.loops = vec.On[T](set)
		}
		for at := lo; at < hi; at++ {
			j.decompose(x[at*m*n:][:m*n], p[at*size:][:size])
		}
	})
}

// jacobi is the method of Hestenes and Jacobi on matrices [m, n].
type jacobi[T kernels.Float] struct {
	m, n    int
	rows    []T           // [n, m + n]: a column of U·S, and the same of V
	squares []T           // of the lengths of columns of U·S
	loops   *vec.Loops[T] // nil: plain loops
}

func (j *jacobi[T]) dot(x, y []T) (s T) {
	if j.loops != nil {
		return j.loops.Dot(x, y)
	}
	for i, v := range x {
		s += v * y[i]
	}
	return s
}

// row returns row i, and the part of it that is of U·S.
func (j *jacobi[T]) row(i int) (all, u []T) {
	all = j.rows[i*(j.m+j.n):][:j.m+j.n]
	return all, all[:j.m]
}

// decompose is k_svd of one matrix.
func (j *jacobi[T]) decompose(x, p []T) {
	m, n, eps := j.m, j.n, epsilon[T]()
	u, sigma, v := p[:n*m], p[n*m:][:n], p[n*m+n:]
	var most, strange, sum T
	for _, e := range x {
		most = max(most, abs(e))
		strange += e * 0
	}
	if strange != 0 {
		fill(p, T(math.NaN()))
		return
	}
	if most == 0 {
		most = 1
	}
	clear(j.rows)
	for i, e := range x {
		e /= most
		j.rows[i%n*(m+n)+i/n] = e
		sum += e * e
	}
	for i := range n {
		j.rows[i*(m+n)+m+i] = 1
	}
	least, near := eps*eps*sum, eps*eps*T(m)
	for sweep := 0; sweep < sweeps && j.sweep(least, near); sweep++ {
	}
	order := make([]int, n)
	for i := range n {
		_, row := j.row(i)
		order[i], j.squares[i] = i, j.dot(row, row)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(j.squares[b], j.squares[a]) })
	rank := 0
	for i, from := range order {
		all, row := j.row(from)
		copy(v[i*n:][:n], all[m:])
		copy(u[i*m:][:m], row)
		square := j.squares[from]
		s := T(math.Sqrt(float64(square)))
		if sigma[i] = s * most; square > least {
			rank = i + 1
			for k := range row {
				u[i*m+k] /= s
			}
		}
	}
	for i := rank; i < n; i++ {
		j.complete(u, i)
	}
}

// sweep rotates every pair of columns once that are not orthogonal, the longer one to the front, and
// reports whether there was one.
func (j *jacobi[T]) sweep(least, near T) (moved bool) {
	n := j.n
	for i := range n {
		_, row := j.row(i)
		j.squares[i] = j.dot(row, row)
	}
	for p := range n {
		x, up := j.row(p)
		for q := p + 1; q < n; q++ {
			y, uq := j.row(q)
			a, b, c := j.squares[p], j.squares[q], j.dot(up, uq)
			if c*c <= near*(a*b) || min(a, b) <= least {
				continue
			}
			moved = true
			t, co, si := rotation(a, b, c)
			if a, b = a-t*c, b+t*c; a < b {
				a, b, co, si = b, a, si, -co
			}
			j.squares[p], j.squares[q] = a, b
			if j.loops != nil {
				j.loops.Rotate(x, y, co, si)
			} else {
				rotate(x, y, co, si)
			}
		}
	}
	return moved
}

// complete sets row i of u to a unit vector that is orthogonal to the rows before.
func (j *jacobi[T]) complete(u []T, i int) {
	m := j.m
	far, most := 0, T(-1)
	for k := range m {
		rest := T(1)
		for r := range i {
			rest -= u[r*m+k] * u[r*m+k]
		}
		if rest > most {
			far, most = k, rest
		}
	}
	y := u[i*m:][:m]
	clear(y)
	y[far] = 1
	for range 2 {
		for r := range i {
			row := u[r*m:][:m]
			s := j.dot(row, y)
			for k, e := range row {
				y[k] -= s * e
			}
		}
		s := T(math.Sqrt(float64(j.dot(y, y))))
		for k := range y {
			y[k] /= s
		}
	}
}

// SVDOptions says what [SVD] returns.
type SVDOptions struct {
	// Reduced asks for the first k columns of U [..., m, k] and rows of Vᴴ [..., k, n], with the
	// lesser of m and n as k; otherwise they are [..., m, m] and [..., n, n].
	Reduced bool
}

// SVD returns the singular value decomposition of matrices A [..., m, n]: U and Vᴴ with orthonormal
// columns and rows, and the singular values S [..., k] in descending order, with U·diag(S)·Vᴴ = A. A
// column of U and the row of Vᴴ may both have the other sign in PyTorch, or on another device. A matrix
// with NaN or an infinity gives NaN. It is computed by rotations of Jacobi. It panics with
// tensor.ErrType unless A is of float32 or float64.
//
// Gradient: U·(D + S·E)·Vᴴ and what is orthogonal to U and V: D has that of S on its diagonal, E what
// U and V turn against each other, of which a pair of equal singular values has none. A loss that
// depends on signs, or on columns beyond k, which have no gradient, has none either.
//
// Source: Townsend, "Differentiating the Singular Value Decomposition", 2016.
func SVD(a *autograd.Node, options ...SVDOptions) (u, s, vh *autograd.Node) {
	const op = "SVD"
	o, m := optional(op, a, options), matricesOf(op, a)
	if m.cols > m.rows { // Aᵀ = V·S·Uᵀ
		v, s, uh := SVD(transposed(a), options...)
		return transposed(uh), s, transposed(v)
	}
	d := svdOf(op, a, m)
	ut, s, vh := d.parts(m)
	if !o.Reduced {
		ut = completed(op, ut, m)
	}
	return transposed(ut), s, vh
}

// decomposition is Uᵀ [n, m], S [n] and Vᴴ [n, n] of matrices [m, n], one after the other on the last axis.
type decomposition struct{ *autograd.Node }

func (d decomposition) parts(m matrices) (ut, s, vh *autograd.Node) {
	nm, n := m.rows*m.cols, m.cols
	ut, s, vh = d.Slice(-1, 0, nm), d.Slice(-1, nm, nm+n), d.Slice(-1, nm+n, nm+n+n*n)
	return ut.Reshape(m.shape(n, m.rows)...), s, vh.Reshape(m.shape(n, n)...)
}

// svdOf decomposes matrices of as many rows as columns, or more.
func svdOf(op string, a *autograd.Node, m matrices) decomposition {
	av := a.ValueFor(op)
	n := m.cols
	p := empty(av, m.shape(n*m.rows+n+n*n)...)
	switch {
	case p.Len() == 0:
	case m.rows > mostRows:
		onHost(m, av, []*tensor.Tensor{p}, lapackSVD)
	default:
		x := av.Contiguous()
		defer x.Free()
		tensor.Launch(av.Device(), svd, x.Arg(), p.Arg(), kernels.IntArg(m.rows), kernels.IntArg(n))
	}
	return decomposition{autograd.NewOp(op, p, []*autograd.Node{a}, func(g *autograd.Node, in *autograd.Grads) {
		ut, s, vh := decomposition{in.Output()}.parts(m)
		gut, gs, gvh := decomposition{g}.parts(m)
		row, column := s.Unsqueeze(-2), s.Unsqueeze(-1)
		// E = (sub(UᵀG)·S + S·sub(VᵀH)) / (S_j² − S_i²), with sub(X) = X − Xᵀ.
		du, dv := ut.MatMul(transposed(gut)), vh.MatMul(transposed(gvh))
		turn := du.Sub(transposed(du)).Mul(row).Add(column.Mul(dv.Sub(transposed(dv))))
		core := turn.Mul(inverse(row.Sub(column).Mul(row.Add(column)))).Add(identity(a, n).Mul(gs.Unsqueeze(-1)))
		ga := transposed(ut).MatMul(core).MatMul(vh)
		if m.rows > n { // (I − U·Uᵀ)·G·S⁻¹·Vᴴ
			rest := gut.Sub(transposed(du).MatMul(ut)).Mul(inverse(column))
			ga = ga.Add(transposed(rest).MatMul(vh))
		}
		in.AccumulateNode(0, ga)
	}, p)}
}

// inverse returns 1/x, 0 where x is 0.
func inverse(x *autograd.Node) *autograd.Node {
	zero := autograd.Const(x.Value().EqScalar(0))
	return x.MaskedFill(zero, 1).RDivScalar(1).MaskedFill(zero, 0)
}

// completed returns ut [n, m] with the rows of a basis behind it: [m, m]. Those have no gradient.
func completed(op string, ut *autograd.Node, m matrices) *autograd.Node {
	if m.rows == m.cols {
		return ut
	}
	u := ut.ValueFor(op).MoveDim(-1, -2)
	defer u.Free()
	q, r := qrValues(m, u, m.rows)
	r.Free()
	defer q.Free()
	all := q.Reshape(m.shape(m.rows, m.rows)...)
	defer all.Free()
	rest := all.Slice(-2, m.cols, m.rows)
	return autograd.Concat(-2, ut, autograd.NewOp(op, rest, nil, nil))
}
