package autograd

import (
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) conv(w, bias *Node, options ...tensor.ConvOptions) *Node {
	const op = "Conv"
	xv, wv, bv := x.use(op), w.use(op), bias.useOptional(op)
	s, shape := tensorapi.Impl.ConvShape(xv, wv, bv, options)
	return convolved(s, false, x, w, bias, tensorapi.Impl.Conv(op, s, false, xv, wv, bv, shape))
}

func (x *Node) convTranspose(w, bias *Node, options ...tensor.ConvTransposeOptions) *Node {
	const op = "ConvTranspose"
	xv, wv, bv := x.use(op), w.use(op), bias.useOptional(op)
	s, shape := tensorapi.Impl.ConvTransposeShape(xv, wv, bv, options)
	return convolved(s, true, x, w, bias, tensorapi.Impl.Conv(op, s, true, xv, wv, bv, shape))
}

// useOptional returns the value of a node, or nil if there is none.
func (n *Node) useOptional(op string) *tensor.Tensor {
	if n == nil {
		return nil
	}
	return n.use(op)
}

// A convolution joins X, W and Y: Y is computed from X and W, and given the gradient of one of
// them, those of the two others are what it is joined with by the other two. So three functions are
// each other's gradients, of any order.

// convolved is the node of y, the convolution, transposed or not, of x with w and a bias.
func convolved(s *ops.ConvShape, transposed bool, x, w, bias *Node, y *tensor.Tensor) *Node {
	xv, wv := x.value, w.value
	inputs := []*Node{x, w}
	if bias != nil {
		inputs = append(inputs, bias)
	}
	spatial := wv.Rank() - 2
	gradient := func(g *Node, in *Grads) {
		a, b := x, g // X and Y
		if transposed {
			a, b = g, x
		}
		if in.NeedsGrad(0) {
			in.accumulateNew(0, g.convolve(s, !transposed, w, x.Shape()))
		}
		needs := bias != nil && in.NeedsGrad(2)
		switch empty := xv.Len() == 0 || wv.Len() == 0 || g.value.Len() == 0; {
		case !in.NeedsGrad(1):
		case in.CreateGraph(), g.Type() != w.gradType(): // it is computed in that of g, and rounded once
			in.accumulateNew(1, a.convWeight(s, b, w.Shape()))
		case needs && !transposed && !empty && bias.gradType() == w.gradType():
			// That of the weights meets every element of g, as that of the bias does.
			in.accumulateHalves(1, func(dw *tensor.Tensor) {
				in.accumulateHalves(2, func(db *tensor.Tensor) { tensorapi.Impl.ConvWeightInto(dw, db, s, a.value, b.value) })
			})
			return
		default:
			in.accumulateHalves(1, func(dst *tensor.Tensor) { tensorapi.Impl.ConvWeightInto(dst, nil, s, a.value, b.value) })
		}
		if !needs {
			return
		}
		in.accumulatePositions(2, g, spatial)
	}
	if transposed {
		return NewOp("ConvTranspose", y, inputs, gradient, xv, wv)
	}
	return NewOp("Conv", y, inputs, gradient, xv, wv)
}

// accumulatePositions delivers the sums of g over its last axes: the gradient of a bias, but for the images, over which
// the input's shape has it summed. They are rounded to 16 bits only then.
func (in *Grads) accumulatePositions(i int, g *Node, spatial int) {
	switch {
	case in.CreateGraph():
	case in.input(i).gradType().Half():
		in.accumulateHalves(i, func(dst *tensor.Tensor) {
			sums := tensorapi.Impl.SumLast(g.value, spatial)
			defer sums.Free()
			tensorapi.Impl.SumRowsInto(dst, sums, false)
		})
		return
	default:
		in.Accumulate(i, tensorapi.Impl.SumLast(g.value, spatial))
		return
	}
	axes := make([]int, spatial)
	for i := range axes {
		axes[i] = i - spatial
	}
	in.AccumulateNode(i, g.as(g.Type().Computed()).Sum(axes...))
}

// convolve returns Y from X and w, or with transposed X from Y and w, of a shape.
func (x *Node) convolve(s *ops.ConvShape, transposed bool, w *Node, shape []int) *Node {
	op := "Conv"
	if transposed {
		op = "ConvTranspose"
	}
	return convolved(s, transposed, x, w, nil, tensorapi.Impl.Conv(op, s, transposed, x.use(op), w.use(op), nil, shape))
}

// convWeight returns W from X and y, of a shape: the gradient of the weights. Gradients: those of a
// convolution with g as its weights.
func (x *Node) convWeight(s *ops.ConvShape, y *Node, shape []int) *Node {
	const op = "ConvWeight"
	xv, yv := x.use(op), y.use(op)
	w := tensor.EmptyOf(xv.Device(), tensorapi.Impl.Floats(xv, yv).Computed(), shape...)
	tensorapi.Impl.ConvWeightInto(w, nil, s, xv, yv)
	return NewOp(op, w, []*Node{x, y}, func(g *Node, in *Grads) {
		if in.NeedsGrad(0) {
			in.AccumulateNode(0, y.convolve(s, true, g, xv.Shape()))
		}
		if in.NeedsGrad(1) {
			in.AccumulateNode(1, x.convolve(s, false, g, yv.Shape()))
		}
	}, xv, yv)
}
