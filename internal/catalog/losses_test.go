package catalog

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// losses are what is trained for.
var losses = family{"losses", []operation{
	{"autograd.CrossEntropy", labelledCases(autograd.CrossEntropy)},
	{"autograd.NLL", cases{
		"odd":     labelledBy(autograd.NLL, autograd.LabelOptions{}),
		"pixels":  labelledBy(autograd.NLL, autograd.LabelOptions{Ignore: new(1), Reduction: autograd.SumLoss}),
		"special": labelledBy(autograd.NLL, autograd.LabelOptions{Reduction: autograd.EveryLoss}),
	}},
	{"autograd.BCEWithLogits", cases{
		"odd": one(func(in []*node) *node { return autograd.BCEWithLogits(in[0], in[1]) }),
		"weights": one(func(in []*node) *node {
			return autograd.BCEWithLogits(in[0], in[1], autograd.BinaryOptions{Weights: in[2], Positive: in[3], Reduction: autograd.SumLoss})
		}),
		"special": one(func(in []*node) *node {
			return autograd.BCEWithLogits(in[0], in[1], autograd.BinaryOptions{Reduction: autograd.EveryLoss})
		}),
	}},
	{"autograd.MSE", reducedCases(autograd.MSE)},
	{"autograd.L1", reducedCases(autograd.L1)},
	{"autograd.Huber", reducedCases(func(x, t *node, o ...autograd.LossOptions) *node { return autograd.Huber(x, t, 0.75, o...) })},
	{"autograd.SmoothL1", reducedCases(func(x, t *node, o ...autograd.LossOptions) *node { return autograd.SmoothL1(x, t, 0.75, o...) })},
	{"autograd.KLDivergence", cases{
		"odd": one(func(in []*node) *node { return autograd.KLDivergence(in[0], in[1]) }),
		"logarithms": one(func(in []*node) *node {
			return autograd.KLDivergence(in[0], in[1], autograd.DivergenceOptions{Logarithm: true, Reduction: autograd.SumLoss})
		}),
		"special": one(func(in []*node) *node {
			return autograd.KLDivergence(in[0], in[1], autograd.DivergenceOptions{Reduction: autograd.EveryLoss})
		}),
	}},
	{"autograd.CosineSimilarity", cases{
		"odd":     binary(func(x, w *node) *node { return autograd.CosineSimilarity(x, w, 1, 1e-8) }),
		"repeat":  binary(func(x, w *node) *node { return autograd.CosineSimilarity(x, w, -1, 1e-8) }),
		"special": binary(func(x, w *node) *node { return autograd.CosineSimilarity(x, w, 1, 1e-3) }),
	}},
	{"autograd.HingeEmbedding", reducedCases(func(x, t *node, o ...autograd.LossOptions) *node {
		return autograd.HingeEmbedding(x, t, 1.5, o...)
	})},
	{"autograd.TripletMargin", cases{
		"odd": one(func(in []*node) *node { return autograd.TripletMargin(in[0], in[1], in[2]) }),
		"rows": one(func(in []*node) *node {
			return autograd.TripletMargin(in[0], in[1], in[2], autograd.MarginOptions{Margin: 2, Reduction: autograd.EveryLoss})
		}),
		"special": one(func(in []*node) *node {
			return autograd.TripletMargin(in[0], in[1], in[2], autograd.MarginOptions{Reduction: autograd.EveryLoss})
		}),
	}},
	{"autograd.BCE", cases{
		"odd": binary(func(x, t *node) *node { return autograd.BCE(x, t) }),
		"weights": one(func(in []*node) *node {
			return autograd.BCE(in[0], in[1], autograd.BinaryOptions{Weights: in[2], Reduction: autograd.SumLoss})
		}),
		"ends": binary(func(x, t *node) *node {
			return autograd.BCE(x, t, autograd.BinaryOptions{Reduction: autograd.EveryLoss})
		}),
	}},
	{"autograd.CrossEntropyOf", cases{
		"odd": binary(func(x, t *node) *node { return autograd.CrossEntropyOf(x, t) }),
		"weights": one(func(in []*node) *node {
			return autograd.CrossEntropyOf(in[0], in[1], autograd.LabelOptions{Weights: in[2].Value(), Smoothing: 0.2})
		}),
		"one": binary(func(x, t *node) *node {
			return autograd.CrossEntropyOf(x, t, autograd.LabelOptions{Reduction: autograd.SumLoss})
		}),
		"each": binary(func(x, t *node) *node {
			return autograd.CrossEntropyOf(x, t, autograd.LabelOptions{Reduction: autograd.EveryLoss})
		}),
	}},
	{"autograd.MultiMargin", cases{
		"odd": one(func(in []*node) *node { return autograd.MultiMargin(in[0], in[1].Value()) }),
		"squared": one(func(in []*node) *node {
			return autograd.MultiMargin(in[0], in[1].Value(),
				autograd.MultiMarginOptions{Squared: true, Margin: 0.7, Weights: in[2].Value(), Reduction: autograd.SumLoss})
		}),
		"special": one(func(in []*node) *node {
			return autograd.MultiMargin(in[0], in[1].Value(), autograd.MultiMarginOptions{Reduction: autograd.EveryLoss})
		}),
	}},
	{"autograd.CosineEmbedding", cases{
		"odd": one(func(in []*node) *node { return autograd.CosineEmbedding(in[0], in[1], in[2], 0.1) }),
		"one": one(func(in []*node) *node {
			return autograd.CosineEmbedding(in[0], in[1], in[2], 0, autograd.LossOptions{Reduction: autograd.SumLoss})
		}),
		"zeros": one(func(in []*node) *node {
			return autograd.CosineEmbedding(in[0], in[1], in[2], 0, autograd.LossOptions{Reduction: autograd.EveryLoss})
		}),
	}},
	{"autograd.GaussianNLL", cases{
		"odd": one(func(in []*node) *node { return autograd.GaussianNLL(in[0], in[1], in[2]) }),
		"full": one(func(in []*node) *node {
			return autograd.GaussianNLL(in[0], in[1], in[2], autograd.GaussianOptions{Full: true, Eps: 0.5, Reduction: autograd.SumLoss})
		}),
	}},
	{"autograd.CTC", cases{
		"odd":      ctc([]int{7, 5, 6}, []int{3, 2, 1}, autograd.CTCOptions{}),
		"sum":      ctc([]int{6, 6}, []int{4, 2}, autograd.CTCOptions{Blank: 3, Reduction: autograd.SumLoss}),
		"empty":    ctc([]int{4, 3}, []int{0, 1}, autograd.CTCOptions{Reduction: autograd.EveryLoss}),
		"long":     ctc([]int{3, 3}, []int{3, 2}, autograd.CTCOptions{Reduction: autograd.EveryLoss, ZeroInfinity: true}),
		"infinite": ctc([]int{3, 3}, []int{3, 2}, autograd.CTCOptions{Reduction: autograd.EveryLoss}),
	}},
}}

func labelledBy(loss func(*node, *tensor.Tensor, ...autograd.LabelOptions) *node, how autograd.LabelOptions) func(in []*node) []*node {
	return func(in []*node) []*node {
		how := how
		if len(in) > 2 {
			how.Weights = in[2].Value()
		}
		return []*node{loss(in[0], in[1].Value(), how)}
	}
}

func labelledCases(loss func(*node, *tensor.Tensor, ...autograd.LabelOptions) *node) cases {
	type how = autograd.LabelOptions
	return cases{
		"odd":      labelledBy(loss, how{}),
		"weights":  labelledBy(loss, how{Smoothing: 0.1, Ignore: new(2)}),
		"sum":      labelledBy(loss, how{Smoothing: 0.3, Reduction: autograd.SumLoss}),
		"pixels":   labelledBy(loss, how{Smoothing: 0.2}),
		"each":     labelledBy(loss, how{Ignore: new(-1), Reduction: autograd.EveryLoss}),
		"one":      labelledBy(loss, how{}),
		"none":     labelledBy(loss, how{Reduction: autograd.SumLoss}),
		"ignored":  labelledBy(loss, how{}),
		"special":  labelledBy(loss, how{Reduction: autograd.EveryLoss}),
		"smoothed": labelledBy(loss, how{Smoothing: 1}),
	}
}

// reducedCases are those of a loss of elements and targets.
func reducedCases(loss func(x, t *node, options ...autograd.LossOptions) *node) cases {
	by := func(r autograd.Reduction) func(in []*node) []*node {
		return binary(func(x, t *node) *node { return loss(x, t, autograd.LossOptions{Reduction: r}) })
	}
	return cases{"odd": binary(func(x, t *node) *node { return loss(x, t) }), "sum": by(autograd.SumLoss), "none": by(autograd.SumLoss), "special": by(autograd.EveryLoss)}
}

func ctc(inputs, lengths []int, o autograd.CTCOptions) func(in []*node) []*node {
	return one(func(in []*node) *node {
		x := in[0]
		if !x.Type().Storage() { // which CTC refuses by its own name
			x = x.LogSoftmax(2)
		}
		return autograd.CTC(x, in[1].Value(), inputs, lengths, o)
	})
}
