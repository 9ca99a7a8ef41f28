package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

func (t *Tensor) gather(axis int, index *Tensor) *Tensor {
	const op = "Gather"
	a := t.checkAlong(op, axis, index)
	d := t.Device()
	y := alloc(op, d, t.typ, index.shape)
	if y.Len() == 0 {
		return y
	}
	part := t.first(index.shape, a)
	defer part.Free()
	x, at := part.contiguous(), index.indices()
	defer x.release()
	defer at.release()
	outer, n, inner := around(part.shape, a)
	launch(d, ops.GatherAxis.Of(t.typ), x.arg(), at.arg(), y.arg(), kernels.IntArg(outer), kernels.IntArg(n), kernels.IntArg(index.shape[a]), kernels.IntArg(inner), kernels.FlagArg(true))
	y.keepUnion(t)
	return y
}

// checkAlong is check of indices for each element along an axis of t, which it resolves.
func (t *Tensor) checkAlong(op string, axis int, index *Tensor) int {
	check(op, t, index)
	mustIndex(op, t, index)
	a := axisOf(op, t, axis)
	if index.Rank() != t.Rank() {
		misuse(op, ErrShape, "the indices have as many axes as the tensor", t, index)
	}
	for b, n := range index.shape {
		if b != a && n > t.shape[b] {
			misuse(op, ErrShape, fmt.Sprintf("there are indices for %d along axis %d, which has %d", n, b, t.shape[b]), t, index)
		}
	}
	checkIndices(op, t.shape, a, index, false)
	return a
}

// first returns the view of the first elements of t along every axis but one, or −1 for none, as
// many as shape has.
func (t *Tensor) first(shape []int, but int) *Tensor {
	cut := slices.Clone(shape)
	if but >= 0 {
		cut[but] = t.shape[but]
	}
	return t.view(cut, t.strides, t.off)
}

// ScatterReduction is what [Tensor.ScatterReduce] makes of the elements that come to one place.
type ScatterReduction uint8

// The reductions. A NaN is a minimum and a maximum.
const (
	ScatterSum ScatterReduction = iota
	ScatterProd
	ScatterMean
	ScatterMin
	ScatterMax
)

// ScatterOptions is what may be said to [Tensor.ScatterReduce].
type ScatterOptions struct {
	ExcludeSelf bool // where something comes, what was there does not count
}

func (t *Tensor) scattered(op string, how ops.Scatter, axis int, index, src *Tensor) *Tensor {
	a := t.checkScatter(op, axis, index, src)
	y := t.changeable(op, how)
	y.scatter(op, how, a, index, src)
	return y.changed(t.typ)
}

// checkScatter is checkAlong for what comes to those places.
func (t *Tensor) checkScatter(op string, axis int, index, src *Tensor) int {
	check(op, t, src)
	if higher(t.typ, src.typ) != t.typ {
		misuse(op, ErrType, fmt.Sprintf("%v into %v: convert one with To", src.typ, t.typ), t, src)
	}
	a := t.checkAlong(op, axis, index)
	fits := src.Rank() == index.Rank()
	for b, n := range index.shape {
		fits = fits && n <= src.shape[b]
	}
	if !fits {
		misuse(op, ErrShape, "the source has an element for each index", t, index, src)
	}
	return a
}

// scatter brings src to the places in y, which is contiguous and nobody else's operand.
func (y *Tensor) scatter(op string, how ops.Scatter, a int, index, src *Tensor) {
	if index.Len() == 0 {
		return
	}
	part := src.first(index.shape, -1)
	defer part.Free()
	g, at := y.source(op, part), index.indices()
	defer g.release()
	defer at.release()
	lines := y.first(index.shape, a)
	defer lines.Free()
	if lines.IsContiguous() {
		lines.scatterLines(how, a, at.Tensor, g.Tensor)
		return
	}
	c := lines.Copy()
	c.scatterLines(how, a, at.Tensor, g.Tensor)
	lines.SetInPlace(c)
	c.Free()
}

// manyLines reports whether a device is busy with that many lines of a scatter, each of m elements
// in their order.
func manyLines(d Device, lines, m int) bool {
	enough := 4 * d.Target().Units
	if !d.Target().CPU {
		enough *= 32
	}
	return lines >= enough || m <= fewIndices
}

// scatterAxis brings g to places along the middle axis of y: see [ops.ScatterAxis].
func (y *Tensor) scatterAxis(how ops.Scatter, at, g *Tensor, outer, n, m, inner int, each bool) {
	d := y.Device()
	launch(d, ops.ScatterAxis.Of(y.typ), g.arg(), at.arg(), y.arg(),
		kernels.IntArg(outer), kernels.IntArg(n), kernels.IntArg(m), kernels.IntArg(inner), kernels.IntArg(int(how)), kernels.FlagArg(each))
}

// scatterLines brings g to places along an axis of y, of which at has as many before and behind it.
// Where there are few such lines, and long ones, elements are rows of one.
func (y *Tensor) scatterLines(how ops.Scatter, a int, at, g *Tensor) {
	d := y.Device()
	outer, n, inner := around(y.shape, a)
	m := at.shape[a]
	if manyLines(d, outer*inner, m) {
		y.scatterAxis(how, at, g, outer, n, m, inner, true)
		return
	}
	if outer*inner == 1 {
		scatterRows(how, y, at, g, n, 1)
		return
	}
	box := at.Reshape(outer, m, inner)
	defer box.Free()
	keys := alloc("Scatter", d, Int32, box.shape)
	defer keys.Free()
	MapInto(ops.ElementKeys, []kernels.Arg{kernels.IntArg(n), kernels.IntArg(inner)}, []*Tensor{keys}, box)
	scatterRows(how, y, keys, g, y.Len(), 1)
}

func (t *Tensor) scatterReduce(axis int, index, src *Tensor, reduce ScatterReduction, opts ...ScatterOptions) *Tensor {
	const op = "ScatterReduce"
	check(op, t)
	var o ScatterOptions
	switch {
	case reduce > ScatterMax:
		misuse(op, ErrValue, fmt.Sprintf("there is no reduction %d: see ScatterSum", reduce), t)
	case len(opts) > 1:
		misuse(op, ErrValue, "pass one ScatterOptions", t)
	case len(opts) == 1:
		o = opts[0]
	}
	a := t.checkScatter(op, axis, index, src)
	if reduce == ScatterMean && t.typ.Integer() {
		misuse(op, ErrType, "a mean is of floats: convert with To(tensor.Float32)", t)
	}
	how := [...]ops.Scatter{ScatterSum: ops.ScatterAdd, ScatterProd: ops.ScatterMul, ScatterMean: ops.ScatterAdd, ScatterMin: ops.ScatterMin, ScatterMax: ops.ScatterMax}[reduce]
	y := t.changeable(op, how)
	if o.ExcludeSelf { // what changes nothing takes the place first
		least := 0.0
		if reduce == ScatterProd {
			least = 1
		}
		if first := src; reduce <= ScatterMean {
			first = FullOf(y.Device(), y.typ, least, slices.Repeat([]int{1}, index.Rank())...)
			wide := first.Expand(index.shape...)
			y.scatter(op, ops.ScatterSet, a, index, wide)
			wide.Free()
			first.Free()
		} else {
			y.scatter(op, ops.ScatterSet, a, index, first)
		}
	}
	y.scatter(op, how, a, index, src)
	if reduce == ScatterMean {
		counts := scatterCounts(y, a, index, o.ExcludeSelf)
		y.MapInPlace(fn.Div, nil, counts)
		counts.Free()
	}
	return y.changed(t.typ)
}

// scatterCounts returns how many elements a mean is of, in each place of y.
func scatterCounts(y *Tensor, a int, index *Tensor, excludeSelf bool) *Tensor {
	d := y.Device()
	counts, one := FullOf(d, y.typ, 1, y.shape...), FullOf(d, y.typ, 1, slices.Repeat([]int{1}, index.Rank())...)
	defer one.Free()
	wide := one.Expand(index.shape...)
	defer wide.Free()
	if excludeSelf {
		zero := ZerosOf(d, y.typ, one.shape...)
		none := zero.Expand(index.shape...)
		counts.scatter("ScatterReduce", ops.ScatterSet, a, index, none)
		none.Free()
		zero.Free()
	}
	counts.scatter("ScatterReduce", ops.ScatterAdd, a, index, wide)
	return counts
}
