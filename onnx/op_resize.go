package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(
		Operator{Name: "Resize", Since: 10, Attributes: "antialias axes coordinate_transformation_mode cubic_coeff_a " +
			"exclude_outside extrapolation_value keep_aspect_ratio_policy mode nearest_mode", Run: resize, Shape: resizeShape},
		Operator{Name: "Upsample", Attributes: "height_scale mode scales width_scale", Run: upsample, Shape: upsampleShape},
	)
}

// resizing is how one axis is resized: from in positions to out, by a scale that is out/in, but for rounding. roi is the
// part of the input that is taken, of tf_crop_and_resize.
type resizing struct {
	in, out int
	scale   float64
	roi     [2]float64
}

// taps are the positions of the input that each position of an output is made of: as many for each, with their weights.
// A weight is 0 where there are less.
type taps struct {
	each    int
	index   []int64
	weights []float64
	outside []bool // outputs that have the extrapolation value; nil if there are none
}

// mostTaps is how many taps an axis may have in all: a quarter of it, as a filter of a scale s reaches over 4/s positions.
const mostTaps = 1 << 28

// resizer is what a Resize does along all axes.
type resizer struct {
	mode, transform, nearest    string
	cubic, extrapolation        float64
	excludeOutside, antialiased bool
}

// upsample scales by numbers that are attributes before opset 9.
func upsample(c *Call) []*Value {
	var scales []float64
	switch {
	case c.Version() >= 9:
		scales = c.Floats(1)
	case c.HasAttribute("scales"):
		scales = c.FloatList("scales")
	default:
		scales = []float64{1, 1, c.Float("height_scale", 0), c.Float("width_scale", 0)}
	}
	return resizeBy(c, scales)
}

// outwards is how Resize of opset 10 rounds: down, and up where an axis becomes shorter.
const outwards = "outwards"

// resizeBy is what Upsample did, and Resize of opset 10: output q is input q/scale.
func resizeBy(c *Call, scales []float64) []*Value {
	r := &resizer{mode: c.oneOf("mode", "nearest", "linear", "bilinear"), transform: "asymmetric", nearest: outwards}
	if r.mode == "bilinear" {
		r.mode = "linear"
	}
	shape := c.Shape(0)
	axes := make([]resizing, len(shape))
	if len(scales) != len(axes) {
		c.fail(tensor.ErrShape, "%d scales for %v", len(scales), shape)
	}
	for a, n := range shape {
		axes[a] = resizing{in: n, out: scaledSize(c, n, scales[a], 1), scale: scales[a]}
	}
	return Out(r.run(c, axes))
}

// scaledSize returns ⌊n·part·scale⌋. Scales are numbers of 32 bits, as whose product it is rounded.
func scaledSize(c *Call, n int, scale, part float64) int {
	size := math.Floor(float64(float32(n) * float32(part) * float32(scale)))
	if !(scale > 0) || !(size >= 0 && size <= math.MaxInt32) {
		c.Fail("%d positions are scaled by %v", n, scale)
	}
	return int(size)
}

func resize(c *Call) []*Value {
	if c.Version() < 11 {
		return resizeBy(c, c.Floats(1))
	}
	r := &resizer{
		mode: c.oneOf("mode", "nearest", "linear", "cubic"),
		transform: c.oneOf("coordinate_transformation_mode", "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
			"align_corners", "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"),
		nearest:        c.oneOf("nearest_mode", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"),
		cubic:          c.Float("cubic_coeff_a", -0.75),
		extrapolation:  c.Float("extrapolation_value", 0),
		excludeOutside: c.Bool("exclude_outside", false),
		antialiased:    c.Bool("antialias", false),
	}
	return Out(r.run(c, resizedAxes(c, c.Shape(0), r.transform == "tf_crop_and_resize")))
}

// resizedAxes returns what inputs and attributes say of each axis of a shape.
func resizedAxes(c *Call, shape []int, crop bool) []resizing {
	all := make([]resizing, len(shape))
	for a, n := range shape {
		all[a] = resizing{in: n, out: n, scale: 1, roi: [2]float64{0, 1}}
	}
	axes := c.IntList("axes")
	if !c.HasAttribute("axes") {
		for a := range shape {
			axes = append(axes, a)
		}
	}
	axes = slices.Clone(axes)
	for i, a := range axes {
		axes[i] = c.axis(a, len(shape))
	}
	numbers := func(input int) []float64 { // nil if the input is left out, or empty
		if !c.Has(input) || c.Value(input).any() == nil || len(c.Shape(input)) > 0 && c.Shape(input)[0] == 0 {
			return nil
		}
		return c.Floats(input)
	}
	if crop {
		roi := numbers(1)
		if len(roi) != 2*len(axes) {
			c.fail(tensor.ErrShape, "the roi has %d numbers for %d axes", len(roi), len(axes))
		}
		for i, a := range axes {
			all[a].roi = [2]float64{roi[i], roi[len(axes)+i]}
		}
	}
	scales, sizes := numbers(2), numbers(3)
	if (scales == nil) == (sizes == nil) && len(axes) > 0 {
		c.Fail("one of scales and sizes is given, not both or none")
	}
	if scales != nil {
		if len(scales) != len(axes) {
			c.fail(tensor.ErrShape, "%d scales for %d axes", len(scales), len(axes))
		}
		for i, a := range axes {
			all[a].scale = scales[i]
			all[a].out = scaledSize(c, shape[a], scales[i], all[a].roi[1]-all[a].roi[0])
		}
		return all
	}
	if len(sizes) != len(axes) {
		c.fail(tensor.ErrShape, "%d sizes for %d axes", len(sizes), len(axes))
	}
	for i, a := range axes {
		if sizes[i] < 0 || sizes[i] > math.MaxInt32 {
			c.Fail("a size of %v", sizes[i])
		}
		all[a].out = int(sizes[i])
		if all[a].scale = 1; shape[a] > 0 {
			all[a].scale = sizes[i] / float64(shape[a])
		}
	}
	keepAspect(&c.nodeCall, all, axes)
	return all
}

// keepAspect gives axes the same scale, if attribute keep_aspect_ratio_policy says so.
func keepAspect(c *nodeCall, all []resizing, axes []int) {
	policy := c.oneOf("keep_aspect_ratio_policy", "stretch", "not_larger", "not_smaller")
	if policy == "stretch" || len(axes) == 0 {
		return
	}
	scale := all[axes[0]].scale
	for _, a := range axes {
		if policy == "not_larger" {
			scale = min(scale, all[a].scale)
		} else {
			scale = max(scale, all[a].scale)
		}
	}
	for _, a := range axes {
		all[a].scale, all[a].out = scale, int(math.Floor(scale*float64(all[a].in)+0.5))
	}
}

// run resizes input 0 along its axes.
func (r *resizer) run(c *Call, axes []resizing) *autograd.Node {
	shape := make([]int, len(axes))
	for a, s := range axes {
		if shape[a] = s.out; s.in == 0 && s.out > 0 {
			c.fail(tensor.ErrShape, "nothing is resized to %d positions", s.out)
		}
	}
	c.makes(shape)
	x := c.Node(0)
	if c.count(shape) == 0 {
		return autograd.Const(tensor.ZerosOf(c.Device(), x.Type(), shape...))
	}
	if y := r.interpolated(x, axes); y != nil {
		return y
	}
	typ := x.Type()
	if r.mode != "nearest" && !typ.Float() {
		x = x.To(tensor.Float32)
	}
	for a, s := range axes {
		crop := r.transform == "tf_crop_and_resize" && s.roi != [2]float64{0, 1}
		if s.out > 0 && r.antialiased && s.scale < float64(s.out)/mostTaps {
			c.Fail("axis %d is scaled by %v to %d positions", a, s.scale, s.out)
		}
		if s.in == s.out && s.scale == 1 && !crop {
			continue
		}
		x = r.along(c, x, a, r.taps(s))
	}
	return like(x, typ)
}

// interpolated resizes in one launch what Interpolate is for, and returns nil of what it is not.
func (r *resizer) interpolated(x *autograd.Node, axes []resizing) *autograd.Node {
	first := 0
	for first < len(axes) && axes[first].in == axes[first].out && axes[first].scale == 1 {
		first++
	}
	first = max(first, len(axes)-3)
	if !x.Type().Float() || first == len(axes) || r.antialiased || r.excludeOutside {
		return nil
	}
	size := make([]int, 0, 3)
	for a, s := range axes {
		if a < first && (s.in != s.out || s.scale != 1) || s.in == 0 || s.out == 0 {
			return nil
		}
		if math.Abs(s.scale*float64(s.in)-float64(s.out)) > 1e-6*float64(s.out) {
			return nil
		}
		if a >= first {
			size = append(size, s.out)
		}
	}
	var o tensor.InterpolateOptions
	switch {
	case r.mode == "linear" && r.transform == "half_pixel":
		o.Linear = true
	case r.mode == "linear" && r.transform == "pytorch_half_pixel" && !slices.Contains(size, 1):
		o.Linear = true
	case r.mode == "linear" && r.transform == "align_corners" && !slices.Contains(size, 1):
		o.Linear, o.AlignCorners = true, true
	case r.mode == "nearest" && (r.transform == "asymmetric" || r.transform == "half_pixel"):
		for _, s := range axes {
			for q, at := range r.taps(s).index {
				if at != int64(q*s.in/s.out) {
					return nil
				}
			}
		}
	default:
		return nil
	}
	return x.Interpolate(size, o)
}

// along resizes one axis.
func (r *resizer) along(c *Call, x *autograd.Node, axis int, t *taps) *autograd.Node {
	n := len(t.index) / t.each
	shape := shapeAlong(x.Rank(), axis, n)
	var y *autograd.Node
	const fewTaps = 8
	switch {
	case r.mode == "nearest":
		y = x.IndexSelect(axis, tensor.New(c.Device(), t.index))
	case t.each <= fewTaps:
		for k := range t.each {
			index, weights := make([]int64, n), make([]float64, n)
			for q := range n {
				index[q], weights[q] = t.index[q*t.each+k], t.weights[q*t.each+k]
			}
			part := x.IndexSelect(axis, tensor.New(c.Device(), index)).Mul(weightsOf(c, weights, x.Type(), shape...))
			if y == nil {
				y = part
			} else {
				y = y.Add(part)
			}
		}
	default: // a matrix, most of which is 0
		in := x.Shape()[axis]
		matrix := make([]float64, in*n)
		for i, at := range t.index {
			matrix[int(at)*n+i/t.each] += t.weights[i]
		}
		y = x.MoveDim(axis, -1).MatMul(weightsOf(c, matrix, x.Type(), in, n)).MoveDim(-1, axis)
	}
	if t.outside != nil {
		y = y.MaskedFill(New(c, t.outside, shape...), r.extrapolation)
	}
	return y
}

// weightsOf returns numbers as a tensor of a type.
func weightsOf(c *Call, w []float64, typ tensor.Type, shape ...int) *autograd.Node {
	if typ == tensor.Float64 {
		return New(c, w, shape...)
	}
	short := make([]float32, len(w))
	for i, v := range w {
		short[i] = float32(v)
	}
	return like(New(c, short, shape...), typ)
}

// over returns x/scale. The nearest position is that of the quotient of 32 bits, which is whole where the scale was
// rounded: 3/0.6 is 5.
func (r *resizer) over(x, scale float64) float64 {
	if r.mode == "nearest" {
		return float64(float32(x) / float32(scale))
	}
	return x / scale
}

// coordinate returns where in the input position q of the output lies.
func (r *resizer) coordinate(s resizing, q int) float64 {
	x, in := float64(q), float64(s.in)
	length := s.scale * in // of the output, before it was rounded
	switch r.transform {
	case "half_pixel_symmetric":
		return in/2*(1-float64(s.out)/length) + r.over(x+0.5, s.scale) - 0.5
	case "pytorch_half_pixel":
		if s.out == 1 {
			return 0
		}
	case "align_corners":
		if s.out == 1 {
			return 0
		}
		return x * (in - 1) / (length - 1)
	case "asymmetric":
		return r.over(x, s.scale)
	case "tf_half_pixel_for_nn":
		return r.over(x+0.5, s.scale)
	case "tf_crop_and_resize":
		if s.out == 1 {
			return 0.5 * (s.roi[0] + s.roi[1]) * (in - 1)
		}
		// In 32 bits, so that the ends of a part are within the input where its numbers say so.
		start, length := float32(s.roi[0]), float32(s.roi[1])-float32(s.roi[0])
		return float64(start*float32(in-1) + float32(x)*length*float32(in-1)/float32(s.out-1))
	}
	return r.over(x+0.5, s.scale) - 0.5
}

// taps works out one axis.
func (r *resizer) taps(s resizing) *taps {
	t := &taps{each: 1}
	shrink := 1.0 // how the filter is stretched
	if r.antialiased && r.mode != "nearest" {
		shrink = min(s.scale, 1)
	}
	reach := 0 // positions before the coordinate
	switch r.mode {
	case "linear":
		reach = int(math.Ceil(1 / shrink))
	case "cubic":
		reach = int(math.Ceil(2 / shrink))
	}
	if reach > 0 {
		t.each = 2 * reach
	}
	for q := range s.out {
		x := r.coordinate(s, q)
		if r.transform == "tf_crop_and_resize" && (x < 0 || x > float64(s.in-1)) {
			if t.outside == nil {
				t.outside = make([]bool, s.out)
			}
			t.outside[q] = true
		}
		if r.mode == "nearest" {
			t.index = append(t.index, inside(r.near(x, s.scale), s.in))
			t.weights = append(t.weights, 1)
			continue
		}
		first := math.Floor(x) - float64(reach) + 1
		sum, begin := 0.0, len(t.weights)
		for k := range t.each {
			at := first + float64(k)
			w := r.weight((at - x) * shrink)
			if r.excludeOutside && (at < 0 || at >= float64(s.in)) {
				w = 0
			}
			sum += w
			t.index, t.weights = append(t.index, inside(at, s.in)), append(t.weights, w)
		}
		for k := begin; k < len(t.weights) && sum != 0; k++ {
			t.weights[k] /= sum
		}
	}
	return t
}

// inside returns a position, or the nearest that an axis of n has.
func inside(at float64, n int) int64 { return int64(min(max(at, 0), float64(n-1))) }

// near returns the whole number that a coordinate is rounded to, on an axis of a scale.
func (r *resizer) near(x, scale float64) float64 {
	switch r.nearest {
	case outwards:
		if scale < 1 {
			return math.Ceil(x)
		}
		return math.Floor(x)
	case "floor":
		return math.Floor(x)
	case "ceil":
		return math.Ceil(x)
	case "round_prefer_ceil":
		return math.Floor(x + 0.5)
	}
	return math.Ceil(x - 0.5)
}

// weight is the filter at a distance.
func (r *resizer) weight(x float64) float64 {
	x = math.Abs(x)
	if r.mode == "linear" {
		return max(1-x, 0)
	}
	a := r.cubic
	switch {
	case x <= 1:
		return ((a+2)*x-(a+3))*x*x + 1
	case x < 2:
		return ((a*x-5*a)*x+8*a)*x - 4*a
	}
	return 0
}

func upsampleShape(c *ShapeCall) []Known {
	var scales []element
	switch {
	case c.Version() >= 9:
		scales = c.In(1).elements
	case c.HasAttribute("scales"):
		for _, s := range c.FloatList("scales") {
			scales = append(scales, elementOf(s, "float"))
		}
	default:
		for _, s := range []float64{1, 1, c.Float("height_scale", 0), c.Float("width_scale", 0)} {
			scales = append(scales, elementOf(s, "float"))
		}
	}
	return []Known{c.scaled(upTo(len(c.Dims(0))), scales)}
}

// scaled returns input 0 with axes that are multiplied by scales.
func (c *ShapeCall) scaled(axes []int, scales []element) Known {
	out := Known{Type: c.Type(0), Dims: c.Dims(0)}
	for i, a := range axes {
		if len(scales) != len(axes) {
			out.Dims[a] = Dim{}
			continue
		}
		n, number := out.Dims[a].Number()
		scale, ok := scales[i].number()
		switch {
		case number && ok:
			out.Dims[a] = dimOf(int64(float64(float32(n) * float32(scale))))
		case ok && scale > 0 && math.Abs(1/scale) == math.Trunc(1/scale): // a half, a third
			if scales[i].isFloat {
				out.Dims[a] = out.Dims[a].Div(NewDim(int(1 / scale)))
			}
		default:
			out.Dims[a] = out.Dims[a].Mul(scales[i].dim)
		}
	}
	return out
}

func resizeShape(c *ShapeCall) []Known {
	dims := c.Dims(0)
	if dims == nil {
		return []Known{{Type: c.Type(0)}}
	}
	if c.Version() < 11 {
		return []Known{c.scaled(upTo(len(dims)), c.In(1).elements)}
	}
	axes := upTo(len(dims))
	if c.HasAttribute("axes") {
		axes = c.axes(c.IntList("axes"), len(dims))
	}
	if c.String("coordinate_transformation_mode", "") == "tf_crop_and_resize" && !c.Has(3) {
		return []Known{ofRank(c.Type(0), len(dims))}
	}
	list, ok := c.Ints(3)
	if !c.Has(3) || ok && len(list) == 0 {
		return []Known{c.scaled(axes, c.In(2).elements)}
	}
	list = padDims(list, ok && len(list) == len(axes), len(axes))
	if c.String("keep_aspect_ratio_policy", "stretch") != "stretch" {
		list = c.keptAspect(dims, axes, list)
	}
	for i, a := range axes {
		dims[a] = list[i]
	}
	return []Known{{Type: c.Type(0), Dims: dims}}
}

// keptAspect returns sizes that have the same scale, of sizes that are known numbers.
func (c *ShapeCall) keptAspect(dims []Dim, axes []int, sizes []Dim) []Dim {
	out := make([]Dim, len(sizes))
	to, ok := numbersIn(sizes, true)
	all := make([]resizing, len(dims))
	for i, a := range axes {
		n, known := dims[a].Number()
		if ok = ok && known && n > 0; !ok {
			return out
		}
		all[a] = resizing{in: n, scale: float64(to[i]) / float64(n)}
	}
	keepAspect(&c.nodeCall, all, axes)
	for i, a := range axes {
		out[i] = NewDim(all[a].out)
	}
	return out
}
