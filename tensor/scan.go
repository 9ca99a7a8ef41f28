package tensor

import (
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
)

// along returns t along an axis, of a type: Int32 for integers, if they stay that. A scalar has one
// axis.
func (t *Tensor) along(op string, axis int, integers bool) (axisView, Type) {
	check(op, t)
	typ := floats(t)
	if integers && t.typ.Integer() {
		typ = Int32
	}
	if t.Rank() == 0 && (axis == 0 || axis == -1) {
		return t.asOuterNInner(typ, nil), typ
	}
	return t.asOuterNInner(typ, []int{axisOf(op, t, axis)}), typ
}

func (api) Scan(op string, kind ops.ScanKind, t *Tensor, axis, flags int) *Tensor {
	x, typ := t.along(op, axis, kind != ops.ScanLSE)
	defer x.release()
	y := alloc(op, t.Device(), typ, t.shape)
	if y.Len() > 0 {
		scanLines(op, kind, x.Tensor, y, x.outer, x.n, x.inner, flags)
	}
	return y
}

// scanLines splits long rows into chunks, where that keeps the device busy; each starts from the
// carry of the chunk before it.
func scanLines(op string, kind ops.ScanKind, x, y *Tensor, outer, n, inner, flags int) {
	d := x.Device()
	chunk, shares := ops.FoldShape(outer, n, inner, d.Target())
	box := [...]kernels.Arg{kernels.IntArg(outer), kernels.IntArg(n), kernels.IntArg(inner), kernels.IntArg(chunk), kernels.IntArg(shares)}
	carry := y.BufferArg(0, 0)
	if shares > 1 {
		total := [...]defs.FoldKind{defs.FoldSum, defs.FoldProd, defs.FoldLogSumExp}[kind]
		ends := alloc(op, d, x.typ, []int{outer, shares, inner})
		fold(x, ends, total, outer, n, inner, chunk, 0)
		before := alloc(op, d, x.typ, []int{outer, shares, inner})
		scanLines(op, kind, ends, before, outer, shares, inner, flags|ops.ScanExclusive)
		ends.Free()
		defer before.Free()
		carry = before.arg()
		flags |= ops.ScanCarry
	}
	launch(d, ops.Scan(kind, x.typ), x.arg(), carry, y.arg(), box[0], box[1], box[2], box[3], box[4], kernels.IntArg(ops.ScanTall(min(n, chunk))), kernels.IntArg(flags))
}

func (t *Tensor) scanExtreme(op string, kind ops.ScanKind, axis int) (values, indices *Tensor) {
	x, typ := t.along(op, axis, true)
	defer x.release()
	d := t.Device()
	y, at := alloc(op, d, typ, t.shape), alloc(op, d, Int32, t.shape)
	if y.Len() > 0 {
		launch(d, ops.Scan(kind, typ), x.arg(), y.arg(), at.arg(), kernels.IntArg(x.outer), kernels.IntArg(x.n), kernels.IntArg(x.inner), kernels.IntArg(ops.ScanTall(x.n)))
	}
	at.boundValues(0, x.n-1)
	return y.narrowed(t.typ), at
}

// narrowed returns y, which it takes over, in the type that elements have which were computed as
// Int32.
func (y *Tensor) narrowed(typ Type) *Tensor {
	if y.typ != Int32 || typ == Int32 {
		return y
	}
	defer y.Free()
	return y.To(typ)
}

func (api) ScanLinear(x, z *Tensor, axis, flags int) *Tensor {
	const op = "ScanLinear"
	a, typ := x.along(op, axis, false)
	b, _ := z.along(op, axis, false)
	defer a.release()
	defer b.release()
	y := alloc(op, x.Device(), typ, x.shape)
	if y.Len() > 0 {
		launch(x.Device(), ops.ScanLinear, a.arg(), b.arg(), y.arg(), kernels.IntArg(a.outer), kernels.IntArg(a.n), kernels.IntArg(a.inner), kernels.IntArg(ops.ScanTall(a.n)), kernels.IntArg(flags))
	}
	return y
}
