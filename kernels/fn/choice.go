package fn

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// Functions that choose, by limits, masks and weights.
var (
	// NanToNum has the scalars that take the place of NaN, ∞ and −∞.
	NanToNum = &kernels.Function{Name: "nan_to_num", Value: expr.Where(x.Eq(x), expr.Where(finite, x, expr.Where(x.Gt(zero), b, expr.Param(2))), a),
		Domains: wide, Scalars: []float64{0.5, 7, -8}, Gradients: []*expr.Expr{expr.Where(finite, g1, zero)}}
	ClampTensor = &kernels.Function{Name: "clamp_tensor", Value: x.Max(w).Min(v), Integers: true, Domains: [][2]float64{{-3, 3}, {-2, 0}, {0.1, 2}},
		Gradients: []*expr.Expr{expr.Where(x.Ge(w).And(x.Le(v)), g3, zero), expr.Where(w.Lt(v).And(x.Lt(w)), g3, zero),
			expr.Where(x.Gt(v).Or(v.Lt(w)), g3, zero)}}
	// Lerp goes from the end that is nearer, so that it reaches both.
	Lerp = &kernels.Function{Name: "lerp", Value: lerp(a), Scalars: []float64{0.7},
		Gradients: []*expr.Expr{one.Sub(a).Mul(g2), a.Mul(g2)}}
	LerpTensor = &kernels.Function{Name: "lerp_tensor", Value: lerp(v), Domains: [][2]float64{{-3, 3}, {-3, 3}, {-0.4, 0.4}},
		Gradients: []*expr.Expr{one.Sub(v).Mul(g3), v.Mul(g3), w.Sub(x).Mul(g3)}}
	Where = &kernels.Function{Name: "where", Value: expr.Where(v.Ne(zero), x, w), Integers: true, Masks: 1,
		Gradients: []*expr.Expr{expr.Where(v.Ne(zero), g3, zero), expr.Where(v.Ne(zero), zero, g3)}}
	MaskedFill = &kernels.Function{Name: "masked_fill", Value: expr.Where(w.Ne(zero), a, x), Integers: true, Masks: 1, Scalars: []float64{1.5},
		Gradients: []*expr.Expr{expr.Where(w.Ne(zero), zero, g2)}}

	finite = x.Sub(x).Eq(zero)
)

// Choices are the functions with masks.
var Choices = []*kernels.Function{Where, MaskedFill}

// The third operand, and the gradient of a function of three.
var v, g3 = expr.Input(2), expr.Input(4)

func lerp(weight *expr.Expr) *expr.Expr {
	way := w.Sub(x)
	return expr.Where(weight.Abs().Lt(half), x.Add(weight.Mul(way)), w.Sub(way.Mul(one.Sub(weight))))
}
