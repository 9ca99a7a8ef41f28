package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
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
	text := fmt.Sprintf("%s%dd %s%s %s%s", name, len(size), d.read(op.X), imageText(s.Batch, s.Groups*channels, size),
		d.read(op.W), imageText(s.Groups*s.Out, s.In, s.Kernel))
	if op.Biased {
		text += " bias " + d.read(op.Bias)
	}
	return text + windowText(&s.Windows) + groupsText(s)
}

// convolutionWeightGrad prints "conv2d-weight-grad %3[8,16,28,28] %4[8,32,28,28] kernel 3 stride 1 pad 1 in 4 parts".
func (d *described) convolutionWeightGrad(op *operation.ConvolutionWeightGrad) string {
	s := &op.ConvolutionSpec
	text := fmt.Sprintf("conv%dd-weight-grad %s%s %s%s kernel %s", len(s.Size), d.read(op.X),
		imageText(s.Batch, s.Groups*s.In, s.Size), d.read(op.G), imageText(s.Batch, s.Groups*s.Out, s.OutSize),
		perAxis(s.Kernel))
	text += windowText(&s.Windows) + groupsText(s)
	if parts := op.Results()[0]; parts > 1 {
		text += fmt.Sprintf(" in %d parts", parts)
	}
	return text
}

// pool prints "max-pool2d %3[128,28,28] kernel 2 stride 2 pad 0", "adaptive-avg-pool2d-grad %3[128,1,1] size 7",
// "avg-pool1d %3[8,28] kernel 3 stride 3 pad 1 counted", "avg-pool1d %3[8,28] kernel 3 stride 3 pad 1 divisor 2".
func (d *described) pool(grad string, s *operation.PoolSpec, x kernels.View, dims []int) string {
	name := "max"
	if s.Function == fn.Add {
		name = "avg"
	}
	text := fmt.Sprintf("%s-pool%dd%s %s%s", name, len(s.Size), grad, d.read(x), shapeText(dims))
	if s.Adaptive {
		size := s.OutSize
		if grad != "" {
			size = s.Size
		}
		return "adaptive-" + text + " size " + perAxis(size)
	}
	text += " kernel " + perAxis(s.Kernel) + windowText(&s.Windows)
	switch {
	case s.Divisor != 0:
		text += fmt.Sprintf(" divisor %d", s.Divisor)
	case s.CountPadding && slices.Max(s.Pad) > 0:
		text += " counted"
	}
	return text
}

// interpolate prints "interpolate linear %3[16,28,28] to 56", "interpolate linear align-corners %3[8,28] to 56" and
// their gradients.
func (d *described) interpolate(grad string, s *operation.InterpolateSpec, x kernels.View, dims, to []int) string {
	mode := "nearest"
	if s.Linear {
		mode = "linear"
	}
	if s.AlignCorners {
		mode += " align-corners"
	}
	return fmt.Sprintf("interpolate%s %s %s%s to %s", grad, mode, d.read(x), shapeText(dims), perAxis(to))
}

// windowText prints the stride and the padding of windows, and a dilation that is not 1.
func windowText(w *operation.Windows) string {
	text := " stride " + perAxis(w.Stride) + " pad " + perAxis(w.Pad)
	if slices.Max(w.Dilation) > 1 {
		text += " dilation " + perAxis(w.Dilation)
	}
	return text
}

// groupsText prints how many groups of channels there are, if there are several.
func groupsText(s *operation.ConvolutionSpec) string {
	if s.Groups == 1 {
		return ""
	}
	return fmt.Sprintf(" groups %d", s.Groups)
}

// imageText prints the shape of images, or of weights.
func imageText(batch, channels int, size []int) string {
	return shapeText(append([]int{batch, channels}, size...))
}

// shapeText prints a shape: "[8,16,28,28]".
func shapeText(dims []int) string {
	return strings.ReplaceAll(fmt.Sprint(dims), " ", ",")
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

// windowed reports whether a launch is a convolution, a pooling or an interpolation, none of which is done together
// with others of its kind.
func windowed(n *node) bool {
	for _, op := range n.kernel.Semantics(n.args) {
		switch op.(type) {
		case *operation.Convolution, *operation.ConvolutionWeightGrad, *operation.Pool, *operation.PoolGrad,
			*operation.Interpolate, *operation.InterpolateGrad:
			return true
		}
	}
	return false
}
