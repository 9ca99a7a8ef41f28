package autograd

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) maxPool(window []int, options ...tensor.MaxPoolOptions) *Node {
	const op = "MaxPool"
	y, places, grad := tensorapi.Impl.MaxPool(op, x.use(op), window, options, x.pools(op))
	n := NewOp(op, y, []*Node{x}, x.toMaxima(places, grad, len(window)))
	return n.keepingPlaces(places)
}

func (x *Node) maxPoolWithIndex(window []int, options ...tensor.MaxPoolOptions) (values *Node, indices *tensor.Tensor) {
	const op = "MaxPoolWithIndex"
	y, places, grad := tensorapi.Impl.MaxPool(op, x.use(op), window, options, true)
	indices = places.To(tensor.Int64)
	n := NewOp(op, y, []*Node{x}, x.toMaxima(places, grad, len(window)))
	return n.keepingPlaces(places), indices
}

func (x *Node) adaptiveMaxPool(size []int) *Node {
	const op = "AdaptiveMaxPool"
	y, places, grad := tensorapi.Impl.AdaptiveMaxPool(op, x.use(op), size, x.pools(op))
	n := NewOp(op, y, []*Node{x}, x.toMaxima(places, grad, len(size)))
	return n.keepingPlaces(places)
}

func (x *Node) adaptiveMaxPoolWithIndex(size []int) (values *Node, indices *tensor.Tensor) {
	const op = "AdaptiveMaxPoolWithIndex"
	y, places, grad := tensorapi.Impl.AdaptiveMaxPool(op, x.use(op), size, true)
	indices = places.To(tensor.Int64)
	n := NewOp(op, y, []*Node{x}, x.toMaxima(places, grad, len(size)))
	return n.keepingPlaces(places), indices
}

// pools reports whether a gradient of x will read where the maxima are.
func (x *Node) pools(op string) bool { return x.needs && !noGrad(x.value.Device(), op) }

// keepingPlaces gives n the places of its maxima, if there are any.
func (n *Node) keepingPlaces(places *tensor.Tensor) *Node {
	if places != nil {
		n.keeping(places)
	}
	return n
}

// toMaxima returns the gradient of maxima in places of the last axes of x.
func (x *Node) toMaxima(places *tensor.Tensor, grad func(g *tensor.Tensor) *tensor.Tensor, axes int) func(g *Node, in *Grads) {
	return func(g *Node, in *Grads) {
		in.accumulateNew(0, g.toPlaces(places, grad, axes))
	}
}

// toPlaces returns g added to zeros in places of the last axes. Gradient: the elements of g in
// these places.
func (g *Node) toPlaces(places *tensor.Tensor, grad func(g *tensor.Tensor) *tensor.Tensor, axes int) *Node {
	const op = "MaxPoolGrad"
	gv := g.use(op)
	shape := gv.Shape()
	y := grad(gv)
	lead := len(shape) - axes
	outer, count, lines := intmath.Product(shape[:lead]), intmath.Product(shape[lead:]), intmath.Product(y.Shape()[lead:])
	return NewOp(op, y, []*Node{g}, func(gg *Node, in *Grads) {
		index := places.Reshape(outer, count)
		in.AccumulateNode(0, gg.Reshape(outer, lines).takeAlong(index, 1, count, false).Reshape(shape...))
	}, places)
}

func (x *Node) avgPool(window []int, options ...tensor.AvgPoolOptions) *Node {
	pool, grad := tensorapi.Impl.AvgPool("AvgPool", x.use("AvgPool"), window, options)
	return adjoint{"AvgPool", "AvgPoolGrad", pool, grad}.applied(x)
}

func (x *Node) adaptiveAvgPool(size []int) *Node {
	pool, grad := tensorapi.Impl.AdaptiveAvgPool("AdaptiveAvgPool", x.use("AdaptiveAvgPool"), size)
	return adjoint{"AdaptiveAvgPool", "AvgPoolGrad", pool, grad}.applied(x)
}
