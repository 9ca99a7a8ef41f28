package tensor

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// Var returns the variance over the given axes, which disappear from the shape unless [Keepdims] is
// among them; over all if none is given. It is Σ (t − mean)²/(n − correction) of n elements, 0 in
// place of a divisor below that: correction 1 is Bessel's, and PyTorch's default, 0 NumPy's. The
// deviations are from the mean, or from running means where one pass computes both, so that nothing
// cancels. Squares that overflow make it infinite, or NaN; those that underflow count as 0. Of no elements it is NaN, and of one
// with correction 1; of integers it is a real. It panics with ErrAxis for an axis that t has not,
// or that is named twice, and with ErrValue if correction is negative. Source: Welford, "Note on a
// Method for Calculating Corrected Sums of Squares and Products", Technometrics 4, 1962. Error: a
// variance v about a mean m is off by at most (256 + log₂ n)·u·(v + √v·|m|), with the u of
// [Tensor.Sum].
func (t *Tensor) Var(correction int, axes ...int) *Tensor {
	mean, y := api{}.Moments("Var", t, correction, axes...)
	mean.Free()
	return y
}

// Std returns the standard deviation over the given axes, the root of what [Tensor.Var] returns. It
// panics as that does.
func (t *Tensor) Std(correction int, axes ...int) *Tensor {
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
