//go:build linux

package main

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

type node = autograd.Node

// row is a call of an operation that both sides time.
type row struct {
	op   string // as docs/operations.md names it
	what string // which call of the operation, "" if there is one
	// operands returns the operands for about n elements.
	operands func(n int) []operand
	// f is the call. Gradients are those of its result by the operands that have one.
	f func(in []*node) *node
	// torch is the same call in Python, of operands a, b, c, d, with torch and torch.nn.functional
	// as F.
	torch string
}

// name returns the name of a row in requests and reports.
func (r row) name() string {
	if r.what == "" {
		return r.op
	}
	return r.op + " " + r.what
}

// operand is a tensor that both sides draw at random.
type operand struct {
	// Kind is "real", uniform from Low to High; "int32", from 0 to below High; "index", the same as
	// the index of elements, which PyTorch has in int64; "mask", of zeros and ones; "int8" and "uint8", all there are;
	// or "quantized", real weights that the operation has in 8 bits, and PyTorch as they are.
	Kind  string  `json:"kind"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Shape []int   `json:"shape"`
	Grad  bool    `json:"grad"`
}

// make draws the operand on d.
func (o operand) make(d tensor.Device, rng *tensor.RNG) *node {
	switch o.Kind {
	case "int32", "index":
		return autograd.Const(rng.Ints(d, int(o.High), o.Shape...).Retain())
	case "int8":
		return autograd.Const(rng.Ints(d, 256, o.Shape...).To(tensor.Int8).Retain())
	case "uint8":
		return autograd.Const(rng.Ints(d, 256, o.Shape...).To(tensor.Uint8).Retain())
	case "quantized":
		x := autograd.Const(rng.Uniform(d, o.Low, o.High, o.Shape...).Retain())
		q, err := tensor.Quantize(x.Value(), tensor.QuantizeOptions{})
		if err != nil {
			panic(err)
		}
		quantized[x] = q
		return x
	case "mask":
		return autograd.Const(rng.Uniform(d, -1, 1, o.Shape...).GtScalar(0).Retain())
	}
	x := rng.Uniform(d, o.Low, o.High, o.Shape...).Retain()
	if o.Grad {
		return autograd.Param(x, "x")
	}
	return autograd.Const(x)
}

// quantized are the weights of operands of that kind, until those are freed.
var quantized = map[*node]*tensor.QuantizedTensor{}

// param is a real operand with a gradient.
func param(shape ...int) operand { return between(-1, 1, shape...) }

// between is a real operand with a gradient, of numbers from low to high.
func between(low, high float64, shape ...int) operand {
	return operand{"real", low, high, shape, true}
}

// constant is a real operand without a gradient.
func constant(shape ...int) operand { return operand{"real", -1, 1, shape, false} }

// index is an operand of indices from 0 to below bound.
func index(bound int, shape ...int) operand {
	return operand{"index", 0, float64(bound), shape, false}
}

// integers is an operand of integers from 0 to below bound.
func integers(bound int, shape ...int) operand {
	return operand{"int32", 0, float64(bound), shape, false}
}

// mask is an operand of zeros and ones.
func mask(shape ...int) operand { return operand{"mask", 0, 1, shape, false} }

// square returns the shape of a square matrix.
func square(n int) []int {
	side := max(1, int(math.Sqrt(float64(n))))
	return []int{side, side}
}

// images returns a batch of images of several channels: [batch, channels, height, width].
func images(n int) []int {
	channels, side := 10, 32
	if n >= 1e6 {
		channels, side = 32, 64
	}
	return []int{max(1, n/(channels*side*side)), channels, side, side}
}

// signals returns a batch of signals of several channels: [batch, 16, length].
func signals(n int) []int { return []int{16, 16, max(8, n/256)} }

// heads returns queries of attention: [batch, heads, tokens, 64].
func heads(n int) []int {
	batch, heads, tokens := 1, 2, 80
	if n >= 1e6 {
		heads, tokens = 8, 512
		batch = max(1, n/(heads*tokens*64))
	}
	return []int{batch, heads, tokens, 64}
}

// one makes operands of a row with one operand.
func one(x func(n int) operand) func(n int) []operand {
	return func(n int) []operand { return []operand{x(n)} }
}

// matrix is one square matrix with a gradient.
func matrix(n int) []operand { return []operand{param(square(n)...)} }

// picture is one batch of images with a gradient.
func picture(n int) []operand { return []operand{param(images(n)...)} }

// line is one vector with a gradient.
func line(n int) []operand { return []operand{param(n)} }

// two are two square matrices with gradients.
func two(n int) []operand { return []operand{param(square(n)...), param(square(n)...)} }

// ints are two square matrices of integers.
func ints(n int) []operand {
	return []operand{integers(30, square(n)...), integers(30, square(n)...)}
}

// unary makes f from a method of one node.
func unary(f func(x *node) *node) func(in []*node) *node {
	return func(in []*node) *node { return f(in[0]) }
}

// binary makes f from a method of two nodes.
func binary(f func(x, y *node) *node) func(in []*node) *node {
	return func(in []*node) *node { return f(in[0], in[1]) }
}
