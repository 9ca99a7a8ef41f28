package tensor

import (
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
)

// along returns t along an axis, as a type. A scalar has one axis.
func (t *Tensor) along(op string, axis int, typ Type) axisView {
	if t.Rank() == 0 && (axis == 0 || axis == -1) {
		return t.asOuterNInner(typ, nil)
	}
	return t.asOuterNInner(typ, []int{axisOf(op, t, axis)})
}

func (api) Scan(op string, kind ops.ScanKind, t *Tensor, axis, flags int) *Tensor {
	check(op, t)
	typ, result := floatsOf(t), floatsOf(t)
	if flags&ops.ScanExclusive != 0 {
		result = result.Computed()
	}
	if t.typ.Integer() && kind != ops.ScanLSE {
		typ, result = Int64, sumType(t.typ) // the bits of sums and products are the same
	}
	x := t.along(op, axis, typ)
	defer x.release()
	y := alloc(op, t.Device(), result, t.shape)
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
		ends := alloc(op, d, x.typ.Computed(), []int{outer, shares, inner})
		if x.typ == Int64 {
			total := [...]int{ops.IntsSum, ops.IntsProd}[kind]
			launch(d, ops.SumInts(x.typ), x.arg(), ends.arg(), box[0], box[1], box[2], box[4], box[3],
				kernels.FlagArg(false), kernels.IntArg(total))
		} else {
			total := [...]defs.FoldKind{defs.FoldSum, defs.FoldProd, defs.FoldLogSumExp}[kind]
			fold(x, ends, total, outer, n, inner, chunk, 0)
		}
		before := alloc(op, d, ends.typ, []int{outer, shares, inner})
		scanLines(op, kind, ends, before, outer, shares, inner, flags|ops.ScanExclusive)
		ends.Free()
		defer before.Free()
		carry = before.arg()
		flags |= ops.ScanCarry
	} else if x.typ.Half() { // carries are of float32
		none := alloc(op, d, Float32, []int{0})
		defer none.Free()
		carry = none.arg()
	}
	launchTyped(d, ops.Scan(kind, x.typ), x.arg(), carry, y.arg(), box[0], box[1], box[2], box[3], box[4], kernels.IntArg(ops.ScanTall(min(n, chunk))), kernels.IntArg(flags))
}

func (t *Tensor) scanExtreme(op string, kind ops.ScanKind, axis int) (values, indices *Tensor) {
	check(op, t)
	o := t.ordered()
	defer o.release()
	x := o.along(op, axis, o.typ)
	defer x.release()
	d := t.Device()
	y, at := alloc(op, d, x.typ, t.shape), alloc(op, d, Int64, t.shape)
	if y.Len() > 0 {
		launchTyped(d, ops.Scan(kind, x.typ).LongIndices(2), x.arg(), y.arg(), at.arg(), kernels.IntArg(x.outer),
			kernels.IntArg(x.n), kernels.IntArg(x.inner), kernels.IntArg(ops.ScanTall(x.n)))
	}
	at.boundValues(0, int64(x.n-1))
	return y.unordered(t.typ), at
}

func (api) ScanLinear(x, z *Tensor, axis, flags int) *Tensor {
	const op = "ScanLinear"
	check(op, x, z)
	typ := floats(x)
	of := kept(typ, x, z)
	a, b := x.along(op, axis, of), z.along(op, axis, of)
	defer a.release()
	defer b.release()
	y := alloc(op, x.Device(), typ, x.shape)
	if y.Len() > 0 {
		launchTyped(x.Device(), ops.ScanLinear, a.arg(), b.arg(), y.arg(), kernels.IntArg(a.outer), kernels.IntArg(a.n), kernels.IntArg(a.inner), kernels.IntArg(ops.ScanTall(a.n)), kernels.IntArg(flags))
	}
	return y
}
