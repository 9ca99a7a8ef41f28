package onnx

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

const poolAttributes = "auto_pad ceil_mode dilations kernel_shape pads strides"

func init() {
	Register(
		Operator{Name: "MaxPool", Attributes: poolAttributes + " storage_order", Run: maxPool, Shape: poolShape},
		Operator{Name: "AveragePool", Attributes: poolAttributes + " count_include_pad", Run: averagePool, Shape: poolShape},
		Operator{Name: "LpPool", Attributes: poolAttributes + " p", Run: lpPool, Shape: poolShape},
		Operator{Name: "GlobalMaxPool", Run: global((*autograd.Node).Max), Shape: globalShape},
		Operator{Name: "GlobalAveragePool", Run: global((*autograd.Node).Mean), Shape: globalShape},
		Operator{Name: "GlobalLpPool", Attributes: "p", Shape: globalShape, Run: func(c *Call) []*Value {
			p := normOrder(c)
			return global(func(x *autograd.Node, axes ...int) *autograd.Node { return x.Norm(p, axes...) })(c)
		}},
		Operator{Name: "MaxUnpool", Attributes: "kernel_shape pads strides", Run: maxUnpool, Shape: maxUnpoolShape},
	)
}

// global returns a pooling over all spatial axes, which keep size 1.
func global(f func(x *autograd.Node, axes ...int) *autograd.Node) func(c *Call) []*Value {
	return func(c *Call) []*Value {
		x := floatsOf(c, 0)
		axes := []int{tensor.Keepdims}
		for a := 2; a < x.Rank(); a++ {
			axes = append(axes, a)
		}
		if len(axes) == 1 {
			c.fail(tensor.ErrShape, "input 0 is %v, and should have spatial axes", x.Shape())
		}
		return Out(f(x, axes...))
	}
}

// normOrder returns attribute p, which was a float in the first versions of some operators.
func normOrder(c *Call) float64 {
	p := 2.0
	if a, _ := c.scope.attribute(c.node.attributes["p"]); a != nil && a.Type == onnxpb.AttrFloat {
		p = float64(a.Float)
	} else {
		p = float64(c.Int("p", 2))
	}
	if !(p > 0) {
		c.Fail("attribute p is %v, and should be positive", p)
	}
	return p
}

// poolOperand returns the input of a pooling, and its windows.
func poolOperand(c *Call) (*autograd.Node, *window) {
	x := c.Node(0)
	return x, poolWindows(c, x)
}

// poolWindows returns the windows of a pooling of x.
func poolWindows(c *Call, x *autograd.Node) *window {
	spatial := spatialOf(c, x)
	if len(spatial) > 3 {
		c.Unsupported("%d spatial axes", len(spatial))
	}
	w := windowOf(c, spatial, nil)
	if c.IntList("kernel_shape") == nil {
		c.Fail("attribute kernel_shape is missing")
	}
	w.place(c, c.Bool("ceil_mode", false))
	return w
}

func maxPool(c *Call) []*Value {
	x, w := poolOperand(c)
	typ := x.Type()
	if typ.Integer() {
		x = x.To(tensor.Float32)
	}
	o := tensor.MaxPoolOptions{Stride: w.stride, Dilation: w.dilation}
	shifted := true // indices are those of a padded input
	if w.symmetric() && w.inside() && c.String("auto_pad", "NOTSET") == "NOTSET" {
		o.Padding, o.Ceil, shifted = w.before, c.Bool("ceil_mode", false), false
	} else {
		x = w.padded(x, math.Inf(-1))
	}
	if !c.Wants(1) {
		return Out(like(x.MaxPool(w.kernel, o), typ), nil)
	}
	y, places := x.MaxPoolWithIndex(w.kernel, o)
	return Out(like(y, typ), autograd.Const(w.indices(c, places, x.Shape()[2:], shifted)))
}

// inside reports whether each window has a position of the input.
func (w *window) inside() bool {
	for a, n := range w.in {
		for q := range w.out[a] {
			first := q*w.stride[a] - w.before[a]
			from := max(0, (-first+w.dilation[a]-1)/w.dilation[a]) // the first position at 0 or behind it
			if at := first + from*w.dilation[a]; from >= w.kernel[a] || at >= n {
				return false
			}
		}
	}
	return true
}

// indices returns the places of maxima in the spatial axes of an input of a size, padded perhaps, as indices of the whole
// input without its padding.
func (w *window) indices(c *Call, places *tensor.Tensor, size []int, shifted bool) *tensor.Tensor {
	shape := places.Shape()
	columns := c.Int("storage_order", 0) == 1
	d := places.Device()
	images, each := shape[0]*shape[1], 1
	for _, n := range w.in {
		each *= n
	}
	base := tensor.ArangeOf(d, tensor.Int64, 0, float64(images*each), float64(max(each, 1)))
	base = base.Reshape(shape[0], shape[1])
	for range w.in {
		base = base.Unsqueeze(-1)
	}
	if !shifted && !columns {
		return places.Add(base)
	}
	// Taken apart, and put together again by the strides of either order.
	axes := len(w.in)
	at := make([]*tensor.Tensor, axes)
	for a := axes - 1; a >= 0; a-- {
		at[a] = places
		if a > 0 {
			n := tensor.New(d, []int64{int64(size[a])})
			at[a], places = places.Remainder(n), places.FloorDivide(n)
		}
		if shifted {
			at[a] = at[a].SubScalar(float64(w.before[a])).Clamp(0, float64(w.in[a]-1))
		}
	}
	sum, stride := base, 1
	for i := range axes {
		a := axes - 1 - i
		if columns {
			a = i
		}
		sum = sum.Add(at[a].MulScalar(float64(stride)))
		stride *= w.in[a]
	}
	return sum
}

func averagePool(c *Call) []*Value {
	x, w := poolOperand(c)
	return Out(w.means(c, x))
}

// means returns the means of windows of x.
func (w *window) means(c *Call, x *autograd.Node) *autograd.Node {
	padding, ceil := c.Bool("count_include_pad", false), c.Bool("ceil_mode", false)
	if w.symmetric() && !w.dilated() && w.inside() && c.String("auto_pad", "NOTSET") == "NOTSET" {
		return x.AvgPool(w.kernel, tensor.AvgPoolOptions{
			Stride: w.stride, Padding: w.before, Ceil: ceil, ExcludePadding: !padding,
		})
	}
	y := w.sums(x)
	for a := range w.in {
		y = y.Div(like(New(c, w.counts(a, padding), shapeAlong(len(w.in), a, w.out[a])...), y.Type()))
	}
	return y
}

// sums returns the sums of windows of x, with zeros around it.
func (w *window) sums(x *autograd.Node) *autograd.Node {
	x = w.padded(x, 0)
	if !w.dilated() {
		return x.AvgPool(w.kernel, tensor.AvgPoolOptions{Stride: w.stride, Divisor: 1})
	}
	axes := make([]int, len(w.in))
	for a := range axes {
		axes[a] = -1 - a
	}
	return w.windows(x).Sum(axes...)
}

// counts returns how many positions each window has along an axis, those of the padding counted or not, and 1 for none.
func (w *window) counts(a int, padding bool) []float32 {
	from, to := 0, w.in[a]
	if padding {
		from, to = -w.before[a], to+w.after[a]
	}
	counts := make([]float32, w.out[a])
	for q := range counts {
		n := 0
		for j := range w.kernel[a] {
			if at := q*w.stride[a] - w.before[a] + j*w.dilation[a]; at >= from && at < to {
				n++
			}
		}
		counts[q] = float32(max(n, 1))
	}
	return counts
}

// shapeAlong returns a shape of n along one of some axes, and 1 along the others.
func shapeAlong(axes, a, n int) []int {
	shape := make([]int, axes)
	for i := range shape {
		shape[i] = 1
	}
	shape[a] = n
	return shape
}

func lpPool(c *Call) []*Value {
	x, w := poolOperand(c)
	p := normOrder(c)
	switch p {
	case 1:
		return Out(w.sums(x.Abs()))
	case 2:
		return Out(w.sums(x.Square()).Sqrt())
	}
	return Out(w.sums(x.Abs().Pow(p)).Pow(1 / p))
}

// maxUnpool puts elements in the places where a MaxPool found them, in zeros.
func maxUnpool(c *Call) []*Value {
	x, index := c.Node(0), c.Tensor(1)
	spatial := spatialOf(c, x)
	w := windowOf(c, spatial, nil)
	if c.IntList("kernel_shape") == nil {
		c.Fail("attribute kernel_shape is missing")
	}
	shape := x.Shape()[:2:2]
	for a, n := range spatial {
		shape = append(shape, (n-1)*w.stride[a]-w.before[a]-w.after[a]+w.kernel[a])
		if shape[a+2] < 1 {
			c.fail(tensor.ErrShape, "the result would have size %d along axis %d", shape[a+2], a+2)
		}
	}
	size := shape
	if c.Has(2) {
		size = c.Ints(2)
		if len(size) != len(shape) {
			c.fail(tensor.ErrShape, "output_shape is %v for an input %v", size, x.Shape())
		}
	}
	y := tensor.ZerosOf(c.Device(), x.Type(), c.count(shape))
	flat := autograd.Const(y).IndexCopy(0, index.Reshape(x.Len()), x.Reshape(x.Len())).Reshape(shape...)
	widths, pads := make([][2]int, len(shape)), false
	for a := range shape {
		widths[a][1] = size[a] - shape[a]
		pads = pads || widths[a][1] != 0
	}
	if pads {
		flat = flat.Pad(widths)
	}
	return Out(flat)
}

// poolShape also is that of the places of MaxPool.
func poolShape(c *ShapeCall) []Known {
	spatial := c.spatialDims(0)
	if spatial == nil {
		return []Known{{Type: c.Type(0)}, {Type: "int64"}}
	}
	if c.IntList("kernel_shape") == nil {
		c.Fail("attribute kernel_shape is missing")
	}
	dims := dimsAlong(c.Dims(0)[:2], c.windowDims(spatial, nil, c.Bool("ceil_mode", false)))
	return []Known{{Type: c.Type(0), Dims: dims}, {Type: "int64", Dims: dims}}
}

func globalShape(c *ShapeCall) []Known {
	dims := c.Dims(0)
	for a := 2; a < len(dims); a++ {
		dims[a] = NewDim(1)
	}
	return []Known{{Type: c.Type(0), Dims: dims}}
}

func maxUnpoolShape(c *ShapeCall) []Known {
	spatial := c.spatialDims(0)
	out := Known{Type: c.Type(0)}
	if spatial == nil {
		return []Known{out}
	}
	if c.Has(2) {
		list, ok := c.Ints(2)
		out.Dims = padDims(list, ok, len(spatial)+2)
		return []Known{out}
	}
	axes := len(spatial)
	kernel := eachAxis(&c.nodeCall, "kernel_shape", c.IntList("kernel_shape"), axes, 1, 1)
	stride := eachAxis(&c.nodeCall, "strides", c.IntList("strides"), axes, 1, 1)
	pads := eachAxis(&c.nodeCall, "pads", c.IntList("pads"), 2*axes, 0, -mostAxis)
	out.Dims = c.Dims(0)
	for a, n := range spatial {
		out.Dims[2+a] = n.Sub(NewDim(1)).Mul(NewDim(stride[a])).Add(NewDim(kernel[a] - pads[a] - pads[axes+a]))
	}
	return []Known{out}
}
