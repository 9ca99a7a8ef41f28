package onnx

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

const convAttributes = "auto_pad dilations group kernel_shape pads strides"

func init() {
	Register(
		Operator{Name: "Conv", Attributes: convAttributes, Run: conv, Shape: convShape(0, 1)},
		Operator{Name: "ConvTranspose", Attributes: convAttributes + " output_padding output_shape",
			Run: convTranspose, Shape: convTransposeShape},
	)
}

// convOperands returns the input and the weights of a convolution, and its bias or nil.
func convOperands(c *Call) (x, w, bias *autograd.Node) {
	x, w, bias = c.Node(0), c.Node(1), c.NodeOr(2)
	checkConv(c, x, w)
	return x, w, bias
}

// checkConv ends a call whose operands are none of a convolution.
func checkConv(c *Call, x, w *autograd.Node) {
	spatialOf(c, x)
	if w.Rank() != x.Rank() {
		c.fail(tensor.ErrShape, "weights are %v for an input %v", w.Shape(), x.Shape())
	}
	if x.Rank() > 5 {
		c.Unsupported("%d spatial axes", x.Rank()-2)
	}
	if c.Int("group", 1) < 1 {
		c.Fail("attribute group is %d", c.Int("group", 1))
	}
}

func conv(c *Call) []*Value {
	x, weights, bias := convOperands(c)
	x, o := convOptions(c, x, weights)
	return Out(x.Conv(weights, bias, o))
}

// convOptions returns what the attributes say of a convolution, and the input, cut where a padding is negative.
func convOptions(c *Call, x, weights *autograd.Node) (*autograd.Node, tensor.ConvOptions) {
	w := windowOf(c, x.Shape()[2:], weights.Shape()[2:])
	w.place(c, false)
	before, after, cut := make([]int, len(w.in)), make([]int, len(w.in)), make([][2]int, len(w.in))
	cuts := false
	for a := range w.in {
		before[a], after[a] = max(w.before[a], 0), max(w.after[a], 0)
		cut[a] = [2]int{min(w.before[a], 0), min(w.after[a], 0)}
		cuts = cuts || cut[a] != [2]int{}
	}
	if cuts {
		x = x.Pad(cut)
	}
	return x, tensor.ConvOptions{Stride: w.stride, Padding: before, PaddingEnd: after, Dilation: w.dilation, Groups: c.Int("group", 1)}
}

// convTranspose computes what a padding does not cut off, or extends by zeros. The padding is an attribute, or what
// makes an output of a given shape.
func convTranspose(c *Call) []*Value {
	x, weights, bias := convOperands(c)
	axes := x.Rank() - 2
	w := windowOf(c, x.Shape()[2:], weights.Shape()[2:])
	more := eachAxis(&c.nodeCall, "output_padding", c.IntList("output_padding"), axes, 0, 0)
	whole := make([]int, axes) // without a padding, and with what more says
	for a, n := range w.in {
		whole[a] = w.stride[a]*(n-1) + more[a] + w.reach(a)
	}
	auto := c.String("auto_pad", "NOTSET")
	if size := c.IntList("output_shape"); size != nil || auto == "SAME_UPPER" || auto == "SAME_LOWER" {
		if len(size) == axes+2 { // as some write it
			size = size[2:]
		}
		if size != nil {
			size = eachAxis(&c.nodeCall, "output_shape", size, axes, 0, 1)
		}
		for a, n := range w.in {
			out := n * w.stride[a]
			if size != nil {
				out = size[a]
			}
			total := whole[a] - out
			w.before[a] = floorHalf(total)
			if (auto == "SAME_UPPER") != (c.Version() >= 11) {
				w.before[a] = total - w.before[a]
			}
			w.after[a] = total - w.before[a]
		}
	} else {
		w.same(c)
	}
	o := tensor.ConvTransposeOptions{Stride: w.stride, Dilation: w.dilation, Groups: c.Int("group", 1)}
	if direct(w, more, &o) {
		return Out(x.ConvTranspose(weights, bias, o))
	}
	// The whole result, and then its padding, in which the bias is alone.
	widths := make([][2]int, axes)
	for a := range widths {
		widths[a] = [2]int{-w.before[a], more[a] - w.after[a]}
	}
	y := x.ConvTranspose(weights, nil, o).Pad(widths)
	if bias != nil {
		y = y.Add(perChannel(bias, y.Rank()))
	}
	return Out(y)
}

// direct sets the padding of a transposed convolution, and reports whether there is an option for it: one that is alike
// on both sides, but for a few positions at the end.
func direct(w *window, more []int, o *tensor.ConvTransposeOptions) bool {
	padding, extra := make([]int, len(w.in)), make([]int, len(w.in))
	for a := range w.in {
		padding[a], extra[a] = w.before[a], more[a]+w.before[a]-w.after[a]
		if padding[a] < 0 || extra[a] < 0 || extra[a] >= max(w.stride[a], w.dilation[a]) {
			return false
		}
	}
	o.Padding, o.OutputPadding = padding, extra
	return true
}

// floorHalf is n/2 rounded down.
func floorHalf(n int) int { return (n - (n & 1)) / 2 }

// convShape returns the rule of a convolution of inputs x and w.
func convShape(x, w int) shapeRule {
	return func(c *ShapeCall) []Known {
		in, weights := c.Dims(x), c.Dims(w)
		if in == nil && weights == nil {
			return []Known{{Type: c.Type(x)}}
		}
		if in == nil || weights == nil {
			return []Known{ofRank(c.Type(x), max(len(in), len(weights)))}
		}
		spatial := c.spatialDims(x)
		if len(weights) != len(in) {
			c.Fail("the weights of %v do not fit", c.shapes())
		}
		c.sameSize(in[1], weights[1].Mul(NewDim(c.Int("group", 1))))
		return []Known{{Type: c.Type(x), Dims: dimsAlong(in[:1], weights[:1], c.windowDims(spatial, weights[2:], false))}}
	}
}

func convTransposeShape(c *ShapeCall) []Known {
	in, weights := c.Dims(0), c.Dims(1)
	if in == nil || weights == nil {
		return []Known{{Type: c.Type(0)}}
	}
	spatial, axes := c.spatialDims(0), len(in)-2
	if len(weights) != len(in) {
		c.Fail("the weights of %v do not fit", c.shapes())
	}
	stride := eachAxis(&c.nodeCall, "strides", c.IntList("strides"), axes, 1, 1)
	dilation := eachAxis(&c.nodeCall, "dilations", c.IntList("dilations"), axes, 1, 1)
	pads := eachAxis(&c.nodeCall, "pads", c.IntList("pads"), 2*axes, 0, -mostAxis)
	more := eachAxis(&c.nodeCall, "output_padding", c.IntList("output_padding"), axes, 0, 0)
	auto, size, one := c.String("auto_pad", "NOTSET"), c.IntList("output_shape"), NewDim(1)
	if len(size) == axes+2 {
		size = size[2:]
	}
	out := make([]Dim, axes)
	for a, n := range spatial {
		by := NewDim(stride[a])
		switch {
		case size != nil:
			out[a] = NewDim(size[a])
		case auto == "SAME_UPPER" || auto == "SAME_LOWER":
			out[a] = n.Mul(by)
		default:
			if auto == "VALID" {
				pads[a], pads[axes+a] = 0, 0
			}
			reach := weights[2+a].Sub(one).Mul(NewDim(dilation[a])).Add(one)
			out[a] = n.Sub(one).Mul(by).Add(reach).Add(NewDim(more[a] - pads[a] - pads[axes+a]))
		}
	}
	return []Known{{Type: c.Type(0), Dims: dimsAlong(in[:1], []Dim{weights[1].Mul(NewDim(c.Int("group", 1)))}, out)}}
}
