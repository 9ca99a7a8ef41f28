package operation

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
)

// Windows is where windows lie along spatial axes, of each of which it has a number. Position q, of OutSize, meets tap
// r, of Kernel, at position
//
//	p = q·Stride − Pad + r·Dilation
//
// which may be outside of Size.
type Windows struct {
	Size, OutSize, Kernel, Stride, Dilation, Pad []int
}

// ConvolutionSpec is the shape of a windowed contraction over 1, 2 or 3 spatial axes. It joins images of In channels a
// group, of Size positions p, with weights of Kernel taps and images of Out channels a group, of OutSize positions q,
// as [Windows] says. Positions outside of Size hold 0: whether a weight that is infinite or NaN counts there is the
// kernel's.
type ConvolutionSpec struct {
	Batch, Groups int // Batch images, each of Groups that do not meet
	In, Out       int // In and Out are channels of a group
	Windows
}

// Convolution is a windowed contraction, or with Transposed its gradient with respect to X. For every image
// n, group g, and output channel o and position q, with p of [Windows],
//
//	Y[n, g, o, q…] = Bias[g, o] + Σ X[n, g, c, p…]·W[g, o, c, r…] over c below In and r below Kernel
//
// and with Transposed, for every input channel c and position p,
//
//	Y[n, g, c, p…] = Bias[g, c] + Σ X[n, g, o, q…]·W[g, o, c, r…] over o below Out, and q and r that meet p
//
// Bias is there if it is Biased.
//
// Views: X and Y as the formula has them, W by (g, o, c, r…), Bias by (g, o), or with Transposed by (g, c). All are of
// floats, or X and W of integers of 8 and 16 bits, and Y and Bias of Int32, which wraps around.
//
// Order of the sum: that of the kernel.
type Convolution struct {
	ConvolutionSpec
	Transposed, Biased bool
	X, W, Bias, Y      kernels.View
}

// ConvolutionWeightGrad is the gradient of a [Convolution] with respect to its weights, and to its bias if it is
// Biased, in parts of the sum. A row of G is one of an image: those of all images and of all axes but the last are
// counted through. With p of [Windows], for each part s
//
//	D[s, g, o, c, r…] = Σ X[n, g, c, p…]·G[n, g, o, q…]     DBias[s, g, o] = Σ G[n, g, o, q…]
//
// over the positions q of the rows from s·Slice to below (s+1)·Slice. Slice is at least 1.
//
// Views: X by (n, g, c, p…), G by (n, g, o, q…), D by (s, g, o, c, r…), DBias by (s, g, o).
//
// Order of the sum: that of the kernel.
type ConvolutionWeightGrad struct {
	ConvolutionSpec
	Slice          int
	Biased         bool
	X, G, D, DBias kernels.View
}

// Inputs returns the dimensions of the view of the images of In channels, of which p is a position.
func (s *ConvolutionSpec) Inputs() []int {
	return append([]int{s.Batch, s.Groups, s.In}, s.Size...)
}

// Outputs returns the dimensions of the view of the images of Out channels, of which q is a position.
func (s *ConvolutionSpec) Outputs() []int {
	return append([]int{s.Batch, s.Groups, s.Out}, s.OutSize...)
}

// Weights returns the dimensions of the view of the weights.
func (s *ConvolutionSpec) Weights() []int {
	return append([]int{s.Groups, s.Out, s.In}, s.Kernel...)
}

// Results returns the dimensions of Y.
func (c *Convolution) Results() []int {
	if c.Transposed {
		return c.Inputs()
	}
	return c.Outputs()
}

// Rows returns how many rows G has.
func (c *ConvolutionWeightGrad) Rows() int {
	rows := c.Batch
	for _, n := range c.OutSize[:len(c.OutSize)-1] {
		rows *= n
	}
	return rows
}

// Results returns the dimensions of D, of which the first are those of DBias.
func (c *ConvolutionWeightGrad) Results() []int {
	slice := max(c.Slice, 1)
	return slices.Concat([]int{(c.Rows() + slice - 1) / slice}, c.Weights())
}

// Views returns X, W and Bias, and Y.
func (c *Convolution) Views() (reads, writes []kernels.View) {
	reads = []kernels.View{c.X, c.W}
	if c.Biased {
		reads = append(reads, c.Bias)
	}
	return reads, []kernels.View{c.Y}
}

// Views returns X and G, and D and DBias.
func (c *ConvolutionWeightGrad) Views() (reads, writes []kernels.View) {
	writes = []kernels.View{c.D}
	if c.Biased {
		writes = append(writes, c.DBias)
	}
	return []kernels.View{c.X, c.G}, writes
}

// AllViews returns all views, to be changed.
func (c *Convolution) AllViews() []*kernels.View { return []*kernels.View{&c.X, &c.W, &c.Bias, &c.Y} }

// AllViews returns all views, to be changed.
func (c *ConvolutionWeightGrad) AllViews() []*kernels.View {
	return []*kernels.View{&c.X, &c.G, &c.D, &c.DBias}
}
