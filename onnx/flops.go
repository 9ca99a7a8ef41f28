package onnx

import "strings"

// movingOperators compute nothing.
var movingOperators = wordsOf(`Cast CastLike BitCast CenterCropPad Compress Concat ConcatFromSequence Constant ConstantOfShape
	DepthToSpace Expand EyeLike Flatten Gather GatherElements GatherND Identity Optional OptionalGetElement
	OptionalHasElement Pad Reshape ReverseSequence Scatter ScatterElements ScatterND SequenceAt SequenceConstruct
	SequenceEmpty SequenceErase SequenceInsert SequenceLength Shape Size Slice SpaceToDepth Split SplitToSequence Squeeze
	TensorScatter Tile Transpose Trilu Unique Unsqueeze`)

func wordsOf(text string) map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(text) {
		words[w] = true
	}
	return words
}

// convWeights is which input the weights of convolutions are.
var convWeights = map[string]int{"Conv": 1, "FusedConv": 1, "ConvInteger": 1, "QuantizedConv": 1, "DeformConv": 1, "QLinearConv": 3}

// products are those of matrices, of which input 0 is one.
var products = wordsOf(`MatMul Gemm FusedMatMul FusedGemm MatMulInteger QLinearMatMul QGemm MatMulNBits MatMulIntegerToFloat
	DynamicQuantizeMatMul QuantizedMatMul PackedMatMul`)

// attentions have queries, keys and values in inputs 0 to 2; the number is which input earlier keys are, 0 for none.
var attentions = map[string]int{"Attention": 4, "MultiHeadAttention": 6, "GroupQueryAttention": 3, "FlexAttention": 0}

// sized is how large a value is: its shape, and the elements of all tensors in it. nil is one that is left out.
type sized struct {
	shape    []int
	elements float64
}

// sizeOfValue returns how large a value of a run is.
func sizeOfValue(v *Value) *sized {
	if v == nil {
		return nil
	}
	s := &sized{shape: v.Shape()}
	v.each(func(t *Value) { s.elements += float64(t.any().Len()) })
	return s
}

func sizesOfValues(list []*Value) []*sized {
	sizes := make([]*sized, len(list))
	for i, v := range list {
		sizes[i] = sizeOfValue(v)
	}
	return sizes
}

// flops returns the arithmetic operations of a node by the sizes of its values: see SetTrace.
func flops(c *nodeCall, inputs, out []*sized) float64 {
	op := c.node.proto.Op
	results := 0.0 // elements of all outputs
	for _, v := range out {
		if v != nil {
			results += v.elements
		}
	}
	if len(out) == 0 || out[0] == nil {
		return 0
	}
	has := func(i int) bool { return i < len(inputs) && inputs[i] != nil }
	in := func(i int) float64 {
		if !has(i) {
			return 0
		}
		return inputs[i].elements
	}
	dim := func(i, axis int) float64 { // a dimension of an input, from the end below 0
		if !has(i) {
			return 0
		}
		shape := inputs[i].shape
		if axis < 0 {
			axis += len(shape)
		}
		if axis < 0 || axis >= len(shape) {
			return 1
		}
		return float64(shape[axis])
	}
	y := out[0].elements
	if w, ok := convWeights[op]; ok {
		return 2 * y * in(w) / max(1, dim(w, 0))
	}
	past, attends := attentions[op]
	switch {
	case op == "ConvTranspose":
		return 2 * in(0) * in(1) / max(1, dim(1, 0))
	case products[op]:
		if a := c.node.attributes["transA"]; a != nil && a.Int != 0 {
			return 2 * y * dim(0, -2)
		}
		return 2 * y * dim(0, -1)
	case op == "Einsum":
		return einsumFlops(c, inputs)
	case op == "Attention" && domainOf(c.node.proto.Domain) == microsoft: // with the products that make q, k and v
		return 2*in(0)*dim(1, -1) + 4*y*dim(0, 1)
	case attends:
		keys := dim(1, -2)
		if past > 0 {
			keys += dim(past, -2)
		}
		return 2 * (in(0) + y) * keys
	case op == "LSTM" || op == "GRU" || op == "RNN":
		return 2 * dim(0, 0) * dim(0, 1) * (in(1) + in(2))
	case op == "MaxPool" || op == "AveragePool" || op == "LpPool":
		window := 1.0
		for _, k := range c.IntList("kernel_shape") {
			window *= float64(k)
		}
		return y * window
	case strings.HasPrefix(op, "Reduce") || strings.HasPrefix(op, "Global") || strings.HasPrefix(op, "Arg"):
		return in(0)
	case movingOperators[op]:
		return 0
	}
	return results
}

// einsumFlops is a product of all operands for each of all indices, and a sum.
func einsumFlops(c *nodeCall, inputs []*sized) float64 {
	terms, _, _ := strings.Cut(strings.ReplaceAll(c.String("equation", ""), " ", ""), "->")
	sizes := map[string]int{}
	for i, term := range strings.Split(terms, ",") {
		if i >= len(inputs) || inputs[i] == nil {
			break
		}
		shape := inputs[i].shape
		left, right, dots := strings.Cut(term, "...")
		for k, letter := range left {
			if k < len(shape) {
				sizes[string(letter)] = max(sizes[string(letter)], shape[k])
			}
		}
		if !dots {
			continue
		}
		for k, letter := range right {
			if at := len(shape) - len(right) + k; at >= 0 {
				sizes[string(letter)] = max(sizes[string(letter)], shape[at])
			}
		}
		for k := len(left); k < len(shape)-len(right); k++ { // those of "..." from the end
			name := "." + string(rune('0'+len(shape)-len(right)-k))
			sizes[name] = max(sizes[name], shape[k])
		}
	}
	n := float64(len(inputs))
	for _, size := range sizes {
		n *= float64(size)
	}
	return n
}
