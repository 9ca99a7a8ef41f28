package autograd

import (
	"github.com/clgrad/clgrad/internal/compose"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// composed returns what f computes of operands by operations. Errors name op.
func composed(op string, f func() *Node, operands ...*Node) *Node {
	shapes := make([][]int, len(operands))
	for i, x := range operands {
		shapes[i] = x.use(op).Shape()
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case compose.Misuse:
			kind := map[compose.Kind]error{compose.Shape: tensor.ErrShape, compose.Axis: tensor.ErrAxis, compose.Value: tensor.ErrValue}[r.Kind]
			panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: kind, Shapes: shapes, Detail: r.Detail})
		case *tensor.Error:
			r.Pkg, r.Op = "autograd", op
			panic(r)
		default:
			panic(r)
		}
	}()
	return f()
}

// computed returns x in the type that operations on it are computed in.
func computed(x *Node) *Node { return x.as(x.value.Type().Computed()) }

// asFloats returns x, one of the operands, in the type of floats that an operation on them is computed in. Types for
// storage stay: the operation refuses them.
func asFloats(x *Node, operands ...*Node) *Node {
	if !x.value.Type().Integer() {
		return computed(x)
	}
	values := make([]*tensor.Tensor, len(operands))
	for i, y := range operands {
		values[i] = y.value
	}
	return x.as(tensorapi.Impl.Floats(values...).Computed())
}
