package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) sum(axes ...int) *Node {
	return NewOp("Sum", x.use("Sum").Sum(axes...), []*Node{x}, x.repeated("Sum", 1, axes))
}

func (x *Node) mean(axes ...int) *Node { return x.ofMean(x.use("Mean").Mean(axes...), axes) }

// ofMean is the node of y, the mean of x over axes.
func (x *Node) ofMean(y *tensor.Tensor, axes []int) *Node {
	n := float64(x.Len()) / float64(max(y.Len(), 1))
	return NewOp("Mean", y, []*Node{x}, x.repeated("Mean", n, axes))
}

// repeated returns the gradient of a sum of x over axes, divided by n: g/n, repeated along these.
func (x *Node) repeated(op string, n float64, axes []int) func(g *Node, in *Grads) {
	shape := x.Shape()
	kept := keepDims(shape, tensorapi.Impl.Axes(op, x.value, axes...))
	return func(g *Node, in *Grads) {
		if in.CreateGraph() {
			if n != 1 {
				g = g.DivScalar(n)
			}
			in.AccumulateNode(0, g.Reshape(kept...).Expand(shape...))
			return
		}
		part := g.value
		if n != 1 {
			part = part.DivScalar(n)
			defer part.Free()
		}
		narrow := part.Reshape(kept...)
		wide := narrow.Expand(shape...)
		in.AccumulateView(0, wide)
		wide.Free()
		narrow.Free()
	}
}

func (x *Node) sumTo(shape ...int) *Node {
	xv := x.use("SumTo")
	whole := xv.Shape()
	return NewOp("SumTo", xv.SumTo(shape...), []*Node{x}, func(g *Node, in *Grads) {
		in.AccumulateNode(0, g.Expand(whole...))
	})
}

// keepDims returns shape with the reduced axes at 1.
func keepDims(shape, axes []int) []int {
	out := slices.Clone(shape)
	for _, a := range axes {
		out[a] = 1
	}
	return out
}

func (x *Node) max(axes ...int) *Node {
	xv := x.use("Max")
	y := xv.Max(axes...)
	return NewOp("Max", y, []*Node{x}, attained(xv, y, tensorapi.Impl.Axes("Max", xv, axes...)), xv, y)
}

func (x *Node) min(axes ...int) *Node {
	xv := x.use("Min")
	y := xv.Min(axes...)
	return NewOp("Min", y, []*Node{x}, attained(xv, y, tensorapi.Impl.Axes("Min", xv, axes...)), xv, y)
}

// attained returns the gradient of y, the maximum or minimum of x over axes: to the elements that
// are y.
func attained(x, y *tensor.Tensor, axes []int) func(g *Node, in *Grads) {
	return func(g *Node, in *Grads) {
		in.accumulateNew(0, g.toAttained(x, y, axes))
	}
}

// toAttained returns g shared out to the elements of x that are y. Gradient: the mean of g over
// these.
func (g *Node) toAttained(x, y *tensor.Tensor, axes []int) *Node {
	const op = "MaxGrad"
	gv := g.use(op)
	return NewOp(op, tensorapi.Impl.MaxGrad(x, y, gv, axes...), []*Node{g}, func(gg *Node, in *Grads) {
		parts := Const(tensorapi.Impl.MaxGrad(x, y, tensor.FullLike(gv, 1), axes...))
		in.AccumulateNode(0, gg.Mul(parts).Sum(axes...).Reshape(gv.Shape()...))
	}, x, y)
}
