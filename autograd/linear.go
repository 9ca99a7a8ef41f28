package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// Linear returns a layer of a perceptron in one launch: f(x·w + b) for x […, k], whose leading axes
// are rows, w [k, n], b [n] or nil for none, and an element-wise function f of one operand with its
// scalars, such as fn.Tanh, or nil for none. Unless x is a matrix, it is copied where its leading
// axes are not contiguous. It panics with tensor.ErrShape, and with tensor.ErrValue for a function
// of another number of operands, or another number of scalars. Gradients, for dz = f'(x·w + b)·g:
// dz·wᵀ, xᵀ·dz and the sum of dz's rows; dz and that sum are one launch. At kinks f' is what the
// method of f's name says. Where f' follows from f's value alone, as of ReLU, Tanh, Sigmoid and a
// leaky ReLU whose slope is not negative, only that is kept; otherwise the launch stores x·w + b,
// too, and the graph keeps it.
func (x *Node) Linear(w, b *Node, f *kernels.Function, scalars ...float64) *Node {
	const op = "Linear"
	x, w, b = castLow(x), castLow(w), castLow(b)
	xv, wv := x.use(op), w.use(op)
	if last := xv.Rank() - 1; last != 1 {
		tensorapi.Impl.CheckLinear(op, xv, wv)
		y := x.Reshape(intmath.Product(xv.Shape()[:last]), xv.Shape()[last]).Linear(w, b, f, scalars...)
		y = y.Reshape(append(slices.Clone(xv.Shape()[:last]), wv.Shape()[1])...)
		if trace.On() {
			trace.Record(op, []any{x, w, b, f, slices.Clone(scalars)}, y)
		}
		return y
	}
	inputs := append(make([]*Node, 0, 3), x, w)
	var bv *tensor.Tensor
	needs := x.needs || w.needs
	if b != nil {
		bv = b.use(op)
		inputs = append(inputs, b)
		needs = needs || b.needs
	}
	if f == nil {
		f = fn.Identity
	}
	scalars = slices.Clone(scalars)
	y, z := tensorapi.Impl.Linear(xv, wv, bv, f, scalars, needs && !noGrad(xv.Device(), op))
	d := f.CheapestGradient(scalars)
	saved := append(make([]*tensor.Tensor, 0, 3), xv, wv)
	if d.Uses(1) {
		saved = append(saved, y)
	}
	var bias savedValue // which the operand of f is recorded from
	if b != nil {
		bias = savedValue{bv, tensorapi.Impl.Version(bv)}
	}
	n := NewOp(op, y, inputs, func(g *Node, in *Grads) {
		if in.CreateGraph() {
			operand := []*Node{nil}
			if d.Uses(0) {
				operand[0] = x.MatMul(w)
				if b != nil {
					if !in.unchanged(bias) {
						return
					}
					operand[0] = operand[0].Add(b)
				}
			}
			dz := derivative(d, scalars, operand, in.Output(), g)
			if b != nil {
				in.AccumulateNode(2, dz)
			}
			in.product(dz, x, w)
			return
		}
		dz := g.value
		if !d.Is(2) {
			var shares *tensor.Tensor
			dz, shares = tensorapi.Impl.LinearGrad(d, scalars, z, y, dz)
			defer dz.Free()
			if b != nil {
				in.Accumulate(2, shares)
			} else {
				shares.Free()
			}
		} else if b != nil {
			in.AccumulateView(2, dz)
		}
		in.products(dz, xv, wv)
	}, saved...)
	if z != nil {
		n.scratch = []*tensor.Tensor{z}
	}
	n = lowered(n, x, w, b)
	if trace.On() {
		trace.Record(op, []any{x, w, b, f, scalars}, n)
	}
	return n
}

// product delivers the gradients of x·w, the node's first two inputs, for the gradient g of the
// product.
func (in *Grads) product(g, x, w *Node) {
	if !in.CreateGraph() {
		in.products(g.value, x.value, w.value)
		return
	}
	if in.NeedsGrad(0) {
		in.AccumulateNode(0, g.MatMul(w.T()))
	}
	switch shared := in.walk.factors; {
	case !in.NeedsGrad(1):
	case shared != nil:
		n := in.input(1)
		shared[n] = append(shared[n], [2]*Node{x, g})
	default:
		in.AccumulateNode(1, x.T().MatMul(g))
	}
}

// products is product by kernels, in place where that is possible.
func (in *Grads) products(g, x, w *tensor.Tensor) {
	if in.NeedsGrad(0) {
		wt := w.T()
		in.matMul(0, g, wt)
		wt.Free()
	}
	if in.NeedsGrad(1) {
		xt := x.T()
		in.matMul(1, xt, g)
		xt.Free()
	}
}

// SquaredError returns the scalar Σ (x − target)². It panics with tensor.ErrShape unless both have
// one shape. Gradients: 2(x − target)·g and its negative; the pass that sums computes them, too.
func (x *Node) SquaredError(target *Node) *Node {
	const op = "SquaredError"
	x, target = castFloat32(x), castFloat32(target)
	xv, tv := x.use(op), target.use(op)
	sum, grad := tensorapi.Impl.SquaredError(xv, tv)
	read := [...]savedValue{{xv, tensorapi.Impl.Version(xv)}, {tv, tensorapi.Impl.Version(tv)}}
	n := NewOp(op, sum, []*Node{x, target}, func(g *Node, in *Grads) {
		if in.CreateGraph() && !in.unchanged(read[:]...) || in.Derive(g, func(x []*Node) *Node { return x[0].Sub(x[1]).Square().Sum() }) {
			return
		}
		if in.NeedsGrad(1) {
			dx := grad.Mul(g.value)
			in.Accumulate(1, dx.Neg())
			dx.Free()
		}
		if tensorapi.Impl.IsOne(g.value) { // as of a Backward without a seed
			in.AccumulateView(0, grad)
		} else {
			in.Accumulate(0, grad.Mul(g.value))
		}
	})
	n = lowered(n.keeping(grad), x, target)
	if trace.On() {
		trace.Record(op, []any{x, target}, n)
	}
	return n
}
