package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
)

func init() {
	Register(
		Operator{Name: "SequenceConstruct", Since: 11, Shape: sequenceOfInputs, Run: func(c *Call) []*Value {
			for i := range c.in {
				c.sameType(c.Value(0), c.Value(i))
			}
			return []*Value{FromSequence(slices.Clone(c.in)...)}
		}},
		Operator{Name: "SequenceEmpty", Since: 11, Attributes: "dtype",
			Shape: func(c *ShapeCall) []Known {
				return []Known{sequenceOfKnown(Known{Type: c.typeAttribute("dtype", "float")})}
			},
			Run: func(c *Call) []*Value { return []*Value{FromSequence()} }},
		Operator{Name: "SequenceLength", Since: 11, Shape: func(c *ShapeCall) []Known { return []Known{scalarOf("int64")} }, Run: func(c *Call) []*Value {
			return []*Value{onHostOf(c, int64(len(c.sequence(0))))}
		}},
		Operator{Name: "SequenceAt", Since: 11, Shape: elementOfSequence, Run: func(c *Call) []*Value {
			list := c.sequence(0)
			return []*Value{list[c.position(1, len(list), len(list)-1)]}
		}},
		Operator{Name: "SequenceInsert", Since: 11, Shape: insertShape, Run: func(c *Call) []*Value {
			list, at := c.sequence(0), len(c.sequence(0))
			if c.Has(2) {
				at = c.position(2, len(list), len(list))
			}
			if len(list) > 0 {
				c.sameType(list[0], c.Value(1))
			}
			return []*Value{FromSequence(slices.Insert(slices.Clone(list), at, c.Value(1))...)}
		}},
		Operator{Name: "SequenceErase", Since: 11, Shape: func(c *ShapeCall) []Known { return []Known{c.In(0)} }, Run: func(c *Call) []*Value {
			list := c.sequence(0)
			at := len(list) - 1
			if c.Has(1) || at < 0 {
				at = c.position(1, len(list), len(list)-1)
			}
			return []*Value{FromSequence(slices.Delete(slices.Clone(list), at, at+1)...)}
		}},
		Operator{Name: "SplitToSequence", Since: 11, Attributes: "axis keepdims", Run: splitToSequence, Shape: splitToSequenceShape},
		Operator{Name: "ConcatFromSequence", Since: 11, Attributes: "axis new_axis", Run: concatFromSequence, Shape: concatFromSequenceShape},
		Operator{Name: "SequenceMap", Since: 17, Attributes: "body", Run: sequenceMap, Shape: sequenceMapShape},

		Operator{Name: "Optional", Since: 15, Attributes: "type", Shape: optionalShape, Run: func(c *Call) []*Value {
			if !c.Has(0) {
				return []*Value{FromOptional(nil)}
			}
			return []*Value{FromOptional(c.Value(0))}
		}},
		Operator{Name: "OptionalGetElement", Since: 15, Shape: func(c *ShapeCall) []Known { return []Known{c.In(0)} }, Run: func(c *Call) []*Value {
			v := c.Value(0)
			if v.kind != optionalValue {
				return []*Value{v}
			}
			if len(v.list) == 0 {
				c.Fail("the optional is empty")
			}
			return v.list
		}},
		Operator{Name: "OptionalHasElement", Since: 15, Shape: func(c *ShapeCall) []Known { return []Known{scalarOf("bool")} }, Run: func(c *Call) []*Value {
			return []*Value{onHostOf(c, c.Has(0) && (c.in[0].kind != optionalValue || len(c.in[0].list) > 0))}
		}},
	)
}

// sequence returns the values of input i, a sequence or an optional that holds one.
func (c *Call) sequence(i int) []*Value {
	v := c.Value(i)
	if v.kind == optionalValue && len(v.list) == 1 {
		v = v.list[0]
	}
	if v.kind != sequenceValue {
		c.Fail("input %d is %v, and should be a sequence", i, v)
	}
	return v.list
}

// position returns the index that input i says, counted from the end of n elements if it is negative. most is the
// largest.
func (c *Call) position(i, n, most int) int {
	at := c.IntOf(i, -1)
	if at < 0 {
		at += n
	}
	if at < 0 || at > most {
		c.Fail("position %d of a sequence of %d", c.IntOf(i, -1), n)
	}
	return at
}

// sameType fails unless two values may be in one sequence.
func (c *Call) sameType(a, b *Value) {
	if a.kind != b.kind || (a.any() == nil) != (b.any() == nil) || a.any() != nil && a.any().Type() != b.any().Type() {
		c.Fail("%v and %v in one sequence", a, b)
	}
}

// splitToSequence cuts a tensor into parts: of one size each, or of sizes of their own.
func splitToSequence(c *Call) []*Value {
	shape := c.dims(0)
	axis := c.axis(c.Int("axis", 0), len(shape))
	var sizes []int
	dropped := false
	switch {
	case !c.Has(1):
		sizes, dropped = slices.Repeat([]int{1}, shape[axis]), !c.Bool("keepdims", true)
	case len(c.Shape(1)) == 0:
		size := c.IntOf(1, 1)
		if size < 1 {
			c.Fail("parts of %d elements", size)
		}
		for left := shape[axis]; left > 0; left -= size {
			sizes = append(sizes, min(size, left))
		}
	default:
		sizes = c.Ints(1)
	}
	m, at := moving(c, 0), 0
	x, parts := m.node(0), make([]*autograd.Node, len(sizes))
	for i, size := range sizes {
		if size < 0 || size > shape[axis]-at {
			c.Fail("parts of %v elements of an axis of %d", sizes, shape[axis])
		}
		if parts[i] = x.Slice(axis, at, at+size); dropped {
			parts[i] = x.Select(axis, at)
		}
		at += size
	}
	if at != shape[axis] {
		c.Fail("parts of %v elements of an axis of %d", sizes, shape[axis])
	}
	return []*Value{FromSequence(m.out(parts...)...)}
}

// concatFromSequence joins the values of a sequence along an axis, or a new one.
func concatFromSequence(c *Call) []*Value {
	list := c.sequence(0)
	if len(list) == 0 {
		c.Fail("the sequence is empty")
	}
	a := c.attribute("axis", onnxpb.AttrInt)
	if a == nil {
		c.Fail("attribute axis is missing")
	}
	if c.Bool("new_axis", false) {
		return []*Value{c.stacked(list, int(a.Int))}
	}
	axis := c.axis(int(a.Int), len(list[0].Shape()))
	return []*Value{c.joined(list, func(xs []*autograd.Node) *autograd.Node { return autograd.Concat(axis, xs...) })}
}

// sequenceMap runs a graph for each value of a sequence. Other inputs are sequences of the same length, or are the same
// in each run.
func sequenceMap(c *Call) []*Value {
	n := len(c.sequence(0))
	out := make([]*Value, c.bodyOutputs("body"))
	for k := range out {
		out[k] = FromSequence()
	}
	for i := 1; i < c.Len(); i++ {
		if v := c.Value(i); v.kind == sequenceValue && len(v.list) != n {
			c.Fail("input %d is a sequence of %d, and the first of %d", i, len(v.list), n)
		}
	}
	for i := range n {
		given := slices.Clone(c.in)
		for k, v := range given {
			if v.kind == sequenceValue {
				given[k] = v.list[i]
			}
		}
		given[0] = c.sequence(0)[i]
		for k, v := range c.r.adopt(c.r.iteration(func() []*Value { return c.Graph("body", given...) })) {
			out[k].list = append(out[k].list, v)
		}
	}
	return out
}

// sequenceOfKnown returns a sequence of values of which k is known.
func sequenceOfKnown(k Known) Known {
	out := Known{of: &k}
	if k.elements = nil; k.Type != "" {
		out.Type = "seq(" + k.Type + ")"
	}
	return out
}

func sequenceOfInputs(c *ShapeCall) []Known {
	if c.Len() == 0 {
		return nil
	}
	of := c.In(0)
	for i := 1; i < c.Len(); i++ {
		of = either(of, c.In(i))
	}
	return []Known{sequenceOfKnown(of)}
}

// elementOfSequence is what is known of any element of input 0.
func elementOfSequence(c *ShapeCall) []Known {
	if of := c.In(0).of; of != nil {
		return []Known{*of}
	}
	return nil
}

func insertShape(c *ShapeCall) []Known {
	in := c.In(0)
	if in.of == nil {
		return []Known{in}
	}
	if in.of.Dims == nil && in.of.Type == c.Type(1) {
		return []Known{in}
	}
	return []Known{sequenceOfKnown(either(*in.of, c.In(1)))}
}

func splitToSequenceShape(c *ShapeCall) []Known {
	dims := c.Dims(0)
	of := Known{Type: c.Type(0)}
	if dims != nil {
		axis := c.axis(c.Int("axis", 0), len(dims))
		if of.Dims = dims; !c.Has(1) {
			of.Dims = reducedDims(dims, []int{axis}, c.Bool("keepdims", true))
		} else {
			of.Dims[axis] = Dim{}
		}
	}
	return []Known{sequenceOfKnown(of)}
}

func concatFromSequenceShape(c *ShapeCall) []Known {
	of := c.In(0).of
	if of == nil {
		return nil
	}
	out := Known{Type: of.Type}
	if of.Dims != nil {
		if c.Bool("new_axis", false) {
			out.Dims = slices.Insert(slices.Clone(of.Dims), c.axis(c.Int("axis", 0), len(of.Dims)+1), Dim{})
		} else {
			out.Dims = slices.Clone(of.Dims)
			out.Dims[c.axis(c.Int("axis", 0), len(of.Dims))] = Dim{}
		}
	}
	return []Known{out}
}

func sequenceMapShape(c *ShapeCall) []Known {
	in := make([]Known, c.Len())
	for i := range in {
		if in[i] = c.In(i); in[i].of != nil {
			in[i] = *in[i].of
		}
	}
	out := c.graph("body", in)
	for i := range out {
		out[i] = sequenceOfKnown(out[i])
	}
	return out
}

func optionalShape(c *ShapeCall) []Known {
	if !c.Has(0) {
		return nil
	}
	of := c.In(0)
	return []Known{{Type: "optional(" + of.Type + ")", of: &of}}
}
