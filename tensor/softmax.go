package tensor

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

func (t *Tensor) softmin(axis int) *Tensor {
	lineOf("Softmin", t, axis)
	x := t.reals()
	defer x.release()
	minus := x.Neg()
	defer minus.Free()
	return minus.softmax("Softmin", axis, false)
}

func (t *Tensor) softmax(op string, axis int, logarithm bool) *Tensor {
	outer, n, inner := lineOf(op, t, axis)
	x := t.reals()
	defer x.release()
	k, d, y := ops.Softmax, t.Device(), alloc(op, t.Device(), t.shape)
	if logarithm {
		k = ops.LogSoftmax
	}
	if y.Len() > 0 {
		launch(d, k.For(n, inner, d.Target()), x.arg(), y.arg(), kernels.IntArg(outer), kernels.IntArg(n), kernels.IntArg(inner))
	}
	return y
}

func (api) SoftmaxGrad(y, g *Tensor, axis int, logarithm bool) *Tensor {
	const op = "Softmax gradient"
	d := check(op, y, g)
	outer, n, inner := lineOf(op, y, axis)
	cy, cg := y.reals(), g.reals()
	defer cy.release()
	defer cg.release()
	k, out := ops.SoftmaxGrad, alloc(op, d, y.shape)
	if logarithm {
		k = ops.LogSoftmaxGrad
	}
	if out.Len() > 0 {
		launch(d, k.For(n, inner, d.Target()), cy.arg(), cg.arg(), out.arg(), kernels.IntArg(outer), kernels.IntArg(n), kernels.IntArg(inner))
	}
	return out
}

// lineOf returns the shape [outer, n, inner] of t around an axis. A scalar has one, of one element.
func lineOf(op string, t *Tensor, axis int) (outer, n, inner int) {
	check(op, t)
	if t.Rank() == 0 && (axis == 0 || axis == -1) {
		return 1, 1, 1
	}
	a := axisOf(op, t, axis)
	return intmath.Product(t.shape[:a]), t.shape[a], intmath.Product(t.shape[a+1:])
}
