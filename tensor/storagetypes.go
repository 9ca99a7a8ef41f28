package tensor

import (
	"fmt"

	"github.com/clgrad/clgrad/lowbit"
)

// CastOptions says how [Cast] makes elements of 8 bits and fewer.
type CastOptions = lowbit.CastOptions

// Cast is [Tensor.To] with options of types for storage: floats that do not saturate, and the rounding of
// Float8E8M0. To has the zero CastOptions. It panics with ErrValue for a rounding that is none.
func Cast(t *Tensor, typ Type, o CastOptions) *Tensor {
	const op = "Cast"
	if o.E8M0 > lowbit.RoundNearest {
		panic(&Error{Op: op, Kind: ErrValue,
			Detail: fmt.Sprintf("%d is no rounding: it is lowbit.RoundUp, RoundDown or RoundNearest", o.E8M0)})
	}
	return t.cast(op, typ, o)
}

func (t *Tensor) cast(op string, typ Type, o CastOptions) *Tensor {
	d := check(op, t)
	checkType(op, typ)
	if t.typ == typ {
		return t.view(t.shape, t.strides, t.off)
	}
	y := alloc(op, d, typ, t.shape)
	t.convertTo(y, o)
	least, end := integerRange(typ)
	if ints := &t.st.ints; ints.known && float64(ints.low) >= least && float64(ints.high) < end {
		t.keepRange(op, y)
	}
	return y
}

// moving are the operations that take or make elements of types for storage: they move or convert them.
var moving = map[string]bool{
	"New": true, "Empty": true, "To": true, "Cast": true, "Copy": true, "Contiguous": true, "View": true,
	"SetInPlace": true, "Upload": true, "EmptyLike": true, "Reshape": true, "Flatten": true, "Squeeze": true,
	"Unsqueeze": true, "Transpose": true, "T": true, "MoveDim": true, "Expand": true, "Slice": true,
	"Step": true, "Select": true, "Split": true, "SplitWithSizes": true, "Chunk": true, "Unbind": true,
	"Diagonal": true, "Unfold": true, "Concat": true, "Stack": true, "Tile": true, "RepeatInterleave": true,
	"Roll": true, "Flip": true, "Gather": true, "GatherRows": true, "IndexSelect": true, "Index": true,
	"Embedding": true, "Read": true, "Float64s": true, "Float32s": true, "Item": true, "Arg": true,
	"BufferArg": true, "WriteSafetensors": true, "WriteNPZ": true, "WriteNPY": true, "NewQuantized": true,
}

// mustMove panics with ErrType if an operation does not move elements, which are for storage.
func (t *Tensor) mustMove(op string) {
	if !moving[op] {
		panic(&Error{Op: op, Kind: ErrType, Shapes: [][]int{t.shape},
			Detail: fmt.Sprintf("%v is for storage: convert with To(tensor.%v)", t.typ, nameOf(t.typ.Widened()))})
	}
}

// storedAs returns bytes as elements of a type for storage, over the same memory.
func storedAs(typ Type, bytes []uint8) any {
	switch typ {
	case Float8E4M3FN:
		return asSlice[lowbit.Float8E4M3FN](bytes)
	case Float8E5M2:
		return asSlice[lowbit.Float8E5M2](bytes)
	case Float8E4M3FNUZ:
		return asSlice[lowbit.Float8E4M3FNUZ](bytes)
	case Float8E5M2FNUZ:
		return asSlice[lowbit.Float8E5M2FNUZ](bytes)
	case Float8E8M0:
		return asSlice[lowbit.Float8E8M0](bytes)
	case Float4E2M1:
		return asSlice[lowbit.Float4E2M1](bytes)
	case Int4:
		return asSlice[lowbit.Int4](bytes)
	case Uint4:
		return asSlice[lowbit.Uint4](bytes)
	case Int2:
		return asSlice[lowbit.Int2](bytes)
	}
	return asSlice[lowbit.Uint2](bytes)
}
