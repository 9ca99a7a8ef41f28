package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// exportConvolutions are those, pooling and interpolation.
var exportConvolutions = map[string]func(c *exportCall) []string{
	"Conv": func(c *exportCall) []string { return c.convolution(c.as(1, c.typ()), c.rank(1), 2, 3) },
	"ConvTranspose": func(c *exportCall) []string {
		n := c.rank(1) - 2
		o := argOptions[tensor.ConvTransposeOptions](c, 3)
		pads := perAxis(o.Padding, n, 0)
		in := []string{c.batched(n, c.as(0, c.typ())), c.as(1, c.typ()), c.as(2, c.typ())}
		y := c.e.op("ConvTranspose", in, ints("strides", perAxis(o.Stride, n, 1)...), ints("pads", append(pads, pads...)...),
			ints("output_padding", perAxis(o.OutputPadding, n, 0)...), ints("dilations", perAxis(o.Dilation, n, 1)...),
			integer("group", max(o.Groups, 1)))
		return []string{c.unbatched(n, y)}
	},
	"MaxPool":          func(c *exportCall) []string { return c.maxPool()[:1] },
	"MaxPoolWithIndex": func(c *exportCall) []string { return c.maxPool() },
	"AvgPool":          exportAvgPool,
	"AdaptiveMaxPool": func(c *exportCall) []string {
		return []string{c.adaptive("MaxPool", "GlobalMaxPool",
			"ReduceMax")}
	},
	"AdaptiveAvgPool": func(c *exportCall) []string {
		return []string{c.adaptive("AveragePool", "GlobalAveragePool", "ReduceMean")}
	},
	"AdaptiveMaxPoolWithIndex": exportAdaptiveWithIndex,
	"Interpolate": func(c *exportCall) []string {
		o := argOptions[tensor.InterpolateOptions](c, 2)
		shape := shapeOf(c.result(0))
		a := []*onnxpb.Attribute{word("mode", "nearest"), word("coordinate_transformation_mode", "asymmetric"),
			word("nearest_mode", "floor")}
		switch {
		case o.Area:
			return []string{c.adaptive("AveragePool", "GlobalAveragePool", "ReduceMean")}
		case o.Exact:
			a[1], a[2] = word("coordinate_transformation_mode", "half_pixel"), word("nearest_mode", "round_prefer_ceil")
		case (o.Linear || o.Cubic) && c.typ().Integer():
			fail("bytes are rounded otherwise by Resize: convert the operand with To(tensor.Float32)")
		case o.Linear || o.Cubic:
			a = []*onnxpb.Attribute{word("mode", "linear"), word("coordinate_transformation_mode", "half_pixel")}
			if o.Cubic {
				a[0] = word("mode", "cubic")
			}
			if o.AlignCorners {
				a[1] = word("coordinate_transformation_mode", "align_corners")
			}
		}
		return []string{c.e.op("Resize", []string{c.as(0, c.typ()), "", "", c.e.shape(shape, []value{c.value(0)})}, a...)}
	},
}

// perAxis returns an option of n axes: as it is, the one number for all, or what it is without one.
func perAxis(list []int, n, otherwise int) []int {
	switch len(list) {
	case 0:
		return slices.Repeat([]int{otherwise}, n)
	case 1:
		return slices.Repeat(list, n)
	}
	return slices.Clone(list)
}

// convolution writes Conv with weights of a rank, the bias of one argument and the options of another.
func (c *exportCall) convolution(w string, rank, bias, options int) []string {
	n := rank - 2
	o := argOptions[tensor.ConvOptions](c, options)
	from := perAxis(o.Padding, n, 0)
	to := from
	if o.PaddingEnd != nil {
		to = perAxis(o.PaddingEnd, n, 0)
	}
	y := c.e.op("Conv", []string{c.batched(n, c.as(0, c.typ())), w, c.as(bias, c.typ())},
		ints("strides", perAxis(o.Stride, n, 1)...),
		ints("pads", append(slices.Clone(from), to...)...), ints("dilations", perAxis(o.Dilation, n, 1)...),
		integer("group", max(o.Groups, 1)))
	return []string{c.unbatched(n, y)}
}

// batched returns x, argument 0, with a batch and channels before its n spatial axes, and unbatched undoes it.
func (c *exportCall) batched(n int, x string) string {
	switch missing := n + 2 - c.rank(0); {
	case missing > 0:
		return c.e.unsqueeze(x, sequence(missing)...)
	case missing < 0: // all axes before are one
		shape := c.shape(0)
		front := len(shape) - n
		to := append([]size{c.e.constantSize(1), c.e.product(shape[:front]...)}, shape[front:]...)
		return c.e.reshape(x, nil, to, c.value(0))
	}
	return x
}

func (c *exportCall) unbatched(n int, y string) string {
	switch missing := n + 2 - c.rank(0); {
	case missing > 0:
		return c.e.squeeze(y, sequence(missing)...)
	case missing < 0:
		return c.e.reshape(y, nil, shapeOf(c.result(0)), c.value(0))
	}
	return y
}

func (c *exportCall) maxPool() []string {
	window, o := argInts(c, 1), argOptions[tensor.MaxPoolOptions](c, 2)
	n := len(window)
	if typ := c.typ(); typ.Integer() && typ.Size() > 1 {
		fail("MaxPool takes no %v: convert the operand with To(tensor.Float32)", typ)
	}
	if len(c.runs[0].Results) == 2 && c.rank(0) > n+2 {
		fail("indices of %d axes before the windows", c.rank(0)-n)
	}
	strides := slices.Clone(window)
	if o.Stride != nil {
		strides = perAxis(o.Stride, n, 1)
	}
	pads := perAxis(o.Padding, n, 0)
	out := c.e.ops("MaxPool", len(c.runs[0].Results), []string{c.batched(n, c.as(0, c.typ()))},
		ints("kernel_shape", window...), ints("strides", strides...),
		ints("pads", append(pads, pads...)...), ints("dilations", perAxis(o.Dilation, n, 1)...), boolean("ceil_mode", o.Ceil))
	for i := range out {
		out[i] = c.unbatched(n, out[i])
	}
	if len(out) > 1 { // they count from the first element of all, and not from that of a plane
		shape := c.shape(0)
		plane := c.e.numberOf(c.e.product(shape[len(shape)-n:]...), tensor.Int64, c.value(0))
		out[1] = c.e.op("Mod", []string{out[1], plane})
	}
	return out
}

func exportAvgPool(c *exportCall) []string {
	window, o := argInts(c, 1), argOptions[tensor.AvgPoolOptions](c, 2)
	n := len(window)
	strides := slices.Clone(window)
	if o.Stride != nil {
		strides = perAxis(o.Stride, n, 1)
	}
	pads := perAxis(o.Padding, n, 0)
	typ := wideType(c.typ())
	if o.Divisor != 0 && o.Ceil {
		fail("a Divisor with Ceil")
	}
	y := c.e.op("AveragePool", []string{c.batched(n, c.as(0, typ))}, ints("kernel_shape", window...),
		ints("strides", strides...),
		ints("pads", append(pads, pads...)...), boolean("ceil_mode", o.Ceil),
		boolean("count_include_pad", o.Divisor != 0 || !o.ExcludePadding))
	if o.Divisor != 0 {
		volume := 1
		for _, w := range window {
			volume *= w
		}
		y = c.e.op("Mul", []string{y, c.e.scalar(typ, float64(volume)/float64(o.Divisor))})
	}
	return []string{c.e.cast(c.unbatched(n, y), typ, c.typ())}
}

// adaptive writes a pooling to a size: of windows that are alike, of the whole, or along one axis after the other.
func (c *exportCall) adaptive(pool, global, reduce string) string {
	to := argInts(c, 1)
	n := len(to)
	spatial := c.shape(0)[c.rank(0)-n:]
	typ := wideType(c.typ())
	x := c.as(0, typ)
	if !slices.ContainsFunc(to, func(s int) bool { return s != 1 }) {
		return c.e.cast(c.unbatched(n, c.e.op(global, []string{c.batched(n, x)})), typ, c.typ())
	}
	from := fixedShape(spatial)
	alike := true
	window := make([]int, n)
	for i, s := range to {
		alike = alike && s > 0 && from[i]%s == 0 && from[i] > 0
		if alike {
			window[i] = from[i] / s
		}
	}
	if alike {
		y := c.e.op(pool, []string{c.batched(n, x)}, ints("kernel_shape", window...), ints("strides", window...))
		return c.e.cast(c.unbatched(n, y), typ, c.typ())
	}
	for i, s := range to {
		axis := c.rank(0) - n + i
		var parts []string
		for k := range s {
			begin, end := k*from[i]/s, ((k+1)*from[i]+s-1)/s
			parts = append(parts, c.e.reduce(reduce, c.e.slice(x, axis, c.e.list(begin), c.e.list(end), 1), []int{axis}, true))
		}
		x = c.e.op("Concat", parts, integer("axis", axis))
	}
	return c.e.cast(x, typ, c.typ())
}

// exportAdaptiveWithIndex writes AdaptiveMaxPoolWithIndex of windows that are alike: others have no indices.
func exportAdaptiveWithIndex(c *exportCall) []string {
	to := argInts(c, 1)
	n := len(to)
	from := fixedShape(c.shape(0)[c.rank(0)-n:])
	window := make([]int, n)
	for i, s := range to {
		if s == 0 || from[i]%s != 0 || c.rank(0) > n+2 {
			fail("windows of several sizes have no indices")
		}
		window[i] = from[i] / s
	}
	out := c.e.ops("MaxPool", 2, []string{c.batched(n, c.in(0))}, ints("kernel_shape", window...),
		ints("strides", window...))
	volume := 1
	for _, s := range from {
		volume *= s
	}
	return []string{c.unbatched(n, out[0]), c.e.op("Mod", []string{c.unbatched(n, out[1]),
		c.e.scalar(tensor.Int64, float64(volume))})}
}
