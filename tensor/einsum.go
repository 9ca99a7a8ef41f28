package tensor

import (
	"github.com/clgrad/clgrad/internal/einsum"
)

var _ [MaxRank]int = [einsum.MaxAxes]int{} // they agree

func contract(equation string, operands ...*Tensor) *Tensor {
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

func (t *Tensor) tensorDot(b *Tensor, axes, of []int) *Tensor {
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

// sumOfProducts returns the value of e, of integers in the type that holds them all, and frees what was
// made on the way.
func sumOfProducts(e *einsum.Expression, operands []*Tensor) *Tensor {
	var y *Tensor
	Scope(operands[0].Device(), func() {
		list := make([]*Tensor, len(operands))
		for i, t := range operands {
			list[i] = t.as(t.typ.Computed()).Tensor
		}
		y = einsum.Compute(e, list, func(a, b *Tensor) bool { return !higher(a.typ, b.typ).Float() }).Retain()
	})
	defer y.Free()
	if y.typ.Integer() {
		return y.To(promotedOf(operands...))
	}
	return y.View()
}

func (t *Tensor) outer(b *Tensor) *Tensor {
	const op = "Outer"
	check(op, t, b)
	if t.Rank() != 1 || b.Rank() != 1 {
		misuse(op, ErrShape, "both are of one axis", t, b)
	}
	column := t.Unsqueeze(1)
	defer column.Free()
	return column.Mul(b)
}
