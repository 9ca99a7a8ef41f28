package autograd

import (
	"github.com/clgrad/clgrad/internal/plumbing"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// Linear returns a layer of a perceptron in one launch: f(x·w + b) for x [m, k], w [k, n], b [n] or nil for
// none. f is a leaky ReLU of the given slope, or another activation, which does not look at it. It panics with
// tensor.ErrShape, and with tensor.ErrValue for a negative slope: f' is computed from f. Gradients, for dz = f'·g:
// dz·wᵀ, xᵀ·dz and the sum of dz's rows; dz and that sum are one launch. At 0 the gradient of a ReLU is that for
// negative numbers.
func (x *Node) Linear(w, b *Node, f kernels.Activation, slope float64) *Node {
	const op = "Linear"
	xv, wv := x.use(op), w.use(op)
	inputs := []*Node{x, w}
	var bv *tensor.Tensor
	if b != nil {
		bv = b.use(op)
		inputs = append(inputs, b)
	}
	if f == kernels.ActLeakyReLU && !(slope >= 0) {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrValue, Shapes: [][]int{xv.Shape(), wv.Shape()},
			Detail: "the slope is negative: use MatMul, Add and LeakyReLU"})
	}
	y := tensor.Linear(xv, wv, bv, f, slope)
	saved := []*tensor.Tensor{xv, wv}
	if f != kernels.ActNone {
		saved = append(saved, y)
	}
	return Apply(op, y, inputs, func(g *tensor.Tensor, in *Grads) {
		dz := g
		if f != kernels.ActNone {
			var shares *tensor.Tensor
			dz, shares = tensor.LinearGrad(g, y, f, slope)
			defer dz.Free()
			if b != nil {
				in.Give(2, shares)
			} else {
				shares.Free()
			}
		} else if b != nil {
			in.Share(2, g)
		}
		in.product(dz, xv, wv)
	}, saved...)
}

// product delivers the gradients of x·w, the node's first two inputs, for the gradient g of the product.
func (in *Grads) product(g, x, w *tensor.Tensor) {
	if in.Need(0) {
		wt := w.T()
		in.matMul(0, g, wt)
		wt.Free()
	}
	if in.Need(1) {
		xt := x.T()
		in.matMul(1, xt, g)
		xt.Free()
	}
}

// SquaredError returns the scalar Σ (x − target)². It panics with tensor.ErrShape unless both have one shape.
// Gradients: 2(x − target)·g and its negative; the pass that sums computes them, too.
func (x *Node) SquaredError(target *Node) *Node {
	const op = "SquaredError"
	xv, tv := x.use(op), target.use(op)
	sum, grad := plumbing.SquaredError(xv, tv)
	n := Apply(op, sum, []*Node{x, target}, func(g *tensor.Tensor, in *Grads) {
		if in.Need(1) {
			dx := grad.Mul(g)
			in.Give(1, dx.Neg())
			dx.Free()
		}
		in.scaled(0, grad, g)
	})
	if n.scratch = []*tensor.Tensor{grad}; n.backward == nil {
		n.freeScratch()
	}
	return n
}
