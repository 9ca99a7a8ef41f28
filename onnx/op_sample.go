package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(
		Operator{Name: "GridSample", Since: 16, Attributes: "align_corners mode padding_mode", Run: gridSample},
		Operator{Name: "AffineGrid", Since: 20, Attributes: "align_corners", Run: affineGrid},
	)
}

// sampler reads tensors between their elements.
type sampler struct {
	size    []int  // of the spatial axes
	taps    int    // along an axis: 1 is the nearest element, 2 is linear, 4 is cubic
	padding string // "zeros", "border" or "reflection"
	aligned bool   // whether reflection is at the centres of the outermost elements, or at their outer ends
}

// cubicSlope is the number of Keys' cubic filter that GridSample takes.
const cubicSlope = -0.75

// sample returns the elements [images, points, channels] of x [images, channels, …] at coordinates, for each spatial axis
// a tensor [images, points].
func (s *sampler) sample(c *Call, x *autograd.Node, at []*autograd.Node) *autograd.Node {
	images, channels, points, axes := x.Shape()[0], x.Shape()[1], at[0].Shape()[1], len(s.size)
	volume := 1
	for _, n := range s.size {
		volume *= n
	}
	first := make([]int64, images)
	for i := range first {
		first[i] = int64(i * volume)
	}
	// Indices and weights of all combinations of taps: [taps…, images, points].
	index, weights := tensor.New(c.Device(), first, images, 1), (*autograd.Node)(nil)
	stride := 1
	for a := axes - 1; a >= 0; a-- {
		whole, w := s.axis(at[a], s.size[a])
		shape := append(shapeAlong(axes, a, s.taps), images, points)
		index = index.Add(whole.Value().To(tensor.Int64).MulScalar(float64(stride)).Reshape(shape...))
		if w = w.Reshape(shape...); weights == nil {
			weights = w
		} else {
			weights = weights.Mul(w)
		}
		stride *= s.size[a]
	}
	all := int(math.Pow(float64(s.taps), float64(axes)))
	rows := x.MoveDim(1, -1).Reshape(images*volume, channels)
	y := rows.Embedding(index.Reshape(all, images*points)).Mul(weights.Reshape(all, images*points, 1))
	if all == 1 {
		return y.Reshape(images, points, channels)
	}
	return y.Sum(0).Reshape(images, points, channels)
}

// axis returns the whole positions [taps, images, points] of a coordinate along an axis of n, and their weights. A
// position outside of the axis is the one that the padding takes, or has the weight 0.
func (s *sampler) axis(x *autograd.Node, n int) (index, weights *autograd.Node) {
	low, high := -0.5, float64(n)-0.5
	if s.aligned {
		low, high = 0, float64(n-1)
	}
	if s.taps == 1 {
		x = x.Round()
	}
	out := x.LtScalar(low).LogicalOr(x.GtScalar(high))
	switch {
	case s.padding == "border" && s.taps < 4: // the taps of a cubic filter are limited one by one
		x = x.Clamp(0, float64(n-1)).Where(out, x)
	case s.padding == "reflection":
		x = reflected(x, low, high).Where(out, x)
	}
	floor := x.Floor()
	var positions, factors []*autograd.Node
	for k := range s.taps {
		at := floor.AddScalar(float64(k - (s.taps-1)/2))
		positions, factors = append(positions, at), append(factors, s.weight(x.Sub(at).Abs(), k))
	}
	index, weights = autograd.Stack(0, positions...).Detach(), autograd.Stack(0, factors...)
	if s.padding == "zeros" {
		weights = weights.MaskedFill(index.LtScalar(0).LogicalOr(index.GtScalar(float64(n-1))), 0)
	} else if s.padding == "reflection" {
		index = reflected(index, low, high).Trunc()
	}
	return index.Clamp(0, float64(n-1)), weights
}

// reflected returns coordinates that are reflected at the ends of [low, high] until they are inside.
func reflected(x *autograd.Node, low, high float64) *autograd.Node {
	length := high - low
	if length <= 0 {
		return x.MulScalar(0).AddScalar(low)
	}
	d := x.SubScalar(low).Abs()
	d = d.Sub(d.DivScalar(2 * length).Floor().MulScalar(2 * length))
	return d.Minimum(d.RSubScalar(2 * length)).AddScalar(low)
}

// weight returns the weight of tap k at a distance.
func (s *sampler) weight(d *autograd.Node, k int) *autograd.Node {
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

// The modes of GridSample, the first of which is the default one, and their taps. Before opset 20 two had other names.
var (
	gridModes = []string{"linear", "nearest", "cubic", "bilinear", "bicubic"}
	gridTaps  = map[string]int{"nearest": 1, "linear": 2, "bilinear": 2, "cubic": 4, "bicubic": 4}
)

// gridSample reads x [images, channels, …] at a grid [images, …, axes], whose numbers are from −1 to 1, the last axis
// first.
func gridSample(c *Call) []*Value {
	x, grid := c.Node(0), inFloat32(c.Node(1))
	spatial := spatialOf(c, x)
	axes, typ := len(spatial), x.Type()
	shape := grid.Shape()
	if grid.Rank() != x.Rank() || shape[0] != x.Shape()[0] || shape[axes+1] != axes {
		c.fail(tensor.ErrShape, "a grid %v for an input %v", shape, x.Shape())
	}
	s := &sampler{
		size: spatial, aligned: c.Bool("align_corners", false),
		padding: c.oneOf("padding_mode", "zeros", "border", "reflection"),
		taps:    gridTaps[c.oneOf("mode", gridModes...)],
	}
	result := append([]int{shape[0], x.Shape()[1]}, shape[1:axes+1]...)
	if grid.Len() == 0 || x.Len() == 0 {
		if x.Len() == 0 && grid.Len() > 0 && x.Shape()[0] > 0 && x.Shape()[1] > 0 {
			c.fail(tensor.ErrShape, "an input %v has nothing to sample", x.Shape())
		}
		return Out(autograd.Const(tensor.ZerosOf(c.Device(), typ, result...)))
	}
	if s.taps > 1 && !typ.Float() {
		x = x.To(tensor.Float32)
	}
	at := make([]*autograd.Node, axes)
	for a, n := range spatial {
		g := grid.Select(-1, axes-1-a).Reshape(shape[0], grid.Len()/(shape[0]*axes)).AddScalar(1)
		if s.aligned {
			at[a] = g.MulScalar(float64(n-1) / 2)
		} else {
			at[a] = g.MulScalar(float64(n)).SubScalar(1).DivScalar(2)
		}
	}
	y := s.sample(c, x, at) // [images, points, channels]
	return Out(like(y.Transpose(0, 2, 1).Reshape(result...), typ))
}

// affineGrid returns what matrices make of the positions of an image of a size.
func affineGrid(c *Call) []*Value {
	size := c.Ints(1)
	axes := len(size) - 2
	if axes < 1 || !slices.Equal(c.Shape(0), []int{size[0], axes, axes + 1}) {
		c.fail(tensor.ErrShape, "matrices %v for a size %v", c.Shape(0), size)
	}
	shape := slices.Concat(size[:1], size[2:], []int{axes})
	c.makes(shape)
	theta, points := floatsOf(c, 0), c.count(size[2:])
	var positions []*autograd.Node // of each axis, the last first, and 1
	for a := axes - 1; a >= 0; a-- {
		list := axisPositions(size[2+a], c.Bool("align_corners", false))
		along := weightsOf(c, list, theta.Type(), shapeAlong(axes, a, len(list))...)
		positions = append(positions, along.Expand(size[2:]...).Reshape(points))
	}
	positions = append(positions, positions[0].MulScalar(0).AddScalar(1))
	grid := autograd.Stack(1, positions...).MatMul(theta.Transpose(0, 2, 1))
	return Out(grid.Reshape(shape...))
}

// axisPositions returns where the elements of an axis of n lie from −1 to 1: their centres, of which the outermost are at
// the ends if they are aligned.
func axisPositions(n int, aligned bool) []float64 {
	list := make([]float64, n)
	for i := range list {
		switch at := float64(i); {
		case !aligned:
			list[i] = (2*at+1)/float64(n) - 1
		case n > 1:
			list[i] = 2*at/float64(n-1) - 1
		default:
			list[i] = -1
		}
	}
	return list
}
