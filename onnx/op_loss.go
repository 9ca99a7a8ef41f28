package onnx

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(
		Operator{Name: "NegativeLogLikelihoodLoss", Since: 12, Attributes: "ignore_index reduction", Shape: lossShape,
			Run: func(c *Call) []*Value {
				x, labels, o := labelled(c)
				return Out(like(autograd.NLL(x, labels, o), x.Type()))
			}},
		Operator{Name: "SoftmaxCrossEntropyLoss", Since: 12, Attributes: "ignore_index reduction", Shape: lossShape,
			Run: func(c *Call) []*Value {
				x, labels, o := labelled(c)
				loss := like(autograd.CrossEntropy(x, labels, o), x.Type())
				if !c.Wants(1) {
					return Out(loss)
				}
				return Out(loss, x.LogSoftmax(1))
			}},
	)
}

// labelled returns scores [batch, classes, …], their labels [batch, …], and what else a loss is of.
func labelled(c *Call) (x *autograd.Node, labels *tensor.Tensor, o autograd.LabelOptions) {
	x, labels = floatsOf(c, 0), c.Tensor(1)
	if x.Rank() < 2 {
		c.fail(tensor.ErrShape, "input 0 is %v, and should be [batch, classes, …]", x.Shape())
	}
	if w := c.NodeOr(2); w != nil {
		o.Weights = w.Value()
	}
	// Without the attribute every label counts, and one that is negative is a mistake.
	ignore := math.MinInt32
	if c.HasAttribute("ignore_index") {
		ignore = c.Int("ignore_index", 0)
	}
	o.Ignore = &ignore
	o.Reduction = map[string]autograd.Reduction{
		"mean": autograd.MeanLoss, "sum": autograd.SumLoss, "none": autograd.EveryLoss,
	}[c.oneOf("reduction", "mean", "sum", "none")]
	return x, labels, o
}

func lossShape(c *ShapeCall) []Known {
	out := scalarOf(c.Type(0))
	if c.String("reduction", "mean") == "none" {
		out.Dims = c.In(1).Dims
	}
	return []Known{out, c.In(0).as(c.Type(0))}
}
