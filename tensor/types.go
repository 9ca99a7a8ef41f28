package tensor

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/convert"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/lowbit"
)

// Type is the type of a tensor's elements.
//
// An operation on tensors of two types computes in the one that PyTorch's result_type names: the
// first of
//
//	Bool < integers < Float16 and BFloat16 < Float32 < Float64
//
// that holds both. Two integers give the smallest type of integers that holds both, Int16 of Int8 and
// Uint8; Uint64 beside one that has a sign is ErrType. A Float16 and a BFloat16 give a Float32. A scalar,
// a tensor of rank 0, counts only if it is of a higher kind than the others: of integers beside bools,
// or of floats beside these; an integer scalar wraps around to the others' type. Floats of 16 bits are
// read and written as they are, and computed, summed too, in float32: a result is rounded once, to
// nearest, ties to even. The arithmetic of integers wraps around. Functions that leave the integers,
// division and means among them, give floats of the device's default type; sums of integers are Int64.
// Products of matrices take floats. What does not take a type panics with ErrType. Nothing but
// [Tensor.To], and an operation in place, makes a lower type of a higher one.
//
// The types of 8 bits and fewer behind Uint64 are for storage ([kernels.DType.Storage]): operations that
// move elements take them, and To converts them. They promote to nothing, and any other operation panics
// with ErrType.
type Type = kernels.DType

// The types.
const (
	Float32  = kernels.Float32  // IEEE 754 binary32: the default
	Float64  = kernels.Float64  // IEEE 754 binary64, on devices that have it
	Float16  = kernels.Float16  // IEEE 754 binary16: half the memory of Float32
	BFloat16 = kernels.BFloat16 // the upper half of a Float32: its range, with 8 significant bits
	Bool     = kernels.Bool     // 0 and 1: conditions, masks
	Int8     = kernels.Int8
	Int16    = kernels.Int16
	Int32    = kernels.Int32
	Int64    = kernels.Int64 // labels, indices
	Uint8    = kernels.Uint8 // images
	Uint16   = kernels.Uint16
	Uint32   = kernels.Uint32
	Uint64   = kernels.Uint64

	Float8E4M3FN   = kernels.Float8E4M3FN // for storage, as those that follow: see package lowbit
	Float8E5M2     = kernels.Float8E5M2
	Float8E4M3FNUZ = kernels.Float8E4M3FNUZ
	Float8E5M2FNUZ = kernels.Float8E5M2FNUZ
	Float8E8M0     = kernels.Float8E8M0 // scales of blocks
	Float4E2M1     = kernels.Float4E2M1
	Int4           = kernels.Int4
	Uint4          = kernels.Uint4
	Int2           = kernels.Int2
	Uint2          = kernels.Uint2
)

// Element is a Go type of which tensors are made: the numbers of Go, of which int gives Int64 and uint
// Uint64, bool, float16.Float16 of github.com/x448/float16, bfloat16.BFloat16, and those of package
// lowbit.
type Element interface {
	kernels.Element | bool | int | uint |
		lowbit.Float8E4M3FN | lowbit.Float8E5M2 | lowbit.Float8E4M3FNUZ | lowbit.Float8E5M2FNUZ | lowbit.Float8E8M0 |
		lowbit.Float4E2M1 | lowbit.Int4 | lowbit.Uint4 | lowbit.Int2 | lowbit.Uint2
}

// TypeOf returns the type of a tensor that is made of a slice of T.
func TypeOf[T Element]() Type {
	typ, _ := hostMemory[T](nil)
	return typ
}

// nameOf returns the name of the constant that a type is, as messages give it.
func nameOf(typ Type) string {
	switch typ {
	case BFloat16:
		return "BFloat16"
	case Float8E8M0:
		return "Float8E8M0"
	case Float4E2M1:
		return "Float4E2M1"
	}
	s, format, _ := strings.Cut(typ.String(), "_")
	return string(s[0]-'a'+'A') + s[1:] + strings.ToUpper(format)
}

// checkType panics with ErrType unless typ is one of the types, and an operation makes tensors of it.
func checkType(op string, typ Type) {
	if typ.Valid() && typ.Storage() && !moving[op] {
		panic(&Error{Op: op, Kind: ErrType,
			Detail: fmt.Sprintf("%v is for storage: make a tensor of %v and convert it with To(tensor.%v)", typ, typ.Widened(), nameOf(typ))})
	}
	if !typ.Valid() {
		panic(&Error{Op: op, Kind: ErrType, Detail: fmt.Sprintf("%v is no type: it is tensor.Float32, or another of that list", typ)})
	}
}

// higher returns the type that an operation on two types gives: Bool of two that none holds.
func higher(a, b Type) Type {
	switch {
	case a != b && (a.Storage() || b.Storage()):
		return Bool
	case a == b, b == Bool, b.Integer() && !a.Integer():
		return a
	case a == Bool, a.Integer() && !b.Integer():
		return b
	case a.Integer():
		return higherInteger(a, b)
	case a == Float64 || b == Float64:
		return Float64
	}
	return Float32
}

// higherInteger returns the smallest type of integers that holds two, or Bool.
func higherInteger(a, b Type) Type {
	if a.Size() > b.Size() || a.Size() == b.Size() && a.Signed() {
		a, b = b, a
	}
	switch { // b is as long as a or longer, and if they are as long, a has no sign
	case a.Signed() == b.Signed(), b.Signed() && b.Size() > a.Size():
		return b
	case b.Size() == 8:
		return Bool
	}
	return [...]Type{1: Int16, 2: Int32, 4: Int64}[b.Size()]
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
	none                bool // no type holds two of the tensors
}

func (p *promotion) add(t *Tensor) {
	of, has := &p.axes, &p.hasAxes
	if len(t.shape) == 0 {
		of, has = &p.scalars, &p.hasScalars
	}
	switch {
	case !*has:
		*of, *has = t.typ, true
	case *of != t.typ:
		p.none = p.none || !holds(*of, t.typ)
		*of = higher(*of, t.typ)
	}
}

// holds reports whether there is a type that holds two.
func holds(a, b Type) bool { return a == b || higher(a, b) != Bool }

// mustPromote panics with ErrType, for no type holds two of the tensors.
func mustPromote(op string, ts ...*Tensor) {
	misuse(op, ErrType, "no type holds uint64 and integers that have a sign: convert one with To", ts...)
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

// promotedOf returns the type that an operation on tensors gives.
func promotedOf(ts ...*Tensor) Type {
	var p promotion
	for _, t := range ts {
		p.add(t)
	}
	return p.result()
}

// floats returns the type of floats in which an operation on tensors computes: that which it gives, and
// float32 for one of 16 bits.
func floats(ts ...*Tensor) Type { return floatsOf(ts...).Computed() }

// floatsOf returns the type of floats that an operation on tensors gives: of integers alone, and of types
// for storage, the default of their device. Tensors that are nil do not count.
func floatsOf(ts ...*Tensor) Type {
	var p promotion
	var d Device
	for _, t := range ts {
		if t != nil {
			p.add(t)
			d = t.st.dev
		}
	}
	if typ := p.result(); typ.Float() {
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
	if !typ.Integer() {
		return
	}
	least, end := integerRange(typ)
	if v != math.Trunc(v) || v < least || v >= end { // NaN is not its own whole part
		to := Float32
		if typ != Int64 && v == math.Trunc(v) && math.Abs(v) < 0x1p63 {
			to = Int64
		}
		panic(&Error{Op: op, Kind: ErrType, Detail: fmt.Sprintf("%v is no number of a tensor of type %v: convert the tensor with To(tensor.%s)",
			v, typ, nameOf(to))})
	}
}

// integerRange returns the least number of a type of integers, and the first that is too large: none of
// another type.
func integerRange(typ Type) (least, end float64) {
	end = math.Ldexp(1, 8*typ.Size())
	switch {
	case !typ.Integer():
		return 0, 0
	case typ == Bool:
		return 0, 2
	case typ.Signed():
		return -end / 2, end / 2
	}
	return 0, end
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
		return kernels.LongArg(int64(convert.ToFloat16(v)))
	case BFloat16:
		return kernels.LongArg(int64(convert.ToBFloat16(v)))
	case Uint64:
		return kernels.LongArg(int64(uint64(v)))
	}
	return kernels.LongArg(int64(v))
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

func (t *Tensor) to(typ Type) *Tensor { return t.cast("To", typ, CastOptions{}) }

// convertTo writes t to y, of its shape and another type.
func (t *Tensor) convertTo(y *Tensor, o CastOptions) {
	from, to := t.typ, y.typ
	whole, toWhole := from.Widened().Integer(), to.Widened().Integer()
	switch {
	case to == Bool:
		mapTo(fn.NeScalar, from, y, []float64{0}, []*Tensor{t})
	case from.Integer() && to.Integer() && from.Size() == to.Size():
		launchMap(fn.Identity.Alone(), to.Moved(), []*Tensor{t.retyped(to.Moved()), y.retyped(to.Moved())}, nil, o)
	case from == Uint64 && toWhole: // the low bits are those of an int64
		t.retyped(Int64).convertTo(y, o)
	case to == Uint64 && whole:
		t.convertTo(y.retyped(Int64), o)
	case whole && toWhole:
		launchMap(fn.Identity.Alone(), max(from.Widened(), to.Widened()), []*Tensor{t, y}, nil, o)
	case from == Float64 && to == Float32:
		t.convertFloats(ops.NarrowFloats, y)
	case from == Float32 && to == Float64:
		t.convertFloats(ops.WidenFloats, y)
	case from == Float64 || to == Float64:
		launchMap(fn.Identity.Alone(), Float64, []*Tensor{t, y}, nil, o)
	default:
		launchMap(fn.Identity.Alone(), Float32, []*Tensor{t, y}, nil, o)
	}
}

// convertFloats is convertTo between float32 and float64.
func (t *Tensor) convertFloats(k *kernels.Kernel, y *Tensor) {
	x := t.contiguous()
	defer x.release()
	c := y
	if !y.IsContiguous() {
		c = alloc("To", y.Device(), y.typ, y.shape)
		defer c.Free()
	}
	launch(t.Device(), k, x.arg(), c.arg(), kernels.IntArg(t.Len()))
	if c != y {
		copyTo(y, c)
	}
}

// retyped returns t with another type of the same size, for a launch: it holds no reference.
func (t *Tensor) retyped(typ Type) *Tensor {
	as := *t
	as.typ = typ
	return &as
}

// as returns t as an operand of a type, which has the strides of t if it is of it already.
func (t *Tensor) as(typ Type) contiguousOperand {
	if t.typ == typ {
		return contiguousOperand{t, false}
	}
	return contiguousOperand{t.To(typ), true}
}

// kept returns the type in which an operation that computes in typ reads tensors: their own, if that is one of 16 bits
// and the same for all, of which one may be nil.
func kept(typ Type, ts ...*Tensor) Type {
	for _, t := range ts {
		if t != nil && (t.typ != ts[0].typ || t.rowType(typ) == typ) {
			return typ
		}
	}
	return ts[0].typ
}

// rowType returns the type in which a kernel of rows that computes in typ reads t, or stores what is for t: that
// of t if it is of 16 bits and the kernel computes in float32.
func (t *Tensor) rowType(typ Type) Type {
	if typ == Float32 && t.typ.Half() {
		return t.typ
	}
	return typ
}

// stored returns t as a contiguous operand of a kernel of rows that computes in typ. Call release after the
// launch.
func (t *Tensor) stored(typ Type) contiguousOperand { return t.dense(t.rowType(typ)) }

// dense returns t as a contiguous operand of a type. Call release after the launch.
func (t *Tensor) dense(typ Type) contiguousOperand {
	if t.typ == typ {
		return t.contiguous()
	}
	return contiguousOperand{t.To(typ), true}
}
