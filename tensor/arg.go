package tensor

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

func (t *Tensor) extremeAt(op string, least bool, axes []int) *Tensor {
	values, indices := t.extremes(op, least, axes)
	values.Free()
	return indices
}

// extremes returns the extremes of lines and their indices: of parts of the lines first, where that
// keeps the device busy, or where a line is too long to be read twice.
func (t *Tensor) extremes(op string, least bool, axes []int) (values, indices *Tensor) {
	d := check(op, t)
	over, keep := t.reduced(op, axes)
	t.mustHave(op, over)
	if t.typ.Integer() {
		x := t.asOuterNInner(t.typ, over)
		defer x.release()
		values, indices = x.extremeIntegers(op, least)
		indices.boundValues(0, int64(x.n-1))
		return t.shaped(values, over, keep), t.shaped(indices, over, keep)
	}
	typ := floats(t)
	x := t.asOuterNInner(t.rowType(typ), over)
	defer x.release()
	results := func(parts int) (y, at *Tensor) { // indices in parts are of Int32
		shape, of, index := []int{x.outer, parts, x.inner}, x.typ, Int64
		if parts > 1 {
			of, index = typ, Int32
		}
		return alloc(op, d, of, shape), alloc(op, d, index, shape)
	}
	if intmath.Product([]int{x.outer, x.inner}) == 0 {
		values, indices = results(1)
	} else {
		k, target := ops.ExtremesOf(least), d.Target()
		chunk, parts := ops.FoldShape(x.outer, x.n, x.inner, target)
		if _, once := d.(*goDevice); !once { // its loops read elements once
			chunk = min(chunk, ops.ExtremeChunk(x.inner, target))
			parts = intmath.CeilDiv(x.n, chunk)
		}
		values, indices = results(parts)
		outer, inner, length := kernels.IntArg(x.outer), kernels.IntArg(x.inner), kernels.IntArg(chunk)
		part := k.Parts.Of(x.arg(), values.arg()).For(min(x.n, chunk), x.inner, target)
		if parts == 1 {
			part = part.LongIndices(2)
		}
		launch(d, part, x.arg(), values.arg(), indices.arg(), outer, kernels.IntArg(x.n), inner, length)
		if parts > 1 {
			y, at := results(1)
			launch(d, k.Join.Of(values.arg(), at.arg(), y.arg()).For(parts, x.inner, target).LongIndices(3), values.arg(), indices.arg(), y.arg(), at.arg(),
				outer, kernels.IntArg(parts), inner, length)
			values.Free()
			indices.Free()
			values, indices = y, at
		}
	}
	indices.boundValues(0, int64(x.n-1))
	return t.shaped(values, over, keep), t.shaped(indices, over, keep)
}
