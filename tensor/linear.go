package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// Linear returns a layer of a perceptron in one launch,
//
//	y[i, j] = f(Σ_k x[i, k]·w[k, j] + b[j])
//
// for x [m, k], w [k, n], b [n] or nil for none, and an activation f with its slope. It panics with
// ErrShape, and with ErrValue for an f that is none of the activations.
func Linear(x, w, b *Tensor, f kernels.Activation, slope float64) *Tensor {
	const op = "Linear"
	d := check(op, x, w)
	mustActivate(op, f)
	checkMatMul(op, x, w)
	e := epilogue{act: f, slope: slope}
	if b != nil {
		check(op, x, b)
		if b.Rank() != 1 || b.shape[0] != w.shape[1] {
			misuse(op, ErrShape, "the bias has one element for each column of the weights", x, w, b)
		}
		bias := b.reals()
		defer bias.done()
		e.bias = bias.Tensor
	}
	y := alloc(op, d, []int{x.shape[0], w.shape[1]})
	matMulTo(y, x, w, e)
	return y
}

// LinearGrad returns, for the output y [m, n] of Linear and its gradient g, the gradient dz [m, n] of what
// the activation was applied to, and the gradient of the bias in shares [runs, n], to be added up: one
// launch for both. It panics with ErrShape unless both have one shape, of two axes, and with ErrValue for an f that is
// none of the activations.
func LinearGrad(g, y *Tensor, f kernels.Activation, slope float64) (dz, shares *Tensor) {
	const op = "Linear gradient"
	d := check(op, g, y)
	mustActivate(op, f)
	if y.Rank() != 2 || !slices.Equal(g.shape, y.shape) {
		misuse(op, ErrShape, "both have one shape, of two axes", g, y)
	}
	rows, cols := y.shape[0], y.shape[1]
	cg, cy := g.reals(), y.reals()
	defer cg.done()
	defer cy.done()
	run := ops.LinearGradRun(rows, d.Limits())
	dz, shares = alloc(op, d, []int{rows, cols}), alloc(op, d, []int{(rows + run - 1) / run, cols})
	if dz.Len() == 0 {
		return dz, shares
	}
	launch(d, ops.LinearGrad, cg.arg(), cy.arg(), dz.arg(), shares.arg(), kernels.I(rows), kernels.I(cols),
		kernels.I(run), kernels.I(int(f)), kernels.R(slope))
	return dz, shares
}

// mustActivate panics unless f is an activation.
func mustActivate(op string, f kernels.Activation) {
	if f < kernels.ActNone || f > kernels.ActSigmoid {
		panic(&Error{Op: op, Kind: ErrValue, Detail: fmt.Sprintf("Activation(%d) is none: see kernels.Activation", f)})
	}
}

// SquaredError is that of package plumbing.
func (*base) SquaredError(x, t *Tensor) (sum, grad *Tensor) {
	const op = "SquaredError"
	d := check(op, x, t)
	if !slices.Equal(x.shape, t.shape) {
		misuse(op, ErrShape, "", x, t)
	}
	n := x.Len()
	sum, grad = alloc(op, d, []int{}), alloc(op, d, x.shape)
	if n == 0 {
		sum.zero()
		return sum, grad
	}
	cx, ct := x.reals(), t.reals()
	defer cx.done()
	defer ct.done()
	groups, chunk := sumGrid(n)
	partial := sum
	if groups > 1 {
		partial = alloc(op, d, []int{groups})
	}
	launch(d, ops.SquaredError, cx.arg(), ct.arg(), grad.arg(), partial.arg(), kernels.I(n), kernels.I(chunk))
	if groups > 1 {
		sumPartial(sum, partial, 1)
	}
	return sum, grad
}
