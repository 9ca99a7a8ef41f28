package tensor

import "github.com/clgrad/clgrad/internal/compose"

// composed returns what f computes of operands by operations, and frees what those made on the way. Errors name op.
func composed(op string, f func() *Tensor, operands ...*Tensor) *Tensor {
	d := check(op, operands...)
	defer func() {
		switch r := recover().(type) {
		case nil:
		case compose.Misuse:
			misuse(op, misuses[r.Kind], r.Detail, operands...)
		case *Error:
			r.Op = op
			panic(r)
		default:
			panic(r)
		}
	}()
	var y *Tensor
	Scope(d, func() { y = f().View().Retain() })
	defer y.Free()
	return y.View()
}

// misuses are the errors of what is wrong with operands of package compose.
var misuses = map[compose.Kind]error{compose.Shape: ErrShape, compose.Axis: ErrAxis, compose.Value: ErrValue}

// asFloats returns t, one of the operands, in the type of floats that an operation on them is computed in, to be freed
// by the scope. Types for storage stay: the operation refuses them.
func asFloats(t *Tensor, operands ...*Tensor) *Tensor {
	if t.typ.Integer() {
		return t.as(floats(operands...)).Tensor
	}
	return t.as(t.typ.Computed()).Tensor
}
