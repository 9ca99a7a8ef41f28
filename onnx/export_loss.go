package onnx

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// exportLosses are losses that are no functions of elements with a reduction.
var exportLosses = map[string]func(c *exportCall) []string{
	"CrossEntropy": func(c *exportCall) []string { return []string{c.labelled("SoftmaxCrossEntropyLoss")} },
	"NLL":          func(c *exportCall) []string { return []string{c.labelled("NegativeLogLikelihoodLoss")} },
	"SquaredError": func(c *exportCall) []string {
		typ := wideType(c.typ())
		d := c.e.op("Sub", []string{c.as(0, typ), c.as(1, typ)})
		y := c.e.reduce("ReduceSum", c.e.op("Mul", []string{d, d}), sequence(c.rank(0)), false)
		return []string{c.e.cast(y, typ, c.typ())}
	},
	"CosineSimilarity": func(c *exportCall) []string { // arguments that were broadcast to each other
		typ := wideType(c.typ())
		x, w, least := c.as(0, typ), c.as(1, typ), c.e.scalar(typ, arg[float64](c, 3))
		axes := []int{c.axis(2, c.rank(0))}
		if c.rank(0) == 0 {
			axes = nil
		}
		sum := func(a, b string) string { return c.e.reduce("ReduceSum", c.e.op("Mul", []string{a, b}), axes, false) }
		size := func(a string) string {
			return c.e.op("Sqrt", []string{c.e.op("Max", []string{sum(a, a), least})})
		}
		y := c.e.op("Div", []string{sum(x, w), c.e.op("Mul", []string{size(x), size(w)})})
		return []string{c.e.cast(y, typ, c.typ())}
	},
}

// labelled writes a loss of scores [N, C, …], or [C], with labels.
func (c *exportCall) labelled(op string) string {
	o, typ := c.runs[0].Args[2].(autograd.LabelOptions), wideType(c.typ())
	x, labels := c.as(0, typ), c.e.index(c.value(1))
	scalar := c.rank(0) == 1
	if scalar {
		x, labels = c.e.unsqueeze(x, 0), c.e.unsqueeze(labels, 0)
	}
	in := []string{x, labels}
	if o.Weights != nil {
		v := make(value, len(c.runs))
		for r, run := range c.runs {
			v[r] = run.Args[2].(autograd.LabelOptions).Weights
		}
		in = append(in, c.e.as(v, typ))
	}
	reduction := map[autograd.Reduction]string{autograd.MeanLoss: "mean", autograd.SumLoss: "sum",
		autograd.EveryLoss: "none"}[o.Reduction]
	a := []*onnxpb.Attribute{word("reduction", reduction)}
	if ignore := arg[int32](c, 3); ignore != math.MinInt32 {
		a = append(a, integer("ignore_index", int(ignore)))
	}
	y := ""
	if o.Smoothing != 0 {
		y = c.smoothed(op, in, o)
	} else {
		y = c.e.op(op, in, a...)
	}
	if scalar && o.Reduction == autograd.EveryLoss {
		y = c.e.squeeze(y, 0)
	}
	return c.e.cast(y, typ, c.typ())
}

// smoothed writes a loss of which a part goes to all classes alike: in has the scores [N, C, …], the labels and maybe
// the weights of classes.
func (c *exportCall) smoothed(op string, in []string, o autograd.LabelOptions) string {
	typ, classes := wideType(c.typ()), c.shape(0)[min(1, c.rank(0)-1)]
	spatial := max(c.rank(0)-2, 0)
	ignore := int(arg[int32](c, 3))
	losses := c.e.op(op, in, word("reduction", "none"), integer("ignore_index", ignore))
	n := in[0]
	if op == "SoftmaxCrossEntropyLoss" {
		n = c.e.op("LogSoftmax", []string{n}, integer("axis", 1))
	}
	zero := c.e.scalar(typ, 0)
	counts := c.e.op("Not", []string{c.e.op("Equal", []string{in[1], c.e.scalar(c.labelType(), float64(ignore))})})
	weight := c.e.cast(counts, tensor.Bool, typ)
	if len(in) > 2 {
		n = c.e.op("Mul", []string{n, c.e.unsqueeze(in[2], append([]int{0}, sequence(spatial + 2)[2:]...)...)})
		labels := c.e.op("Where", []string{counts, in[1], c.e.scalar(c.labelType(), 0)})
		weight = c.e.op("Where", []string{counts, c.e.op("Gather", []string{in[2], labels}, integer("axis", 0)), zero})
	}
	share := c.e.op("Div", []string{c.e.scalar(typ, -o.Smoothing), c.e.numberOf(classes, typ, c.value(0))})
	all := c.e.op("Mul", []string{c.e.reduce("ReduceSum", n, []int{1}, false), share})
	losses = c.e.op("Mul", []string{losses, c.e.scalar(typ, 1-o.Smoothing)})
	losses = c.e.op("Add", []string{losses, c.e.op("Where", []string{counts, all, zero})})
	axes := sequence(spatial + 1)
	switch o.Reduction {
	case autograd.EveryLoss:
		return losses
	case autograd.SumLoss:
		return c.e.reduce("ReduceSum", losses, axes, false)
	}
	return c.e.op("Div", []string{c.e.reduce("ReduceSum", losses, axes, false),
		c.e.reduce("ReduceSum", weight, axes, false)})
}

// labelType returns the type of labels, argument 1, in the file.
func (c *exportCall) labelType() tensor.Type {
	if typ := typeIn(c.value(1)); typ == tensor.Int32 {
		return typ
	}
	return tensor.Int64
}
