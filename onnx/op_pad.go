package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(
		Operator{Name: "Pad", Attributes: "paddings pads mode value", Run: pad, Shape: padShape},
		Operator{Name: "CenterCropPad", Attributes: "axes", Run: centerCropPad, Shape: centerCropPadShape},
	)
}

// pad has widths and value as attributes before opset 11, and as inputs from there on. The widths are those before,
// then those behind; below 0 so many elements are cut off.
func pad(c *Call) []*Value {
	shape := c.dims(0)
	var pads []int
	axes := upTo(len(shape))
	switch {
	case c.Version() < 2:
		pads = c.IntList("paddings")
	case c.Version() < 11:
		pads = c.IntList("pads")
	default:
		pads = c.Ints(1)
		if c.Has(3) {
			axes = c.axes(c.Ints(3), len(shape))
		}
	}
	if len(pads) != 2*len(axes) {
		c.Fail("%d pads for %d axes", len(pads), len(axes))
	}
	widths := make([][2]int, len(shape))
	for i, axis := range axes {
		before, behind := pads[i], pads[len(axes)+i]
		if least := -shape[axis]; before < least || behind < least || min(before, 0)+min(behind, 0) < least {
			c.Fail("pads %v of a tensor of shape %v", pads, shape)
		}
		widths[axis] = [2]int{before, behind}
		shape[axis] += c.count([]int{max(before, 0)}) + c.count([]int{max(behind, 0)}) + min(before, 0) + min(behind, 0)
	}
	c.makes(shape)
	mode := c.oneOf("mode", "constant", "reflect", "edge", "wrap")
	m := moving(c, 0)
	x := m.node(0)
	if mode != "constant" {
		return m.out(c.extend(x, widths, mode))
	}
	if c.Version() >= 11 && c.Has(2) {
		v := m.node(2)
		if v.Len() != 1 {
			c.Fail("%d constant values", v.Len())
		}
		return m.out(padWith(c, x, widths, v.Reshape()))
	}
	return m.out(x.Pad(widths, tensor.PadOptions{Value: c.Float("value", 0)}))
}

// padWith pads with a scalar. One that the host does not know, or that a float64 does not hold, goes where the padding
// is.
func padWith(c *Call, x *autograd.Node, widths [][2]int, v *autograd.Node) *autograd.Node {
	if c.Value(2).host != nil {
		number := c.Floats(2)[0]
		if !x.Type().Integer() || number < 1<<53 && number > -1<<53 {
			return x.Pad(widths, tensor.PadOptions{Value: number})
		}
	}
	inside := autograd.Const(tensor.FullOf(c.dev, tensor.Bool, 1, []int{}...)).Expand(x.Shape()...).Pad(widths)
	return x.Pad(widths).Where(inside, v)
}

// extend pads with elements of the tensor: reflected at its ends, those at its ends, or all over again.
func (c *Call) extend(x *autograd.Node, widths [][2]int, mode string) *autograd.Node {
	cut := slices.Clone(widths)
	for i, w := range widths {
		cut[i] = [2]int{min(w[0], 0), min(w[1], 0)}
		widths[i] = [2]int{max(w[0], 0), max(w[1], 0)}
	}
	if slices.ContainsFunc(cut, func(w [2]int) bool { return w != [2]int{} }) {
		x = x.Pad(cut)
	}
	modes := map[string]tensor.PadMode{
		"reflect": tensor.PadReflect, "edge": tensor.PadReplicate, "wrap": tensor.PadCircular,
	}
	shape, once := x.Shape(), true
	for i, w := range widths {
		if w != [2]int{} && shape[i] == 0 {
			c.Fail("there is nothing to pad with along axis %d of %v", i, shape)
		}
		once = once && (mode == "edge" || max(w[0], w[1]) < shape[i])
	}
	if once {
		return x.Pad(widths, tensor.PadOptions{Mode: modes[mode]})
	}
	for i, w := range widths { // further than the tensor reaches
		if w == [2]int{} {
			continue
		}
		from := make([]int64, w[0]+shape[i]+w[1])
		for k := range from {
			from[k] = int64(inPeriod(k-w[0], shape[i], mode == "reflect"))
		}
		x = x.IndexSelect(i, tensor.New(c.dev, from))
	}
	return x
}

// inPeriod returns which of n elements is at a place of their endless repetition, every other time backwards without
// the element at the end if it is reflected.
func inPeriod(place, n int, reflected bool) int {
	if !reflected {
		return (place%n + n) % n
	}
	period := max(2*(n-1), 1)
	place = (place%period + period) % period
	return min(place, period-place) % n
}

// centerCropPad cuts or pads axes to dimensions. Of an odd number, the part behind is the larger.
func centerCropPad(c *Call) []*Value {
	shape, sizes := c.dims(0), c.Ints(1)
	axes := upTo(len(shape))
	if list := c.IntList("axes"); list != nil {
		axes = c.axes(list, len(shape))
	}
	if len(sizes) != len(axes) {
		c.Fail("%d dimensions for %d axes", len(sizes), len(axes))
	}
	widths := make([][2]int, len(shape))
	for i, axis := range axes {
		more := c.count([]int{sizes[i]}) - shape[axis]
		widths[axis] = [2]int{more / 2, more - more/2}
		shape[axis] = sizes[i]
	}
	c.makes(shape)
	m := moving(c, 0)
	return m.out(m.node(0).Pad(widths))
}

func padShape(c *ShapeCall) []Known {
	dims := c.Dims(0)
	if dims == nil {
		return []Known{{Type: c.Type(0)}}
	}
	var pads []Dim
	axes, ok := upTo(len(dims)), true
	switch {
	case c.Version() < 2:
		pads = dimsOf(c.IntList("paddings"))
	case c.Version() < 11:
		pads = dimsOf(c.IntList("pads"))
	default:
		if c.Has(3) {
			var list []int
			if list, ok = c.numbersOf(3); ok {
				axes = c.axes(list, len(dims))
			}
		}
		if ok {
			pads, ok = c.Ints(1)
			pads = padDims(pads, ok, 2*len(axes))
		}
	}
	if len(pads) != 2*len(axes) {
		return []Known{ofRank(c.Type(0), len(dims))}
	}
	for i, axis := range axes {
		dims[axis] = dims[axis].Add(pads[i]).Add(pads[len(axes)+i])
	}
	return []Known{{Type: c.Type(0), Dims: dims}}
}

func centerCropPadShape(c *ShapeCall) []Known {
	dims := c.Dims(0)
	if dims == nil {
		return []Known{{Type: c.Type(0)}}
	}
	axes := upTo(len(dims))
	if list := c.IntList("axes"); list != nil {
		axes = c.axes(list, len(dims))
	}
	sizes, ok := c.Ints(1)
	sizes = padDims(sizes, ok && len(sizes) == len(axes), len(axes))
	for i, axis := range axes {
		dims[axis] = sizes[i]
	}
	return []Known{{Type: c.Type(0), Dims: dims}}
}
