package onnx

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
)

// exportRecurrent are the directions of recurrent layers: of an input [time, batch, features], the weights and biases
// of both products, the first states or nil, and whether time runs backwards. Results are the states of all times and
// those after the last.
var exportRecurrent = map[string]func(c *exportCall) []string{
	// The gates of the state dict are input, forget, cell, output; the operator's input, output, forget, cell.
	"LSTM": func(c *exportCall) []string { return c.recurrent("LSTM", 0, 3, 1, 2) },
	// Reset, update, new; and update, reset, new.
	"GRU": func(c *exportCall) []string {
		return c.recurrent("GRU", 1, 0, 2)
	},
}

func (c *exportCall) recurrent(op string, gates ...int) []string {
	typ := c.typ()
	hidden := fixedSize(c.shape(2)[0])
	// order returns the gates of a matrix or a bias in the operator's order, and unsqueeze the axis of directions.
	order := func(name string) string {
		parts := make([]string, len(gates))
		for i, g := range gates {
			parts[i] = c.e.slice(name, 0, c.e.list(g*hidden), c.e.list((g+1)*hidden), 1)
		}
		return c.e.op("Concat", parts, integer("axis", 0))
	}
	weights := func(i int) string {
		w, transposed := c.weight(i, typ)
		if !transposed {
			w = c.e.op("Transpose", []string{w}, ints("perm", 1, 0))
		}
		return c.e.unsqueeze(order(w), 0)
	}
	in := []string{c.as(0, typ), weights(1), weights(2)}
	bias := ""
	if bi, bh := c.as(3, typ), c.as(4, typ); bi != "" {
		bias = c.e.unsqueeze(c.e.op("Concat", []string{order(bi), order(bh)}, integer("axis", 0)), 0)
	}
	in = append(in, bias, "")
	shape := c.shape(0)
	states := listOf[*autograd.Node](c, 5)
	given := false
	for _, s := range states {
		given = given || !s.absent()
	}
	for _, s := range states {
		if !s.absent() {
			in = append(in, c.e.unsqueeze(c.e.as(s, typ), 0))
		} else if given {
			in = append(in, c.e.filled(typ, 0, []size{c.e.constantSize(1), shape[1], c.e.constantSize(hidden)}, c.value(0)))
		}
	}
	a := []*onnxpb.Attribute{integer("hidden_size", hidden)}
	if op == "GRU" {
		a = append(a, integer("linear_before_reset", 1))
	}
	if arg[bool](c, 6) {
		a = append(a, word("direction", "reverse"))
	}
	out := c.e.ops(op, len(c.runs[0].Results), in, a...)
	out[0] = c.e.squeeze(out[0], 1)
	for i := range out[1:] {
		out[1+i] = c.e.squeeze(out[1+i], 0)
	}
	return out
}
