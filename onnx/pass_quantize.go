package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// quantize makes products of integers of those whose operands are dequantized, and keeps weights in integers.
//
//	Conv(DequantizeLinear(x), DequantizeLinear(w), b)      becomes     QuantizedConv(x, w, …, b), and MatMul, Gemm alike
//	MatMul(x, DequantizeLinear(w)), Gemm alike             becomes     PackedMatMul(x): w is unpacked in the product
//	Q(Reshape(DequantizeLinear(x))) with the scale of x    becomes     Reshape(x), and other operators that move elements
//
// The float that QuantizedConv and QuantizedMatMul give is what the operator would, and activations and a QuantizeLinear
// behind it stay: a recording joins them. Weights may be transposed on their way, have a scale for each output channel,
// and those of PackedMatMul one for each block of a multiple of 32 rows.
//
// It leaves integers of 16 bits and floats of 8, scales that are no constants or no Float32, activations with several
// scales, and weights whose scales are none of outputs. Weights of convolutions of floats become floats.
func quantize(r *rewriter) {
	for _, n := range slices.Clone(r.g.nodes) {
		switch {
		case n.is("Conv"):
			r.quantizeConv(n)
		case n.is("MatMul", "Gemm"):
			r.quantizeMatMul(n)
		case n.is("QuantizeLinear"):
			r.quantizeMove(n)
		}
	}
	if !slices.Contains(r.s.options.Skip, "fold-constants") {
		fold(r, true) // weights that are left
	}
}

// quantizedConstant reports whether a node makes floats of constants of integers: pass quantize has them before they
// are folded.
func (r *rewriter) quantizedConstant(n *node) bool {
	return n.dequantizes() && r.g.constants[n.input(0)] != nil && !slices.Contains(r.s.options.Skip, "quantize")
}

func (n *node) dequantizes() bool { return n.linear("DequantizeLinear") }

// linear reports whether a node is QuantizeLinear or DequantizeLinear, of either domain that has them.
func (n *node) linear(op string) bool {
	return n != nil && n.function == nil && n.proto.Op == op && slices.Contains([]string{"", microsoft}, domainOf(n.proto.Domain))
}

// quantizedValue is integers that stand for floats: (integer − zero)·scale.
type quantizedValue struct {
	name, zeroName string         // of the values of the graph, zeroName "" for 0
	scale, zero    *autograd.Node // constants, zero nil for 0
	typ            tensor.Type    // of the integers
	axis, block    int            // of scales that are more than one: a block is 0, or positions that share one
	swapped        bool           // it is the transpose that is meant, of a matrix
}

// dequantized returns what stands for a value, and false if it is none.
func (r *rewriter) dequantized(name string) (quantizedValue, bool) {
	n, swapped := r.makes[name], false
	if n.is("Transpose") {
		perm := n.attributes["perm"]
		if perm != nil && !slices.Equal(perm.Ints, []int64{1, 0}) {
			return quantizedValue{}, false
		}
		swapped, n = true, r.makes[n.input(0)]
	}
	if !n.dequantizes() {
		return quantizedValue{}, false
	}
	q, ok := r.scales(n)
	q.name, q.swapped = n.input(0), swapped
	w := r.constant(q.name)
	if swapped && (w == nil || w.Rank() != 2) || w != nil && q.zero != nil && q.zero.Type() != w.Type() {
		return q, false
	}
	if w != nil {
		q.typ = w.Type()
	}
	return q, ok
}

// scales returns the scale and the zero point of a QuantizeLinear or DequantizeLinear, and false if they are no
// constants. Without a zero point the type is that which a QuantizeLinear gives, Uint8, or that of such a one before n.
func (r *rewriter) scales(n *node) (quantizedValue, bool) {
	q := quantizedValue{zeroName: n.input(2), axis: 1}
	if a := n.attributes["output_dtype"]; a != nil && a.Int != 0 {
		return q, false
	}
	if a := n.attributes["precision"]; a != nil && a.Int != 0 {
		return q, false
	}
	if a := n.attributes["axis"]; a != nil {
		q.axis = int(a.Int)
	}
	if a := n.attributes["block_size"]; a != nil {
		q.block = int(a.Int)
	}
	if q.scale = r.constant(n.input(1)); q.scale == nil || q.scale.Type() != tensor.Float32 {
		return q, false
	}
	switch maker := r.makes[n.input(0)]; {
	case q.zeroName != "":
		if q.zero = r.constant(q.zeroName); q.zero == nil {
			return q, false
		}
		q.typ = q.zero.Type()
	case n.proto.Op == "QuantizeLinear":
		q.typ = tensor.Uint8
	case maker.linear("QuantizeLinear"):
		before, _ := r.scales(maker)
		q.typ = before.typ
	}
	return q, true
}

// bytes reports whether products of integers take the value.
func (q quantizedValue) bytes() bool { return q.typ == tensor.Int8 || q.typ == tensor.Uint8 }

// single reports whether there is one scale.
func (q quantizedValue) single() bool {
	return q.scale.Len() == 1 && (q.zero == nil || q.zero.Len() == 1)
}

// along reports whether the value has one scale, or one for each of n positions along an axis of rank many.
func (q quantizedValue) along(axis, n, rank int) bool {
	if q.block != 0 {
		return false
	}
	own := q.axis
	if own < 0 {
		own += rank
	}
	each := own == axis && q.scale.Rank() == 1 && q.scale.Len() == n && (q.zero == nil || q.zero.Rank() == 1 && q.zero.Len() == n)
	return q.single() || each
}

// quantizeConv makes a convolution one of integers.
func (r *rewriter) quantizeConv(conv *node) {
	x, okX := r.dequantized(conv.input(0))
	w, okW := r.dequantized(conv.input(1))
	if !okX || !okW || !x.bytes() || !w.bytes() || !x.single() || x.swapped || w.swapped {
		return
	}
	weights := r.constant(w.name)
	if weights == nil || weights.Rank() < 3 || !w.along(0, weights.Shape()[0], weights.Rank()) {
		return
	}
	shape := slices.Repeat([]int{1}, weights.Rank()-1)
	shape[0] = w.scale.Len()
	scale := r.add(conv.proto.Outputs[0]+" scale", x.scale.Reshape(1).Mul(w.scale.Reshape(shape...)))
	r.become(conv, "QuantizedConv", []string{x.name, w.name, x.zeroName, w.zeroName, scale, conv.input(2)}, func(c *Call) []*Value {
		y := integerConv(c, c.Node(0), c.Node(1), c.NodeOr(2), c.NodeOr(3)).To(tensor.Float32).Mul(c.Node(4))
		if bias := c.NodeOr(5); bias != nil {
			y = y.Add(perChannel(bias, y.Rank()))
		}
		return Out(y)
	})
}

// become puts another operator in the place of n, of its attributes and outputs.
func (r *rewriter) become(n *node, name string, inputs []string, run func(c *Call) []*Value) *node {
	m := n.with(inputs, n.proto.Outputs)
	m.proto.Op, m.proto.Domain, m.op = name, "", Operator{Name: name, Run: run}
	r.replace(n, m)
	return m
}

// quantizeMatMul makes a product one of integers, or one by weights in integers.
func (r *rewriter) quantizeMatMul(n *node) {
	flag := func(name string) bool { a := n.attributes[name]; return a != nil && a.Int != 0 }
	one := func(name string) bool { a := n.attributes[name]; return a == nil || a.Float == 1 }
	if flag("transA") || !one("alpha") || !one("beta") {
		return
	}
	b, ok := r.dequantized(n.input(1))
	if !ok {
		return
	}
	b.swapped = b.swapped != flag("transB")
	bias := n.input(2)
	if a, ok := r.dequantized(n.input(0)); ok && a.bytes() && a.single() && !a.swapped && b.bytes() && r.quantizeProduct(n, a, b, bias) {
		return
	}
	w := r.packed(b)
	if w == nil {
		return
	}
	m := r.become(n, "PackedMatMul", []string{n.input(0), bias}, func(c *Call) []*Value {
		y := autograd.MatMulQuantized(c.Node(0), w)
		if bias := c.NodeOr(1); bias != nil {
			y = y.Add(bias)
		}
		return Out(y)
	})
	m.op.OnDevice = true
	r.s.packed[packedWeights{node: m}] = w
}

// quantizeProduct makes a product one of integers, and reports whether it could.
func (r *rewriter) quantizeProduct(n *node, a, b quantizedValue, bias string) bool {
	name, zero, scale := b.name, b.zeroName, b.scale
	if w := r.constant(b.name); w != nil {
		if w.Rank() < 2 {
			return false
		}
		column := w.Rank() - 1
		if b.swapped {
			column = 0
		}
		if !b.along(column, w.Shape()[column], w.Rank()) {
			return false
		}
		if b.swapped {
			name = r.add(b.name, autograd.Const(w.Value().T().Copy()))
		}
	} else if !b.single() || b.swapped {
		return false
	}
	scales := r.add(n.proto.Outputs[0]+" scale", a.scale.Reshape(1).Mul(scale.Reshape(-1)))
	r.become(n, "QuantizedMatMul", []string{a.name, name, a.zeroName, zero, scales, bias}, func(c *Call) []*Value {
		y := integerMatMul(c, c.Node(0), c.Node(1), c.NodeOr(2), c.NodeOr(3)).To(tensor.Float32).Mul(c.Node(4))
		if bias := c.NodeOr(5); bias != nil {
			y = y.Add(bias)
		}
		return Out(y)
	})
	return true
}

// packed returns a matrix of constants as weights in integers, or nil.
func (r *rewriter) packed(b quantizedValue) *tensor.QuantizedTensor {
	w := r.constant(b.name)
	if w == nil || w.Rank() != 2 || w.Len() == 0 {
		return nil
	}
	rows, group := 0, 0 // the axis of k
	q := w.Value()
	if b.swapped {
		rows, q = 1, q.T()
	}
	k, n := q.Shape()[0], q.Shape()[1]
	matrix := func(x *autograd.Node) *tensor.Tensor { // numbers [n], or [groups, n]
		switch {
		case x == nil:
			return nil
		case b.block > 0 && b.swapped:
			return x.Value().T()
		case b.block > 0:
			return x.Value()
		case x.Len() == 1:
			return x.Value().Reshape(1).Expand(n)
		}
		return x.Value()
	}
	axis := b.axis
	if axis < 0 {
		axis += 2
	}
	switch {
	case b.block > 0:
		shape := []int{(k-1)/b.block + 1, n}
		fits := func(x *autograd.Node) bool {
			return x == nil || x.Rank() == 2 && slices.Equal(matrix(x).Shape(), shape)
		}
		if axis != rows || b.block%32 != 0 || !fits(b.scale) || !fits(b.zero) {
			return nil
		}
		group = b.block
	case !b.along(1-rows, n, 2):
		return nil
	}
	if typ := q.Type(); typ != tensor.Int8 && typ != tensor.Uint8 && typ != tensor.Int4 && typ != tensor.Uint4 {
		return nil
	}
	packed, err := tensor.NewQuantized(q, matrix(b.scale), matrix(b.zero), group)
	if err != nil { // scales that are no numbers
		return nil
	}
	return packed
}

// movers are operators that move elements, or choose the largest, so that they may do it with integers.
var movers = []string{"Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Slice", "DepthToSpace", "SpaceToDepth", "MaxPool"}

// quantizeMove leaves out the floats around an operator that moves elements.
func (r *rewriter) quantizeMove(q *node) {
	move := r.makes[q.input(0)]
	if !move.is(movers...) || r.uses[q.input(0)] != 1 || len(move.proto.Outputs) != 1 || move.is("MaxPool") && move.version < 12 {
		return
	}
	dq := r.makes[move.input(0)]
	if !dq.dequantizes() {
		return
	}
	from, ok := r.scales(dq)
	to, okTo := r.scales(q)
	if !ok || !okTo || !from.bytes() || from.typ != to.typ || !from.single() || !to.single() ||
		!sameNumber(from.scale, to.scale) || !sameNumber(from.zero, to.zero) {
		return
	}
	inputs := slices.Clone(move.proto.Inputs)
	inputs[0] = dq.input(0)
	r.replace(q, move.with(inputs, q.proto.Outputs))
	r.remove(move)
}

// sameNumber reports whether two constants of one element are equal. nil is 0.
func sameNumber(a, b *autograd.Node) bool {
	var x [2]float64
	for i, n := range []*autograd.Node{a, b} {
		if n == nil {
			continue
		}
		v, err := n.Float64s()
		if err != nil || len(v) != 1 {
			return false
		}
		x[i] = v[0]
	}
	return x[0] == x[1]
}
