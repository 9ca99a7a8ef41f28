package ops

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// The element-wise functions of norms by channels.
var (
	// BatchNorms is (x − mean)·rstd, times w and plus b: by whether there are weights, and whether
	// there are biases.
	BatchNorms = [2][2]*kernels.Function{
		{{Name: "batch_norm", Value: centredTimes}, {Name: "batch_norm_biased", Value: centredTimes.Add(u)}},
		{{Name: "batch_norm_weighted", Value: centredTimes.Mul(u)}, {Name: "batch_norm_affine", Value: centredTimes.Mul(u).Add(fifth)}},
	}
	// InverseDeviation is 1/√(variance + eps).
	InverseDeviation = &kernels.Function{Name: "inverse_deviation", Value: one.Div(x.Add(a).Sqrt()), Domains: [][2]float64{{0.1, 3}}, Scalars: []float64{1e-5}}
	// Moved is a running statistic x after one w of a batch: (1 − momentum)·x + momentum·w.
	Moved = &kernels.Function{Name: "moved", Value: one.Sub(a).Mul(x).Add(a.Mul(w)), Scalars: []float64{0.1}}
	// NormGradInput is the gradient by x, of x, g, mean, v, p and q: g·v − p − (x − mean)·q, with v
	// = w·rstd. p and q are NormParts.
	NormGradInput = &kernels.Function{Name: "norm_dx", Value: w.Mul(u).Sub(fifth).Sub(x.Sub(v).Mul(expr.Input(5)))}
	// NormParts are the means of v·g and of v·g·(x − mean)·rstd², of a sum over a channel, v and rstd;
	// the parameter is 1/n.
	NormParts = [2]*kernels.Function{
		{Name: "norm_part", Value: a.Mul(x).Mul(w), Scalars: []float64{0.1}},
		{Name: "norm_part_h", Value: a.Mul(x).Mul(w).Mul(v), Scalars: []float64{0.1}},
	}
	// BatchNormEvalGrad is g·rstd·w.
	BatchNormEvalGrad = &kernels.Function{Name: "batch_norm_eval_dx", Value: x.Mul(w).Mul(v)}

	centredTimes = x.Sub(w).Mul(v)
	fifth        = expr.Input(4)
)
