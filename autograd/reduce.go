package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// Sum returns the sum over the given axes, which disappear; over all if none is given. Gradient: g,
// repeated along them.
func (x *Node) Sum(axes ...int) *Node {
	shape := x.use("Sum").Shape()
	return Apply("Sum", x.value.Sum(axes...), []*Node{x}, func(g *tensor.Tensor, in *Grads) {
		in.repeat(g, shape, axes)
	})
}

// Mean returns the mean over the given axes, which disappear; over all if none is given. Gradient: g/n,
// repeated along them, n being the number of elements that a mean is of.
func (x *Node) Mean(axes ...int) *Node {
	shape := x.use("Mean").Shape()
	y := x.value.Mean(axes...)
	n := float64(x.value.Len()) / float64(max(y.Len(), 1))
	return Apply("Mean", y, []*Node{x}, func(g *tensor.Tensor, in *Grads) {
		share := g.Unary(kernels.DivScalar, n, 0)
		in.repeat(share, shape, axes)
		share.Free()
	})
}

// repeat delivers g to input 0 of the given shape, repeated along the reduced axes.
func (in *Grads) repeat(g *tensor.Tensor, shape, axes []int) {
	kept := g.Reshape(keepDims(shape, axes)...)
	wide := kept.Expand(shape...)
	in.Share(0, wide)
	wide.Free()
	kept.Free()
}

// keepDims returns shape with the reduced axes, all if none is named, at 1.
func keepDims(shape, axes []int) []int {
	out := slices.Clone(shape)
	for a := range out {
		if len(axes) == 0 || slices.Contains(axes, a) || slices.Contains(axes, a-len(shape)) {
			out[a] = 1
		}
	}
	return out
}

// Max returns the maximum over the given axes, which disappear; over all if none is given. A NaN is a
// maximum. Gradient: g to the elements that attain the maximum, in equal parts.
func (x *Node) Max(axes ...int) *Node {
	rank := len(x.use("Max").Shape())
	switch {
	case rank == 1 || len(axes) == 1:
		return x.maxAxis(append(axes, 0)[0])
	case len(axes) == 0 || len(axes) == rank:
		return x.Reshape(-1).maxAxis(0)
	}
	// Several axes: bring them together at the end, as one.
	var stay, order, dims []int
	for a := range rank {
		if !slices.Contains(axes, a) && !slices.Contains(axes, a-rank) {
			stay = append(stay, a)
			dims = append(dims, x.Shape()[a])
		}
	}
	order = append(order, stay...)
	for a := range rank {
		if !slices.Contains(stay, a) {
			order = append(order, a)
		}
	}
	return x.Transpose(order...).Reshape(append(dims, -1)...).maxAxis(-1)
}

func (x *Node) maxAxis(axis int) *Node {
	xv := x.value
	y := xv.Max(axis)
	return Apply("Max", y, []*Node{x}, func(g *tensor.Tensor, in *Grads) {
		in.Give(0, tensor.MaxGrad(xv, y, g, axis))
	}, xv, y)
}
