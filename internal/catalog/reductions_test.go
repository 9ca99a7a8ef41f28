package catalog

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// reductions are those over axes.
var reductions = family{"reductions", []operation{
	overAxes("Sum", (*node).Sum, "empty"),
	overAxes("Mean", (*node).Mean, "empty"),
	overAxes("Max", (*node).Max),
	overAxes("Min", (*node).Min),
	{"SumTo", cases{
		"rows":    unary(func(x *node) *node { return x.SumTo(3, 1) }),
		"scalar":  unary(func(x *node) *node { return x.SumTo() }),
		"special": unary(func(x *node) *node { return x.SumTo(1, 3) }),
	}},
	{"Norm", cases{
		"p1": normOf(1), "p2": normOf(2), "p3.5": normOf(3.5), "p0": normOf(0), "pinf": normOf(math.Inf(1)), "pminus inf": normOf(math.Inf(-1)),
		"all":     unary(func(x *node) *node { return x.Norm(2) }),
		"apart":   unary(func(x *node) *node { return x.Norm(3, 0, tensor.Keepdims, 2) }),
		"special": normOf(2), "infinite": normOf(2),
	}},
	overAxes("LogSumExp", (*node).LogSumExp, "infinite", "empty").but("nan", "none"),
	overAxes("Var", func(x *node, axes ...int) *node { return x.Var(1, axes...) }, "infinite", "empty").
		and("population", unary(func(x *node) *node { return x.Var(0, 0) })).but("nan", "none"),
	overAxes("Std", func(x *node, axes ...int) *node { return x.Std(1, axes...) }).
		and("population", unary(func(x *node) *node { return x.Std(0, 0) })).but("nan", "none"),
	{"MaxWithIndex", withIndex((*node).MaxWithIndex)},
	{"MinWithIndex", withIndex((*node).MinWithIndex)},
	{"ArgMax", indexOf((*node).ArgMax)},
	{"ArgMin", indexOf((*node).ArgMin)},
	overAxes("Prod", (*node).Prod, "infinite", "empty").but("nan", "none", "apart").
		and("kept", unary(func(x *node) *node { return x.Prod(1, tensor.Keepdims) })),
	{"CumSum", running((*node).CumSum)},
	{"CumProd", running((*node).CumProd)},
	{"LogCumSumExp", running((*node).LogCumSumExp)},
	{"CumMax", runningIndex((*node).CumMax)},
	{"CumMin", runningIndex((*node).CumMin)},
	{"Sort", cases{
		"ascending": sorting(-1, false), "descending": sorting(-1, true), "special ascending": sorting(1, false), "special descending": sorting(1, true),
		"ints": sorting(0, false),
	}},
	{"ArgSort", cases{
		"ascending": argSorting(false), "descending": argSorting(true), "special ascending": argSorting(false), "special descending": argSorting(true),
	}},
	{"TopK", cases{
		"largest": withTwo(func(x *node) (*node, *tensor.Tensor) { return x.TopK(3, -1) }),
		"smallest": withTwo(func(x *node) (*node, *tensor.Tensor) {
			return x.TopK(2, 0, tensor.TopKOptions{Smallest: true})
		}),
		"special": withTwo(func(x *node) (*node, *tensor.Tensor) { return x.TopK(3, 1) }),
	}},
	{"KeepTopK", cases{
		"rows":    unary(func(x *node) *node { return x.KeepTopK(5, -1) }),
		"columns": unary(func(x *node) *node { return x.KeepTopK(2, 0) }),
		"special": unary(func(x *node) *node { return x.KeepTopK(2, 1) }),
	}},
	{"Median", cases{
		"rows":    withTwo(func(x *node) (*node, *tensor.Tensor) { return x.Median(-1) }),
		"even":    withTwo(func(x *node) (*node, *tensor.Tensor) { return x.Median(0, tensor.Keepdims) }),
		"special": withTwo(func(x *node) (*node, *tensor.Tensor) { return x.Median(1) }),
	}},
	{"Kthvalue", cases{
		"rows":    withTwo(func(x *node) (*node, *tensor.Tensor) { return x.Kthvalue(5, -1) }),
		"columns": withTwo(func(x *node) (*node, *tensor.Tensor) { return x.Kthvalue(2, 0) }),
		"scalar":  withTwo(func(x *node) (*node, *tensor.Tensor) { return x.Kthvalue(1, 0) }),
		"special": withTwo(func(x *node) (*node, *tensor.Tensor) { return x.Kthvalue(4, 1) }),
	}},
	{"Mode", cases{"rows": mode(-1), "columns": mode(0), "scalar": mode(0), "special": mode(1), "ints": mode(1)}},
	{"Quantile", cases{
		"linear": quantile(tensor.LinearInterpolation), "lower": quantile(tensor.LowerInterpolation), "higher": quantile(tensor.HigherInterpolation),
		"nearest": quantile(tensor.NearestInterpolation), "midpoint": quantile(tensor.MidpointInterpolation),
		"ends":    func(in []*node) []*node { return []*node{in[0].Quantile(0, -1), in[0].Quantile(1, 0)} },
		"special": unary(func(x *node) *node { return x.Quantile(0.5, 1) }),
		"scalar":  unary(func(x *node) *node { return x.Quantile(0.5, 0) }),
	}},
	{"Unique", under(values(func(in []*tensor.Tensor) []*tensor.Tensor {
		y, inverse, counts := in[0].Unique()
		return []*tensor.Tensor{y, inverse, counts}
	}), "odd", "special", "ints", "one", "empty")},
	{"Bincount", cases{
		"odd":     value(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Bincount(nil, 0) }),
		"least":   value(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Bincount(nil, 7) }),
		"weights": value(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Bincount(in[1], 2) }),
		"empty":   value(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Bincount(nil, 2) }),
	}},
	{"Histc", cases{
		"odd":     value(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Histc(5, -1, 2) }),
		"ends":    value(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Histc(4, 0, 0) }),
		"equal":   value(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Histc(3, 0, 0) }),
		"special": value(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Histc(4, 0, 4) }),
		"empty":   value(func(in []*tensor.Tensor) *tensor.Tensor { return in[0].Histc(2, 0, 1) }),
	}},
	{"CountNonzero", counts((*node).CountNonzero)},
	{"Any", counts((*node).Any)},
	{"All", counts((*node).All)},
}}

// overAxes is a reduction with the usual cases, and further ones over axis 1.
func overAxes(name string, f func(x *node, axes ...int) *node, further ...string) operation {
	second := unary(func(x *node) *node { return f(x, 1) })
	c := under(second, append(further, "special", "nan", "none")...)
	c["all"] = unary(func(x *node) *node { return f(x) })
	c["last"] = unary(func(x *node) *node { return f(x, -1) })
	c["apart"] = unary(func(x *node) *node { return f(x, 0, 2) })
	c["kept"] = unary(func(x *node) *node { return f(x, 1, tensor.Keepdims, -1) })
	return operation{name, c}
}

// and returns the operation with a further case.
func (o operation) and(name string, f func(in []*node) []*node) operation {
	o.cases[name] = f
	return o
}

// but returns the operation without cases.
func (o operation) but(names ...string) operation {
	for _, name := range names {
		delete(o.cases, name)
	}
	return o
}

func normOf(p float64) func(in []*node) []*node {
	return unary(func(x *node) *node { return x.Norm(p, 1) })
}

// withIndex is a reduction that returns an index, too.
func withIndex(f func(x *node, axes ...int) (*node, *tensor.Tensor)) cases {
	over := func(axes ...int) func(in []*node) []*node {
		return func(in []*node) []*node {
			y, index := f(in[0], axes...)
			return []*node{y, autograd.Const(index)}
		}
	}
	return cases{"rows": over(-1), "columns": over(0, tensor.Keepdims), "special": over(1)}
}

// indexOf is a reduction to an index.
func indexOf(f func(x *node, axes ...int) *tensor.Tensor) cases {
	over := func(axes ...int) func(in []*node) []*node {
		return unary(func(x *node) *node { return autograd.Const(f(x, axes...)) })
	}
	return cases{"rows": over(-1), "all": over(), "columns": over(0, tensor.Keepdims), "special": over(1)}
}

// counts is a reduction to a number or a condition.
func counts(f func(x *node, axes ...int) *tensor.Tensor) cases {
	over := func(axis int) func(in []*node) []*node {
		return unary(func(x *node) *node { return autograd.Const(f(x, axis)) })
	}
	return cases{"rows": over(-1), "middle": over(1), "ints": over(0), "special": over(1), "empty": over(1)}
}

// running is a scan along an axis.
func running(f func(x *node, axis int) *node) cases {
	return runningIndex(func(x *node, axis int) (*node, *tensor.Tensor) { return f(x, axis), nil })
}

// runningIndex is a scan that returns an index, too.
func runningIndex(f func(x *node, axis int) (*node, *tensor.Tensor)) cases {
	along := func(axis int) func(in []*node) []*node {
		return func(in []*node) []*node {
			y, index := f(in[0], axis)
			if index == nil {
				return []*node{y}
			}
			return []*node{y, autograd.Const(index)}
		}
	}
	return cases{"rows": along(-1), "columns": along(0), "middle": along(1), "empty": along(1), "infinite": along(1), "special": along(1)}
}

// withTwo makes a case of a function with a value and an index.
func withTwo(f func(x *node) (*node, *tensor.Tensor)) func(in []*node) []*node {
	return func(in []*node) []*node {
		y, index := f(in[0])
		return []*node{y, autograd.Const(index)}
	}
}

func sorting(axis int, descending bool) func(in []*node) []*node {
	return withTwo(func(x *node) (*node, *tensor.Tensor) {
		return x.Sort(axis, tensor.SortOptions{Descending: descending})
	})
}

func argSorting(descending bool) func(in []*node) []*node {
	return unary(func(x *node) *node {
		return autograd.Const(x.ArgSort(1, tensor.SortOptions{Descending: descending}))
	})
}

func quantile(between tensor.Interpolation) func(in []*node) []*node {
	return unary(func(x *node) *node { return x.Quantile(0.3, 1, tensor.QuantileOptions{Interpolation: between}) })
}

func mode(axis int) func(in []*node) []*node {
	return unary(func(x *node) *node {
		y, _ := x.Mode(axis)
		return y
	})
}
