package ops

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// The losses of an element, of a score and a target.
var (
	score, target = expr.Input(0), expr.Input(1)
	difference    = score.Sub(target)
	beyond        = expr.Param(0)
	halfSquare    = expr.Const(0.5).Mul(difference.Square())

	// AbsoluteError is |x − t|.
	AbsoluteError = &kernels.Function{Name: "absolute_error", Value: difference.Abs()}
	// SquaredDifference is (x − t)².
	SquaredDifference = &kernels.Function{Name: "squared_error", Value: difference.Square()}
	// Huber is ½·(x − t)² where |x − t| is below its scalar, and a line beyond. Its derivative is x
	// − t, limited.
	Huber = &kernels.Function{Name: "huber", Scalars: []float64{0.7},
		Value:     expr.Where(difference.Abs().Lt(beyond), halfSquare, beyond.Mul(difference.Abs().Sub(expr.Const(0.5).Mul(beyond)))),
		Gradients: []*expr.Expr{nearby(score, target).Mul(expr.Input(3)), nearby(target, score).Mul(expr.Input(3))}}
	// SmoothL1 is Huber divided by its scalar.
	SmoothL1 = &kernels.Function{Name: "smooth_l1", Scalars: []float64{0.7},
		Value: expr.Where(difference.Abs().Lt(beyond), halfSquare.Div(beyond), difference.Abs().Sub(expr.Const(0.5).Mul(beyond))),
		Gradients: []*expr.Expr{nearby(score, target).Div(beyond).Mul(expr.Input(3)),
			nearby(target, score).Div(beyond).Mul(expr.Input(3))}}
	// BinaryCrossEntropy is log(1 + e^−|x|), plus |x| times what t lacks of the side that x is on:
	// nothing cancels, and an infinite x on the wrong side has an infinite loss. The gradient by x
	// is a sigmoid less t, also where x is 0.
	BinaryCrossEntropy = &kernels.Function{Name: "binary_cross_entropy", Domains: [][2]float64{{-4, 4}, {0, 1}},
		Value:     score.Abs().Mul(expr.Where(score.Ge(expr.Const(0)), expr.Const(1).Sub(target), target)).Add(softNear),
		Gradients: []*expr.Expr{expr.Input(3).Mul(score.Sigmoid().Sub(target)), expr.Input(3).Mul(score.Neg())}}
	// WeightedBinaryCrossEntropy is that with a weight p of the positive targets: p·t in place of
	// t, beside which 1 − t stays.
	WeightedBinaryCrossEntropy = &kernels.Function{Name: "weighted_binary_cross_entropy", Domains: [][2]float64{{-4, 4}, {0, 1}, {0.5, 2}},
		Value: score.Abs().Mul(expr.Where(score.Ge(expr.Const(0)), expr.Const(1).Sub(target), expr.Input(2).Mul(target))).Add(ofPositive.Mul(softNear)),
		Gradients: []*expr.Expr{expr.Input(4).Mul(expr.Const(1).Sub(target).Sub(ofPositive.Mul(score.Neg().Sigmoid()))),
			expr.Input(4).Mul(expr.Input(2).Sub(expr.Const(1)).Mul(softMinus).Sub(score)), expr.Input(4).Mul(target.Mul(softMinus))}}

	ofPositive = expr.Const(1).Add(expr.Input(2).Sub(expr.Const(1)).Mul(target))
	softNear   = score.Abs().Neg().Exp().Log1p()
	softMinus  = score.Neg().Softplus()

	// Divergence is t·(log t − x), 0 where t is; NaN stays.
	Divergence = &kernels.Function{Name: "divergence", Domains: [][2]float64{{-2, 2}, {0.1, 2}},
		Value:     expr.Where(target.Eq(expr.Const(0)).And(score.Eq(score)), expr.Const(0), target.Mul(target.Log().Sub(score))),
		Gradients: []*expr.Expr{target.Mul(expr.Input(3)).Neg()}}
	// LogDivergence is that of a target that is a logarithm, e^t·(t − x).
	LogDivergence = &kernels.Function{Name: "log_divergence", Value: target.Exp().Mul(target.Sub(score))}
)

// nearby is a − b limited to what is within the scalar of 0.
func nearby(a, b *expr.Expr) *expr.Expr {
	d, low := a.Sub(b), beyond.Neg()
	least := expr.Where(d.Lt(low), low, d)
	return expr.Where(least.Gt(beyond), beyond, least)
}

// HingeEmbedding is the score where the target is not −1, and max(0, margin − score) where it is
// not 1.
var HingeEmbedding = &kernels.Function{Name: "hinge_embedding", Scalars: []float64{1},
	Value: expr.Where(target.Eq(expr.Const(-1)), expr.Const(0), score).Add(expr.Where(target.Eq(expr.Const(1)), expr.Const(0), expr.Param(0).Sub(score).Max(expr.Const(0))))}
