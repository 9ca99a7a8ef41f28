//go:build linux

package main

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// bytes are operations on integers of 8 bits, and by weights of them. PyTorch has no convolution of integers: it
// converts them to floats and back.
func bytes() []row {
	const kind = "quantized"
	side := func(n int) int { return square(min(n, 1e6))[0] }
	by := func(rows int) func(n int) []operand {
		return func(n int) []operand {
			return []operand{constant(rows, side(n)), {kind, -1, 1, []int{side(n), side(n)}, false}}
		}
	}
	product := func(in []*node) *node {
		return autograd.Const(tensor.MatMulQuantized(in[0].Value(), quantized[in[1]]))
	}
	convolution := func(maps int) func(n int) []operand {
		return func(n int) []operand {
			x := images(n)
			w := []int{maps, x[1], 3, 3}
			if maps == 0 {
				w = []int{x[1], 1, 3, 3}
			}
			return []operand{{Kind: "uint8", Shape: x}, {Kind: "int8", Shape: w}}
		}
	}
	convolve := func(in []*node) *node {
		x, w := in[0].Value(), in[1].Value()
		var o tensor.ConvIntegerOptions
		o.Padding, o.Groups = []int{1}, x.Shape()[1]/w.Shape()[1]
		return autograd.Const(tensor.ConvInteger(x, w, o))
	}
	return []row{
		{"tensor.MatMulInteger", "", func(n int) []operand {
			matrix := operand{Kind: "int8", Shape: []int{side(n), side(n)}}
			return []operand{matrix, matrix}
		}, func(in []*node) *node {
			return autograd.Const(tensor.MatMulInteger(in[0].Value(), in[1].Value()))
		}, "torch._int_mm(a, b)"},
		{"tensor.MatMulQuantized", "1 row", by(1), product, "a @ b"},
		{"tensor.MatMulQuantized", "64 rows", by(64), product, "a @ b"},
		{"tensor.ConvInteger", "3x3", convolution(32), convolve, "F.conv2d(a.float(), b.float(), padding=1).int()"},
		{"tensor.ConvInteger", "depthwise 3x3", convolution(0), convolve,
			"F.conv2d(a.float(), b.float(), padding=1, groups=a.shape[1]).int()"},
	}
}
