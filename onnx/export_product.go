package onnx

import (
	"slices"
	"strings"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// exportProducts are products of matrices.
var exportProducts = map[string]func(c *exportCall) []string{
	"MatMul": exportMatMul, "Dot": exportMatMul,
	"Einsum": func(c *exportCall) []string {
		var in []string
		equation := arg[string](c, 0)
		operands, _, _ := strings.Cut(equation, "->")
		around := -1 // axes that the dots stand for
		for i, v := range listOf[*autograd.Node](c, 1) {
			if term := strings.Split(operands, ",")[i]; strings.Contains(term, "...") {
				n := len(shapeOf(v)) - len(strings.ReplaceAll(strings.ReplaceAll(term, "...", ""), " ", ""))
				if around >= 0 && n != around {
					fail("its dots stand for %d and for %d axes", around, n)
				}
				around = n
			}
			in = append(in, c.e.as(v, c.typ()))
		}
		return []string{c.e.op("Einsum", in, word("equation", equation))}
	},
	"Linear": exportLinear,
	"MatMulQuantized": func(c *exportCall) []string {
		return []string{c.e.op("MatMul", []string{c.in(0), c.dequantized(1)})}
	},
	"ConvQuantized": func(c *exportCall) []string {
		return c.convolution(c.dequantized(1), len(c.quantized(1).Shape()), 2, 3)
	},
	"EmbeddingQuantized": func(c *exportCall) []string { // of the transpose
		w := c.e.op("Transpose", []string{c.dequantized(0)}, ints("perm", 1, 0))
		return []string{c.e.op("Gather", []string{w, c.in(1)}, integer("axis", 0))}
	},
}

func exportMatMul(c *exportCall) []string {
	return []string{c.e.op("MatMul", []string{c.as(0, c.typ()), c.as(1, c.typ())})}
}

// quantized returns argument i.
func (c *exportCall) quantized(i int) *tensor.QuantizedTensor {
	return arg[*tensor.QuantizedTensor](c, i)
}

// dequantized returns the name of the floats that quantized weights in argument i stand for.
func (c *exportCall) dequantized(i int) string {
	q := c.quantized(i)
	name, ok := c.e.names[q]
	if !ok {
		name = c.e.fresh("weight")
		c.e.names[q] = name
		c.e.tensors = append(c.e.tensors, weight{name, q.Dequantize()})
	}
	return name
}

// exportLinear writes f(x·w + b).
func exportLinear(c *exportCall) []string {
	typ := c.typ()
	x, b := c.as(0, typ), c.as(2, typ)
	y := ""
	if c.rank(0) == 2 {
		w, transposed := c.weight(1, typ)
		var a *onnxpb.Attribute
		if transposed {
			a = integer("transB", 1)
		}
		y = c.e.op("Gemm", []string{x, w, b}, a)
	} else if y = c.e.op("MatMul", []string{x, c.as(1, typ)}); b != "" {
		y = c.e.op("Add", []string{y, b})
	}
	f := arg[*kernels.Function](c, 3)
	if f == nil || f == fn.Identity {
		return []string{y}
	}
	return []string{c.e.functionOf(f, c.scalars(4), y, typ)}
}

// functionOf returns the name of f of a name: a value that no node of the program is.
func (e *exporter) functionOf(f *kernels.Function, scalars []float64, name string, typ tensor.Type) string {
	t := tensor.EmptyOf(e.device(), typ)
	e.names[t] = name
	return e.function(f, scalars, []value{slices.Repeat(value{t}, len(e.runs))}, typ)
}

// weight returns the name of argument i, a matrix, or of its transpose if that is what the file has.
func (c *exportCall) weight(i int, typ tensor.Type) (name string, transposed bool) {
	t := tensorIn(c.runs[0].Args[i])
	if p := c.e.params[t]; p != nil && p.transposed && t.Type() == typ {
		c.e.use(p)
		return p.name, true
	}
	return c.as(i, typ), false
}
