package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// window is how the windows of a convolution or a pooling lie along the spatial axes of a tensor [batch, channels, …].
type window struct {
	in, kernel, stride, dilation []int
	before, after                []int // the padding
	out                          []int // how many windows there are
}

// mostAxis is how long axes, windows and padding may be.
const mostAxis = math.MaxInt32 / 4

// windowOf reads the attributes that are common to convolutions and poolings. A kernel that is nil is an attribute.
func windowOf(c *Call, in, kernel []int) *window {
	axes := len(in)
	if given := c.IntList("kernel_shape"); given != nil || kernel == nil {
		if kernel != nil && !slices.Equal(given, kernel) {
			c.Fail("attribute kernel_shape is %v, and the weights are of %v", given, kernel)
		}
		kernel = given
	}
	w := &window{
		in:       in,
		kernel:   eachAxis(&c.nodeCall, "kernel_shape", kernel, axes, 1, 1),
		stride:   eachAxis(&c.nodeCall, "strides", c.IntList("strides"), axes, 1, 1),
		dilation: eachAxis(&c.nodeCall, "dilations", c.IntList("dilations"), axes, 1, 1),
	}
	pads := eachAxis(&c.nodeCall, "pads", c.IntList("pads"), 2*axes, 0, -mostAxis)
	w.before, w.after = pads[:axes], pads[axes:]
	return w
}

// eachAxis returns an attribute that has a number for each axis.
func eachAxis(c *nodeCall, name string, list []int, axes, or, least int) []int {
	if list == nil {
		return slices.Repeat([]int{or}, axes)
	}
	if len(list) != axes {
		c.Fail("attribute %s has %d numbers, and should have %d", name, len(list), axes)
	}
	for _, v := range list {
		if v < least || v > mostAxis {
			c.Fail("attribute %s is %v: numbers are from %d to %d", name, list, least, mostAxis)
		}
	}
	return list
}

// reach returns over how many positions a window reaches along an axis.
func (w *window) reach(a int) int { return w.dilation[a]*(w.kernel[a]-1) + 1 }

// same sets the padding that makes as many windows as there are strides in the input, if attribute auto_pad says so.
func (w *window) same(c *Call) bool {
	auto := c.oneOf("auto_pad", "NOTSET", "", "VALID", "SAME_UPPER", "SAME_LOWER")
	switch auto {
	case "NOTSET", "":
		return false
	case "VALID":
		w.before, w.after = make([]int, len(w.in)), make([]int, len(w.in))
		return false
	}
	w.before, w.after, w.out = make([]int, len(w.in)), make([]int, len(w.in)), make([]int, len(w.in))
	for a, n := range w.in {
		w.out[a] = (n + w.stride[a] - 1) / w.stride[a]
		total := max((w.out[a]-1)*w.stride[a]+w.reach(a)-n, 0)
		w.before[a] = total / 2
		if auto == "SAME_LOWER" {
			w.before[a] = total - total/2
		}
		w.after[a] = total - w.before[a]
	}
	return true
}

// place settles how many windows there are. With ceil a last one may reach beyond the padding, but not begin there.
func (w *window) place(c *Call, ceil bool) {
	if w.same(c) {
		return
	}
	w.out = make([]int, len(w.in))
	for a, n := range w.in {
		over := n + w.before[a] + w.after[a] - w.reach(a)
		if over < 0 && !(ceil && over+w.stride[a] > 0) {
			c.fail(tensor.ErrShape, "windows reach over %d positions of spatial axis %d, which has %d with its padding",
				w.reach(a), a, n+w.before[a]+w.after[a])
		}
		w.out[a] = over/w.stride[a] + 1
		if ceil {
			w.out[a] = (over+w.stride[a]-1)/w.stride[a] + 1
			if (w.out[a]-1)*w.stride[a] >= n+w.before[a] {
				w.out[a]--
			}
		}
	}
}

// padded returns x with as much padding that the windows, and nothing else, fit.
func (w *window) padded(x *autograd.Node, value float64) *autograd.Node {
	widths, any := make([][2]int, len(w.in)), false
	for a, n := range w.in {
		widths[a] = [2]int{w.before[a], (w.out[a]-1)*w.stride[a] + w.reach(a) - n - w.before[a]}
		any = any || widths[a] != [2]int{}
	}
	if !any {
		return x
	}
	return x.Pad(widths, tensor.PadOptions{Value: value})
}

// windows returns the windows of what padded returns: their axes are the last ones.
func (w *window) windows(x *autograd.Node) *autograd.Node {
	first := x.Rank() - len(w.in)
	for a := range w.in {
		x = x.Unfold(first+a, w.reach(a), w.stride[a]).Step(-1, w.dilation[a])
	}
	return x
}

// symmetric reports whether the padding is alike on both sides, and at most half a window.
func (w *window) symmetric() bool {
	for a := range w.in {
		if w.before[a] != w.after[a] || w.before[a] < 0 || 2*w.before[a] > w.kernel[a] {
			return false
		}
	}
	return true
}

// dilated reports whether windows have gaps.
func (w *window) dilated() bool {
	return slices.ContainsFunc(w.dilation, func(n int) bool { return n > 1 })
}

// spatialOf returns the spatial axes of x [batch, channels, …].
func spatialOf(c *Call, x *autograd.Node) []int {
	if x.Rank() < 3 {
		c.fail(tensor.ErrShape, "input 0 is %v, and should be [batch, channels, …] with spatial axes", x.Shape())
	}
	return x.Shape()[2:]
}

// windowDims returns how many windows there are along spatial axes, as window.place does. kernel is nil where an attribute
// says it.
func (c *ShapeCall) windowDims(in, kernel []Dim, ceil bool) []Dim {
	axes := len(in)
	if kernel == nil {
		kernel = dimsOf(eachAxis(&c.nodeCall, "kernel_shape", c.IntList("kernel_shape"), axes, 1, 1))
	}
	stride := eachAxis(&c.nodeCall, "strides", c.IntList("strides"), axes, 1, 1)
	dilation := eachAxis(&c.nodeCall, "dilations", c.IntList("dilations"), axes, 1, 1)
	pads := eachAxis(&c.nodeCall, "pads", c.IntList("pads"), 2*axes, 0, -mostAxis)
	auto := c.oneOf("auto_pad", "NOTSET", "", "VALID", "SAME_UPPER", "SAME_LOWER")
	if auto == "VALID" {
		pads = make([]int, 2*axes)
	}
	out, one := make([]Dim, axes), NewDim(1)
	for a, n := range in {
		by := NewDim(stride[a])
		if auto == "SAME_UPPER" || auto == "SAME_LOWER" {
			out[a] = n.ceilDiv(by)
			continue
		}
		reach := kernel[a].Sub(one).Mul(NewDim(dilation[a])).Add(one)
		over := n.Add(NewDim(pads[a] + pads[axes+a])).Sub(reach)
		if m, ok := over.Number(); ok && m < 0 && !(ceil && m+stride[a] > 0) {
			c.Fail("windows reach over %v positions of spatial axis %d of %v", reach, a, c.shapes())
		}
		if out[a] = over.Div(by).Add(one); ceil { // the last one begins before the end of the padding
			out[a] = over.ceilDiv(by).Add(one).Min(n.Add(NewDim(pads[a] - 1)).Div(by).Add(one))
		}
	}
	return out
}

// spatialDims returns the spatial axes of input i [batch, channels, …], nil if its rank is not known.
func (c *ShapeCall) spatialDims(i int) []Dim {
	dims := c.Dims(i)
	if dims == nil {
		return nil
	}
	if len(dims) < 3 {
		c.Fail("input %d of %v should be [batch, channels, …] with spatial axes", i, c.shapes())
	}
	return dims[2:]
}
