package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// SortOptions says how Sort and ArgSort go about their work.
type SortOptions struct {
	Descending bool // from the greatest to the least, NaN first
}

// TopKOptions says what TopK takes.
type TopKOptions struct {
	Smallest bool // the least elements, from the least on
}

func (t *Tensor) argSort(axis int, o ...SortOptions) *Tensor {
	values, indices := t.sort("ArgSort", axis, o)
	values.Free()
	return indices
}

func (t *Tensor) keepTopK(k, axis int) *Tensor {
	const op = "KeepTopK"
	values, indices := t.topK(op, k, axis, TopKOptions{})
	defer values.Free()
	defer indices.Free()
	if t.Rank() == 0 {
		y := alloc(op, t.Device(), values.typ, []int{})
		y.zero()
		if k == 1 {
			y.SetInPlace(values.Reshape())
		}
		return y
	}
	a := axisOf(op, t, axis)
	return api{}.PlaceAlong(values, indices, a, t.shape[a], true)
}

func (t *Tensor) median(axes ...int) (values, indices *Tensor) {
	const op = "Median"
	d := check(op, t)
	over, keep := t.reduced(op, axes)
	t.mustHave(op, over)
	o := t.ordered()
	defer o.release()
	typ := o.typ
	x := o.last(typ, over)
	defer x.release()
	y, at := alloc(op, d, typ, []int{x.outer}), alloc(op, d, Int64, []int{x.outer})
	l, sorts := d.Target(), ops.SortsOf(typ)
	switch {
	case x.outer == 0:
	case l.CPU && x.n > ops.SortInserts && 4*x.outer >= l.Units: // a unit selects from a line in a quarter of the time that it sorts one in
		launch(d, sorts.SelectMedian.LongIndices(2), x.arg(), y.arg(), at.arg(), kernels.IntArg(x.outer), kernels.IntArg(x.n))
	default:
		in, of := inOrder(op, x.Tensor, x.outer, x.n, 0, Int32)
		launch(d, sorts.Median.LongIndices(3), in.arg(), of.arg(), y.arg(), at.arg(), kernels.IntArg(x.outer), kernels.IntArg(x.n))
		in.Free()
		of.Free()
	}
	at.boundValues(0, int64(x.n-1))
	return t.shaped(y.unordered(t.typ), over, keep), t.shaped(at, over, keep)
}

// single returns the options of a call, the zero ones if there are none. It panics with ErrValue if
// there are more than one.
func single[O any](op string, o []O) (one O) {
	if len(o) > 1 {
		panic(&Error{Op: op, Kind: ErrValue, Detail: "there is one set of options"})
	}
	for _, one = range o {
	}
	return one
}

// ordered returns t as an operand of a type that kernels compare: its floats, Int32 or Int64, in the order
// of its elements. [Tensor.unordered] takes results back.
func (t *Tensor) ordered() contiguousOperand {
	if t.typ != Uint64 {
		typ := floatsOf(t)
		if t.typ.Integer() {
			typ = t.typ.Widened()
		}
		return t.as(typ)
	}
	x := t.topFlipped()
	defer x.Free()
	v := x.view(x.shape, x.strides, x.off)
	v.typ = Int64
	return contiguousOperand{v, true}
}

// unordered returns y, which it takes over and was made of elements of a type that are ordered, in that
// type.
func (y *Tensor) unordered(typ Type) *Tensor {
	switch {
	case typ == Uint64:
		defer y.Free()
		return y.retyped(Uint64).topFlipped()
	case typ.Integer() && y.typ != typ:
		defer y.Free()
		return y.To(typ)
	}
	return y
}

// topFlipped returns t, of Uint64, with the highest bits changed: the order of Int64 is that of Uint64 then.
func (t *Tensor) topFlipped() *Tensor {
	top := FullOf(t.Device(), Uint64, 1<<63)
	defer top.Free()
	return Map(fn.BitwiseXor, nil, t, top)
}

// last returns t, as a type, with sorted axes as the last, n elements contiguous in row-major
// order.
func (t *Tensor) last(typ Type, axes []int) axisView {
	x := t.asOuterNInner(typ, axes)
	if x.inner == 1 {
		return x
	}
	defer x.release()
	v := x.view([]int{x.outer, x.inner, x.n}, []int{x.n * x.inner, 1, x.inner}, x.off)
	defer v.Free()
	return axisView{contiguousOperand{v.Copy(), true}, x.outer * x.inner, x.n, 1}
}

// fromLast returns y [rows, n], what was made of rows along an axis of t, with n elements along
// that axis of t.
func (t *Tensor) fromLast(y *Tensor, axis, n int) *Tensor {
	if t.Rank() == 0 {
		if n == 1 {
			return y.reshaped([]int{})
		}
		return y.reshaped([]int{n})
	}
	shape := append(slices.Delete(slices.Clone(t.shape), axis, axis+1), n)
	y.reshaped(shape)
	if axis == t.Rank()-1 {
		return y
	}
	order := sequence(0, t.Rank()-1)
	moved := y.Transpose(slices.Insert(order, axis, t.Rank()-1)...)
	defer y.Free()
	defer moved.Free()
	return moved.Copy()
}

// axisOrScalar resolves an axis, of which a scalar has one.
func (t *Tensor) axisOrScalar(op string, axis int) (a int, over []int) {
	if t.Rank() == 0 && (axis == 0 || axis == -1) {
		return 0, nil
	}
	a = axisOf(op, t, axis)
	return a, []int{a}
}

func (t *Tensor) sort(op string, axis int, o []SortOptions) (values, indices *Tensor) {
	check(op, t)
	a, over := t.axisOrScalar(op, axis)
	flags := 0
	if single(op, o).Descending {
		flags = ops.SortDescending
	}
	ordered := t.ordered()
	defer ordered.release()
	x := ordered.last(ordered.typ, over)
	defer x.release()
	y, at := inOrder(op, x.Tensor, x.outer, x.n, flags, Int64)
	at.boundValues(0, int64(x.n-1))
	return t.fromLast(y, a, x.n).unordered(t.typ), t.fromLast(at, a, x.n)
}

// inOrder returns the rows of x [rows, n] in order, and their indices, as a type: of blocks first, which
// are then joined in pairs.
func inOrder(op string, x *Tensor, rows, n, flags int, index Type) (y, at *Tensor) {
	d, shape := x.Device(), []int{rows, n}
	if rows*min(n, 1) == 0 {
		return alloc(op, d, x.typ, shape), alloc(op, d, index, shape)
	}
	sorts, l := ops.SortsOf(x.typ), d.Target()
	in, of, none := x, (*Tensor)(nil), alloc(op, d, Int32, []int{0})
	defer none.Free()
	pass := func(k *kernels.Kernel, flags int, last bool, numbers ...kernels.Arg) {
		typ := Int32
		if last && index == Int64 {
			typ, k = Int64, k.LongIndices(3)
		}
		y, at = alloc(op, d, x.typ, shape), alloc(op, d, typ, shape)
		given := none.arg()
		if of != nil {
			given, flags = of.arg(), flags|ops.SortGiven
		}
		args := append([]kernels.Arg{in.arg(), given, y.arg(), at.arg(), kernels.IntArg(rows), kernels.IntArg(n)}, numbers...)
		launch(d, k, append(args, kernels.IntArg(flags))...)
		if of != nil {
			in.Free()
			of.Free()
		}
		in, of = y, at
	}
	block := min(n, ops.SortBlock)
	if !l.CPU && n > ops.SortBlock {
		return radixSorted(op, &sorts.Radix, x, rows, n, 8*x.typ.Size()/ops.SortDigit, flags, index)
	}
	if l.CPU && n > ops.SortInserts {
		const least = 8192 // elements of a block
		for block = n; rows*((n+block-1)/block) < l.Units && block >= 2*least; {
			block = (block + 1) / 2
		}
		bits := 8 * x.typ.Size() // of a key
		passes := intmath.CeilDiv(bits, ops.SortDigit)
		if block >= least {
			passes = intmath.CeilDiv(bits, ops.SortBits)
		}
		digit := intmath.CeilDiv(bits, passes)
		for i := range passes {
			pass(sorts.Digit, flags, block >= n && i == passes-1,
				kernels.IntArg(block), kernels.IntArg(i*digit), kernels.IntArg(digit))
		}
	} else {
		pass(sorts.Blocks, flags, block >= n, kernels.IntArg(block), kernels.IntArg(block))
	}
	for run := block; run < n; run *= 2 {
		pass(sorts.Merge, flags, 2*run >= n, kernels.IntArg(run), kernels.IntArg(ops.SortTile))
	}
	return y, at
}

// radixSorted returns the rows of x [rows, n] sorted by so many digits of their keys, and their
// indices, as a type.
func radixSorted(op string, r *ops.Radix, x *Tensor, rows, n, digits, flags int, index Type) (y, at *Tensor) {
	d, shape := x.Device(), []int{rows, n}
	tiles := r.Tiles(n, x.typ)
	count := alloc(op, d, Int32, []int{rows, tiles + 1, 1 << ops.SortDigit})
	defer count.Free()
	for pass := range digits {
		typ, move := Int32, r.Move
		if pass == digits-1 && index == Int64 {
			typ, move = Int64, move.LongIndices(4)
		}
		nextY, nextAt := alloc(op, d, x.typ, shape), alloc(op, d, typ, shape)
		in, of := x, count.BufferArg(0, 0)
		if pass > 0 {
			in, of = y, at.arg()
		}
		shift := kernels.IntArg(pass * ops.SortDigit)
		launch(d, r.Count, in.arg(), count.arg(), kernels.IntArg(rows), kernels.IntArg(n), kernels.IntArg(tiles), shift, kernels.IntArg(flags))
		launch(d, r.Scan, count.arg(), kernels.IntArg(rows), kernels.IntArg(tiles))
		launch(d, move, in.arg(), of, count.arg(), nextY.arg(), nextAt.arg(), kernels.IntArg(rows), kernels.IntArg(n), kernels.IntArg(tiles), shift,
			kernels.IntArg(flags), kernels.FlagArg(pass > 0))
		if pass > 0 {
			y.Free()
			at.Free()
		}
		y, at = nextY, nextAt
	}
	return y, at
}

func (t *Tensor) topK(op string, k, axis int, o TopKOptions) (values, indices *Tensor) {
	check(op, t)
	a, over := t.axisOrScalar(op, axis)
	n := 1
	if len(over) > 0 {
		n = t.shape[a]
	}
	if k < 0 || k > n {
		misuse(op, ErrValue, fmt.Sprintf("k is %d: it is 0 to %d, the elements along axis %d", k, n, axis), t)
	}
	flags := ops.SortDescending
	if o.Smallest {
		flags = 0
	}
	ordered := t.ordered()
	defer ordered.release()
	x := ordered.last(ordered.typ, over)
	defer x.release()
	y, at := firstInOrder(op, x.Tensor, x.outer, n, k, flags)
	at.boundValues(0, int64(n-1))
	return t.fromLast(y, a, k).unordered(t.typ), t.fromLast(at, a, k)
}

// firstInOrder returns the first k elements of the rows of x [rows, n] in order, and their indices.
func firstInOrder(op string, x *Tensor, rows, n, k, flags int) (y, at *Tensor) {
	d, shape := x.Device(), []int{rows, k}
	if rows*k == 0 {
		return alloc(op, d, x.typ, shape), alloc(op, d, Int64, shape)
	}
	most, block := ops.SortBlock/4, ops.SortBlock
	if l := d.Target(); l.CPU {
		most, block = ops.SortInserts, max(4*ops.SortBlock, n/(4*l.Units)) // a longer block passes more elements over
	}
	if k > most && (d.Target().CPU || n > block) {
		y, at = inOrder(op, x, rows, n, flags, Int64)
		return y.firstK(k), at.firstK(k)
	}
	in, of, none := x, (*Tensor)(nil), alloc(op, d, Int32, []int{0})
	defer none.Free()
	for {
		b := min(block, n)
		blocks := (n + b - 1) / b
		left := (blocks-1)*min(k, b) + min(k, n-(blocks-1)*b)
		sorts, typ := ops.SortsOf(x.typ).Blocks, Int32
		if blocks == 1 {
			sorts, typ = sorts.LongIndices(3), Int64
		}
		y, at := alloc(op, d, x.typ, []int{rows, left}), alloc(op, d, typ, []int{rows, left})
		given, f := none.arg(), flags
		if of != nil {
			given, f = of.arg(), flags|ops.SortGiven
		}
		launch(d, sorts, in.arg(), given, y.arg(), at.arg(), kernels.IntArg(rows), kernels.IntArg(n), kernels.IntArg(b), kernels.IntArg(k), kernels.IntArg(f))
		if of != nil {
			in.Free()
			of.Free()
		}
		if blocks == 1 {
			return y, at
		}
		in, of, n = y, at, left
	}
}

// firstK returns the first k elements of each row of t, which it frees.
func (t *Tensor) firstK(k int) *Tensor {
	defer t.Free()
	part := t.Slice(1, 0, k)
	defer part.Free()
	return part.Copy()
}
