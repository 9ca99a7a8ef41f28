package ops

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
)

// What folds do with an element, and with a sum.
var (
	absolutePower = &kernels.Function{Name: "absolute_power", Value: x.Abs().Pow(a), Scalars: []float64{3}}
	degreeRoot    = &kernels.Function{Name: "degree_root", Value: x.Pow(one.Div(a)), Scalars: []float64{3}}
	isNotZero     = &kernels.Function{Name: "is_not_zero", Value: expr.Where(x.Eq(zero), zero, one), Integers: true}
)

// describeFold: X, Y, outer, len, inner, chunk, shares, wide, tall, root, p. Products and
// logarithms of sums are no folds that an operation has: nil.
func describeFold(kind FoldKind) func(args) operations {
	of := map[FoldKind]*kernels.Function{FoldAbs: fn.Abs, FoldSquare: fn.Square, FoldPow: absolutePower, FoldCount: isNotZero,
		FoldSum: fn.Identity, FoldMax: fn.Identity, FoldMin: fn.Identity, FoldMaxAbs: fn.Abs, FoldMinAbs: fn.Abs}[kind]
	if of == nil {
		return nil
	}
	with := fn.Add
	switch kind {
	case FoldMax, FoldMaxAbs:
		with = fn.Max
	case FoldMin, FoldMinAbs:
		with = fn.Min
	}
	return func(in args) operations {
		outer, n, inner, chunk, shares := int(in[2].Int), int(in[3].Int), int(in[4].Int), int(in[5].Int), int(in[6].Int)
		r := fold(with, in, outer, n, inner, view(in, 1, 0, shares*inner, inner, 1))
		r.Shares, r.Chunk = shares, chunk
		list := operations{r}
		var scalars []kernels.Scalar
		if kind == FoldPow {
			scalars = []kernels.Scalar{passed(10)}
		}
		if of != fn.Identity {
			whole := temporary(0, n*inner, inner, 1)
			if in[0].Buf.DType() == kernels.Int32 {
				whole.Type = kernels.Int32
			}
			list = operations{mapped(of, scalars, []int{outer, n, inner}, whole, r.X), r}
			r.X = whole
		}
		if in[9].Int == 0 || kind != FoldSquare && kind != FoldPow {
			return list
		}
		dims, y := []int{outer * shares * inner}, view(in, 1, 0, 1)
		if kind == FoldSquare {
			return append(list, mapped(fn.Sqrt, nil, dims, y, y))
		}
		return append(list, mapped(degreeRoot, scalars, dims, y, y))
	}
}
