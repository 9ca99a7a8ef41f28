package fn

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// Comparisons and what is known of numbers: functions that are 1 where they hold and 0 elsewhere,
// of Uint8.
var (
	Eq = &kernels.Function{Name: "eq", Value: x.Eq(w), Integers: true}
	Ne = &kernels.Function{Name: "ne", Value: x.Ne(w), Integers: true}
	Lt = &kernels.Function{Name: "lt", Value: x.Lt(w), Integers: true}
	Le = &kernels.Function{Name: "le", Value: x.Le(w), Integers: true}
	Gt = &kernels.Function{Name: "gt", Value: x.Gt(w), Integers: true}
	Ge = &kernels.Function{Name: "ge", Value: x.Ge(w), Integers: true}

	EqScalar = &kernels.Function{Name: "eq_scalar", Value: x.Eq(a), Integers: true, Scalars: []float64{1}}
	NeScalar = &kernels.Function{Name: "ne_scalar", Value: x.Ne(a), Integers: true, Scalars: []float64{1}}
	LtScalar = &kernels.Function{Name: "lt_scalar", Value: x.Lt(a), Integers: true, Scalars: []float64{1}}
	LeScalar = &kernels.Function{Name: "le_scalar", Value: x.Le(a), Integers: true, Scalars: []float64{1}}
	GtScalar = &kernels.Function{Name: "gt_scalar", Value: x.Gt(a), Integers: true, Scalars: []float64{1}}
	GeScalar = &kernels.Function{Name: "ge_scalar", Value: x.Ge(a), Integers: true, Scalars: []float64{1}}

	IsNaN    = &kernels.Function{Name: "is_nan", Value: x.IsNaN(), Integers: true}
	IsInf    = &kernels.Function{Name: "is_inf", Value: finite.Not().And(x.Eq(x)), Integers: true}
	IsFinite = &kernels.Function{Name: "is_finite", Value: finite, Integers: true}
	// IsClose has the scalars rtol and atol. An infinite difference is not small, however large the
	// second operand is.
	IsClose = &kernels.Function{Name: "is_close", Value: isClose, Scalars: []float64{0.25, 0.5}}
	// IsCloseOrNaN holds of two NaNs, too.
	IsCloseOrNaN = &kernels.Function{Name: "is_close_or_nan", Value: isClose.Or(x.IsNaN().And(w.IsNaN())), Scalars: []float64{0.25, 0.5}}
	isClose      = x.Eq(w).Or(x.Sub(w).Sub(x.Sub(w)).Eq(zero).And(x.Sub(w).Abs().Le(b.Add(a.Mul(w).Abs()))))

	LogicalNot = &kernels.Function{Name: "logical_not", Value: x.Eq(zero), Integers: true}
	LogicalAnd = &kernels.Function{Name: "logical_and", Value: x.Ne(zero).And(w.Ne(zero)), Integers: true}
	LogicalOr  = &kernels.Function{Name: "logical_or", Value: x.Ne(zero).Or(w.Ne(zero)), Integers: true}
	LogicalXor = &kernels.Function{Name: "logical_xor", Value: expr.Where(x.Eq(zero), one, zero).Ne(expr.Where(w.Eq(zero), one, zero)), Integers: true}
)

// Conditions are all of them.
var Conditions = []*kernels.Function{Eq, Ne, Lt, Le, Gt, Ge, EqScalar, NeScalar, LtScalar, LeScalar, GtScalar, GeScalar,
	IsNaN, IsInf, IsFinite, IsClose, IsCloseOrNaN, LogicalNot, LogicalAnd, LogicalOr, LogicalXor}
