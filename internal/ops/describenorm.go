package ops

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
)

// What norms are made of.
var (
	fifth       = expr.Input(4)
	quotient    = &kernels.Function{Name: "quotient", Value: x.Div(a), Scalars: []float64{4}}
	inverseRoot = &kernels.Function{Name: "inverse_root", Scalars: []float64{4, 1e-5},
		Value: expr.Where(x.Sub(x).Eq(zero), one.Div(x.Div(a).Add(expr.Param(1)).Sqrt()), x.Sub(x))} // an infinite sum has none
	normed          = &kernels.Function{Name: "normed", Value: x.Sub(w).Mul(v)}
	normShare       = &kernels.Function{Name: "norm_share", Value: x.Mul(w.Sub(v)).Mul(u)}
	rootGrad        = &kernels.Function{Name: "root_grad_formula", Value: w.Mul(x.Sub(u.Mul(fifth).Div(a))), Scalars: []float64{4}}
	normGradFormula = &kernels.Function{Name: "norm_grad_formula", Value: w.Mul(x.Sub(v.Div(a)).Sub(u.Mul(fifth).Div(a))), Scalars: []float64{4}}
	joinMeans       = &kernels.Function{Name: "join_means", Value: x.Add(w.Sub(x).Mul(a)), Scalars: []float64{0.5}}
	joinSquares     = &kernels.Function{Name: "join_squares", Value: v.Add(u).Add(w.Sub(x).Square().Mul(a)), Scalars: []float64{4}}
	moved           = &kernels.Function{Name: "moved", Value: one.Sub(a).Mul(x).Add(a.Mul(w.Div(expr.Param(1)))), Scalars: []float64{0.1, 4}}
)

// rowSums is the sum of each of n neighbours in a temporary, to another.
func rowSums(rows, n, x, y int) kernels.Operation {
	return sumOf(1, rows, n, 1, temporary(x, n, 1, 0), temporary(y, 1, 0, 0))
}

// sumOf is the sum of the middle axis of [outer, n, inner].
func sumOf(shares, outer, n, inner int, x, y kernels.View) *kernels.Reduction {
	return &kernels.Reduction{Function: fn.Add, Outer: outer, Len: n, Inner: inner, Shares: shares, Chunk: n, X: x, Y: y}
}

// describeNormGrad: X, G, W, MEAN, RSTD, D, DW, DB, rows, len, run, form.
func describeNormGrad(in args) operations {
	rows, n, run, form := int(in[8].Int), int(in[9].Int), int(in[10].Int), in[11].Int
	dims, whole, stat := []int{rows, n}, []int{n, 1}, []int{1, 0}
	h, up, product := temporary(0, whole...), view(in, 1, 0, whole...), temporary(2, whole...)
	list := operations{mapped(normed, nil, dims, h, view(in, 0, 0, whole...), view(in, 3, 0, stat...), view(in, 4, 0, stat...))}
	if form&NormPartials != 0 {
		shares := (rows + run - 1) / run
		byRows := func(x, y kernels.View) kernels.Operation {
			r := sumOf(shares, 1, rows, n, x, y)
			r.Chunk = run
			return r
		}
		list = append(list, mapped(fn.Mul, nil, dims, product, up, h),
			byRows(temporary(2, 0, n, 1), view(in, 6, 0, 0, n, 1)), byRows(view(in, 1, 0, 0, n, 1), view(in, 7, 0, 0, n, 1)))
	}
	if form&NormWeights != 0 {
		list = append(list, mapped(fn.Mul, nil, dims, temporary(1, whole...), up, view(in, 2, 0, 0, 1)))
		up = temporary(1, whole...)
	}
	list = append(list, mapped(fn.Mul, nil, dims, product, up, h), rowSums(rows, n, 2, 4))
	slope, count := rootGrad, []kernels.Scalar{constant(float64(n))}
	if form&NormCentred != 0 {
		slope = normGradFormula
		sum := up
		sum.Strides = []int{n, 1, 0}
		list = append(list, sumOf(1, rows, n, 1, sum, temporary(3, 1, 0, 0)))
	}
	operands := []kernels.View{up, view(in, 4, 0, stat...), temporary(3, stat...), h, temporary(4, stat...)}
	if form&NormCentred == 0 {
		operands[2] = kernels.View{}
	}
	return append(list, mapped(slope, count, dims, view(in, 5, 0, whole...), operands...))
}

// channelSum is the sum of [outer, channels, inner] of x over inner, and over parts of `run` of
// outer, to y [parts, channels]; by temporary t.
func channelSum(outer, channels, inner, run, t int, x, y kernels.View) operations {
	parts := (outer + run - 1) / run
	x.Strides, y.Strides = []int{inner, 1, 0}, []int{0, channels, 1}
	over := sumOf(parts, 1, outer, channels, temporary(t, 0, channels, 1), y)
	over.Chunk = run
	return operations{sumOf(1, outer*channels, inner, 1, x, temporary(t, 1, 0, 0)), over}
}

// describeChannelMoments: X, MEAN, SQ, outer, channels, inner, run. It is opaque where the last
// part is shorter.
func describeChannelMoments(in args) operations {
	outer, channels, inner, run := int(in[3].Int), int(in[4].Int), int(in[5].Int), int(in[6].Int)
	run = min(run, outer)
	if run == 0 || outer%run > 0 {
		return nil
	}
	parts := outer / run
	dims, whole := []int{parts, run, channels, inner}, []int{run * channels * inner, channels * inner, inner, 1}
	list := channelSum(outer, channels, inner, run, 0, view(in, 0, 0), temporary(1))
	list = append(list, mapped(quotient, []kernels.Scalar{constant(float64(run * inner))}, []int{parts * channels}, view(in, 1, 0, 1), temporary(1, 1)),
		mapped(squaredDifference, nil, dims, temporary(2, whole...), view(in, 0, 0, whole...), view(in, 1, 0, channels, 0, 1, 0)))
	return append(list, channelSum(outer, channels, inner, run, 3, temporary(2), view(in, 2, 0))...)
}

// describeChannelSums: X, G, MEAN, RSTD, SG, SH, outer, channels, inner, run, share.
func describeChannelSums(in args) operations {
	outer, channels, inner, run, share := int(in[6].Int), int(in[7].Int), int(in[8].Int), int(in[9].Int), int(in[10].Int)
	if channels%share > 0 {
		return nil
	}
	dims, whole, stat := []int{outer, channels / share, share, inner}, []int{channels * inner, share * inner, inner, 1}, []int{0, 1, 0, 0}
	list := append(channelSum(outer, channels, inner, run, 0, view(in, 1, 0), view(in, 4, 0)),
		mapped(normShare, nil, dims, temporary(1, whole...), view(in, 1, 0, whole...), view(in, 0, 0, whole...), view(in, 2, 0, stat...), view(in, 3, 0, stat...)))
	return append(list, channelSum(outer, channels, inner, run, 2, temporary(1), view(in, 5, 0))...)
}

// describeChannelJoin: MEAN, SQ, M, R, RM, RV, channels, outer, inner, run, running, eps, momentum.
func describeChannelJoin(in args) operations {
	channels, outer, inner, run := int(in[6].Int), int(in[7].Int), int(in[8].Int), int(in[9].Int)
	dims, m, r, square := []int{channels}, view(in, 2, 0, 1), view(in, 3, 0, 1), temporary(0, 1)
	list := operations{mapped(fn.Identity, nil, dims, m, view(in, 0, 0, 1)), mapped(fn.Identity, nil, dims, square, view(in, 1, 0, 1))}
	count := float64(min(run, outer) * inner)
	for p := 1; p*run < outer; p++ {
		more := float64(min(run, outer-p*run) * inner)
		part := more / (count + more)
		list = append(list, &kernels.Map{Dims: dims, Operands: []kernels.View{m, view(in, 0, p*channels, 1), square, view(in, 1, p*channels, 1)},
			Results: []kernels.Result{{Function: joinMeans, Scalars: []kernels.Scalar{constant(part)}, View: m},
				{Function: joinSquares, Scalars: []kernels.Scalar{constant(count * part)}, View: square}}})
		count += more
	}
	list = append(list, mapped(inverseRoot, []kernels.Scalar{constant(count), passed(11)}, dims, r, square))
	if in[10].Int != 0 {
		for i, by := range []kernels.View{m, square} {
			scalars := []kernels.Scalar{passed(12), constant([]float64{1, count - 1}[i])}
			list = append(list, mapped(moved, scalars, dims, view(in, 4+i, 0, 1), view(in, 4+i, 0, 1), by))
		}
	}
	return list
}
