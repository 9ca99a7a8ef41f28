package linalg

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Cross returns the cross products of vectors of three elements along an axis of a and b, whose other
// axes broadcast. The axis counts from the end if it is negative. It panics with tensor.ErrAxis if there
// is none, with tensor.ErrShape if it has not three elements or shapes do not fit, and with
// tensor.ErrType unless both are of float32 or float64.
//
// Gradients: b × g for a, and g × a for b.
func Cross(a, b *autograd.Node, axis int) *autograd.Node {
	const op = "Cross"
	for _, x := range []*autograd.Node{a, b} {
		if typ := x.ValueFor(op).Type(); typ != tensor.Float32 && typ != tensor.Float64 {
			misuse(op, tensor.ErrType, fmt.Sprintf("an operand is of type %v: convert it with To(tensor.Float32)", typ), x)
		}
	}
	if a.Value().Type() != b.Value().Type() {
		misuse(op, tensor.ErrType, fmt.Sprintf("the operands are of types %v and %v: convert one with To", a.Type(), b.Type()), a, b)
	}
	rank := a.Value().Rank()
	if rank != b.Value().Rank() {
		misuse(op, tensor.ErrShape, "the operands have as many axes", a, b)
	}
	if axis < -rank || axis >= rank {
		misuse(op, tensor.ErrAxis, fmt.Sprintf("there is no axis %d", axis), a, b)
	}
	whole, ok := tensor.Broadcast(a.Shape(), b.Shape())
	if axis = (axis + rank) % rank; !ok || a.Shape()[axis] != 3 || b.Shape()[axis] != 3 {
		misuse(op, tensor.ErrShape, fmt.Sprintf("axis %d has three elements in both, and the others broadcast", axis), a, b)
	}
	if !slices.Equal(a.Shape(), whole) {
		a = a.Expand(whole...)
	}
	if !slices.Equal(b.Shape(), whole) {
		b = b.Expand(whole...)
	}
	a1, a2, b1, b2 := a.Roll(-1, axis), a.Roll(-2, axis), b.Roll(-1, axis), b.Roll(-2, axis)
	return a1.Mul(b2).Sub(a2.Mul(b1))
}
