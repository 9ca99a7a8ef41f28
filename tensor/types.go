package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/convert"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// Type is the type of a tensor's elements.
//
// An operation on tensors of two types computes in the one that PyTorch's result_type names:
//
//	Bool < Uint8 < Int32 < Float16 and BFloat16 < Float32 < Float64
//
// where a scalar, a tensor of rank 0, counts only if it is of a higher kind than the others: of integers
// beside bools, or of floats beside these. An Int32 scalar wraps around beside Uint8. A Float16 and a
// BFloat16 give a Float32. Floats of 16 bits are read and written as they are, and computed, summed
// too, in float32: a result is rounded once, to nearest, ties to even. The arithmetic of integers
// wraps around. Functions that leave the integers, division and means among them, give floats of the
// device's default type; sums of integers are Int32. Products of matrices take floats. What does not
// take a type panics with ErrType. Nothing but [Tensor.To], and an operation in place, makes a lower
// type of a higher one.
type Type = kernels.DType

// The types.
const (
	Float32  = kernels.Float32  // IEEE 754 binary32: the default
	Float64  = kernels.Float64  // IEEE 754 binary64, on devices that have it
	Int32    = kernels.Int32    // labels, indices
	Uint8    = kernels.Uint8    // images
	Float16  = kernels.Float16  // IEEE 754 binary16: half the memory of Float32
	BFloat16 = kernels.BFloat16 // the upper half of a Float32: its range, with 8 significant bits
	Bool     = kernels.Bool     // 0 and 1: conditions, masks
)

// Element is a Go type of which tensors are made: float32, float64, int32, uint8, bool,
// float16.Float16 of github.com/x448/float16, and bfloat16.BFloat16.
type Element interface {
	kernels.Element | bool
}

// TypeOf returns the type of a tensor that is made of a slice of T.
func TypeOf[T Element]() Type {
	typ, _ := hostMemory[T](nil)
	return typ
}

// nameOf returns the name of the constant that a type is, as messages give it.
func nameOf(typ Type) string {
	s := typ.String()
	return string(s[0]-'a'+'A') + s[1:]
}

// checkType panics with ErrType unless typ is one of the types.
func checkType(op string, typ Type) {
	if !typ.Valid() {
		panic(&Error{Op: op, Kind: ErrType, Detail: fmt.Sprintf("%v is no type: it is float32, float64, int32, uint8, float16, bfloat16 or bool", typ)})
	}
}

// higher returns the type that an operation on two types gives.
func higher(a, b Type) Type {
	switch {
	case a == b, b == Bool, b.Integer() && !a.Integer():
		return a
	case a == Bool:
		return b
	case a.Integer() && !b.Integer():
		return b
	case a.Integer():
		return Int32
	case a == Float64 || b == Float64:
		return Float64
	}
	return Float32
}

// kindOf returns 0 for bools, 1 for integers and 2 for floats.
func kindOf(typ Type) int {
	switch {
	case typ == Bool:
		return 0
	case typ.Integer():
		return 1
	}
	return 2
}

// promotion finds the type that an operation on several tensors gives.
type promotion struct {
	axes, scalars       Type // of tensors with axes, and of scalars
	hasAxes, hasScalars bool
}

func (p *promotion) add(t *Tensor) {
	of, has := &p.axes, &p.hasAxes
	if len(t.shape) == 0 {
		of, has = &p.scalars, &p.hasScalars
	}
	if *has {
		*of = higher(*of, t.typ)
	} else {
		*of, *has = t.typ, true
	}
}

// result returns the type, Uint8 of no tensor.
func (p *promotion) result() Type {
	switch {
	case !p.hasAxes && !p.hasScalars:
		return Uint8
	case !p.hasAxes, p.hasScalars && kindOf(p.scalars) > kindOf(p.axes):
		return p.scalars
	}
	return p.axes
}

// floats returns the type of floats in which an operation on tensors computes: that which it gives, and
// float32 for one of 16 bits.
func floats(ts ...*Tensor) Type { return floatsOf(ts...).Computed() }

// floatsOf returns the type of floats that an operation on tensors gives: of integers alone the default
// of their device. Tensors that are nil do not count.
func floatsOf(ts ...*Tensor) Type {
	var p promotion
	var d Device
	for _, t := range ts {
		if t != nil {
			p.add(t)
			d = t.st.dev
		}
	}
	if typ := p.result(); !typ.Integer() {
		return typ
	}
	return d.DefaultType()
}

// lowered returns y, which an operation on tensors computed in float32, in their type if that is of 16
// bits. It frees y then. Tensors that are nil do not count.
func lowered(y *Tensor, of ...*Tensor) *Tensor {
	if y.typ != Float32 || !slices.ContainsFunc(of, func(t *Tensor) bool { return t != nil && t.typ.Half() }) {
		return y
	}
	typ := floatsOf(of...)
	if !typ.Half() {
		return y
	}
	defer y.Free()
	return y.To(typ)
}

// mustFit panics with ErrType unless v is a number of the type: an integer type takes whole numbers in
// its range.
func mustFit(op string, typ Type, v float64) {
	least, most := float64(math.MinInt32), float64(math.MaxInt32)
	switch typ {
	case Uint8:
		least, most = 0, math.MaxUint8
	case Bool:
		least, most = 0, 1
	}
	if typ.Integer() && (v != math.Trunc(v) || v < least || v > most) { // NaN is not its own whole part
		panic(&Error{Op: op, Kind: ErrType, Detail: fmt.Sprintf("%v is no number of a tensor of type %v: convert the tensor with To(tensor.Float32)", v, typ)})
	}
}

// roundedTo returns the float of a type that is nearest to v.
func roundedTo(typ Type, v float64) float64 {
	m := kernels.NewHostBuffer(typ, 1)
	m.Set(0, v)
	return m.At(0)
}

// numberOf passes v to a kernel that takes elements of the type.
func numberOf(typ Type, v float64) kernels.Arg {
	switch typ {
	case Float32, Float64:
		return kernels.FloatArg(v)
	case Float16:
		return kernels.IntArg(int(convert.ToFloat16(v)))
	case BFloat16:
		return kernels.IntArg(int(convert.ToBFloat16(v)))
	}
	return kernels.IntArg(int(v))
}

// mustFloat panics with ErrType if an operation that takes floats alone is given another type.
func mustFloat(op string, t *Tensor) {
	if !t.typ.Float() {
		misuse(op, ErrType, fmt.Sprintf("it takes floats, not %v: convert with To(tensor.Float32)", t.typ), t)
	}
}

// mustBeWide panics with ErrType if a kernel that writes Float32 or Float64 is to write another type.
func mustBeWide(op string, t *Tensor) {
	if mustFloat(op, t); t.typ.Half() {
		misuse(op, ErrType, fmt.Sprintf("it writes float32 or float64, not %v", t.typ), t)
	}
}

// mustNotLower panics with ErrType if t, of floats that do not count for the type in which an operation
// computes, is of a higher one.
func mustNotLower(op string, t *Tensor, typ Type) {
	if t.typ == Float64 && typ != Float64 {
		misuse(op, ErrType, fmt.Sprintf("it computes in %v, and an operand is of float64: convert one with To", typ), t)
	}
}

func (t *Tensor) to(typ Type) *Tensor {
	d := check("To", t)
	checkType("To", typ)
	if t.typ == typ {
		return t.view(t.shape, t.strides, t.off)
	}
	switch {
	case typ == Bool:
		x := t.as(t.typ.Computed())
		defer x.release()
		return elementwise("To", fn.NeScalar, []float64{0}, x.Tensor)
	case t.typ == Bool && typ == Uint8:
		y := alloc("To", d, typ, t.shape)
		copyTo(y, t)
		return y
	case t.typ.Float() && typ.Float() && t.typ != Float64 && typ != Float64:
		y := alloc("To", d, typ, t.shape)
		launchMap(fn.Identity.Alone(), Float32, []*Tensor{t, y}, nil)
		return y
	}
	x := t.contiguous()
	defer x.release()
	y := alloc("To", d, typ, t.shape)
	launch(d, ops.Convert(t.typ, typ), x.arg(), y.arg(), kernels.IntArg(t.Len()))
	return y
}

// as returns t as an operand of a type, with the strides of t.
func (t *Tensor) as(typ Type) contiguousOperand {
	if t.typ == typ {
		return contiguousOperand{t, false}
	}
	return contiguousOperand{t.To(typ), true}
}

// dense returns t as a contiguous operand of a type. Call release after the launch.
func (t *Tensor) dense(typ Type) contiguousOperand {
	if t.typ == typ {
		return t.contiguous()
	}
	return contiguousOperand{t.To(typ), true}
}
