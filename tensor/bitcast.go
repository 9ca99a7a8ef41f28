package tensor

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// Bitcast returns the bits of t's elements as elements of another type of their size, in a tensor of its
// own: 1 of Float32 is 0x3f800000 of Int32. It is PyTorch's x.view(dtype) between such types. As Bool, what
// is not 0 is true. It panics with ErrType for a type of another size, and for types for storage other than
// t's own.
//
//	tensor.Bitcast(x, tensor.Int32) // x.view(torch.int32)
func Bitcast(t *Tensor, typ Type) *Tensor {
	const op = "Bitcast"
	d := check(op, t)
	checkType(op, typ)
	switch {
	case t.typ == typ:
		return t.Copy()
	case t.typ.Storage() || typ.Storage():
		misuse(op, ErrType, fmt.Sprintf("the bits of %v as %v: types for storage have none that operations read", t.typ, typ), t)
	case t.typ.Size() != typ.Size():
		misuse(op, ErrType, fmt.Sprintf("%v has elements of %d bytes, and %v of %d: they are to be as long",
			t.typ, t.typ.Size(), typ, typ.Size()), t)
	case t.typ.Integer() && typ.Integer():
		return t.To(typ)
	}
	y := alloc(op, d, typ, t.shape)
	if typ.Half() || t.typ.Half() {
		bits := Uint16.Moved()
		launchMap(fn.Identity.Alone(), bits, []*Tensor{t.retyped(bits), y.retyped(bits)}, nil, CastOptions{})
		return y
	}
	x := t.contiguous()
	defer x.release()
	launch(d, bitsKernel(t.typ, typ), x.arg(), y.arg(), kernels.IntArg(t.Len()))
	return y
}

// bitsKernel returns the kernel that copies the bits of Float32 or Float64 to an integer, or the reverse.
func bitsKernel(from, to Type) *kernels.Kernel {
	switch {
	case from == Float32:
		return ops.FloatBits
	case to == Float32:
		return ops.FloatFromBits
	case from == Float64:
		return ops.DoubleBits
	}
	return ops.DoubleFromBits
}
