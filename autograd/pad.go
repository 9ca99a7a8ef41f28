package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) pad(widths [][2]int, opts ...tensor.PadOptions) *Node {
	const op = "Pad"
	xv := x.use(op)
	var o tensor.PadOptions
	if len(opts) > 0 {
		o = opts[0]
	}
	y, widths := xv.Pad(widths, opts...), slices.Clone(widths)
	if cut := slices.Clone(widths); o.Mode == tensor.PadCircular { // which wraps what is left of an axis
		cuts := false
		for i, w := range widths {
			cut[i] = [2]int{min(w[0], 0), min(w[1], 0)}
			widths[i] = [2]int{max(w[0], 0), max(w[1], 0)}
			cuts = cuts || cut[i] != [2]int{}
		}
		if cuts {
			y.Free()
			return x.Pad(cut).Pad(widths, o)
		}
	}
	shape := xv.Shape()
	return NewOp(op, y, []*Node{x}, func(g *Node, in *Grads) {
		// Of what is added nothing depends on x, be it 0 or another constant.
		grad := func(g *tensor.Tensor) *tensor.Tensor {
			return tensorapi.Impl.PadGrad("PadGrad", g, shape, widths, o.Mode)
		}
		zeros := func(gg *tensor.Tensor) *tensor.Tensor { return gg.Pad(widths, tensor.PadOptions{Mode: o.Mode}) }
		in.accumulateNew(0, adjoint{"PadGrad", op, grad, zeros}.applied(g))
	})
}
