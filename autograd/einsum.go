package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/internal/einsum"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

func contract(equation string, operands ...*Node) *Node {
	const op = "Einsum"
	shapes := make([][]int, len(operands))
	for i, x := range operands {
		xv := x.use(op)
		if shapes[i] = xv.Shape(); xv.Type().Storage() {
			tensor.Einsum(equation, xv) // which panics
		}
	}
	var e *einsum.Expression
	kind, detail := tensor.ErrValue, "there is no operand"
	if len(operands) > 0 {
		var err error
		if e, err = einsum.Parse(equation, shapes); err == nil {
			defer tensorapi.Rename("autograd", op)
			return typedAs(einsum.Compute(e, wide(operands), integers), operands...)
		}
		kind, detail = tensor.ErrShape, err.Error()
	}
	panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: kind, Shapes: shapes, Detail: detail})
}

// wide returns nodes in the types that they are computed in.
func wide(list []*Node) []*Node {
	out := slices.Clone(list)
	for i, x := range list {
		if x.value.Type().Half() {
			out[i] = x.To(tensor.Float32)
		}
	}
	return out
}

// integers reports whether both nodes are of integers, which matrix products do not take.
func integers(a, b *Node) bool {
	whole := func(t tensor.Type) bool { return t.Integer() }
	return whole(a.value.Type()) && whole(b.value.Type())
}

func (x *Node) tensorDot(w *Node, axes, of []int) *Node {
	const op = "TensorDot"
	xv, wv := x.use(op), w.use(op)
	e, err := einsum.Dot([2][]int{xv.Shape(), wv.Shape()}, [2][]int{axes, of})
	if err != nil {
		kind := tensor.ErrShape
		if _, ok := err.(einsum.AxisError); ok {
			kind = tensor.ErrAxis
		}
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: kind, Shapes: [][]int{xv.Shape(), wv.Shape()}, Detail: err.Error()})
	}
	defer tensorapi.Rename("autograd", op)
	return typedAs(einsum.Compute(e, wide([]*Node{x, w}), integers), x, w)
}

// typedAs returns y, which was computed of nodes, of integers in the type that holds them all.
func typedAs(y *Node, of ...*Node) *Node {
	if !y.value.Type().Integer() {
		return y
	}
	var values []*tensor.Tensor
	for _, x := range of {
		values = append(values, x.value)
	}
	return y.To(tensorapi.Impl.Promoted(values...))
}

func (x *Node) outer(w *Node) *Node {
	const op = "Outer"
	xv, wv := x.use(op), w.use(op)
	if xv.Rank() != 1 || wv.Rank() != 1 {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{xv.Shape(), wv.Shape()}, Detail: "both are of one axis"})
	}
	defer tensorapi.Rename("autograd", op)
	return x.Unsqueeze(1).Mul(w)
}
