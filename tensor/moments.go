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
	x := t.asOuterNInner(Real, over)
	defer x.release()
	if intmath.Product([]int{x.outer, x.inner}) == 0 {
		return t.shaped(alloc(op, d, []int{x.outer, x.inner}), over, keep), t.shaped(alloc(op, d, []int{x.outer, x.inner}), over, keep)
	}
	scale := kernels.FloatArg(1 / float64(max(x.n-correction, 0)))
	shares, shape := foldShape(op, d, x.outer, x.n, x.inner)
	mean, variance = alloc(op, d, []int{x.outer, shares, x.inner}), alloc(op, d, []int{x.outer, shares, x.inner})
	if shares == 1 {
		launch(d, ops.Moments, x.arg(), mean.arg(), variance.arg(), shape[0], shape[1], shape[2], shape[3], shape[4], shape[5], shape[6], scale)
	} else {
		m, v := mean, variance
		launch(d, ops.Moments, x.arg(), m.arg(), v.arg(), shape[0], shape[1], shape[2], shape[3], shape[4], shape[5], shape[6], kernels.FloatArg(1))
		mean, variance = alloc(op, d, []int{x.outer, x.inner}), alloc(op, d, []int{x.outer, x.inner})
		launch(d, ops.MomentsJoin, m.arg(), v.arg(), mean.arg(), variance.arg(), shape[0], shape[1], shape[2], shape[3], shape[4], scale)
		m.Free()
		v.Free()
	}
	return t.shaped(mean, over, keep), t.shaped(variance, over, keep)
}
