package ops

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// of0, of1 and of2 are the indices of an element along the axes, as numbers.
var of0, of1, of2 = expr.Index(0).Float(), expr.Index(1).Float(), expr.Index(2).Float()

// fromFront is the index that an operand names along an axis whose dimension is a, from the end
// below 0.
func fromFront(x *expr.Expr) *expr.Expr { return expr.Where(x.Lt(zero), x.Add(a), x) }

// The maps that make indices of others. The numbers of their tests are dimensions.
var (
	// RowKeys is, for each index [m] along an axis, which row it names of the matrices that lie
	// behind the axis, for all [outer] that lie before it. Scalar: its dimension.
	RowKeys = alone(&kernels.Function{Name: "row_keys", Integers: true, Scalars: []float64{7}, Value: of0.Mul(a).Add(x)})
	// ElementKeys is which element indices [outer, m, inner] along an axis name. Scalars: its
	// dimension, and inner.
	ElementKeys = alone(&kernels.Function{Name: "element_keys", Integers: true, Scalars: []float64{7, 5}, Value: of0.Mul(a).Add(x).Mul(expr.Param(1)).Add(of2)})
	// FromFront is an index along an axis, from the end below 0. Scalar: its dimension.
	FromFront = &kernels.Function{Name: "index_from_front", Integers: true, Scalars: []float64{7}, Value: fromFront(x)}
	// OfAxes joins an index along an axis, and one along the next, from the end below 0. Scalar:
	// the dimension of that.
	OfAxes = &kernels.Function{Name: "index_of_axes", Integers: true, Scalars: []float64{7}, Value: x.Mul(a).Add(fromFront(w))}
	// Without is an index, −1 in the place of one.
	Without = &kernels.Function{Name: "index_without", Integers: true, Scalars: []float64{3}, Value: expr.Where(x.Eq(a), expr.Const(-1), x)}
)

// alone makes a map of its own of a function that reads indices.
func alone(f *kernels.Function) *kernels.FusedElementwise {
	return &kernels.FusedElementwise{Name: f.Name, Functions: []*kernels.Function{f}}
}

var (
	fromDiagonal = expr.Index(2).Sub(expr.Index(1))
	isBelow      = func(n, m *expr.Expr) *expr.Expr { return n.Sub(m).Float().Lt(zero) } // exact of ints, as a rounded n and m are not
)

// The maps that make numbers of the indices of elements.
var (
	// Sequence is start + i·step: of floats, rounded once.
	Sequence = alone(&kernels.Function{Name: "sequence", Scalars: []float64{0.5, 0.25}, Value: of0.FMA(expr.Param(1), a)})
	// Spaced is start + i·step for i below a number, and from there on end − (last − i)·step, which
	// meets the end. Scalars: start, step, end; ints: last, that number.
	Spaced = alone(&kernels.Function{Name: "spaced", Scalars: []float64{0.5, 0.25, 3, 9, 4},
		Value: expr.Where(isBelow(expr.Index(0), expr.IntParam(4)), of0.FMA(expr.Param(1), a), expr.IntParam(3).Sub(expr.Index(0)).Float().FMA(expr.Param(1).Neg(), expr.Param(2)))})
	// Counted is Sequence of integers.
	Counted = alone(&kernels.Function{Name: "counted", Integers: true, Scalars: []float64{5, 2}, Value: of0.Mul(expr.Param(1)).Add(a)})
	// OneHot is whether the column [rows, columns] is the operand [rows, 1].
	OneHot = alone(&kernels.Function{Name: "one_hot", Integers: true, Value: expr.Where(x.Eq(of1), one, zero)})
	// Upper is the elements [batch, rows, columns] whose column less the row is an int or more, 0
	// elsewhere.
	Upper = alone(&kernels.Function{Name: "upper", Integers: true, Scalars: []float64{-1}, Value: expr.Where(isBelow(fromDiagonal, expr.IntParam(0)), zero, x)})
	// Lower is those whose column less the row is an int or less.
	Lower = alone(&kernels.Function{Name: "lower", Integers: true, Scalars: []float64{2}, Value: expr.Where(isBelow(expr.IntParam(0), fromDiagonal), zero, x)})
)

// What gradients of scatters are made of.
var (
	// Same is 1 where two numbers are equal, else 0.
	Same = &kernels.Function{Name: "same", Integers: true, Value: expr.Where(x.Eq(w), one, zero)}
	// Attains is Same, and of two NaNs, too.
	Attains = &kernels.Function{Name: "attains", Value: expr.Where(x.Eq(w).Or(x.IsNaN().And(w.IsNaN())), one, zero), Gradients: []*expr.Expr{zero, zero}}
	// IsZero is 1 where a number is 0, else 0, and OneForZero the number, or 1 if it is 0.
	IsZero     = &kernels.Function{Name: "is_zero", Value: expr.Where(x.Eq(zero), one, zero), Gradients: []*expr.Expr{zero}}
	OneForZero = &kernels.Function{Name: "one_for_zero", Value: expr.Where(x.Eq(zero), one, x)}
	// OtherFactors is g times the product of the other factors: of g, a factor, the product of
	// those that are not 0, and how many are.
	OtherFactors = &kernels.Function{Name: "other_factors", Value: expr.Where(u.Eq(zero), x.Mul(v).Div(w),
		expr.Where(u.Eq(one).And(w.Eq(zero)), x.Mul(v), zero))}
	// ZeroItself is x where it is 0, which has a gradient there, and 0 elsewhere.
	ZeroItself = &kernels.Function{Name: "zero_itself", Value: expr.Where(x.Eq(zero), x, zero)}
	// OtherFactorsAgain is OtherFactors of factors of which the sum of those that are 0 comes last:
	// it is 0 where that function is, but has the gradients of the product.
	OtherFactorsAgain = &kernels.Function{Name: "other_factors_again", Value: expr.Where(u.Eq(zero), x.Mul(v).Div(w),
		expr.Where(u.Eq(one), expr.Where(w.Eq(zero), x.Mul(v), x.Mul(v).Div(w).Mul(fifth)),
			expr.Where(u.Eq(expr.Const(2)).And(w.Eq(zero)), x.Mul(v).Mul(fifth.Sub(w)), zero)))}
)
