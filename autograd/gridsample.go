package autograd

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// GridMode says how GridSample reads between elements.
type GridMode uint8

// The modes of GridSample.
const (
	GridLinear  GridMode = iota // between neighbours, along each axis
	GridNearest                 // the nearest element, at the middle the one whose index is even
	GridCubic                   // four elements along each axis, by Keys' filter with a = −0.75
	gridModes
)

// GridPadding says what GridSample reads outside the elements.
type GridPadding uint8

// The paddings of GridSample.
const (
	GridZeros      GridPadding = iota // 0
	GridBorder                        // the nearest element
	GridReflection                    // the elements again, mirrored at the ends
	gridPaddings
)

// GridOptions are those of GridSample.
type GridOptions struct {
	Mode         GridMode    // how it reads between elements
	Padding      GridPadding // what it reads outside them
	AlignCorners bool        // −1 and 1 are the centres of the outermost elements; else their outer ends
}

// GridSample returns the elements of x [N, C, …] at the points of a grid [N, …, axes], of any number of
// spatial axes of x: [N, C, …] with the spatial axes of the grid. Coordinates are from −1 to 1, of the last
// axis first. x that is of integers is converted to floats unless the mode is GridNearest. It panics with
// tensor.ErrShape, and with tensor.ErrValue for another mode or padding. Gradients are those of the weights:
// of a coordinate at an element, those towards the next element. Coordinates of GridNearest have the gradient 0,
// and so have those beyond the ends of GridBorder.
func GridSample(x, grid *Node, options ...GridOptions) *Node {
	const op = "GridSample"
	defer tensorapi.Rename("autograd", op)
	how := optional(op, options)
	if how.Mode >= gridModes || how.Padding >= gridPaddings {
		badOption(op, fmt.Sprintf("there is no mode %d with padding %d", how.Mode, how.Padding))
	}
	in, shape := x.use(op).Shape(), grid.use(op).Shape()
	axes := len(in) - 2
	if axes < 1 || len(shape) != len(in) || shape[0] != in[0] || shape[axes+1] != axes {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{in, shape}, Detail: "x is [N, C, …], and the grid [N, …, axes]"})
	}
	s := &sampler{size: in[2:], taps: map[GridMode]int{GridLinear: 2, GridNearest: 1, GridCubic: 4}[how.Mode], padding: how.Padding, aligned: how.AlignCorners}
	result := slices.Concat(in[:2], shape[1:axes+1])
	of := []*Node{x, grid}
	x, grid = computed(x), computed(grid).AddScalar(1)
	if s.taps > 1 {
		x = x.as(tensorapi.Impl.Floats(x.value))
	}
	if intmath.Product(result) == 0 {
		return lowered(Const(tensor.ZerosOf(x.Device(), x.value.Type(), result...)), of...)
	}
	if x.value.Len() == 0 {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{in, shape}, Detail: "there is nothing to sample"})
	}
	at := make([]*Node, axes)
	for a, n := range s.size {
		g := grid.Select(-1, axes-1-a).Reshape(shape[0], intmath.Product(shape[1:axes+1]))
		if s.aligned {
			at[a] = g.MulScalar(float64(n-1) / 2)
		} else {
			at[a] = g.MulScalar(float64(n)).SubScalar(1).DivScalar(2)
		}
	}
	return lowered(s.sample(x, at).Transpose(0, 2, 1).Reshape(result...), of...)
}

// sampler reads tensors between their elements.
type sampler struct {
	size    []int // of the spatial axes
	taps    int   // along an axis: 1 is the nearest element, 2 is linear, 4 is cubic
	padding GridPadding
	aligned bool // whether reflection is at the centres of the outermost elements, or at their outer ends
}

// cubicSlope is a of Keys' cubic filter, as PyTorch has it.
const cubicSlope = -0.75

// sample returns the elements [images, points, channels] of x [images, channels, …] at coordinates, for each spatial axis
// a node [images, points].
func (s *sampler) sample(x *Node, at []*Node) *Node {
	images, channels, points, axes := x.Shape()[0], x.Shape()[1], at[0].Shape()[1], len(s.size)
	volume := intmath.Product(s.size)
	first := tensor.ArangeOf(x.Device(), tensor.Int64, 0, float64(images), 1)
	// Indices and weights of all combinations of taps: [taps…, images, points].
	index, weights := Const(first).MulScalar(float64(volume)).Reshape(images, 1), (*Node)(nil)
	first.Free()
	stride, all := 1, 1
	for a := axes - 1; a >= 0; a-- {
		whole, w := s.axis(at[a], s.size[a])
		shape := slices.Repeat([]int{1}, axes)
		shape[a] = s.taps
		shape = append(shape, images, points)
		index = index.Add(whole.To(tensor.Int64).MulScalar(float64(stride)).Reshape(shape...))
		if w = w.Reshape(shape...); weights == nil {
			weights = w
		} else {
			weights = weights.Mul(w)
		}
		stride, all = stride*s.size[a], all*s.taps
	}
	rows := x.MoveDim(1, -1).Reshape(images*volume, channels)
	y := rows.Embedding(index.Reshape(all, images*points).Value())
	return y.Mul(weights.Reshape(all, images*points, 1)).Sum(0).Reshape(images, points, channels)
}

// axis returns the whole positions [taps, images, points] of a coordinate along an axis of n, and their weights. A
// position outside of the axis is the one that the padding takes, or has the weight 0.
func (s *sampler) axis(x *Node, n int) (index, weights *Node) {
	low, high := -0.5, float64(n)-0.5
	if s.aligned {
		low, high = 0, float64(n-1)
	}
	if s.taps == 1 {
		x = x.Round()
	}
	out := x.LtScalar(low).LogicalOr(x.GtScalar(high))
	switch {
	case s.padding == GridBorder && s.taps < 4: // the taps of a cubic filter are limited one by one
		x = x.Clamp(0, float64(n-1)).Where(out, x)
	case s.padding == GridReflection:
		x = reflected(x, low, high).Where(out, x)
	}
	floor := x.Floor()
	var positions, factors []*Node
	for k := range s.taps {
		before := (s.taps - 1) / 2 // taps up to this one are at x or before it
		at := floor.AddScalar(float64(k - before))
		distance := x.Sub(at)
		if k > before {
			distance = at.Sub(x)
		}
		positions, factors = append(positions, at), append(factors, s.weight(distance, k))
	}
	index, weights = Stack(0, positions...).Detach(), Stack(0, factors...)
	if s.padding == GridZeros {
		weights = weights.MaskedFill(index.LtScalar(0).LogicalOr(index.GtScalar(float64(n-1))), 0)
	} else if s.padding == GridReflection {
		index = reflected(index, low, high).Trunc()
	}
	return index.Clamp(0, float64(n-1)), weights
}

// reflected returns coordinates that are reflected at the ends of [low, high] until they are inside.
func reflected(x *Node, low, high float64) *Node {
	length := high - low
	if length <= 0 {
		return x.MulScalar(0).AddScalar(low)
	}
	d := x.SubScalar(low).Abs()
	d = d.Sub(d.DivScalar(2 * length).Floor().MulScalar(2 * length))
	return d.Minimum(d.RSubScalar(2 * length)).AddScalar(low)
}

// weight returns the weight of tap k at a distance.
func (s *sampler) weight(d *Node, k int) *Node {
	const a = cubicSlope
	switch {
	case s.taps == 1:
		return d.MulScalar(0).AddScalar(1)
	case s.taps == 2:
		return d.RSubScalar(1)
	case k == 1 || k == 2: // at most 1 away
		return d.MulScalar(a + 2).SubScalar(a + 3).Mul(d).Mul(d).AddScalar(1)
	}
	return d.MulScalar(a).SubScalar(5 * a).Mul(d).AddScalar(8 * a).Mul(d).SubScalar(4 * a)
}

// AffineGrid returns the grid [N, …, axes] that matrices theta [N, axes, axes + 1] make of the positions of an
// image of a size, one number for each spatial axis: what GridSample takes. It panics with tensor.ErrShape.
// Gradients are those of the product.
func AffineGrid(theta *Node, spatial []int, alignCorners bool) *Node {
	const op = "AffineGrid"
	defer tensorapi.Rename("autograd", op)
	shape, axes := theta.use(op).Shape(), len(spatial)
	if axes < 1 || len(shape) != 3 || shape[1] != axes || shape[2] != axes+1 {
		panic(&tensor.Error{Pkg: "autograd", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{shape},
			Detail: fmt.Sprintf("matrices are [N, %d, %d] for the size %v", axes, axes+1, spatial)})
	}
	of := theta
	theta = computed(theta)
	d, typ := theta.Device(), theta.value.Type()
	var grid *tensor.Tensor
	tensor.Scope(d, func() {
		var positions []*tensor.Tensor // of each axis, the last first, and 1
		for a := axes - 1; a >= 0; a-- {
			list := axisPositions(spatial[a], alignCorners)
			along := slices.Repeat([]int{1}, axes)
			along[a] = len(list)
			positions = append(positions, tensor.NewOf(d, typ, list, along...).Expand(spatial...).Reshape(intmath.Product(spatial)))
		}
		positions = append(positions, tensor.FullOf(d, typ, 1, intmath.Product(spatial)))
		grid = tensor.Stack(1, positions...).Retain()
	})
	y := Const(grid).MatMul(theta.Transpose(0, 2, 1)).keeping(grid)
	return lowered(y.Reshape(slices.Concat(shape[:1], spatial, []int{axes})...), of)
}

// axisPositions returns where the elements of an axis of n lie from −1 to 1: their centres, of which the outermost are at
// the ends if they are aligned.
func axisPositions(n int, aligned bool) []float64 {
	list := make([]float64, max(n, 0))
	for i := range list {
		switch at := float64(i); {
		case !aligned:
			list[i] = (2*at+1)/float64(n) - 1
		case n > 1:
			list[i] = 2*at/float64(n-1) - 1
		}
	}
	return list
}
