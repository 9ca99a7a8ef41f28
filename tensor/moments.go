package tensor

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

func (t *Tensor) variance(correction int, axes ...int) *Tensor {
	mean, y := api{}.Moments("Var", t, correction, axes...)
	mean.Free()
	return y
}

func (t *Tensor) std(correction int, axes ...int) *Tensor {
	mean, y := api{}.Moments("Std", t, correction, axes...)
	mean.Free()
	y.MapInPlace(fn.Sqrt, nil)
	return y
}

func (api) Moments(op string, t *Tensor, correction int, axes ...int) (mean, variance *Tensor) {
	d := check(op, t)
	over, keep := t.reduced(op, axes)
	if correction < 0 {
		misuse(op, ErrValue, "the correction is negative: axes come after it", t)
	}
	typ := floats(t)
	x := t.asOuterNInner(t.rowType(typ), over)
	defer x.release()
	if intmath.Product([]int{x.outer, x.inner}) == 0 {
		return t.shaped(alloc(op, d, typ, []int{x.outer, x.inner}), over, keep), t.shaped(alloc(op, d, typ, []int{x.outer, x.inner}), over, keep)
	}
	scale := kernels.FloatArg(1 / float64(max(x.n-correction, 0)))
	if x.n == 0 {
		checkShape(op, []int{x.outer, x.inner})
	}
	chunk, parts := ops.FoldShape(x.outer, x.n, x.inner, d.Target())
	of := scale
	if parts > 1 {
		of = kernels.FloatArg(1)
	}
	shape := []int{x.outer, parts, x.inner}
	mean, variance = alloc(op, d, typ, shape), alloc(op, d, typ, shape)
	off := alloc(op, d, typ, shape)
	defer off.Free()
	outer, inner := kernels.IntArg(x.outer), kernels.IntArg(x.inner)
	launch(d, ops.Moments.Of(x.arg()).For(min(x.n, chunk), x.inner, d.Target()), x.arg(), mean.arg(), variance.arg(), off.arg(),
		outer, kernels.IntArg(x.n), inner, kernels.IntArg(chunk), of)
	if parts > 1 {
		m, v := mean, variance
		mean, variance = alloc(op, d, typ, []int{x.outer, x.inner}), alloc(op, d, typ, []int{x.outer, x.inner})
		last := x.n - (parts-1)*chunk
		launch(d, ops.MomentsJoin.For(parts, x.inner, d.Target()), m.arg(), v.arg(), off.arg(), mean.arg(), variance.arg(),
			outer, kernels.IntArg(parts), inner,
			kernels.FloatArg(float64(x.n)), kernels.FloatArg(float64(last)), kernels.FloatArg(float64(chunk)), scale)
		m.Free()
		v.Free()
	}
	return t.shaped(mean, over, keep), t.shaped(variance, over, keep)
}
