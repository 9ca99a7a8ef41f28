package tensor

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// sumType returns the type of sums of integers: Int64, and Uint64 of that.
func sumType(typ Type) Type {
	if typ == Uint64 {
		return Uint64
	}
	return Int64
}

// sumIntegers sums integers over sorted axes, which may be none.
func (t *Tensor) sumIntegers(op string, axes []int) *Tensor {
	if len(axes) > 0 {
		return t.foldIntegers(op, ops.IntsSum, axes)
	}
	x := t.as(sumType(t.typ))
	if !x.temporary {
		return x.Copy()
	}
	return x.Tensor
}

// foldIntegers reduces integers over sorted axes in a way, such as [ops.IntsSum].
func (t *Tensor) foldIntegers(op string, kind int, axes []int) *Tensor {
	x := t.asOuterNInner(t.typ, axes)
	defer x.release()
	checkShape(op, t.without(axes))
	return foldIntegerLines(op, kind, x.Tensor, x.outer, x.n, x.inner).reshaped(t.without(axes))
}

// foldIntegerLines reduces the middle axis of integers [outer, n, inner], in parts first where that keeps
// the device busy.
func foldIntegerLines(op string, kind int, x *Tensor, outer, n, inner int) *Tensor {
	d := x.Device()
	parts, chunk, apart := ops.IntParts(outer, n, inner, d.Target())
	typ := sumType(x.typ)
	if kind == ops.IntsCount {
		typ = Int64
	}
	y := alloc(op, d, typ, []int{outer, parts, inner})
	if y.Len() == 0 {
		return y
	}
	launch(d, ops.SumInts(x.typ), x.arg(), y.arg(), kernels.IntArg(outer), kernels.IntArg(n), kernels.IntArg(inner),
		kernels.IntArg(parts), kernels.IntArg(chunk), kernels.FlagArg(apart), kernels.IntArg(kind))
	if parts == 1 {
		return y
	}
	defer y.Free()
	if kind == ops.IntsCount {
		kind = ops.IntsSum
	}
	return foldIntegerLines(op, kind, y, outer, parts, inner)
}

// extremeIntegers returns the greatest integers along the middle axis, or the least, and their first
// indices, of Int64.
func (x axisView) extremeIntegers(op string, least bool) (values, indices *Tensor) {
	d := x.Device()
	results := func(parts int) (y, at *Tensor) {
		shape := []int{x.outer, parts, x.inner}
		return alloc(op, d, x.typ, shape), alloc(op, d, Int64, shape)
	}
	if intmath.Product([]int{x.outer, x.inner}) == 0 {
		return results(1)
	}
	outer, n, inner := kernels.IntArg(x.outer), x.n, kernels.IntArg(x.inner)
	for in := x.Tensor; ; in = values {
		parts, chunk, apart := ops.IntParts(x.outer, n, x.inner, d.Target())
		y, at := results(parts)
		given := at.BufferArg(0, 0)
		if indices != nil {
			given = indices.arg()
		}
		launch(d, ops.ExtremeInts(x.typ), in.arg(), given, y.arg(), at.arg(), outer, kernels.IntArg(n), inner,
			kernels.IntArg(parts), kernels.IntArg(chunk), kernels.FlagArg(apart), kernels.FlagArg(least), kernels.FlagArg(indices != nil))
		if indices != nil {
			values.Free()
			indices.Free()
		}
		if values, indices, n = y, at, parts; parts == 1 {
			return y, at
		}
	}
}
