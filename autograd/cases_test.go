package autograd_test

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

type node = autograd.Node

// gradCase is one gradient check: f of parameters with the given shapes, whose elements are drawn
// from [low, high).
type gradCase struct {
	op        string // as NewOp names it; "" of one that is made of others
	shapes    [][]int
	low, high float64
	f         func(in []*node) *node
}

// seed is that of what is drawn for a case: it does not depend on what other cases there are.
func (c gradCase) seed() uint64 {
	h := fnv.New64a()
	fmt.Fprint(h, c.op, c.shapes, c.low, c.high)
	return h.Sum64()
}

func unaryCase(op string, low, high float64, f func(x *node) *node) gradCase {
	return gradCase{op, [][]int{{3, 5}}, low, high, func(in []*node) *node { return f(in[0]) }}
}

func binaryCase(op string, a, b []int, f func(x, y *node) *node) gradCase {
	return gradCase{op, [][]int{a, b}, 0.5, 2, func(in []*node) *node { return f(in[0], in[1]) }}
}

// gradCases holds every differentiable operation. TestEveryOpHasCase fails for one that is missing.
func gradCases(d tensor.Device) []gradCase {
	cases := []gradCase{
		unaryCase("neg", -2, 2, (*node).Neg),
		unaryCase("abs", 0.1, 2, (*node).Abs),
		unaryCase("abs", -2, -0.1, (*node).Abs),
		unaryCase("sign", 0.1, 2, (*node).Sign),
		unaryCase("sqrt", 0.1, 2, (*node).Sqrt),
		unaryCase("exp", -2, 2, (*node).Exp),
		unaryCase("log", 0.1, 2, (*node).Log),
		unaryCase("square", -2, 2, (*node).Square),
		unaryCase("relu", 0.1, 2, (*node).ReLU),
		unaryCase("relu", -2, -0.1, (*node).ReLU),
		unaryCase("leaky_relu", 0.1, 2, func(x *node) *node { return x.LeakyReLU(0.1) }),
		unaryCase("leaky_relu", -2, -0.1, func(x *node) *node { return x.LeakyReLU(0.1) }),
		unaryCase("sine", -2, 2, func(x *node) *node { return x.Sine(3) }),
		unaryCase("tanh", -2, 2, (*node).Tanh),
		unaryCase("sigmoid", -4, 4, (*node).Sigmoid),
		unaryCase("softplus", -4, 4, (*node).Softplus),
		unaryCase("pow", 0.2, 2, func(x *node) *node { return x.Pow(2.5) }),
		unaryCase("pow", -2, -0.2, func(x *node) *node { return x.Pow(3) }),
		unaryCase("clamp", -0.9, 0.9, func(x *node) *node { return x.Clamp(-1, 1) }),
		unaryCase("clamp", 1.1, 2, func(x *node) *node { return x.Clamp(-1, 1) }),
		unaryCase("add_scalar", -2, 2, func(x *node) *node { return x.AddScalar(3) }),
		unaryCase("sub_scalar", -2, 2, func(x *node) *node { return x.SubScalar(3) }),
		unaryCase("mul_scalar", -2, 2, func(x *node) *node { return x.MulScalar(3) }),
		unaryCase("div_scalar", -2, 2, func(x *node) *node { return x.DivScalar(3) }),
		unaryCase("max_scalar", 0.6, 2, func(x *node) *node { return x.MaxScalar(0.5) }),
		unaryCase("max_scalar", -2, 0.4, func(x *node) *node { return x.MaxScalar(0.5) }),
		unaryCase("min_scalar", 0.6, 2, func(x *node) *node { return x.MinScalar(0.5) }),
		unaryCase("min_scalar", -2, 0.4, func(x *node) *node { return x.MinScalar(0.5) }),
		unaryCase("rsub_scalar", -2, 2, func(x *node) *node { return x.RSubScalar(3) }),
		unaryCase("rdiv_scalar", 0.5, 2, func(x *node) *node { return x.RDivScalar(3) }),

		unaryCase("MatMulQuantized", -2, 2, func(x *node) *node {
			return autograd.MatMulQuantized(x, quantizedOf(d, 5, 4))
		}),

		unaryCase("Sum", -2, 2, func(x *node) *node { return x.Sum() }),
		unaryCase("Sum", -2, 2, func(x *node) *node { return x.Sum(0) }),
		unaryCase("Sum", -2, 2, func(x *node) *node { return x.Sum(-1) }),
		unaryCase("Mean", -2, 2, func(x *node) *node { return x.Mean() }),
		unaryCase("Mean", -2, 2, func(x *node) *node { return x.Mean(1) }),
		{"Sum", [][]int{{2, 3, 4, 2}}, -2, 2, func(in []*node) *node { return in[0].Sum(0, 2) }},
		unaryCase("Max", -2, 2, func(x *node) *node { return x.Max() }),
		unaryCase("Max", -2, 2, func(x *node) *node { return x.Max(0) }),
		unaryCase("Max", -2, 2, func(x *node) *node { return x.Max(-1) }),
		{"Max", [][]int{{2, 3, 4}}, -2, 2, func(in []*node) *node { return in[0].Max(0, 2) }},
		unaryCase("Min", -2, 2, func(x *node) *node { return x.Min() }),
		unaryCase("Min", -2, 2, func(x *node) *node { return x.Min(-2) }),
		{"Min", [][]int{{2, 3, 4}}, -2, 2, func(in []*node) *node { return in[0].Min(0, -1) }},

		{"Sum", [][]int{{2, 3, 4}}, -2, 2, func(in []*node) *node { return in[0].Sum(-1, tensor.Keepdims, 0) }},
		{"Mean", [][]int{{2, 3, 4}}, -2, 2, func(in []*node) *node { return in[0].Mean(tensor.Keepdims, -2) }},
		{"Max", [][]int{{2, 3, 4}}, -2, 2, func(in []*node) *node { return in[0].Max(-1, 0, tensor.Keepdims) }},
		{"Min", [][]int{{2, 3, 4}}, -2, 2, func(in []*node) *node { return in[0].Min(tensor.Keepdims) }},
		{"Sum", [][]int{{}}, -2, 2, func(in []*node) *node { return in[0].Sum(tensor.Keepdims) }},
		{"sub", [][]int{{3, 5}}, -2, 2, func(in []*node) *node { return in[0].Sub(in[0].Mean(-1, tensor.Keepdims)) }},
		{"div", [][]int{{3, 5}}, -2, 2, func(in []*node) *node { // softmax along rows
			e := in[0].Sub(in[0].Max(-1, tensor.Keepdims)).Exp()
			return e.Div(e.Sum(-1, tensor.Keepdims))
		}},
		{"div", [][]int{{2, 3, 4}}, -2, 2, func(in []*node) *node { // every channel less its mean, over its deviation
			centred := in[0].Sub(in[0].Mean(0, -1, tensor.Keepdims))
			return centred.Div(centred.Square().Mean(-1, 0, tensor.Keepdims).AddScalar(1e-2).Sqrt())
		}},
		{"Min", [][]int{{4, 3}}, -2, 2, func(in []*node) *node { return in[0].T().Slice(0, 1, 3).Min(0) }},

		unaryCase("To", -2, 2, func(x *node) *node { return x.To(d.DefaultType()) }),
		unaryCase("Reshape", -2, 2, func(x *node) *node { return x.Reshape(5, -1) }),
		unaryCase("Transpose", -2, 2, func(x *node) *node { return x.T() }),
		{"Transpose", [][]int{{2, 3, 4}}, -2, 2, func(in []*node) *node { return in[0].Transpose(2, 0, -2) }},
		unaryCase("Slice", -2, 2, func(x *node) *node { return x.Slice(1, 1, 4) }),
		{"Slice", [][]int{{2, 3, 4}}, -2, 2, func(in []*node) *node { return in[0].Slice(-2, 1, 3) }},
		unaryCase("Slice", -2, 2, func(x *node) *node { return x.Slice(-1, -3, tensor.End) }),
		{"Slice", [][]int{{2, 3, 4}}, -2, 2, func(in []*node) *node { return in[0].Transpose(2, 1, 0).Slice(1, 2, 2) }},
		unaryCase("Step", -2, 2, func(x *node) *node { return x.Step(1, 2) }),
		unaryCase("Step", -2, 2, func(x *node) *node { return x.Step(-2, 7) }),
		{"Step", [][]int{{2, 3, 4}}, -2, 2, func(in []*node) *node { return in[0].Transpose(1, 2, 0).Step(1, 3) }},
		{"Step", [][]int{{2, 0, 4}}, -2, 2, func(in []*node) *node { return in[0].Step(-1, 2) }},
		unaryCase("Select", -2, 2, func(x *node) *node { return x.Select(0, -1) }),
		unaryCase("Select", -2, 2, func(x *node) *node { return x.T().Select(0, 2) }),
		{"Select", [][]int{{4}}, -2, 2, func(in []*node) *node { return in[0].Select(0, 1) }},
		{"mul", [][]int{{4, 6}}, -2, 2, func(in []*node) *node { // both views of one value, and the value itself
			x := in[0].Tanh()
			return x.Step(1, 2).Mul(x.Slice(1, -3, tensor.End)).Mul(x.Select(1, 0).Reshape(4, 1)).Mul(x.Step(1, 2).Mean(1, tensor.Keepdims))
		}},
		unaryCase("Expand", -2, 2, func(x *node) *node { return x.Expand(2, 3, 5) }),
		unaryCase("Copy", -2, 2, func(x *node) *node { return x.T().Copy() }),
		unaryCase("SumTo", -2, 2, func(x *node) *node { return x.SumTo(1, 5) }),
		unaryCase("SumTo", -2, 2, func(x *node) *node { return x.SumTo(5) }),
		unaryCase("SumTo", -2, 2, func(x *node) *node { return x.SumTo() }),
		{"SumTo", [][]int{{2, 3, 4}}, -2, 2, func(in []*node) *node { return in[0].Transpose(2, 0, 1).SumTo(2, 1) }},
		unaryCase("GatherRows", -2, 2, func(x *node) *node { return x.GatherRows(devtest.New(d, []int32{2, 0, 2, 2})) }),

		// Gradients that are operations themselves, of the gradient from above.
		{"ScatterAddRows", [][]int{{4, 5}}, -2, 2, func(in []*node) *node {
			return pulled(in[0], []int{3, 5}, func(x *node) *node { return x.GatherRows(devtest.New(d, []int32{2, 0, 2, 2})) })
		}},
		{"Place", [][]int{{3, 2}}, -2, 2, func(in []*node) *node {
			return pulled(in[0], []int{3, 5}, func(x *node) *node { return x.Slice(1, 1, 5).Step(1, 2) })
		}},
		{"Place", [][]int{{2, 4}}, -2, 2, func(in []*node) *node {
			return pulled(in[0], []int{4, 3, 2}, func(x *node) *node { return x.Transpose().Select(1, -1) })
		}},
		{"MaxGrad", [][]int{{3}}, -2, 2, func(in []*node) *node {
			return pulled(in[0], []int{2, 3, 4}, func(x *node) *node { return x.Max(0, -1) }) // of zeros: all attain it
		}},
		{"MaxGrad", [][]int{{2, 1, 4}}, -2, 2, func(in []*node) *node {
			return pulled(in[0], []int{2, 3, 4}, func(x *node) *node {
				return x.Add(autograd.Const(devtest.New(d, []float64{2, 1, 1}, 3, 1))).Min(1, tensor.Keepdims)
			})
		}},

		{"MatMul", [][]int{{3, 4}, {4, 2}}, -2, 2, func(in []*node) *node { return in[0].MatMul(in[1]) }},
		{"MatMul", [][]int{{4, 3}, {2, 4}}, -2, 2, func(in []*node) *node { return in[0].T().MatMul(in[1].T()) }},
		{"MatMul", [][]int{{4, 4}}, -1, 1, func(in []*node) *node { return in[0].MatMul(in[0]) }},
		{"MatMul", [][]int{{2, 3, 4}, {2, 4, 2}}, -2, 2, func(in []*node) *node { return in[0].MatMul(in[1]) }},
		{"MatMul", [][]int{{2, 3, 4}, {4, 2}}, -2, 2, func(in []*node) *node { return in[0].MatMul(in[1]) }},
		{"MatMul", [][]int{{3, 4}, {2, 4, 2}}, -2, 2, func(in []*node) *node { return in[0].MatMul(in[1]) }},
		{"MatMul", [][]int{{2, 1, 3, 4}, {3, 4, 2}}, -2, 2, func(in []*node) *node { return in[0].Tanh().MatMul(in[1]) }},
		{"MatMul", [][]int{{2, 3, 2, 4}, {2, 1, 4, 3}}, -2, 2, func(in []*node) *node { return in[0].MatMul(in[1]) }},
		{"MatMul", [][]int{{2, 1, 2, 4}, {2, 3, 4, 3}}, -2, 2, func(in []*node) *node { return in[0].MatMul(in[1]) }},
		{"MatMul", [][]int{{3, 2, 4}}, -1, 1, func(in []*node) *node { return in[0].MatMul(in[0].Transpose(0, 2, 1)) }},
		{"MatMul", [][]int{{4}, {2, 4, 3}}, -2, 2, func(in []*node) *node { return in[0].MatMul(in[1]) }},
		{"MatMul", [][]int{{2, 3, 4}, {4}}, -2, 2, func(in []*node) *node { return in[0].MatMul(in[1]) }},
		{"MatMul", [][]int{{3, 4}, {4}}, -2, 2, func(in []*node) *node { return in[0].MatMul(in[1]) }},
		{"MatMul", [][]int{{1, 3, 4}, {4, 2}}, -2, 2, func(in []*node) *node { return in[0].MatMul(in[1]) }},
		{"MatMul", [][]int{{2, 3, 3}, {3, 4}, {4, 2}}, -2, 2, func(in []*node) *node { return autograd.Einsum("aii,ij,ja->j", in...) }},
		{"Dot", [][]int{{7}, {7}}, -2, 2, func(in []*node) *node { return in[0].Dot(in[1]) }},
		{"Dot", [][]int{{7}}, -2, 2, func(in []*node) *node { return in[0].Dot(in[0]) }},
		{"Linear", [][]int{{2, 3, 4}, {4, 5}, {5}}, -2, 2, func(in []*node) *node { return in[0].Linear(in[1], in[2], fn.Tanh) }},
		{"Linear", [][]int{{4}, {4, 5}, {5}}, -2, 2, func(in []*node) *node { return in[0].Linear(in[1], in[2], nil) }},
		{"Linear", [][]int{{3, 4}, {4, 5}, {5}}, -2, 2, func(in []*node) *node { return in[0].Linear(in[1], in[2], nil) }},
		{"Linear", [][]int{{3, 4}, {4, 5}, {5}}, -2, 2, func(in []*node) *node { return in[0].Linear(in[1], in[2], fn.ReLU) }},
		{"Linear", [][]int{{3, 4}, {4, 5}, {5}}, -2, 2, func(in []*node) *node { return in[0].Linear(in[1], in[2], fn.LeakyReLU, 0.1) }},
		{"Linear", [][]int{{40, 4}, {4, 17}, {17}}, -2, 2, func(in []*node) *node { return in[0].Linear(in[1], in[2], fn.Tanh) }},
		{"Linear", [][]int{{4, 3}, {4, 17}}, -2, 2, func(in []*node) *node { return in[0].T().Linear(in[1], nil, fn.Sigmoid) }},
		{"Linear", [][]int{{3, 4}, {4, 5}}, -2, 2, func(in []*node) *node { return in[0].Linear(in[1], nil, nil) }},
		{"Linear", [][]int{{3, 4}, {4, 5}, {5}}, -2, 2, func(in []*node) *node { return in[0].Linear(in[1], in[2], fn.Softplus) }},
		{"Linear", [][]int{{40, 4}, {4, 17}, {17}}, -2, 2, func(in []*node) *node { return in[0].Linear(in[1], in[2], swish, 9, 0.7) }},
		{"Linear", [][]int{{4, 3}, {17, 4}}, -2, 2, func(in []*node) *node { return in[0].T().Linear(in[1].T(), nil, fn.LeakyReLU, -0.5) }},
		{"Conv", [][]int{{2, 2, 7}, {4, 1, 3}, {4}}, -2, 2, func(in []*node) *node {
			return in[0].Conv(in[1], in[2], tensor.ConvOptions{Stride: []int{2}, Padding: []int{2}, Groups: 2})
		}},
		{"Conv", [][]int{{2, 5, 6}, {3, 2, 3, 2}}, -2, 2, func(in []*node) *node { // one image
			return in[0].Conv(in[1], nil, tensor.ConvOptions{Stride: []int{1, 2}, Padding: []int{1, 0}, PaddingEnd: []int{0, 2}, Dilation: []int{1, 2}})
		}},
		{"Conv", [][]int{{1, 2, 3, 4, 3}, {2, 2, 2, 2, 2}, {2}}, -2, 2, func(in []*node) *node {
			return in[0].Conv(in[1], in[2], tensor.ConvOptions{Stride: []int{2, 1, 1}, Padding: []int{1}})
		}},
		{"ConvQuantized", [][]int{{2, 2, 7}, {4}}, -2, 2, func(in []*node) *node {
			return autograd.ConvQuantized(in[0], quantizedOf(d, 4, 1, 3), in[1],
				tensor.ConvOptions{Stride: []int{2}, Padding: []int{2}, Groups: 2})
		}},
		{"ConvQuantized", [][]int{{2, 5, 6}}, -2, 2, func(in []*node) *node { // one image, without a bias
			return autograd.ConvQuantized(in[0], quantizedOf(d, 3, 2, 3, 2), nil,
				tensor.ConvOptions{Padding: []int{1, 0}, PaddingEnd: []int{0, 2}, Dilation: []int{1, 2}})
		}},
		{"ConvTranspose", [][]int{{2, 2, 3, 4}, {2, 3, 3, 2}, {3}}, -2, 2, func(in []*node) *node {
			return in[0].ConvTranspose(in[1], in[2], tensor.ConvTransposeOptions{Stride: []int{2, 3}, Padding: []int{1, 0}, OutputPadding: []int{1, 2}})
		}},
		{"ConvTranspose", [][]int{{4, 5}, {4, 2, 3}}, -2, 2, func(in []*node) *node {
			return in[0].ConvTranspose(in[1], nil, tensor.ConvTransposeOptions{Stride: []int{2}, Dilation: []int{3}, Groups: 2})
		}},
		{"MaxPool", [][]int{{2, 4, 6}}, -2, 2, func(in []*node) *node {
			return in[0].MaxPool([]int{3, 2}, tensor.MaxPoolOptions{Stride: []int{1, 2}, Padding: []int{1}})
		}},
		{"MaxPoolWithIndex", [][]int{{2, 7}}, -2, 2, func(in []*node) *node {
			y, at := in[0].MaxPoolWithIndex([]int{2}, tensor.MaxPoolOptions{Dilation: []int{3}, Stride: []int{1}})
			at.Free()
			return y
		}},
		{"MaxPoolGrad", [][]int{{2, 3}}, -2, 2, func(in []*node) *node {
			return pulled(in[0], []int{2, 5}, func(x *node) *node { return x.AdaptiveMaxPool([]int{3}) })
		}},
		{"AdaptiveMaxPool", [][]int{{2, 3, 7}}, -2, 2, func(in []*node) *node { return in[0].AdaptiveMaxPool([]int{2, 3}) }},
		{"AdaptiveMaxPoolWithIndex", [][]int{{3, 2}}, -2, 2, func(in []*node) *node {
			y, at := in[0].T().AdaptiveMaxPoolWithIndex([]int{5})
			at.Free()
			return y
		}},
		{"AvgPool", [][]int{{2, 4, 6}}, -2, 2, func(in []*node) *node {
			return in[0].AvgPool([]int{3, 2}, tensor.AvgPoolOptions{Stride: []int{2}, Padding: []int{1}, Ceil: true})
		}},
		{"AvgPool", [][]int{{3, 5}}, -2, 2, func(in []*node) *node {
			return in[0].T().AvgPool([]int{2}, tensor.AvgPoolOptions{Stride: []int{1}, Padding: []int{1}, ExcludePadding: true})
		}},
		{"AvgPoolGrad", [][]int{{2, 3}}, -2, 2, func(in []*node) *node {
			return pulled(in[0], []int{2, 5}, func(x *node) *node { return x.AdaptiveAvgPool([]int{3}) })
		}},
		{"AdaptiveAvgPool", [][]int{{2, 3, 7}}, -2, 2, func(in []*node) *node { return in[0].AdaptiveAvgPool([]int{2, 3}) }},
		{"AdaptiveAvgPool", [][]int{{2, 3, 4}}, -2, 2, func(in []*node) *node { return in[0].AdaptiveAvgPool([]int{1, 1}) }},
		{"Interpolate", [][]int{{2, 5}}, -2, 2, func(in []*node) *node { return in[0].Interpolate([]int{8}) }},
		{"Interpolate", [][]int{{2, 3, 4}}, -2, 2, func(in []*node) *node {
			return in[0].Transpose(1, 0, 2).Interpolate([]int{5, 3}, tensor.InterpolateOptions{Linear: true})
		}},
		{"Interpolate", [][]int{{2, 2, 3}}, -2, 2, func(in []*node) *node {
			return in[0].Interpolate([]int{3, 1, 5}, tensor.InterpolateOptions{Linear: true, AlignCorners: true})
		}},
		{"InterpolateGrad", [][]int{{2, 7}}, -2, 2, func(in []*node) *node {
			return pulled(in[0], []int{2, 3}, func(x *node) *node { return x.Interpolate([]int{7}, tensor.InterpolateOptions{Linear: true}) })
		}},
		{"PadGrad", [][]int{{2, 4, 8}}, -2, 2, func(in []*node) *node {
			return pulled(in[0], []int{2, 3, 4}, func(x *node) *node {
				return x.Pad([][2]int{{0, 1}, {3, 1}}, tensor.PadOptions{Mode: tensor.PadReflect})
			})
		}},
		{"ConvWeight", [][]int{{1, 2, 5, 5}, {1, 3, 3, 3}}, -2, 2, func(in []*node) *node {
			w := autograd.Param(tensor.Zeros(d, 3, 2, 3, 3), "w")
			slope, err := autograd.Grad(in[0].Conv(w, nil), []*node{w}, autograd.GradOptions{Seed: in[1], CreateGraph: true})
			if err != nil {
				panic(err)
			}
			return slope[0]
		}},
		{"SquaredError", [][]int{{7, 5}, {7, 5}}, -2, 2, func(in []*node) *node { return in[0].SquaredError(in[1]).MulScalar(0.3) }},
		unaryCase("Softmax", -2, 2, func(x *node) *node { return x.Softmax(-1) }),
		unaryCase("Softmax", -2, 2, func(x *node) *node { return x.Softmax(0) }),
		{"Softmax", [][]int{{2, 3, 4}}, -2, 2, func(in []*node) *node { return in[0].Transpose(2, 0, 1).Softmax(1) }},
		{"Softmax", [][]int{{}}, -2, 2, func(in []*node) *node { return in[0].Softmax(-1) }},
		unaryCase("LogSoftmax", -2, 2, func(x *node) *node { return x.LogSoftmax(-1) }),
		{"LogSoftmax", [][]int{{2, 3, 4}}, -2, 2, func(in []*node) *node { return in[0].LogSoftmax(1) }},
		{"LogSoftmax", [][]int{{2, 0}}, -2, 2, func(in []*node) *node { return in[0].LogSoftmax(1) }},
		unaryCase("Softmin", -2, 2, func(x *node) *node { return x.Softmin(1) }),
		{"LayerNorm", [][]int{{3, 5}, {5}, {5}}, -2, 2, func(in []*node) *node { return in[0].LayerNorm(-1, in[1], in[2], 1e-3) }},
		{"LayerNorm", [][]int{{4, 2, 3}, {2, 3}}, -2, 2, func(in []*node) *node { return in[0].LayerNorm(1, in[1], nil, 1e-2) }},
		{"LayerNorm", [][]int{{4, 3}, {4}}, -2, 2, func(in []*node) *node { return in[0].T().LayerNorm(-1, nil, in[1], 1e-2) }},
		{"LayerNorm", [][]int{{2, 0}, {0}, {0}}, -2, 2, func(in []*node) *node { return in[0].LayerNorm(1, in[1], in[2], 1e-2) }},
		{"RMSNorm", [][]int{{3, 5}, {5}}, -2, 2, func(in []*node) *node { return in[0].RMSNorm(-1, in[1], 1e-3) }},
		{"RMSNorm", [][]int{{2, 2, 3}}, -2, 2, func(in []*node) *node { return in[0].RMSNorm(-2, nil, 1e-2) }},
		{"GroupNorm", [][]int{{2, 4, 3}, {4}, {4}}, -2, 2, func(in []*node) *node { return in[0].GroupNorm(2, in[1], in[2], 1e-2) }},
		{"GroupNorm", [][]int{{3, 4}, {4}}, -2, 2, func(in []*node) *node { return in[0].GroupNorm(1, in[1], nil, 1e-2) }},
		{"GroupNorm", [][]int{{2, 4, 2, 2}}, -2, 2, func(in []*node) *node { return in[0].Transpose(1, 0, 3, 2).GroupNorm(1, nil, nil, 1e-2) }},
		{"GroupNorm", [][]int{{0, 4, 2}, {4}, {4}}, -2, 2, func(in []*node) *node { return in[0].GroupNorm(2, in[1], in[2], 1e-2) }},
		{"InstanceNorm", [][]int{{2, 3, 4}, {3}, {3}}, -2, 2, func(in []*node) *node { return in[0].InstanceNorm(in[1], in[2], 1e-2) }},
		{"BatchNorm", [][]int{{4, 3}, {3}, {3}}, -2, 2, func(in []*node) *node { return in[0].BatchNorm(in[1], in[2], 1e-2) }},
		{"BatchNorm", [][]int{{2, 3, 4}, {3}}, -2, 2, func(in []*node) *node { return in[0].BatchNorm(nil, in[1], 1e-2) }},
		{"BatchNorm", [][]int{{2, 2, 2, 1, 2}}, -2, 2, func(in []*node) *node { return in[0].BatchNorm(nil, nil, 1e-2) }},
		{"BatchNorm", [][]int{{2, 3, 2}, {3}, {3}}, -2, 2, func(in []*node) *node {
			return in[0].BatchNorm(in[1], in[2], 1e-2, tensor.BatchNormOptions{Mean: devtest.New(d, []float64{1, 0, -1}), Var: devtest.New(d, []float64{1, 2, 3}), Eval: true})
		}},
		{"BatchNorm", [][]int{{0, 3}, {3}, {3}}, -2, 2, func(in []*node) *node { return in[0].BatchNorm(in[1], in[2], 1e-2) }},
		unaryCase("Dropout", -2, 2, func(x *node) *node { return x.T().Dropout(0.4, tensor.NewRNG(3), true) }),
		{"ScaledDotProductAttention", [][]int{{3, 2}, {5, 2}, {5, 4}}, -2, 2, func(in []*node) *node { return in[0].ScaledDotProductAttention(in[1], in[2], nil) }},
		{"ScaledDotProductAttention", [][]int{{2, 4, 3}, {4, 3}, {2, 1, 4, 2}}, -2, 2, func(in []*node) *node {
			return in[0].ScaledDotProductAttention(in[1], in[2], nil, tensor.AttentionOptions{Causal: true, Scale: 0.7})
		}},
		{"ScaledDotProductAttention", [][]int{{2, 3, 2}, {2, 4, 2}, {2, 4, 3}, {3, 4}}, -1, 1, func(in []*node) *node {
			return in[0].ScaledDotProductAttention(in[1], in[2], in[3])
		}},
		{"ScaledDotProductAttention", [][]int{{3, 2}, {3, 2}, {3, 2}}, -2, 2, func(in []*node) *node { // the second query attends to nothing
			mask := autograd.Const(devtest.New(d, []uint8{1, 0, 1, 0, 0, 1, 7, 1, 0}, 3, 3).To(tensor.Bool))
			return in[0].ScaledDotProductAttention(in[1], in[2], mask, tensor.AttentionOptions{Causal: true})
		}},
		{"ScaledDotProductAttention", [][]int{{2, 2}, {0, 2}, {0, 3}}, -2, 2, func(in []*node) *node { return in[0].ScaledDotProductAttention(in[1], in[2], nil) }},
	}
	cases = append(cases, arrangeCases(d)...)
	cases = append(cases, indexCases(d)...)
	cases = append(cases, lossCases(d)...)
	for _, b := range []struct {
		op string
		f  func(x, y *node) *node
	}{
		{"add", (*node).Add}, {"sub", (*node).Sub}, {"mul", (*node).Mul}, {"div", (*node).Div},
		{"min", (*node).Minimum}, {"max", (*node).Maximum},
	} {
		for _, s := range [][2][]int{
			{{3, 5}, {3, 5}}, {{3, 5}, {5}}, {{5}, {3, 5}}, {{3, 5}, {}}, {{3, 1}, {1, 5}}, {{2, 3, 4}, {3, 1}}, {{1, 5}, {3, 1}},
		} {
			cases = append(cases, binaryCase(b.op, s[0], s[1], b.f))
		}
		cases = append(cases, unaryCase(b.op, 0.5, 2, func(x *node) *node { return b.f(x, x.MulScalar(1.7)) }))
	}
	cases = append(cases, lineCases()...)
	mask := autograd.Const(devtest.New(d, []uint8{1, 0, 2, 0, 1, 0, 0, 1, 255, 0, 0, 1, 1, 1, 0}, 3, 5).To(tensor.Bool))
	cases = append(cases,
		gradCase{"where", [][]int{{3, 5}, {3, 5}}, -2, 2, func(in []*node) *node { return in[0].Where(mask, in[1]) }},
		gradCase{"where", [][]int{{5}, {2, 1, 1}}, -2, 2, func(in []*node) *node { return in[0].Where(mask, in[1]) }},
		gradCase{"where", [][]int{{3, 5}}, 0.5, 2, func(in []*node) *node { return in[0].Log().Where(in[0].GtScalar(1), in[0].Square()) }},
		gradCase{"masked_fill", [][]int{{5}}, -2, 2, func(in []*node) *node { return in[0].Square().MaskedFill(mask, 3) }},
		gradCase{"GatherRows", [][]int{{3, 1}}, -2, 2, func(in []*node) *node { return in[0].Exp().MaskedSelect(mask) }},
		gradCase{"pow_tensor", [][]int{{3, 5}, {5}}, 0.5, 2, func(in []*node) *node { return in[0].PowTensor(in[1]) }},
	)
	for i, f := range fn.Functions { // those with rows above need values beside their kinks, or views
		if !strings.HasPrefix(d.Name(), "cpu") && i%8 != 0 {
			continue // a driver builds kernels for each: TestKernels of package tensor has all
		}
		if f == fn.Identity || slices.ContainsFunc(cases, func(c gradCase) bool { return c.op == f.Name }) {
			continue
		}
		low, high := -3.0, 3.0
		if len(f.Domains) > 0 {
			low, high = f.Domains[0][0], f.Domains[0][1]
		}
		cases = append(cases, gradCase{f.Name, [][]int{{3, 5}, {3, 1}, {5}}[:f.Operands()], low, high,
			func(in []*node) *node {
				in = slices.Clone(in)
				for i := range in { // drawn from the domain of the first
					if d := f.Domain(i); d != f.Domain(0) {
						in[i] = in[i].SubScalar(low).MulScalar((d[1] - d[0]) / (high - low)).AddScalar(d[0])
					}
				}
				return autograd.Map(f, f.Scalars, in...)
			}})
	}
	return cases
}

// pulled is the gradient of f at zeros of a shape, for the gradient g of its value: linear in g.
func pulled(g *node, shape []int, f func(x *node) *node) *node {
	x := autograd.Param(tensor.Zeros(g.Device(), shape...), "x")
	slope, err := autograd.Grad(f(x), []*node{x}, autograd.GradOptions{Seed: g, CreateGraph: true})
	if err != nil {
		panic(err)
	}
	return slope[0]
}
