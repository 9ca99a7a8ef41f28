package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
)

// indexed is a tensor with the axes that indices are of as one.
type indexed struct {
	order []int             // of the axes, so that those that are indexed lie beside each other; nil: they do
	axis  int               // the first of them
	shape []int             // of the tensor, in that order, with one axis for them
	at    contiguousOperand // which index along that, of the shape that the indices broadcast to
	whole []int             // the shape of what is taken
}

// indexed returns how indices, of which nil is a whole axis, name parts of t.
func (t *Tensor) indexed(op string, indices []*Tensor) indexed {
	check(op, t)
	if len(indices) > t.Rank() {
		misuse(op, ErrShape, fmt.Sprintf("there are indices of %d axes", len(indices)), t)
	}
	var axes []int
	shape := []int{}
	for a, index := range indices {
		if index == nil {
			continue
		}
		check(op, t, index)
		mustIndex(op, t, index)
		both, ok := Broadcast(shape, index.shape)
		if !ok {
			misuse(op, ErrShape, "the indices broadcast to one shape", present(indices)...)
		}
		shape = both
		axes = append(axes, a)
	}
	if len(axes) == 0 {
		misuse(op, ErrValue, "there are no indices", t)
	}
	var x indexed
	x.axis = axes[0]
	dims := t.shape
	if last := axes[len(axes)-1]; last-axes[0] >= len(axes) { // others lie between: what is indexed comes first
		x.axis, x.order = 0, slices.Clone(axes)
		for a := range t.Rank() {
			if !slices.Contains(axes, a) {
				x.order = append(x.order, a)
			}
		}
		dims = nil
		for _, a := range x.order {
			dims = append(dims, t.shape[a])
		}
	}
	end := x.axis + len(axes)
	x.shape = slices.Concat(dims[:x.axis], []int{intmath.Product(dims[x.axis:end])}, dims[end:])
	x.whole = slices.Concat(dims[:x.axis], shape, dims[end:])
	checkShape(op, x.whole)
	for _, a := range axes {
		checkIndices(op, t.shape, a, indices[a], true)
	}
	for i, a := range axes {
		var next *Tensor
		dim, at := []float64{float64(t.shape[a])}, indices[a].as(Int32)
		if i == 0 {
			next = Map(ops.FromFront, dim, at.Tensor)
		} else {
			next = Map(ops.OfAxes, dim, x.at.Tensor, at.Tensor)
			x.at.release()
		}
		at.release()
		x.at = contiguousOperand{next, true}
	}
	if !slices.Equal(x.at.shape, shape) { // the last broadcast
		wide := x.at.Expand(shape...)
		c := wide.Copy()
		wide.Free()
		x.at.release()
		x.at = contiguousOperand{c, true}
	}
	return x
}

// of returns t with the axes of x: a view, or a copy where strides cannot say that.
func (x *indexed) of(t *Tensor) *Tensor {
	if x.order == nil {
		return t.Reshape(x.shape...)
	}
	turned := t.Transpose(x.order...)
	defer turned.Free()
	return turned.Reshape(x.shape...)
}

func (t *Tensor) index(indices ...*Tensor) *Tensor {
	const op = "Index"
	x := t.indexedBy(op, indices)
	from := x.of(t)
	defer from.Free()
	return from.takeRows(op, x.axis, x.at)
}

// IndexPutOptions is what may be said to [Tensor.IndexPut].
type IndexPutOptions struct {
	Accumulate bool // add to what is there, in an order that is fixed
}

func (t *Tensor) indexPut(indices []*Tensor, values *Tensor, opts ...IndexPutOptions) *Tensor {
	const op = "IndexPut"
	check(op, t, values)
	if len(opts) > 1 {
		misuse(op, ErrValue, "pass one IndexPutOptions", t)
	}
	how := ops.ScatterSet
	if len(opts) == 1 && opts[0].Accumulate {
		how = ops.ScatterAdd
	}
	x := t.indexedBy(op, indices)
	if !broadcastsTo(values.shape, x.whole) {
		x.at.release()
		misuse(op, ErrShape, fmt.Sprintf("the values do not broadcast to %v", x.whole), t, values)
	}
	mustTake(op, t, values)
	wide := values.Expand(x.whole...)
	defer wide.Free()
	y := t.changeable(op, how)
	if x.order == nil {
		to := y.Reshape(x.shape...)
		to.putRows(how, x.axis, x.at, y.source(op, wide))
		to.Free()
		return y.changed(t.typ)
	}
	turned := y.Transpose(x.order...)
	c := turned.Copy()
	defer c.Free()
	to := c.Reshape(x.shape...)
	defer to.Free()
	to.putRows(how, x.axis, x.at, y.source(op, wide))
	turned.SetInPlace(c)
	turned.Free()
	return y.changed(t.typ)
}
