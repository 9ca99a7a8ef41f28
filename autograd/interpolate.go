package autograd

import (
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) interpolate(size []int, options ...tensor.InterpolateOptions) *Node {
	run, grad := tensorapi.Impl.Interpolate("Interpolate", x.use("Interpolate"), size, options)
	return x.resampled(run, grad)
}

// resampled returns what run makes of x, which is linear.
func (x *Node) resampled(run, grad func(t *tensor.Tensor) *tensor.Tensor) *Node {
	const op = "Interpolate"
	return NewOp(op, run(x.use(op)), []*Node{x}, func(g *Node, in *Grads) {
		in.accumulateNew(0, g.spread(run, grad))
	})
}

// spread returns g shared out to the inputs of an interpolation. Gradient: that interpolation.
func (g *Node) spread(run, grad func(t *tensor.Tensor) *tensor.Tensor) *Node {
	const op = "InterpolateGrad"
	return NewOp(op, grad(g.use(op)), []*Node{g}, func(gg *Node, in *Grads) { in.AccumulateNode(0, gg.resampled(run, grad)) })
}
