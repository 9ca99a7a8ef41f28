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

// extremes returns the extremes of lines and their indices: of shares of the lines first, where
// that keeps the device busy.
func (t *Tensor) extremes(op string, least bool, axes []int) (values, indices *Tensor) {
	d := check(op, t)
	over, keep := t.reduced(op, axes)
	t.mustHave(op, over)
	typ := floats(t)
	if t.typ.Integer() {
		typ = Int32
	}
	x := t.asOuterNInner(typ, over)
	defer x.release()
	var y, at *Tensor
	if intmath.Product([]int{x.outer, x.inner}) == 0 {
		y, at = alloc(op, d, typ, []int{x.outer, x.inner}), alloc(op, d, Int32, []int{x.outer, x.inner})
	} else {
		k := ops.Arg(least, typ)
		find := func(x *Tensor, j kernels.Arg, given bool, outer, n, inner int) (y, at *Tensor, shares int) {
			shares, shape := foldShape(op, d, outer, n, inner)
			y, at = alloc(op, d, typ, []int{outer, shares, inner}), alloc(op, d, Int32, []int{outer, shares, inner})
			if !given {
				j = at.BufferArg(0, 0)
			}
			launch(d, k, x.arg(), j, y.arg(), at.arg(), shape[0], shape[1], shape[2], shape[3], shape[4], shape[5], shape[6], kernels.FlagArg(given))
			return y, at, shares
		}
		var shares int
		y, at, shares = find(x.Tensor, kernels.Arg{}, false, x.outer, x.n, x.inner)
		for shares > 1 {
			part, where := y, at
			y, at, shares = find(part, where.arg(), true, x.outer, shares, x.inner)
			part.Free()
			where.Free()
		}
	}
	at.boundValues(0, x.n-1)
	return t.shaped(y.narrowed(t.typ), over, keep), t.shaped(at, over, keep)
}
