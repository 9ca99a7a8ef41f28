package autograd_test

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// lossCases are the gradient checks of losses.
func lossCases(d tensor.Device) []gradCase {
	labels := func(v []int32, shape ...int) *tensor.Tensor { return devtest.New(d, v, shape...) }
	weights := devtest.New(d, []float64{0.5, 2, 1, 0.25, 1.5})
	pair := func(op string, low, high float64, f func(x, w *node) *node) gradCase {
		return gradCase{op, [][]int{{3, 5}, {3, 5}}, low, high, func(in []*node) *node { return f(in[0], in[1]) }}
	}
	scores := func(x *node) *node { return x.MulScalar(4).AddScalar(-2) } // of 0.1 to 0.9, of both signs
	return []gradCase{
		unaryCase("CrossEntropy", -2, 2, func(x *node) *node { return autograd.CrossEntropy(x, labels([]int32{4, 0, 2}, 3)) }),
		unaryCase("CrossEntropy", -2, 2, func(x *node) *node {
			return autograd.CrossEntropy(x, labels([]int32{4, -100, 2}, 3), autograd.LabelOptions{Weights: weights, Smoothing: 0.3})
		}),
		unaryCase("CrossEntropy", -2, 2, func(x *node) *node {
			return autograd.CrossEntropy(x.T().Reshape(1, 5, 3), labels([]int32{4, 0, 2}, 1, 3), autograd.LabelOptions{Reduction: autograd.EveryLoss, Ignore: new(0)})
		}),
		{"CrossEntropy", [][]int{{5}}, -2, 2, func(in []*node) *node {
			return autograd.CrossEntropy(in[0], labels([]int32{1}, []int{}...), autograd.LabelOptions{Weights: weights, Reduction: autograd.SumLoss})
		}},
		unaryCase("NLL", -2, 2, func(x *node) *node {
			return autograd.NLL(x, labels([]int32{4, 0, 2}, 3), autograd.LabelOptions{Weights: weights, Smoothing: 0.1})
		}),
		{"NLLGrad", [][]int{{}}, -2, 2, func(in []*node) *node {
			x := autograd.Param(tensor.Zeros(d, 3, 5), "x")
			how := autograd.LabelOptions{Weights: weights, Smoothing: 0.1}
			loss := autograd.NLL(x, labels([]int32{4, -100, 2}, 3), how)
			slope, err := autograd.Grad(loss, []*node{x}, autograd.GradOptions{Seed: in[0], CreateGraph: true})
			if err != nil {
				panic(err)
			}
			return slope[0]
		}},
		pair("Mean", 0.1, 0.9, func(x, w *node) *node { return autograd.BCEWithLogits(scores(x), w) }),
		{"Sum", [][]int{{3, 5}, {3, 5}, {5}, {3, 1}}, 0.1, 0.9, func(in []*node) *node {
			options := autograd.BinaryOptions{Positive: in[2], Weights: in[3], Reduction: autograd.SumLoss}
			return autograd.BCEWithLogits(scores(in[0]), in[1], options)
		}},
		pair("Mean", -2, 2, func(x, w *node) *node { return autograd.MSE(x, w) }),
		pair("Mean", 0.1, 0.9, func(x, w *node) *node { return autograd.L1(x.AddScalar(1), w) }),
		pair("Mean", -0.2, 0.2, func(x, w *node) *node { return autograd.Huber(x, w, 0.5) }),
		pair("Mean", 0.1, 0.9, func(x, w *node) *node { return autograd.Huber(x.AddScalar(2), w, 0.5) }),
		pair("Mean", -0.2, 0.2, func(x, w *node) *node { return autograd.SmoothL1(x, w, 0.5) }),
		pair("Mean", 0.1, 2, func(x, w *node) *node { return autograd.KLDivergence(x, w) }),
		pair("Mean", -2, 2, func(x, w *node) *node {
			return autograd.KLDivergence(x, w, autograd.DivergenceOptions{Logarithm: true})
		}),
		pair("CosineSimilarity", 0.1, 2, func(x, w *node) *node { return autograd.CosineSimilarity(x, w, -1, 1e-8) }),
		unaryCase("Mean", 0.1, 0.9, func(x *node) *node {
			sides := autograd.Const(devtest.New(d, []float64{1, -1, 1, -1, -1}).Expand(3, 5))
			return autograd.HingeEmbedding(x, sides, 1.5)
		}),
		{"Mean", [][]int{{3, 5}, {3, 5}, {5}}, 0.1, 0.9, func(in []*node) *node {
			return autograd.TripletMargin(in[0], in[1], in[2].AddScalar(0.3), autograd.MarginOptions{Margin: 3})
		}},
	}
}
