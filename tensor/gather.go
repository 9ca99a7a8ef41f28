package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// GatherRows returns the rows of a matrix t [r, c], of any type, that an Int32 tensor [n] names: y[i] = t[index[i]], of
// shape [n, c]. It panics with ErrIndex if an index is not in [0, r). Indices that the host uploaded, or RNG.Ints made,
// are known; others it waits for.
func (t *Tensor) GatherRows(index *Tensor) *Tensor {
	d := checkRows("GatherRows", t, index)
	checkIndex("GatherRows", t, index)
	x, at := t.contiguous(), index.contiguous()
	defer x.done()
	defer at.done()
	n := index.Len()
	y := allocOf("GatherRows", d, t.typ, []int{n, t.shape[1]})
	if y.Len() == 0 {
		return y
	}
	launch(d, ops.GatherRows.Of(t.typ.On(d)), x.arg(), at.arg(), y.arg(), kernels.I(n), kernels.I(t.shape[1]), kernels.I(t.shape[0]))
	return y
}

// ScatterAddRowsInPlace adds the rows of g [n, c] to the rows of t [r, c], both of reals, that an Int32 tensor [n]
// names, in order: t[index[i]] += g[i]. It is the gradient of GatherRows, and panics as that does.
func (t *Tensor) ScatterAddRowsInPlace(index, g *Tensor) {
	const op = "ScatterAddRowsInPlace"
	writable(op, t, g)
	mustReal(op, t)
	d := checkRows(op, t, index)
	if g.Rank() != 2 || g.shape[0] != index.Len() || g.shape[1] != t.shape[1] {
		misuse(op, ErrShape, "", t, g)
	}
	checkIndex(op, t, index)
	if g.Len() == 0 {
		return
	}
	disjoint(op, t, g)
	cg, at := g.reals(), index.contiguous()
	defer cg.done()
	defer at.done()
	launch(d, ops.ScatterAddRows, cg.arg(), at.arg(), t.arg(), kernels.I(index.Len()), kernels.I(t.shape[1]), kernels.I(t.shape[0]))
}

func checkRows(op string, t, index *Tensor) Device {
	d := check(op, t, index)
	if t.Rank() != 2 {
		misuse(op, ErrShape, "rows are those of a matrix", t)
	}
	if index.typ != Int32 {
		misuse(op, ErrType, fmt.Sprintf("indices are of type Int32, not %v: convert them with To(tensor.Int32)", index.typ), t, index)
	}
	if index.Rank() != 1 {
		misuse(op, ErrShape, "indices have one axis", t, index)
	}
	return d
}

// checkIndex panics with ErrIndex if an index is that of no row of t.
func checkIndex(op string, t, index *Tensor) {
	if recordings.Load() == 0 || !t.Device().core().tellIndex(op, t.shape, index) {
		index.mustBeRows(op, t.shape)
	}
}

// mustBeRows panics with ErrIndex if an index is that of no row of a matrix of a shape.
func (t *Tensor) mustBeRows(op string, shape []int) {
	if low, high := t.valueRange(op, shape[0]); low < 0 || int(high) >= shape[0] {
		panic(&Error{Op: op, Kind: ErrIndex, Shapes: [][]int{shape, t.shape},
			Detail: fmt.Sprintf("indices reach from %d to %d, the rows are %d", low, high, shape[0])})
	}
}

// valueRange returns the least and the greatest element of an Int32 tensor, 0 and −1 if there is none. It may return
// those of a larger part of the storage if they are in [0, bound), and waits for the device unless those are known.
func (t *Tensor) valueRange(op string, bound int) (low, high int32) {
	if t.Len() == 0 {
		return 0, -1
	}
	if k := t.st.ints; k.known && !k.lent && k.version == t.st.version && k.low >= 0 && int(k.high) < bound {
		return k.low, k.high
	}
	v, err := downloadAs[int32](t, op)
	if err != nil {
		return 0, -1 // the device failed, and launches are skipped
	}
	t.noteRange(v)
	return slices.Min(v), slices.Max(v)
}

// intRange is what is known of the elements of a storage of int32: at a version they were in [low, high]. Memory that
// was lent to launches of others is written without a word.
type intRange struct {
	low, high   int32
	version     uint64
	known, lent bool
}

// noteRange remembers the range of t's elements, if they are all of the storage's: a view that repeats some may have as
// many.
func (t *Tensor) noteRange(v []int32) {
	if len(v) > 0 && len(v) == t.st.buf.Len() && t.Contiguous() {
		t.st.ints = intRange{slices.Min(v), slices.Max(v), t.st.version, true, t.st.ints.lent}
	}
}
