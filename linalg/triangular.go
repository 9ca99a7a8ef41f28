package linalg

import (
	_ "embed"
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/conditioned"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

//go:embed triangular.cl
var triangularSource string

// The flags of solveTriangular.
const (
	upper = 1 << iota
	unit
)

// solveTriangular solves: A [count, n, n], B [count, n, m], X, n, m, columns, flags.
var solveTriangular = &kernels.Kernel{Name: "k_solve_triangular", Text: triangularSource, File: "triangular.cl",
	Params: []kernels.Param{{Name: "A", Mode: kernels.In}, {Name: "B", Mode: kernels.In}, {Name: "X", Mode: kernels.Out},
		{Name: "n", Mode: kernels.IntParam}, {Name: "m", Mode: kernels.IntParam}, {Name: "columns", Mode: kernels.IntParam},
		{Name: "flags", Mode: kernels.IntParam}},
	Grid: kernels.GridFromArg(5),
	Host: kernels.HostKernel{F32: runSolveTriangular[float32], F64: runSolveTriangular[float64]},
	Cases: func(few bool) (list []kernels.Case) {
		for _, n := range sizes(few) {
			for flags := range 4 {
				list = append(list, kernels.Case{Name: fmt.Sprint("n=", n, " flags=", flags), Build: func(o *kernels.Operands) {
					m := n%4 + 1
					definite(o, 2, n).In(2*n*m, -1, 1).Out(2*n*m).Int(n, m, 2*m, flags)
				}})
			}
		}
		return list
	}}

func init() { solveTriangular.Tol = conditioned.Tolerance(solveTriangular) }

func runSolveTriangular[T kernels.Float](c kernels.HostArgs[T]) {
	a, b, x, n, m, flags := c.Floats(0), c.Floats(1), c.Floats(2), c.Int(3), c.Int(4), c.Int(6)
	c.Parallel(len(x)/(n*m), n*n*m, func(lo, hi int) {
		for at := lo; at < hi; at++ {
			y := x[at*n*m:][:n*m]
			copy(y, b[at*n*m:])
			substitute(a[at*n*n:][:n*n], y, n, m, flags)
		}
	})
}

// substitute solves A·X = Y for the triangle of A that flags name, and puts X in the place of Y [n, m].
func substitute[T kernels.Float](a, y []T, n, m, flags int) {
	for at := range n {
		i, from, to := at, 0, at
		if flags&upper != 0 {
			i, from, to = n-1-at, n-at, n
		}
		row := y[i*m:][:m]
		for k := from; k < to; k++ {
			f := a[i*n+k]
			for j, v := range y[k*m:][:m] {
				row[j] -= f * v
			}
		}
		if flags&unit == 0 {
			d := a[i*n+i]
			for j := range row {
				row[j] /= d
			}
		}
	}
}

// TriangularOptions says which triangle [SolveTriangular] reads, and on which side it stands.
type TriangularOptions struct {
	Upper bool // the upper triangle; the lower one otherwise
	Unit  bool // its diagonal is taken as ones, and not read
	Right bool // X·A = B, in place of A·X = B
}

// SolveTriangular returns X [..., n, m] with A·X = B, of triangular matrices A [..., n, n], lower unless
// TriangularOptions.Upper is set, and B [..., n, m], whose leading axes broadcast. What is in the other
// triangle of A is not read: the R of [QR] needs Upper. A 0 on
// the diagonal gives infinities and NaN. It panics with tensor.ErrShape for shapes that do not fit, and
// with tensor.ErrType unless both are of one type, float32 or float64.
//
// Gradients: G = A⁻ᵀ·g for B, and the triangle of −G·Xᵀ for A.
func SolveTriangular(a, b *autograd.Node, options ...TriangularOptions) *autograd.Node {
	const op = "SolveTriangular"
	o := optional(op, a, options)
	flags := 0
	if o.Upper {
		flags |= upper
	}
	if o.Unit {
		flags |= unit
	}
	squareOf(op, a)
	matricesOf(op, b)
	if o.Right { // Aᵀ·Xᵀ = Bᵀ
		a, b, flags = transposed(a), transposed(b), flags^upper
	}
	a, b = sameLead(op, a, b)
	x := solveTriangularOf(op, a, b, flags)
	if o.Right {
		x = transposed(x)
	}
	return x
}

// solveTriangularOf solves with the triangle of a that flags name. The leading axes of a and b are the same.
func solveTriangularOf(op string, a, b *autograd.Node, flags int) *autograd.Node {
	av, bv := a.ValueFor(op), b.ValueFor(op)
	x := empty(bv, bv.Shape()...)
	if n, m := bv.Shape()[bv.Rank()-2], bv.Shape()[bv.Rank()-1]; x.Len() > 0 {
		left, right := av.Contiguous(), bv.Contiguous()
		defer left.Free()
		defer right.Free()
		tensor.Launch(av.Device(), solveTriangular, left.Arg(), right.Arg(), x.Arg(),
			kernels.IntArg(n), kernels.IntArg(m), kernels.IntArg(x.Len()/n), kernels.IntArg(flags))
	}
	return autograd.NewOp(op, x, []*autograd.Node{a, b}, func(g *autograd.Node, in *autograd.Grads) {
		g = solveTriangularOf(op, transposed(a), g, flags^upper)
		in.AccumulateNode(1, g)
		if !in.NeedsGrad(0) {
			return
		}
		ga := g.MatMul(transposed(in.Output())).Neg()
		switch flags {
		case 0:
			ga = ga.Tril(0)
		case upper:
			ga = ga.Triu(0)
		case unit:
			ga = ga.Tril(-1)
		case upper | unit:
			ga = ga.Triu(1)
		}
		in.AccumulateNode(0, ga)
	}, av, x)
}

// sameLead returns the sides of a system, a [..., n, n] and b [..., n, m], with the same leading axes.
func sameLead(op string, a, b *autograd.Node) (*autograd.Node, *autograd.Node) {
	left, right := squareOf(op, a), matricesOf(op, b)
	lead, ok := tensor.Broadcast(left.lead, right.lead)
	switch {
	case left.typ != right.typ:
		misuse(op, tensor.ErrType, fmt.Sprintf("the sides are of types %v and %v: convert one with To", left.typ, right.typ), a, b)
	case !ok || left.rows != right.rows:
		misuse(op, tensor.ErrShape, "the sides are [..., n, n] and [..., n, m], and their leading axes broadcast", a, b)
	}
	if !slices.Equal(lead, left.lead) {
		a = a.Expand(append(slices.Clip(lead), left.rows, left.cols)...)
	}
	if !slices.Equal(lead, right.lead) {
		b = b.Expand(append(slices.Clip(lead), right.rows, right.cols)...)
	}
	return a, b
}
