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
		in.accumulateNew(0, g.padGrad(shape, widths, o.Mode))
	})
}

// padGrad returns the gradient of the operand of a Pad from that of its result. Gradient: that Pad,
// with 0 outside.
func (g *Node) padGrad(shape []int, widths [][2]int, mode tensor.PadMode) *Node {
	const op = "PadGrad"
	return NewOp(op, tensorapi.Impl.PadGrad(op, g.use(op), shape, widths, mode), []*Node{g}, func(gg *Node, in *Grads) {
		in.AccumulateNode(0, gg.Pad(widths, tensor.PadOptions{Mode: mode}))
	})
}
