package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Operators that make one element of many, or go along an axis.
func init() {
	type node = autograd.Node
	Register(
		reduction("ReduceSum", func(c *Call, x *node, axes []int) *node { return x.Sum(axes...) }),
		reduction("ReduceProd", func(c *Call, x *node, axes []int) *node { return x.Prod(axes...) }),
		reduction("ReduceMean", reduceMean),
		reduction("ReduceMax", func(c *Call, x *node, axes []int) *node {
			if x.Len() == 0 {
				return ofNone(x, axes, lowest(c.dev, x.Type()))
			}
			return x.Max(axes...)
		}),
		reduction("ReduceMin", func(c *Call, x *node, axes []int) *node {
			if x.Len() == 0 {
				return ofNone(x, axes, highest(c.dev, x.Type()))
			}
			return x.Min(axes...)
		}),
		reduction("ReduceL1", func(c *Call, x *node, axes []int) *node { return x.Abs().Sum(axes...) }),
		reduction("ReduceL2", func(c *Call, x *node, axes []int) *node {
			if x.Type().Integer() {
				return inFloats(x.To(tensor.Int64).Square().Sum(axes...)).Sqrt()
			}
			return x.Norm(2, axes...)
		}),
		reduction("ReduceSumSquare", func(c *Call, x *node, axes []int) *node {
			if x.Type().Integer() {
				x = x.To(tensor.Int64)
			}
			return inFloat32(x).Square().Sum(axes...)
		}),
		reduction("ReduceLogSum", func(c *Call, x *node, axes []int) *node {
			return inFloats(inFloat32(x).Sum(axes...)).Log()
		}),
		reduction("ReduceLogSumExp", func(c *Call, x *node, axes []int) *node {
			return inFloats(x).LogSumExp(axes...)
		}),
		Operator{Name: "ArgMax", Attributes: "axis keepdims select_last_index", Shape: argShape, Run: func(c *Call) []*Value {
			return argExtreme(c, (*node).ArgMax)
		}},
		Operator{Name: "ArgMin", Attributes: "axis keepdims select_last_index", Shape: argShape, Run: func(c *Call) []*Value {
			return argExtreme(c, (*node).ArgMin)
		}},
		Operator{Name: "TopK", Attributes: "k axis largest sorted", Run: topK, Shape: topKShape},
		Operator{Name: "CumSum", Attributes: "reverse exclusive", Shape: sameAs(0), Run: func(c *Call) []*Value {
			return cumulative(c, (*node).CumSum, 0)
		}},
		Operator{Name: "CumProd", Attributes: "reverse exclusive", Shape: sameAs(0), Run: func(c *Call) []*Value {
			return cumulative(c, (*node).CumProd, 1)
		}},
		Operator{Name: "Hardmax", Attributes: "axis", Run: hardmax, Shape: sameAs(0)},
	)
}

// reduction returns an operator that reduces input 0 over axes by f, which is given tensor.Keepdims among them, and
// whose result is converted to the type of the input. The axes are an attribute, or in later versions an input.
func reduction(name string, f func(c *Call, x *autograd.Node, axes []int) *autograd.Node) Operator {
	return Operator{Name: name, Attributes: "axes keepdims noop_with_empty_axes", Shape: reducedShape(name), Run: func(c *Call) []*Value {
		x := c.Node(0)
		shape := x.Shape()
		axes, _ := c.axesOf(1, len(shape))
		switch {
		case len(axes) == 0 && c.Bool("noop_with_empty_axes", false):
			// Over no axes: over one of dimension 1.
			return Out(like(f(c, x.Reshape(x.Len(), 1), []int{1}), x.Type()).Reshape(shape...))
		case len(axes) == 0:
			axes = upTo(len(shape))
		}
		if len(axes) == 0 { // of a scalar
			return Out(like(f(c, x.Reshape(1), []int{0}), x.Type()))
		}
		if c.Bool("keepdims", true) {
			axes = append(axes, tensor.Keepdims)
		}
		return Out(like(f(c, x, axes), x.Type()))
	}}
}

// inFloats returns integers as floats, of 64 bits where the device has them.
func inFloats(x *autograd.Node) *autograd.Node {
	switch {
	case !x.Type().Integer():
		return x
	case x.Device().Supports(tensor.Float64):
		return x.To(tensor.Float64)
	}
	return x.To(tensor.Float32)
}

// inFloat32 returns floats of 16 bits in 32, in which several operations in a row are computed.
func inFloat32(x *autograd.Node) *autograd.Node {
	if x.Type().Half() {
		return x.To(tensor.Float32)
	}
	return x
}

// reduceMean is the mean, of integers rounded towards 0.
func reduceMean(c *Call, x *autograd.Node, axes []int) *autograd.Node {
	if !x.Type().Integer() {
		return x.Mean(axes...)
	}
	n := 1
	for _, a := range axes {
		if a != tensor.Keepdims {
			n *= x.Shape()[a]
		}
	}
	sum := x.Sum(axes...)
	return divide(sum, autograd.Const(tensor.FullOf(c.dev, sum.Type(), float64(n), []int{}...)))
}

// ofNone is the reduction of no elements over axes: a number everywhere.
func ofNone(x *autograd.Node, axes []int, number *tensor.Tensor) *autograd.Node {
	return autograd.Const(number).Expand(x.Sum(axes...).Shape()...)
}

// argExtreme is f, the index of a maximum or a minimum along an axis: of several the first, or the last.
func argExtreme(c *Call, f func(x *autograd.Node, axes ...int) *tensor.Tensor) []*Value {
	x := c.Node(0)
	axis := c.axis(c.Int("axis", 0), x.Rank())
	axes := []int{axis}
	if c.Bool("keepdims", true) {
		axes = append(axes, tensor.Keepdims)
	}
	if !c.Bool("select_last_index", false) {
		return Out(autograd.Const(f(x, axes...)))
	}
	return Out(autograd.Const(f(x.Flip(axis), axes...).RSubScalar(float64(x.Shape()[axis] - 1))))
}

// topK is the k greatest or least elements along an axis, in their order. K is an attribute before opset 10.
func topK(c *Call) []*Value {
	k := c.Int("k", -1)
	if c.Version() >= 10 {
		k = c.IntOf(1, -1)
	}
	x := c.Node(0)
	axis := c.axis(c.Int("axis", -1), x.Rank())
	if k < 0 || k > x.Shape()[axis] {
		c.Fail("%d elements along axis %d of %v", k, axis, x.Shape())
	}
	values, indices := x.TopK(k, axis, tensor.TopKOptions{Smallest: !c.Bool("largest", true)})
	return Out(values, autograd.Const(indices))
}

// cumulative is f along the axis that input 1 names: from its end, or of the elements before each, of which there are
// none for the first.
func cumulative(c *Call, f func(x *autograd.Node, axis int) *autograd.Node, none float64) []*Value {
	x := c.Node(0)
	axis := c.axis(c.IntOf(1, 0), x.Rank())
	if x.Len() == 0 {
		return Out(x)
	}
	reverse := c.Bool("reverse", false)
	y := x
	if reverse {
		y = y.Flip(axis)
	}
	if c.Bool("exclusive", false) {
		widths := make([][2]int, x.Rank())
		widths[axis] = [2]int{1, -1}
		y = y.Pad(widths, tensor.PadOptions{Value: none})
	}
	y = f(y, axis)
	if reverse {
		y = y.Flip(axis)
	}
	return Out(like(y, x.Type()))
}

// hardmax is 1 at the first maximum along an axis, and 0 elsewhere. Before opset 13 this axis and those behind it are
// one.
func hardmax(c *Call) []*Value {
	x := c.Node(0)
	shape := x.Shape()
	if x.Len() == 0 {
		return Out(x)
	}
	axis := c.Int("axis", -1)
	if c.Version() < 13 {
		axis = c.axis(c.Int("axis", 1), len(shape))
		x = x.Reshape(c.count(shape[:axis]), c.count(shape[axis:]))
		axis = 1
	}
	axis = c.axis(axis, x.Rank())
	places := alongAxis(c, x.Shape()[axis], axis, x.Rank())
	y := places.Eq(x.ArgMax(axis, tensor.Keepdims)).To(x.Type())
	return Out(autograd.Const(y).Reshape(shape...))
}

// lowest returns the number below all others of a type, as a scalar.
func lowest(d tensor.Device, typ tensor.Type) *tensor.Tensor {
	return limit(d, typ, map[tensor.Type]int64{
		tensor.Int8: math.MinInt8, tensor.Int16: math.MinInt16, tensor.Int32: math.MinInt32,
		tensor.Int64: math.MinInt64,
	}[typ], -1)
}

// highest returns the number above all others of a type, as a scalar.
func highest(d tensor.Device, typ tensor.Type) *tensor.Tensor {
	return limit(d, typ, map[tensor.Type]int64{
		tensor.Int8: math.MaxInt8, tensor.Int16: math.MaxInt16, tensor.Int32: math.MaxInt32,
		tensor.Int64: math.MaxInt64, tensor.Uint8: math.MaxUint8, tensor.Uint16: math.MaxUint16,
		tensor.Uint32: math.MaxUint32, tensor.Uint64: -1 /* all bits */, tensor.Bool: 1,
	}[typ], 1)
}

// limit returns a number of a type of integers, or an infinity of floats.
func limit(d tensor.Device, typ tensor.Type, number int64, sign int) *tensor.Tensor {
	if typ.Float() {
		return tensor.NewOf(d, typ, []float64{math.Inf(sign)}, []int{}...)
	}
	return tensor.NewOf(d, typ, []int64{number}, []int{}...)
}

// reducedShape returns the rule of a reduction, which knows sums, products and extremes of small tensors to one number.
func reducedShape(name string) shapeRule {
	known := map[string]func(x, y element, typ string) element{
		"ReduceSum": added, "ReduceProd": multiplied, "ReduceMax": greater, "ReduceMin": lesser,
	}[name]
	return func(c *ShapeCall) []Known {
		in := c.In(0)
		out := Known{Type: in.Type}
		if in.Dims == nil {
			return []Known{out}
		}
		axes, given, ok := c.axesOf(1, len(in.Dims))
		keep := c.Bool("keepdims", true)
		if !ok {
			if keep {
				out.Dims = make([]Dim, len(in.Dims))
			}
			return []Known{out}
		}
		if !given || len(axes) == 0 {
			if c.Bool("noop_with_empty_axes", false) {
				return []Known{in.as(in.Type)}
			}
			axes = upTo(len(in.Dims))
		}
		out.Dims = reducedDims(in.Dims, axes, keep)
		if known != nil && len(in.elements) > 0 && len(axes) == len(in.Dims) {
			all := in.elements[0]
			for _, e := range in.elements[1:] {
				all = known(all, e, in.Type)
			}
			out.elements = []element{all}
		}
		return []Known{out}
	}
}

// reducedDims returns a shape whose axes become 1, or are left out.
func reducedDims(dims []Dim, axes []int, keep bool) []Dim {
	out := []Dim{}
	for a, d := range dims {
		switch {
		case !slices.Contains(axes, a):
			out = append(out, d)
		case keep:
			out = append(out, NewDim(1))
		}
	}
	return out
}

func argShape(c *ShapeCall) []Known {
	dims := c.Dims(0)
	if dims == nil {
		return []Known{{Type: "int64"}}
	}
	axis := c.axis(c.Int("axis", 0), len(dims))
	return []Known{{Type: "int64", Dims: reducedDims(dims, []int{axis}, c.Bool("keepdims", true))}}
}

func topKShape(c *ShapeCall) []Known {
	k := NewDim(c.Int("k", -1))
	if c.Version() >= 10 {
		k = c.dimOf(1)
	}
	dims := c.Dims(0)
	if dims != nil {
		dims[c.axis(c.Int("axis", -1), len(dims))] = k
	}
	return []Known{{Type: c.Type(0), Dims: dims}, {Type: "int64", Dims: dims}}
}
