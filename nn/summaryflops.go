package nn

import (
	"fmt"
	"math"
	"strings"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/tensor"
)

// movingOperations move elements: they compute nothing. Those in viewOperations make none either.
var (
	movingOperations = operationSet(`Concat Stack Copy Gather GatherRows IndexSelect IndexCopy IndexFill IndexPut Index Embedding
		EmbeddingQuantized Pad Tile RepeatInterleave Roll Flip PixelShuffle PixelUnshuffle Scatter MaskedSelect Tril Triu To
		Meshgrid`)
	viewOperations = operationSet(`Reshape Flatten Transpose T MoveDim Squeeze Unsqueeze Expand Slice Step Select Split SplitWithSizes
		Chunk Unbind Diagonal Unfold Detach`)
)

func operationSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(text) {
		set[name] = true
	}
	return set
}

// shaped is an argument or a result of a call.
type shaped interface{ Shape() []int }

// operands returns the nodes, tensors and quantized weights among arguments, those in lists too.
func operands(args []any) []shaped {
	var list []shaped
	for _, a := range args {
		switch a := a.(type) {
		case *autograd.Node:
			if a != nil {
				list = append(list, a)
			}
		case *tensor.Tensor:
			if a != nil {
				list = append(list, a)
			}
		case *tensor.QuantizedTensor:
			if a != nil {
				list = append(list, a)
			}
		case []*autograd.Node:
			for _, n := range a {
				list = append(list, operands([]any{n})...)
			}
		case []any:
			list = append(list, operands(a)...)
		}
	}
	return list
}

func elements(x shaped) float64 {
	n := 1.0
	for _, d := range x.Shape() {
		n *= float64(d)
	}
	return n
}

// lastOf returns the last dimension of x.
func lastOf(x shaped) float64 {
	shape := x.Shape()
	if len(shape) == 0 {
		return 1
	}
	return float64(shape[len(shape)-1])
}

// flops returns the arithmetic operations of a call by the shapes of its operands: see [ModelSummary]. exact is false
// for an operation of which nothing is known but its name.
func flops(c trace.Call) (n float64, exact bool) {
	in, y := operands(c.Args), elements(c.Results[0].(shaped))
	switch {
	case movingOperations[c.Op] || viewOperations[c.Op]:
		return 0, true
	case c.Opaque:
	case c.Op == "Linear" || strings.HasPrefix(c.Op, "MatMul"):
		return 2 * y * lastOf(in[0]), true
	case c.Op == "Dot":
		return 2 * elements(in[0]), true
	case c.Op == "TensorDot": // each axis is of two of x, w and y
		return 2 * math.Sqrt(elements(in[0])*elements(in[1])*y), true
	case c.Op == "Conv" || c.Op == "ConvQuantized":
		return 2 * y * elements(in[1]) / max(1, float64(in[1].Shape()[0])), true
	case c.Op == "ConvTranspose":
		return 2 * elements(in[0]) * elements(in[1]) / max(1, float64(in[1].Shape()[0])), true
	case c.Op == "ScaledDotProductAttention":
		keys := in[1].Shape()
		return 2 * (elements(in[0]) + y) * float64(keys[len(keys)-2]), true
	case c.Op == "LSTM" || c.Op == "GRU": // of one direction: x, and the two matrices
		return 2 * elements(in[0]) / max(1, lastOf(in[0])) * (elements(in[1]) + elements(in[2])), true
	case c.Op == "Einsum":
		return einsumFLOPs(c.Args[0].(string), in), true
	case c.Op == "MaxPool" || c.Op == "MaxPoolWithIndex" || c.Op == "AvgPool":
		for _, n := range c.Args[1].([]int) {
			y *= float64(n)
		}
		return y, true
	}
	for _, x := range in {
		y = max(y, elements(x))
	}
	return y, false
}

// einsumFLOPs is a product of all operands for each of all indices, and a sum.
func einsumFLOPs(equation string, in []shaped) float64 {
	terms, _, _ := strings.Cut(strings.ReplaceAll(equation, " ", ""), "->")
	sizes := map[string]int{}
	for i, term := range strings.Split(terms, ",") {
		shape := in[i].Shape()
		left, right, dots := strings.Cut(term, "...")
		if !dots {
			left, right = "", term
		}
		for k, letter := range left {
			sizes[string(letter)] = max(sizes[string(letter)], shape[k])
		}
		for k, size := range shape[len(left):] {
			name := fmt.Sprint("axis ", len(shape)-len(left)-k) // of "...", counted from the end
			if at := len(left) + k - (len(shape) - len(right)); at >= 0 {
				name = right[at : at+1]
			}
			sizes[name] = max(sizes[name], size)
		}
	}
	n := float64(len(in))
	for _, size := range sizes {
		n *= float64(size)
	}
	return n
}
