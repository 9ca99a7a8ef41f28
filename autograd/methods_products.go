// Code generated from internal/operations/table/products.go by "make generate". DO NOT EDIT.

package autograd

import (
	"github.com/clgrad/clgrad/internal/compose"
	"github.com/clgrad/clgrad/internal/trace"
)

// MatMul returns the matrix product
//
//	c[…, i, j] = Σ_k x[…, i, k]·w[…, k, j]
//
// of x […, m, k] and w […, k, n]: of two matrices, or of batches of them, whose leading axes
// broadcast by NumPy's rule. An x of one axis is a row, a w of one axis a column, and the product
// has no axis for it: of two, it is their Dot. Transposed views of the last two axes, and axes that
// are repeated, are read in place. A batch is one launch, or, where its axes cannot be joined to
// three, several. One of integers is converted to floats. It panics with tensor.ErrShape, also for
// a scalar, and with tensor.ErrType if both are of integers. Error: at most max(8192, m·n/(m+n))
// products are added one after the other; longer sums are of slices, which are added as [Node.Sum]
// does.
//
// Gradients: g·wᵀ and xᵀ·g, summed over the axes along which an operand was repeated, which is part
// of the product.
func (x *Node) MatMul(w *Node) *Node {
	x, w = castLow(x), castLow(w)
	y := lowered(x.matMul(w), x, w)
	if trace.On() {
		trace.Record("MatMul", []any{x, w}, y)
	}
	return y
}

// Dot returns the scalar Σ_i x[i]·w[i] of two tensors of one axis and one length. Of no elements it
// is 0. One of integers is converted to floats. It panics with tensor.ErrShape, and with
// tensor.ErrType if both are of integers.
//
// Gradients: w·g, x·g.
func (x *Node) Dot(w *Node) *Node {
	y := lowered(x.dot(w), x, w)
	if trace.On() {
		trace.Record("Dot", []any{x, w}, y)
	}
	return y
}

// Outer returns the products x[i]·w[j] of two tensors of one axis, of shape [length of x, length of
// w]. It panics with tensor.ErrShape for other ranks.
//
// Gradients: g·w, gᵀ·x.
func (x *Node) Outer(w *Node) *Node {
	y := lowered(x.outer(w), x, w)
	if trace.On() {
		trace.Record("Outer", []any{x, w}, y)
	}
	return y
}

// TensorDot returns the products of x and w summed over some axes of x, and as many of w, in pairs:
//
//	y[i…, j…] = Σ_k… x[i…, k…]·w[k…, j…]
//
// The result has the other axes of x, then those of w. Without axes it is the outer product. Of
// integers it is of integers. It panics with tensor.ErrAxis for an axis that is not there, or named
// twice, and with tensor.ErrShape unless those of a pair are of one length.
//
// Gradients are those of the transposes and of the product that it is made of.
func (x *Node) TensorDot(w *Node, axes, of []int) *Node {
	y := lowered(x.tensorDot(w, axes, of), x, w)
	if trace.On() {
		trace.Record("TensorDot", []any{x, w, axes, of}, y)
	}
	return y
}

// Einsum returns a sum of products in Einstein's notation: an equation such as "bik,bkj->bij" has a
// letter for each axis of each operand, and for those of the result; over all others it is summed.
// A letter that occurs twice in an operand is its diagonal, "..." stands for axes without a letter,
// which broadcast by NumPy's rule, and without "->" the result has the axes of "...", then the
// letters that occur once, in the order of the alphabet, capitals first. Axes of 1 are repeated
// where another operand wants more. Blanks do not count. The products are taken in the order of the
// fewest multiplications (of more than eight operands, of the smallest results), as matrix products
// where there is something to sum. Of integers it is of integers. The result may share elements
// with an operand. It panics with tensor.ErrShape unless the equation is one of operands of these
// shapes, or where it or every order of the products has more axes than a tensor, and with
// tensor.ErrValue if there are none.
//
// Gradients are those of the transposes, sums and products that it is made of.
func Einsum(equation string, operands ...*Node) *Node {
	operands = each(operands, castLow)
	y := lowered(contract(equation, operands...), operands...)
	if trace.On() {
		trace.Record("Einsum", []any{equation, operands}, y)
	}
	return y
}

// Trace returns the sum of the diagonal of a matrix. It panics with tensor.ErrShape for another
// rank.
//
// Gradient: g on the diagonal, else 0.
func (x *Node) Trace() *Node {
	y := lowered(composed("Trace", func() *Node { return compose.Trace(x) }, x), x)
	if trace.On() {
		trace.Record("Trace", []any{x}, y)
	}
	return y
}

// Kron returns the Kronecker product: for each element of x, in its place, y times that. Missing
// axes of one are of 1. It panics with tensor.ErrShape if the result would be too large.
//
// Gradients are those of the product that it is made of.
func (x *Node) Kron(y *Node) *Node {
	z := lowered(composed("Kron", func() *Node { return compose.Kron(x, y) }, x, y), x, y)
	if trace.On() {
		trace.Record("Kron", []any{x, y}, z)
	}
	return z
}

// Cdist returns the distances, by the p-norm, of the rows of x [..., n, d] from those of y [..., m,
// d]: [..., n, m]. Leading axes broadcast. The differences, of n·m·d elements, are made on the way.
// It panics with tensor.ErrShape, and with tensor.ErrValue for a p that is NaN.
//
// Gradients are those of the norm of differences, 0 for a distance of 0; for p = Inf, coordinates
// of equal distance share it.
func (x *Node) Cdist(y *Node, p float64) *Node {
	x, y = castFloat32(x), castFloat32(y)
	z := lowered(composed("Cdist", func() *Node { return compose.Cdist(asFloats(x, x, y), asFloats(y, x, y), p) }, x, y), x, y)
	if trace.On() {
		trace.Record("Cdist", []any{x, y, p}, z)
	}
	return z
}
