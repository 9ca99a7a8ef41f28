package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/kernels/operation"
)

// convolution prints "conv2d %3[8,16,28,28] w[32,16,3,3] stride 1 pad 1". A transposed one is the gradient of an input,
// too.
func (d *described) convolution(op *operation.Convolution) string {
	s, name, channels := &op.ConvolutionSpec, "conv", op.In
	if op.Transposed {
		name, channels = "conv-transpose", op.Out
	}
	size := s.Size
	if op.Transposed {
		size = s.OutSize
	}
	text := fmt.Sprintf("%s%dd %s%s %s%s", name, len(size), d.read(op.X), shapeText(s.Batch, s.Groups*channels, size),
		d.read(op.W), shapeText(s.Groups*s.Out, s.In, s.Kernel))
	if op.Biased {
		text += " bias " + d.read(op.Bias)
	}
	return text + windowText(s)
}

// convolutionWeightGrad prints "conv2d-weight-grad %3[8,16,28,28] %4[8,32,28,28] kernel 3 stride 1 pad 1 in 4 parts".
func (d *described) convolutionWeightGrad(op *operation.ConvolutionWeightGrad) string {
	s := &op.ConvolutionSpec
	text := fmt.Sprintf("conv%dd-weight-grad %s%s %s%s kernel %s", len(s.Size), d.read(op.X),
		shapeText(s.Batch, s.Groups*s.In, s.Size), d.read(op.G), shapeText(s.Batch, s.Groups*s.Out, s.OutSize), perAxis(s.Kernel))
	text += windowText(s)
	if parts := op.Results()[0]; parts > 1 {
		text += fmt.Sprintf(" in %d parts", parts)
	}
	return text
}

// windowText prints the stride and the padding of a convolution, and what else is not as usual.
func windowText(s *operation.ConvolutionSpec) string {
	text := " stride " + perAxis(s.Stride) + " pad " + perAxis(s.Pad)
	if slices.Max(s.Dilation) > 1 {
		text += " dilation " + perAxis(s.Dilation)
	}
	if s.Groups > 1 {
		text += fmt.Sprintf(" groups %d", s.Groups)
	}
	return text
}

// shapeText prints a shape: "[8,16,28,28]".
func shapeText(batch, channels int, size []int) string {
	text := fmt.Sprintf("[%d,%d", batch, channels)
	for _, n := range size {
		text += fmt.Sprintf(",%d", n)
	}
	return text + "]"
}

// perAxis prints the numbers of axes, one if they are the same: "3,5", "1".
func perAxis(of []int) string {
	var text []string
	for _, n := range of {
		text = append(text, fmt.Sprint(n))
	}
	if slices.Max(of) == slices.Min(of) {
		return text[0]
	}
	return strings.Join(text, ",")
}

// windowed reports whether a launch is a convolution, none of which is done together with others of its kind.
func windowed(n *node) bool {
	for _, op := range n.kernel.Semantics(n.args) {
		switch op.(type) {
		case *operation.Convolution, *operation.ConvolutionWeightGrad:
			return true
		}
	}
	return false
}
