package autograd

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) layerNorm(axis int, w, b *Node, eps float64) *Node {
	const op = "LayerNorm"
	n := newNorm(op, x, w, b, eps)
	y := n.rows(op, axis, true)
	return NewOp(op, y, n.inputs, n.rowsBackward, n.saved...).keeping(n.mean, n.rstd)
}

func (x *Node) rmsNorm(axis int, w *Node, eps float64) *Node {
	const op = "RMSNorm"
	n := newNorm(op, x, w, nil, eps)
	y := n.rows(op, axis, false)
	return NewOp(op, y, n.inputs, n.rowsBackward, n.saved...).keeping(n.mean, n.rstd)
}

func (x *Node) groupNorm(groups int, w, b *Node, eps float64) *Node {
	const op = "GroupNorm"
	n := newNorm(op, x, w, b, eps)
	y := n.groups(op, groups)
	return NewOp(op, y, n.inputs, n.groupsBackward, n.saved...).keeping(n.mean, n.rstd)
}

func (x *Node) instanceNorm(w, b *Node, eps float64) *Node {
	const op = "InstanceNorm"
	n := newNorm(op, x, w, b, eps)
	groups := 1 // of what is misuse
	if n.x.Rank() > 1 {
		groups = n.x.Shape()[1]
	}
	y := n.groups(op, groups)
	return NewOp(op, y, n.inputs, n.groupsBackward, n.saved...).keeping(n.mean, n.rstd)
}

func (x *Node) batchNorm(w, b *Node, eps float64, options ...tensor.BatchNormOptions) *Node {
	const op = "BatchNorm"
	n := newNorm(op, x, w, b, eps)
	y := n.batch(options)
	return NewOp(op, y, n.inputs, n.batchBackward, n.saved...).keeping(n.mean, n.rstd)
}

// norm is the operation of a norm: x less a mean, times rstd = 1/√(variance + eps), times w, plus
// b.
type norm struct {
	nodes   [3]*Node // x, w and b; the last two may be nil
	at      [3]int   // their numbers among the inputs
	inputs  []*Node
	x, w, b *tensor.Tensor
	eps     float64
	saved   []*tensor.Tensor

	mean, rstd *tensor.Tensor
	centred    bool
	fixed      bool  // mean and rstd do not depend on x
	ofChannels bool  // each channel has a mean, not each row or group
	split      []int // the shape of x, or with channels by groups: batch, groups, channels, elements
	perChannel bool  // parameters have an element for each channel, not for each element of a row
}

func newNorm(op string, x, w, b *Node, eps float64) *norm {
	n := &norm{nodes: [3]*Node{x, w, b}, eps: eps, centred: true}
	for i, in := range n.nodes {
		if i > 0 && in == nil {
			continue
		}
		v := in.use(op)
		n.at[i] = len(n.inputs)
		n.inputs = append(n.inputs, in)
		switch i {
		case 0:
			n.x, n.saved = v, append(n.saved, v)
		case 1:
			n.w, n.saved = v, append(n.saved, v)
		case 2:
			n.b = v
		}
	}
	return n
}

func (n *norm) rows(op string, axis int, centred bool) (y *tensor.Tensor) {
	y, n.mean, n.rstd = tensorapi.Impl.RowNorm(op, n.x, axis, n.w, n.b, n.eps, centred)
	n.centred = centred
	return y
}

func (n *norm) groups(op string, groups int) (y *tensor.Tensor) {
	y, n.mean, n.rstd = tensorapi.Impl.GroupNorm(op, n.x, groups, n.w, n.b, n.eps)
	shape := n.x.Shape()
	groups = max(groups, 1)
	n.perChannel = true
	n.split = []int{shape[0], groups, shape[1] / groups, intmath.Product(shape[2:])}
	return y
}

func (n *norm) batch(options []tensor.BatchNormOptions) (y *tensor.Tensor) {
	y, n.mean, n.rstd = tensorapi.Impl.BatchNorm(n.x, n.w, n.b, n.eps, options)
	n.fixed = len(options) > 0 && options[0].Eval
	n.perChannel, n.ofChannels, n.split = true, true, n.x.Shape()
	return y
}

// of is the norm as operations on Nodes compute it, of its inputs.
func (n *norm) of(inputs []*Node) *Node {
	typ := n.rstd.Type() // no step is rounded to 16 bits
	x := inputs[0].as(typ)
	if n.fixed {
		stat := n.along(n.mean.Len())
		x = x.Sub(Const(n.mean).Reshape(stat...)).Mul(Const(n.rstd).Reshape(stat...))
	} else {
		x = n.lines(x)
	}
	parameter := func(i int) *Node { // as it broadcasts to x: along all axes after those of channels
		p := inputs[n.at[i]].as(typ)
		if n.perChannel {
			return p.Reshape(n.along(p.Len())...)
		}
		return p
	}
	if n.w != nil {
		x = x.Mul(parameter(1))
	}
	if n.b != nil {
		x = x.Add(parameter(2))
	}
	return x
}

// lines is the norm without parameters of x, the lines of which are sets of elements with one mean.
func (n *norm) lines(x *Node) *Node {
	if n.ofChannels {
		x = x.MoveDim(1, 0)
	}
	shape, count, numbers := x.Shape(), n.rstd.Len(), []float64{n.eps}
	if x = x.Reshape(count, x.Len()/max(count, 1)); n.centred {
		x = linewise("LayerNorm", ops.LayerNorm, 1, numbers, x)
	} else {
		x = linewise("RMSNorm", ops.RMSNorm, 1, numbers, x)
	}
	if x = x.Reshape(shape...); n.ofChannels {
		x = x.MoveDim(0, 1)
	}
	return x
}

// along is the shape of a vector of channels that broadcasts to x.
func (n *norm) along(channels int) []int {
	shape := []int{channels}
	for len(shape) < n.x.Rank()-1 {
		shape = append(shape, 1)
	}
	return shape
}

func (n *norm) rowsBackward(g *Node, in *Grads) {
	if in.Derive(g, n.of) {
		return
	}
	parameters := n.needs(in, 1) || n.needs(in, 2)
	dx, dw, db := tensorapi.Impl.NormGrad(n.x, g.value, n.w, n.mean, n.rstd, 1, 1, n.centred, parameters)
	in.Accumulate(0, dx)
	n.parameterPartials(in, 1, dw)
	n.parameterPartials(in, 2, db)
}

// needs reports whether parameter i is there and wants a gradient.
func (n *norm) needs(in *Grads, i int) bool { return n.nodes[i] != nil && in.NeedsGrad(n.at[i]) }

// parameterPartials delivers the gradient of parameter i, if it wants one, from partial sums, whose last
// axes have its elements, or from nil where there is nothing to add up. It frees them.
func (n *norm) parameterPartials(in *Grads, i int, partials *tensor.Tensor) {
	add := func(dst *tensor.Tensor) {
		if partials == nil {
			dst.ZeroInPlace()
		} else if elements := dst.Len(); elements > 0 {
			flat, sums := dst.Reshape(elements), partials.Reshape(partials.Len()/elements, elements)
			tensorapi.Impl.SumRowsInto(flat, sums, false)
			flat.Free()
			sums.Free()
		}
	}
	if n.needs(in, i) {
		in.accumulateHalves(n.at[i], add)
	}
	if partials != nil {
		partials.Free()
	}
}

func (n *norm) groupsBackward(g *Node, in *Grads) {
	if in.Derive(g, n.of) {
		return
	}
	batch, groups, size, inner := n.split[0], n.split[1], n.split[2], n.split[3]
	if in.NeedsGrad(0) {
		dx, _, _ := tensorapi.Impl.NormGrad(n.x, g.value, n.w, n.mean, n.rstd, groups, inner, true, false)
		in.Accumulate(0, dx)
	}
	var sg, sh *tensor.Tensor
	if n.x.Len() > 0 && (n.needs(in, 1) || n.needs(in, 2)) {
		sg, sh = tensorapi.Impl.NormSumsOfSets(n.x, g.value, n.mean, n.rstd, batch*groups*size, inner, size)
	}
	n.parameterPartials(in, 1, sh)
	n.parameterPartials(in, 2, sg)
}

func (n *norm) batchBackward(g *Node, in *Grads) {
	if in.Derive(g, n.of) {
		return
	}
	stat := n.along(n.mean.Len())
	var sg, sh *tensor.Tensor
	if n.x.Len() > 0 && (!n.fixed || n.needs(in, 1) || n.needs(in, 2)) {
		sg, sh = n.channelSums(g.value)
	}
	switch {
	case !in.NeedsGrad(0):
	case n.fixed:
		operands := []*tensor.Tensor{g.value, n.rstd.Reshape(stat...)}
		f := fn.Mul
		if n.w != nil {
			f, operands = ops.BatchNormEvalGrad, append(operands, n.w.Reshape(stat...))
		}
		in.Accumulate(0, n.inputGradient(f, operands))
		for _, t := range operands[1:] {
			t.Free()
		}
	case n.x.Len() == 0:
		in.Accumulate(0, tensor.ZerosOf(g.Device(), g.value.Type(), n.x.Shape()...))
	default:
		in.Accumulate(0, n.batchInput(g.value, sg, sh))
	}
	n.parameterPartials(in, 1, sh)
	n.parameterPartials(in, 2, sg)
}

// channelSums returns partial sums of g and of g·(x − mean)·rstd, whose last axes have the channels.
func (n *norm) channelSums(g *tensor.Tensor) (sg, sh *tensor.Tensor) {
	batch, channels := n.split[0], n.split[1]
	inner := n.x.Len() / (batch * channels)
	if inner == 1 {
		return tensorapi.Impl.NormSums(n.x, g, n.mean, n.rstd, batch, channels)
	}
	return tensorapi.Impl.NormSumsOfSets(n.x, g, n.mean, n.rstd, batch*channels, inner, 1)
}

// batchInput returns the gradient by x from the sums of g and of g·(x − mean)·rstd of channels.
func (n *norm) batchInput(g, sg, sh *tensor.Tensor) *tensor.Tensor {
	stat := n.along(n.mean.Len())
	rstd := n.rstd.Reshape(stat...)
	operands := []*tensor.Tensor{n.x, g, n.mean.Reshape(stat...), rstd}
	if n.w != nil {
		w := n.w.Reshape(stat...)
		operands[3] = rstd.Mul(w)
		w.Free()
	}
	each := []float64{float64(n.mean.Len()) / float64(n.x.Len())}
	for i, partials := range []*tensor.Tensor{sg, sh} {
		all := partials.Reshape(append([]int{partials.Len() / stat[0]}, stat...)...)
		sum := all.Sum(0)
		operands = append(operands, tensor.Map(ops.NormParts[i], each, []*tensor.Tensor{sum, operands[3], rstd}[:2+i]...))
		all.Free()
		sum.Free()
	}
	dx := n.inputGradient(ops.NormGradInput, operands)
	for _, t := range append(operands[2:], rstd) {
		t.Free()
	}
	return dx
}

// inputGradient returns the gradient by x, of its type and shape, that a function computes.
func (n *norm) inputGradient(f *kernels.Function, operands []*tensor.Tensor) *tensor.Tensor {
	if !n.x.Type().Half() {
		return tensor.Map(f, nil, operands...)
	}
	dx := tensor.EmptyLike(n.x)
	tensor.MapInto(f.Alone(), nil, []*tensor.Tensor{dx}, operands...)
	return dx
}
