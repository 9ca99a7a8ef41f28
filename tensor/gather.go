package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

func (t *Tensor) gatherRows(index *Tensor) *Tensor {
	d := checkRows("GatherRows", t, index)
	checkIndex("GatherRows", t, index)
	x, at := t.contiguous(), index.indices()
	defer x.release()
	defer at.release()
	n := index.Len()
	y := alloc("GatherRows", d, t.typ, []int{n, t.shape[1]})
	if y.Len() == 0 {
		return y
	}
	launch(d, ops.GatherRows.Of(t.typ), x.arg(), at.arg(), y.arg(), kernels.IntArg(n), kernels.IntArg(t.shape[1]), kernels.IntArg(t.shape[0]))
	return y
}

// ScatterAddRowsInPlace adds the rows of g [n, c] to the rows of t [r, c], both of floats, that an
// Int32 or Int64 tensor [n] names, in order: t[index[i]] += g[i]. It is the gradient of GatherRows, and
// panics as that does.
func (t *Tensor) ScatterAddRowsInPlace(index, g *Tensor) {
	const op = "ScatterAddRowsInPlace"
	writable(op, t, g)
	mustFloat(op, t)
	checkRows(op, t, index)
	if g.Rank() != 2 || g.shape[0] != index.Len() || g.shape[1] != t.shape[1] {
		misuse(op, ErrShape, "", t, g)
	}
	checkIndex(op, t, index)
	if g.Len() == 0 {
		return
	}
	disjoint(op, t, g)
	if t.typ.Half() {
		t.throughWide(func(c *Tensor) { c.ScatterAddRowsInPlace(index, g) })
		return
	}
	cg, at := g.dense(t.typ), index.indices()
	defer cg.release()
	defer at.release()
	scatterRows(ops.ScatterAdd, t, at.Tensor, cg.Tensor, t.shape[0], t.shape[1])
}

func (api) AddRows(dst, index, g *Tensor) { dst.putRowsInPlace("AddRows", ops.ScatterAdd, index, g) }

func (api) SetRows(dst, index, src *Tensor) {
	dst.putRowsInPlace("SetRows", ops.ScatterSet, index, src)
}

// putRowsInPlace brings the rows of src to the rows of t that index names, in order; what is no row
// is passed over.
func (t *Tensor) putRowsInPlace(op string, how ops.Scatter, index, src *Tensor) {
	writable(op, t, index, src)
	mustBeWide(op, t)
	mustClass(op, t, index)
	if t.Rank() != 2 || index.Rank() != 1 || !slices.Equal(src.shape, []int{index.Len(), t.shape[1]}) {
		misuse(op, ErrShape, "the rows of the third go to those of the first", t, index, src)
	}
	disjoint(op, t, src)
	from, at := src.dense(t.typ), index.indices()
	defer from.release()
	defer at.release()
	scatterRows(how, t, at.Tensor, from.Tensor, t.shape[0], t.shape[1])
}

func checkRows(op string, t, index *Tensor) Device {
	d := check(op, t, index)
	if t.Rank() != 2 {
		misuse(op, ErrShape, "rows are those of a matrix", t)
	}
	mustIndex(op, t, index)
	if index.Rank() != 1 {
		misuse(op, ErrShape, "indices have one axis", t, index)
	}
	return d
}

// checkIndex panics with ErrIndex if an index is that of no row of t.
func checkIndex(op string, t, index *Tensor) { checkIndices(op, t.shape, 0, index, false) }

// checkIndices panics with ErrIndex if an index is none along an axis of a shape; with fromEnd,
// those below 0 count from the end.
func checkIndices(op string, shape []int, axis int, index *Tensor, fromEnd bool) {
	if recordings.Load() == 0 || !index.Device().core().notifyIndex(op, shape, axis, index, fromEnd) {
		index.mustBeIndices(op, shape, axis, fromEnd)
	}
}

// mustBeIndices panics with ErrIndex if an element is no index along an axis of a shape.
func (t *Tensor) mustBeIndices(op string, shape []int, axis int, fromEnd bool) {
	least, bound := indexRange(shape[axis], fromEnd)
	if low, high := t.valueRange(op, least, bound); low < int64(least) || high >= int64(bound) {
		panic(&Error{Op: op, Kind: ErrIndex, Shapes: [][]int{shape, t.shape},
			Detail: fmt.Sprintf("indices reach from %d to %d, and axis %d has %d", low, high, axis, bound)})
	}
}

// indexRange returns the least index of an axis of n, and the first that is too large.
func indexRange(n int, fromEnd bool) (least, bound int) {
	if fromEnd {
		return -n, n
	}
	return 0, n
}

// valueRange returns the least and the greatest element of a tensor of integers, 0 and −1 if there is
// none. It may return those of a larger part of the storage if they are in [least, bound), and waits
// for the device unless those are known.
func (t *Tensor) valueRange(op string, least, bound int) (low, high int64) {
	if low, high, known := t.knownRange(least, bound); known {
		return low, high
	}
	switch t.typ {
	case Uint8:
		return rangeOf[uint8](t, op)
	case Int8:
		return rangeOf[int8](t, op)
	case Int16:
		return rangeOf[int16](t, op)
	case Uint16:
		return rangeOf[uint16](t, op)
	case Int32:
		return rangeOf[int32](t, op)
	case Uint32:
		return rangeOf[uint32](t, op)
	case Uint64:
		return rangeOf[uint64](t, op)
	}
	return rangeOf[int64](t, op)
}

// knownRange is valueRange without a look at the elements; false where that takes one.
func (t *Tensor) knownRange(least, bound int) (low, high int64, known bool) {
	if t.Len() == 0 {
		return 0, -1, true
	}
	if k := t.st.ints; k.known && !k.exposed && k.version == t.st.version && k.low >= int64(least) && k.high < int64(bound) {
		return k.low, k.high, true
	}
	return 0, math.MaxUint8, t.typ == Uint8 && bound > math.MaxUint8
}

// rangeOf reads the elements of t, and remembers the range; but not of elements that a step which is
// recorded made, for its replays make others.
func rangeOf[T integer](t *Tensor, op string) (low, high int64) {
	v, err := downloadAs[T](t, op)
	if err != nil {
		return 0, -1 // the device failed, and launches are skipped
	}
	if l := t.Device().core().listener(t.Device(), op); l == nil || l.Input(t.st.buf) {
		noteRange(t, v)
	}
	return inInt64(slices.Min(v)), inInt64(slices.Max(v))
}

// inInt64 returns an integer, or the greatest int64 if it is beyond.
func inInt64[T integer](v T) int64 {
	if v > 0 && int64(v) < 0 {
		return math.MaxInt64
	}
	return int64(v)
}

// integer is a Go type of integers that tensors have.
type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}
