package fn

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// Functions with steps: whole numbers near one, signs, and what division leaves over.
var (
	Floor = &kernels.Function{Name: "floor", Value: x.Floor(), Integers: true, NonDifferentiable: wholes}
	Ceil  = &kernels.Function{Name: "ceil", Value: x.Ceil(), Integers: true, NonDifferentiable: wholes}
	Trunc = &kernels.Function{Name: "trunc", Value: x.Trunc(), Integers: true, NonDifferentiable: wholes}
	Round = &kernels.Function{Name: "round", Value: x.Round(), Integers: true, NonDifferentiable: []float64{-2.5, -1.5, -0.5, 0.5, 1.5, 2.5}}
	Frac  = &kernels.Function{Name: "frac", Value: x.Sub(x.Trunc()), NonDifferentiable: wholes}

	Copysign = &kernels.Function{Name: "copysign", Value: x.Copysign(w), NonDifferentiable: []float64{0}, Domains: [][2]float64{{-3, 3}, {0.1, 3}},
		Gradients: []*expr.Expr{expr.Where(x.Eq(zero), zero, one.Copysign(x).Mul(one.Copysign(w)).Mul(g2))}}
	Heaviside = &kernels.Function{Name: "heaviside", Value: expr.Where(x.Eq(zero), w, expr.Where(x.Lt(zero), zero, expr.Where(x.Gt(zero), one, x))),
		Integers: true, NonDifferentiable: []float64{0}, Gradients: []*expr.Expr{zero}}

	Fmod      = &kernels.Function{Name: "fmod", Value: x.Fmod(w), Integers: true, Domains: quotients}
	Remainder = &kernels.Function{Name: "remainder", Value: expr.Where(over.Eq(zero).Or(over.Lt(zero).And(w.Lt(zero))).Or(over.Gt(zero).And(w.Gt(zero))), over, over.Add(w)),
		Integers: true, Domains: quotients, Gradients: []*expr.Expr{g2, x.FloorDiv(w).Neg().Mul(g2)}}
	FloorDivide = &kernels.Function{Name: "floor_divide", Value: x.FloorDiv(w), Integers: true, Domains: quotients}
	// TruncDivide is ⌊x/w⌋, and one more where that is below 0 and rounded: of an infinite x, x/w.
	TruncDivide = &kernels.Function{Name: "trunc_divide", Value: expr.Where(w.Eq(zero), down, expr.Where(x.Sub(x).Eq(zero), towardsZero, x.Mul(w).Add(w.Sub(w)))),
		Integers: true, Domains: quotients, Gradients: []*expr.Expr{zero, zero}}

	down        = x.FloorDiv(w)
	towardsZero = expr.Where(down.Lt(zero).And(over.Ne(zero)), down.Neg().Sub(one).Neg(), down) // −0 of −1

	over      = x.Fmod(w)
	wholes    = []float64{-3, -2, -1, 0, 1, 2, 3}
	quotients = [][2]float64{{5.1, 5.9}, {2, 2.5}} // between 2.04 and 2.95: no step is near
)
