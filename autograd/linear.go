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
	return Apply(op, y, inputs, func(g *Node, in *Grads) {
		if in.Recorded() {
			dz := in.Output().sloped(g, f, slope)
			if b != nil {
				in.GiveNode(2, dz)
			}
			in.product(dz, x, w)
			return
		}
		dz := g.value
		if f != kernels.ActNone {
			var shares *tensor.Tensor
			dz, shares = tensor.LinearGrad(g.value, y, f, slope)
			defer dz.Free()
			if b != nil {
				in.Give(2, shares)
			} else {
				shares.Free()
			}
		} else if b != nil {
			in.Share(2, dz)
		}
		in.products(dz, xv, wv)
	}, saved...)
}

// sloped returns f'·g, for y = f(z).
func (y *Node) sloped(g *Node, f kernels.Activation, slope float64) *Node {
	switch f {
	case kernels.ActNone:
		return g
	case kernels.ActTanh:
		return y.Square().RSubScalar(1).Mul(g)
	case kernels.ActSigmoid:
		return y.RSubScalar(1).Mul(y).Mul(g)
	}
	slopes, rows := tensor.LinearGrad(tensor.Full(g.Device(), 1, g.Shape()...), y.value, f, slope) // which are constants
	rows.Free()
	return Const(slopes).Mul(g)
}

// product delivers the gradients of x·w, the node's first two inputs, for the gradient g of the product.
func (in *Grads) product(g, x, w *Node) {
	if !in.Recorded() {
		in.products(g.value, x.value, w.value)
		return
	}
	if in.Need(0) {
		in.GiveNode(0, g.MatMul(w.T()))
	}
	if in.Need(1) {
		in.GiveNode(1, x.T().MatMul(g))
	}
}

// products is product by kernels, in place where that is possible.
func (in *Grads) products(g, x, w *tensor.Tensor) {
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
	read := [...]savedValue{{xv, plumbing.Version(xv)}, {tv, plumbing.Version(tv)}}
	n := Apply(op, sum, []*Node{x, target}, func(g *Node, in *Grads) {
		if in.Recorded() {
			if in.unchanged(read[:]...) {
				d := x.Sub(target).MulScalar(2).Mul(g)
				in.GiveNode(0, d)
				in.GiveNode(1, d.Neg())
			}
			return
		}
		if in.Need(1) {
			dx := grad.Mul(g.value)
			in.Give(1, dx.Neg())
			dx.Free()
		}
		in.scaled(0, grad, g.value)
	})
	if n.scratch = []*tensor.Tensor{grad}; n.backward == nil {
		n.freeScratch()
	}
	return n
}
