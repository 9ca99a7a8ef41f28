package tensor

import (
	"github.com/clgrad/clgrad/internal/einsum"
)

var _ [MaxRank]int = [einsum.MaxAxes]int{} // they agree

// Einsum returns a sum of products in Einstein's notation: an equation such as "bik,bkj->bij" has a
// letter for each axis of each operand, and for those of the result; over all others it is summed.
// A letter that occurs twice in an operand is its diagonal, "..." stands for axes without a letter,
// which broadcast by NumPy's rule, and without "->" the result has the axes of "...", then the
// letters that occur once, in the order of the alphabet, capitals first. Axes of 1 are repeated
// where another operand wants more. Blanks do not count. The products are taken in the order of the
// fewest multiplications (of more than eight operands, of the smallest results), as matrix products
// where there is something to sum. Of integers it is of integers. The result may share elements
// with an operand. It panics with ErrShape unless the equation is one of operands of these shapes,
// or where it or every order of the products has more axes than a tensor, and with ErrValue if
// there are none.
func Einsum(equation string, operands ...*Tensor) *Tensor {
	const op = "Einsum"
	if len(operands) == 0 {
		panic(&Error{Op: op, Kind: ErrValue, Detail: "there is no operand"})
	}
	check(op, operands...)
	shapes := make([][]int, len(operands))
	for i, t := range operands {
		shapes[i] = t.shape
	}
	e, err := einsum.Parse(equation, shapes)
	if err != nil {
		misuse(op, ErrShape, err.Error(), operands...)
	}
	return sumOfProducts(e, operands)
}

// TensorDot returns the products of t and b summed over some axes of t, and as many of b, in pairs:
//
//	y[i…, j…] = Σ_k… t[i…, k…]·b[k…, j…]
//
// The result has the other axes of t, then those of b. Without axes it is the outer product. Of
// integers it is of integers. It panics with ErrAxis for an axis that is not there, or named twice,
// and with ErrShape unless those of a pair are of one length.
func (t *Tensor) TensorDot(b *Tensor, axes, of []int) *Tensor {
	const op = "TensorDot"
	check(op, t, b)
	e, err := einsum.Dot([2][]int{t.shape, b.shape}, [2][]int{axes, of})
	if err != nil {
		kind := ErrShape
		if _, ok := err.(einsum.AxisError); ok {
			kind = ErrAxis
		}
		misuse(op, kind, err.Error(), t, b)
	}
	return sumOfProducts(e, []*Tensor{t, b})
}

// sumOfProducts returns the value of e, and frees what was made on the way.
func sumOfProducts(e *einsum.Expression, operands []*Tensor) *Tensor {
	var y *Tensor
	Scope(operands[0].Device(), func() {
		y = einsum.Compute(e, operands, func(a, b *Tensor) bool { return higher(a.typ, b.typ) != Real }).Retain()
	})
	defer y.Free()
	return y.View()
}

// Outer returns the products t[i]·b[j] of two tensors of one axis, of shape [length of t, length of
// b]. It panics with ErrShape for other ranks.
func (t *Tensor) Outer(b *Tensor) *Tensor {
	const op = "Outer"
	check(op, t, b)
	if t.Rank() != 1 || b.Rank() != 1 {
		misuse(op, ErrShape, "both are of one axis", t, b)
	}
	column := t.Unsqueeze(1)
	defer column.Free()
	return column.Mul(b)
}
