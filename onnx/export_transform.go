package onnx

import (
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// exportTransforms are the Fourier transform that all of package fft are made of, and the determinant.
var exportTransforms = map[string]func(c *exportCall) []string{
	"Det": func(c *exportCall) []string { return []string{c.e.op("Det", []string{c.in(0)})} },
	// Of complex numbers [..., 2], an axis, the sign of the exponent, and a factor.
	"FourierTransform": func(c *exportCall) []string {
		typ, rank := c.typ(), c.rank(0)
		x, axis, sign := c.in(0), arg[int](c, 1), arg[int](c, 2)
		factor := c.factor(axis, sign)
		if rank == 2 { // the operator has a batch
			x, axis = c.e.unsqueeze(x, 0), axis+1
		}
		in := []string{x, ""}
		var a []*onnxpb.Attribute
		if c.e.options.Opset < 20 {
			in, a = in[:1], append(a, integer("axis", axis))
		} else {
			in = append(in, c.e.scalar(tensor.Int64, float64(axis)))
		}
		if sign > 0 {
			a = append(a, integer("inverse", 1))
		}
		y := c.e.op("DFT", in, a...)
		if rank == 2 {
			y = c.e.squeeze(y, 0)
		}
		if factor != 1 {
			y = c.e.op("Mul", []string{y, c.e.scalar(typ, factor)})
		}
		return []string{y}
	},
}

// factor returns what the result of DFT is multiplied by, whose inverse divides by the size of the axis.
func (c *exportCall) factor(axis, sign int) float64 {
	of := func(run int) float64 {
		by := c.runs[run].Args[3].(float64)
		if sign > 0 {
			by *= float64(tensorIn(c.runs[run].Args[0]).Shape()[axis])
		}
		return by
	}
	by := of(0)
	for run := range c.runs {
		if of(run) != by {
			fail("the factor of the transform follows from the size of an input")
		}
	}
	return by
}
