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

// computed returns t in the type that operations on it are computed in, to be freed by the scope.
func computed(t *Tensor) *Tensor { return t.as(t.typ.Computed()).Tensor }
