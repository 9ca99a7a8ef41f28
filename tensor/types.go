package tensor

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/convert"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// Type is the type of a tensor's elements.
//
// Operations on tensors of two types compute in the higher of Uint8 < Int32 < Real; a Float16 is a
// Real to them. The arithmetic of integers wraps around. Functions that leave the integers,
// division and means among them, give reals; sums of integers are Int32. Products of matrices take
// reals. What does not take a type panics with ErrType. Nothing but [Tensor.To] makes a lower type
// of a higher one.
type Type uint8

// The types.
const (
	Real    Type = iota // float32, or float64 where the device was opened with Options.Float64
	Int32               // labels, indices
	Uint8               // images, masks
	Float16             // IEEE 754 binary16: half the memory of float32. Operations take it for reals and give reals
)

// String returns the name that the type has here.
func (typ Type) String() string {
	if typ > Float16 {
		return fmt.Sprintf("Type(%d)", uint8(typ))
	}
	return [...]string{"Real", "Int32", "Uint8", "Float16"}[typ]
}

// check panics with ErrType unless typ is one of the types.
func (typ Type) check(op string) {
	if typ > Float16 {
		panic(&Error{Op: op, Kind: ErrType, Detail: typ.String() + " is no type: it is Real, Int32, Uint8 or Float16"})
	}
}

// On returns how a device stores the type; its Size is the bytes of an element.
func (typ Type) On(d Device) kernels.DType {
	if typ == Real {
		return d.Real()
	}
	return [...]kernels.DType{Int32: kernels.Int32, Uint8: kernels.Uint8, Float16: kernels.Float16}[typ]
}

func (typ Type) integer() bool { return typ == Int32 || typ == Uint8 }

// typeOf returns the type that New makes of a slice of T.
func typeOf[T kernels.Element]() Type {
	switch kernels.DTypeOf[T]() {
	case kernels.Int32:
		return Int32
	case kernels.Uint8:
		return Uint8
	case kernels.Float16:
		return Float16
	}
	return Real
}

// higher returns the type in which an operation on two types computes.
func higher(a, b Type) Type {
	switch {
	case !a.integer() || !b.integer():
		return Real
	case a == Uint8:
		return b
	}
	return a
}

// must panics with ErrType unless v is a number of the type: an integer type takes whole numbers in
// its range.
func (typ Type) must(op string, v float64) {
	least, most := float64(math.MinInt32), float64(math.MaxInt32)
	if typ == Uint8 {
		least, most = 0, math.MaxUint8
	}
	if typ.integer() && (v != math.Trunc(v) || v < least || v > most) { // NaN is not its own whole part
		panic(&Error{Op: op, Kind: ErrType, Detail: fmt.Sprintf("%v is no number of a tensor of type %v: convert the tensor with To(tensor.Real)", v, typ)})
	}
}

// number passes v to a kernel that takes elements of the type.
func (typ Type) number(v float64) kernels.Arg {
	switch typ {
	case Real:
		return kernels.FloatArg(v)
	case Float16:
		return kernels.IntArg(int(convert.ToFloat16(v)))
	}
	return kernels.IntArg(int(v))
}

// mustReal panics with ErrType if an operation that takes nothing else than reals is given another
// type.
func mustReal(op string, t *Tensor) {
	if t.typ != Real {
		misuse(op, ErrType, fmt.Sprintf("it takes reals, not %v: convert with To(tensor.Real)", t.typ), t)
	}
}

func (t *Tensor) to(typ Type) *Tensor {
	d := check("To", t)
	typ.check("To")
	if t.typ == typ {
		return t.view(t.shape, t.strides, t.off)
	}
	x := t.contiguous()
	defer x.release()
	y := allocOf("To", d, typ, t.shape)
	launch(d, ops.Convert(t.typ.On(d), typ.On(d)), x.arg(), y.arg(), kernels.IntArg(t.Len()))
	return y
}

// as returns t as an operand of a type, with the strides of t.
func (t *Tensor) as(typ Type) contiguousOperand {
	if t.typ == typ {
		return contiguousOperand{t, false}
	}
	return contiguousOperand{t.To(typ), true}
}

// reals returns t as a contiguous operand of reals. Call release after the launch.
func (t *Tensor) reals() contiguousOperand {
	if t.typ == Real {
		return t.contiguous()
	}
	return contiguousOperand{t.To(Real), true}
}
