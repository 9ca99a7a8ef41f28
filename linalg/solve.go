package linalg

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// SolveOptions says on which side the matrices of [Solve] stand.
type SolveOptions struct {
	Right bool // X·A = B, in place of A·X = B
}

// Solve returns X [..., n, m] with A·X = B, of matrices A [..., n, n] and B [..., n, m], whose
// leading axes broadcast. If B has the shape [n], or that of A without its last axis, it is vectors, and
// so is X. It is computed by an LU factorisation with partial pivoting. X of a singular matrix, of
// which a pivot is exactly 0, is NaN. It panics with tensor.ErrShape for shapes that do not fit, and
// with tensor.ErrType unless both are of one type, float32 or float64.
//
// Gradients: G = A⁻ᵀ·g for B, and −G·Xᵀ for A.
func Solve(a, b *autograd.Node, options ...SolveOptions) *autograd.Node {
	const op = "Solve"
	o := optional(op, a, options)
	m := squareOf(op, a)
	vectors := b.ValueFor(op).Rank() == 1 || slices.Equal(b.Shape(), m.shape(m.rows))
	axis := -1
	if o.Right {
		axis = -2
	}
	if vectors {
		b = b.Unsqueeze(axis)
	}
	matricesOf(op, b)
	if o.Right { // Aᵀ·Xᵀ = Bᵀ
		a, b = transposed(a), transposed(b)
	}
	a, b = sameLead(op, a, b)
	x := solveOf(op, a, b)
	if o.Right {
		x = transposed(x)
	}
	if vectors {
		x = x.Squeeze(axis)
	}
	return x
}

// solveOf solves. The leading axes of a and b are the same.
func solveOf(op string, a, b *autograd.Node) *autograd.Node {
	av, bv := a.ValueFor(op), b.ValueFor(op)
	f := factorise(op, squareOf(op, a), av)
	defer f.free()
	x := f.solve(bv)
	return autograd.NewOp(op, x, []*autograd.Node{a, b}, func(g *autograd.Node, in *autograd.Grads) {
		g = solveOf(op, transposed(a), g)
		in.AccumulateNode(1, g)
		if in.NeedsGrad(0) {
			in.AccumulateNode(0, g.MatMul(transposed(in.Output())).Neg())
		}
	}, av, x)
}

// Inv returns the inverses of matrices A [..., n, n]. That of a singular matrix, of which a pivot is
// exactly 0, is NaN. [Solve] is faster and more exact than a product with an inverse. It panics with
// tensor.ErrShape if matrices are not square, and with tensor.ErrType unless they are of float32 or
// float64.
//
// Gradient: −Yᵀ·g·Yᵀ, where Y is the inverse.
func Inv(a *autograd.Node) *autograd.Node {
	const op = "Inv"
	m := squareOf(op, a)
	av := a.ValueFor(op)
	f := factorise(op, m, av)
	defer f.free()
	eye := tensor.Eye(av.Device(), m.rows, m.rows)
	defer eye.Free()
	ones := eye.To(m.typ)
	defer ones.Free()
	all := ones.Expand(m.shape(m.rows, m.rows)...)
	defer all.Free()
	y := f.solve(all)
	return autograd.NewOp(op, y, []*autograd.Node{a}, func(g *autograd.Node, in *autograd.Grads) {
		t := transposed(in.Output())
		in.AccumulateNode(0, t.MatMul(g).MatMul(t).Neg())
	}, y)
}
