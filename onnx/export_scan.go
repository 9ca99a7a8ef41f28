package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// exportScans are running products, sums and extremes: the operator Scan, with a graph of one step.
var exportScans = map[string]func(c *exportCall) []string{
	"CumProd": func(c *exportCall) []string {
		typ := c.runningType()
		return c.running(typ, []tensor.Type{typ}, []float64{1}, func(state []string, x string) []string {
			return []string{c.e.op("Mul", []string{state[0], x})}
		})
	},
	"LogCumSumExp": func(c *exportCall) []string {
		typ := c.runningType()
		return c.running(typ, []tensor.Type{typ}, []float64{math.Inf(-1)}, func(state []string, x string) []string {
			most, least := c.e.op("Max", []string{state[0], x}), c.e.op("Min", []string{state[0], x})
			same := c.e.op("Equal", []string{most, least}) // also where both are infinite
			power := c.e.op("Exp", []string{c.e.op("Sub", []string{least, most})})
			sum := c.e.op("Log", []string{c.e.op("Add", []string{power, c.e.scalar(typ, 1)})})
			more := c.e.op("Where", []string{same, c.e.scalar(typ, math.Ln2), sum})
			return []string{c.e.op("Add", []string{most, more})}
		})
	},
	"CumMax": func(c *exportCall) []string { return c.runningExtreme("GreaterOrEqual", math.Inf(-1)) },
	"CumMin": func(c *exportCall) []string { return c.runningExtreme("LessOrEqual", math.Inf(1)) },
}

// runningType returns the type that a scan computes in.
func (c *exportCall) runningType() tensor.Type {
	if typ := wideType(c.typ()); !typ.Integer() {
		return typ
	}
	return computed(c.typ())
}

// runningExtreme writes the extremes up to each element, and the indices of the last ones that are as large.
func (c *exportCall) runningExtreme(compare string, start float64) []string {
	typ := c.runningType()
	if typ.Integer() {
		start = typ.Limit(start)
	}
	types := []tensor.Type{typ, tensor.Int64, tensor.Int64} // the extreme, its index, the index at hand
	out := c.running(typ, types, []float64{start, 0, 0}, func(state []string, x string) []string {
		taken := c.e.op(compare, []string{x, state[0]})
		if !typ.Integer() {
			taken = c.e.op("Or", []string{taken, c.e.op("IsNaN", []string{x})})
		}
		return []string{
			c.e.op("Where", []string{taken, x, state[0]}), c.e.op("Where", []string{taken, state[2], state[1]}),
			c.e.op("Add", []string{state[2], c.e.scalar(tensor.Int64, 1)}),
		}
	})
	return out[:2]
}

// running writes a scan along the axis of argument 1: step makes of the states before, which begin as numbers, and an
// element those behind it. Results are the states behind each element.
func (c *exportCall) running(typ tensor.Type, types []tensor.Type, start []float64,
	step func(state []string, x string) []string) []string {
	e, shape := c.e, c.shape(0)
	if slices.ContainsFunc(shape, func(s size) bool { return s[0] == 0 }) { // no element, and no step
		var out []string
		for i := range c.runs[0].Results {
			out = append(out, e.filled(typeIn(c.result(i)), 0, shape, c.value(0)))
		}
		return out
	}
	x := c.as(0, typ)
	scalar := len(shape) == 0
	if scalar {
		x, shape = e.unsqueeze(x, 0), []size{e.constantSize(1)}
	}
	axis := c.axis(1, c.rank(0))
	line := slices.Delete(slices.Clone(shape), axis, axis+1)
	n := len(types)
	body := &onnxpb.Graph{Name: e.fresh("step")}
	info := func(name string, typ tensor.Type) *onnxpb.ValueInfo {
		return &onnxpb.ValueInfo{Name: name, Type: &onnxpb.Type{Kind: onnxpb.KindTensor, Elem: dataTypeOf(typ)}}
	}
	var in, state []string
	for i, typ := range types {
		in = append(in, e.filled(typ, start[i], line, c.value(0)))
		state = append(state, e.fresh("before"))
		body.Inputs = append(body.Inputs, info(state[i], typ))
	}
	element := e.fresh("element")
	body.Inputs = append(body.Inputs, info(element, typ))
	outer := e.nodes
	e.nodes = nil
	results := step(state, element)
	for i := range 2 * n { // of all states once more as outputs of the scan
		name := results[i%n]
		if i >= n {
			name = e.op("Identity", []string{name})
		}
		body.Outputs = append(body.Outputs, info(name, types[i%n]))
	}
	body.Nodes, e.nodes = e.nodes, outer
	out := e.ops("Scan", 2*n, append(in, x), integer("num_scan_inputs", 1), ints("scan_input_axes", axis),
		ints("scan_output_axes", slices.Repeat([]int{axis}, n)...),
		&onnxpb.Attribute{Name: "body", Type: onnxpb.AttrGraph, Graph: body})[n:]
	for i := range min(n, len(c.runs[0].Results)) {
		if scalar {
			out[i] = e.squeeze(out[i], 0)
		}
		out[i] = e.cast(out[i], types[i], typeIn(c.result(i)))
	}
	return out
}
