package ops

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

var (
	// Softmax is e / Σ e along the middle axis of X [outer, len, inner], with e = exp(X − max X),
	// or its logarithm: X, Y, outer, len, inner, logarithm.
	Softmax = &kernels.Kernel{Name: "k_softmax", File: "softmax_cpu.cl", GPU: "softmax_gpu.cl", Grid: lines(2),
		Params: []kernels.Param{in("X"), out("Y"), intArg("outer"), intArg("len"), intArg("inner"), intArg("logarithm")},
		Twin:   kernels.Twin{F32: softmaxTwin[float32], F64: softmaxTwin[float64]}, Describe: describeSoftmax,
		Rows: byRows("softmax", []kernels.Local{{Type: "REAL", N: 2 * rowsGroup}}, softmaxCuts(2)),
		Tol:  kernels.Tolerance{ULP: 4, Bound: softmaxBound}}
	// SoftmaxGrad is the gradient of Softmax for the gradient G of its result Y: Y·(G − Σ G·Y), or
	// G − exp(Y)·Σ G of the logarithm: Y, G, D, outer, len, inner, logarithm.
	SoftmaxGrad = &kernels.Kernel{Name: "k_softmax_grad", File: "softmax_cpu.cl", GPU: "softmax_gpu.cl", Grid: lines(3),
		Params: []kernels.Param{in("Y"), in("G"), out("D"), intArg("outer"), intArg("len"), intArg("inner"), intArg("logarithm")},
		Twin:   kernels.Twin{F32: softmaxGradTwin[float32], F64: softmaxGradTwin[float64]}, Describe: describeSoftmaxGrad,
		Rows: byRows("softmax_grad", []kernels.Local{{Type: "REAL", N: 2 * rowsGroup}}, softmaxCuts(3)),
		Tol:  kernels.Tolerance{ULP: 4, Rel: 8, Scale: softmaxGradScale}}
)

// softmaxCuts are those of rows in each argument before outer, len and inner, which are at.
func softmaxCuts(at int) func(a []kernels.Arg) (rows, run int, of []kernels.Cut) {
	return func(a []kernels.Arg) (rows, run int, of []kernels.Cut) {
		if a[at+1].Int > 0 && a[at+2].Int == 1 {
			of = slices.Repeat([]kernels.Cut{kernels.CutOf(int(a[at+1].Int))}, at)
		}
		return int(a[at].Int), 0, of
	}
}

func softmaxTwin[T kernels.Real](c kernels.Call[T]) {
	x, y, outer, n, inner, logarithm := c.Reals(0), c.Reals(1), c.Int(2), c.Int(3), c.Int(4), c.Int(5) != 0
	if loops := loopsOf(c); loops != nil && inner == 1 && n > 0 {
		c.Parallel(outer, 2*n, func(lo, hi int) {
			for r, some := lo, max(1, softmaxBlock/n); r < hi; r += some {
				softmaxRows(loops, x[r*n:min(r+some, hi)*n], y[r*n:min(r+some, hi)*n], n, logarithm)
			}
		})
		return
	}
	if loops := loopsOf(c); loops != nil && inner >= columnsLeast && n > 0 {
		eachColumns(c, loops, outer, n, inner, func(at int, room []T) { softmaxColumns(loops, x[at:], y[at:], n, inner, room, logarithm) })
		return
	}
	eachLine(c, outer, n, inner, 20, func(at, w int) {
		var most, sum [64]float64
		for j := range w {
			most[j] = math.Inf(-1)
		}
		for k := range n {
			for j, v := range x[at+k*inner:][:w] {
				if float64(v) > most[j] {
					most[j] = float64(v)
				}
			}
		}
		for k := range n {
			for j, v := range x[at+k*inner:][:w] {
				sum[j] += math.Exp(float64(T(float64(v) - most[j])))
			}
		}
		for k := range n {
			to := y[at+k*inner:]
			for j, v := range x[at+k*inner:][:w] {
				if d := float64(T(float64(v) - most[j])); logarithm {
					to[j] = T(d - math.Log(sum[j]))
				} else {
					to[j] = T(math.Exp(d) / sum[j])
				}
			}
		}
	})
}

// softmaxBlock is how many elements of short rows have their exponentials computed at a time.
const softmaxBlock = 1024

// softmaxRows is the softmax of rows of n elements, or its logarithm.
func softmaxRows[T kernels.Real](l *vec.Loops[T], x, y []T, n int, logarithm bool) {
	for at := 0; at < len(y); at += n {
		l.MapBy(vec.Sub, y[at:at+n], x[at:], l.Max(x[at:at+n]))
	}
	if !logarithm {
		l.Map(vec.Exp, y, y, y, y, y)
		for at := 0; at < len(y); at += n {
			l.MapBy(vec.Div, y[at:at+n], y[at:], l.Sum(y[at:at+n]))
		}
		return
	}
	e := l.Scratch(len(y))
	l.Map(vec.Exp, e.V, y, y, y, y)
	for at := 0; at < len(y); at += n {
		l.MapBy(vec.Sub, y[at:at+n], y[at:], T(math.Log(float64(l.Sum(e.V[at:at+n])))))
	}
	l.Return(e)
}

func softmaxGradTwin[T kernels.Real](c kernels.Call[T]) {
	y, g, d, outer, n, inner, logarithm := c.Reals(0), c.Reals(1), c.Reals(2), c.Int(3), c.Int(4), c.Int(5), c.Int(6) != 0
	if loops := loopsOf(c); loops != nil && inner == 1 {
		c.Parallel(outer, 2*n, func(lo, hi int) {
			for r := lo; r < hi; r++ {
				softmaxGradRow(loops, y[r*n:(r+1)*n], g[r*n:(r+1)*n], d[r*n:(r+1)*n], logarithm)
			}
		})
		return
	}
	if loops := loopsOf(c); loops != nil && inner >= columnsLeast {
		eachColumns(c, loops, outer, n, inner, func(at int, room []T) { softmaxGradColumns(loops, y[at:], g[at:], d[at:], n, inner, room, logarithm) })
		return
	}
	eachLine(c, outer, n, inner, 10, func(at, w int) {
		var sum [64]float64
		for k := range n {
			from := g[at+k*inner:]
			for j, v := range y[at+k*inner:][:w] {
				if logarithm {
					sum[j] += float64(from[j])
				} else {
					sum[j] += float64(from[j]) * float64(v)
				}
			}
		}
		for k := range n {
			from, to := g[at+k*inner:], d[at+k*inner:]
			for j, v := range y[at+k*inner:][:w] {
				if logarithm {
					to[j] = T(float64(from[j]) - math.Exp(float64(v))*sum[j])
				} else {
					to[j] = T(float64(v) * (float64(from[j]) - sum[j]))
				}
			}
		}
	})
}

// softmaxGradRow is the gradient of a row.
func softmaxGradRow[T kernels.Real](l *vec.Loops[T], y, g, d []T, logarithm bool) {
	e := l.Scratch(len(y))
	defer l.Return(e)
	if !logarithm {
		l.MapBy(vec.Sub, e.V, g, l.Dot(g, y))
		l.Map(vec.Mul, d, e.V, y, y, y)
		return
	}
	l.Map(vec.Exp, e.V, y, y, y, y)
	l.MapBy(vec.Mul, e.V, e.V, l.Sum(g))
	l.Map(vec.Sub, d, g, e.V, g, g)
}

// A softmax along another axis than the last takes neighbouring columns of [n, inner] at a time, a
// vector of them for each row: as many as let what it reads again stay in a cache of a core.
const (
	columnsLeast = 16      // fewer are not worth vectors
	columnsMost  = 1024    // of a block
	columnsCache = 1 << 20 // bytes of a block
	columnsRun   = 16      // rows whose terms are added up before they are added to the sum
)

// eachColumns calls f with the blocks of columns of [outer, n, inner], by their first element, on
// several cores. room is for three rows of a block.
func eachColumns[T kernels.Real](c kernels.Call[T], l *vec.Loops[T], outer, n, inner int, f func(at int, room []T)) {
	wide := min(inner, max(columnsLeast, min(columnsMost, columnsCache/(kernels.DTypeOf[T]().Size()*max(n, 1))/columnsLeast*columnsLeast)))
	beside := intmath.CeilDiv(inner, wide)
	c.Parallel(outer*beside, 4*n*wide, func(lo, hi int) {
		room := l.Scratch(3 * wide)
		defer l.Return(room)
		for u := lo; u < hi; u++ {
			i := u % beside * wide
			f(u/beside*n*inner+i, room.V[:3*min(wide, inner-i)])
		}
	})
}

// sumColumns adds terms of rows up, in runs of rows: add adds those of row k to what it is given.
func sumColumns[T kernels.Real](l *vec.Loops[T], n int, sum, part []T, add func(k int, to []T)) {
	clear(sum)
	for k := 0; k < n; k += columnsRun {
		clear(part)
		for j := k; j < min(n, k+columnsRun); j++ {
			add(j, part)
		}
		l.Map(vec.Add, sum, sum, part, sum, sum)
	}
}

// softmaxColumns is the softmax along columns, or its logarithm. x and y begin with the first of
// them, whose rows are inner elements apart.
func softmaxColumns[T kernels.Real](l *vec.Loops[T], x, y []T, n, inner int, room []T, logarithm bool) {
	w := len(room) / 3
	most, sum, e := room[:w], room[w:2*w], room[2*w:]
	row := func(of []T, k int) []T { return of[k*inner:][:w] }
	copy(most, x)
	for k := 1; k < n; k++ {
		l.Map(vec.Max, most, most, row(x, k), most, most)
	}
	part := l.Scratch(w)
	defer l.Return(part)
	sumColumns(l, n, sum, part.V, func(k int, to []T) {
		exps, y := e, row(y, k)
		l.Map(vec.Sub, y, row(x, k), most, y, y)
		if !logarithm {
			exps = y
		}
		l.Map(vec.Exp, exps, y, y, y, y)
		l.Map(vec.Add, to, to, exps, to, to)
	})
	f := vec.Div
	if logarithm {
		f = vec.Sub
		for j, s := range sum {
			sum[j] = T(math.Log(float64(s)))
		}
	}
	for k := range n {
		y := row(y, k)
		l.Map(f, y, y, sum, y, y)
	}
}

// softmaxGradColumns is the gradient of softmaxColumns.
func softmaxGradColumns[T kernels.Real](l *vec.Loops[T], y, g, d []T, n, inner int, room []T, logarithm bool) {
	w := len(room) / 3
	sum, part, e := room[:w], room[w:2*w], room[2*w:]
	row := func(of []T, k int) []T { return of[k*inner:][:w] }
	sumColumns(l, n, sum, part, func(k int, to []T) {
		if logarithm {
			l.Map(vec.Add, to, to, row(g, k), to, to)
		} else {
			l.Map(vec.FMA, to, row(g, k), row(y, k), to, to)
		}
	})
	for k := range n {
		y, g, d := row(y, k), row(g, k), row(d, k)
		if logarithm {
			l.Map(vec.Exp, e, y, y, y, y)
			l.Map(vec.Mul, e, e, sum, e, e)
			l.Map(vec.Sub, d, g, e, g, g)
		} else {
			l.Map(vec.Sub, e, g, sum, g, g)
			l.Map(vec.Mul, d, e, y, y, y)
		}
	}
}

// softmaxBound: a difference x − max is rounded, which its exponential magnifies by its size, at
// most 88 before that is 0; that is off by 3 ulps itself. n such terms are summed at least sixteen
// beside each other. So much of a result it may be off; of its logarithm so much as it is, and the
// roundings of that.
func softmaxBound(real kernels.DType, args []kernels.Arg) func(param, i int) float64 {
	exact := exactly(kernels.Twin{F64: softmaxTwin[float64]}, args)
	eps, least := real.Epsilon()
	off := float64(args[3].Int)/16 + 12 + min(2*kernels.MaxAbs(args, 0), 88)
	logarithm := args[5].Int != 0
	return func(param, i int) float64 {
		if v := math.Abs(exact()[1].At(i)); logarithm {
			return (off + 4*v) * eps
		} else {
			return off*eps*v + least
		}
	}
}

// softmaxGradScale is the size of what is added up.
func softmaxGradScale(a []kernels.Arg) float64 {
	n, y, g := float64(a[4].Int), kernels.MaxAbs(a, 0), kernels.MaxAbs(a, 1)
	if a[6].Int != 0 {
		return g * (1 + n*math.Exp(y))
	}
	return g * y * (1 + n*y)
}

// What a softmax and its gradient are made of.
var (
	expDifference      = &kernels.Function{Name: "exp_difference", Value: x.Sub(w).Exp()}
	logShare           = &kernels.Function{Name: "log_share", Value: x.Sub(w).Sub(v.Log())}
	softmaxGradFormula = &kernels.Function{Name: "softmax_grad_formula", Value: x.Mul(w.Sub(v))}
	logSoftmaxGrad     = &kernels.Function{Name: "log_softmax_grad_formula", Value: w.Sub(x.Exp().Mul(v))}
)

// describeSoftmax: X, Y, outer, len, inner, logarithm.
func describeSoftmax(in args) operations {
	outer, n, inner := int(in[2].Int), int(in[3].Int), int(in[4].Int)
	dims, whole, line := []int{outer, n, inner}, []int{n * inner, inner, 1}, []int{inner, 0, 1}
	x, y, most, e, sum := view(in, 0, 0, whole...), view(in, 1, 0, whole...), temporary(0, line...), temporary(1, whole...), temporary(2, line...)
	list := operations{fold(fn.Max, in, outer, n, inner, most), mapped(expDifference, nil, dims, e, x, most),
		&kernels.Reduction{Function: fn.Add, Outer: outer, Len: n, Inner: inner, Shares: 1, Chunk: n, X: e, Y: sum}}
	if in[5].Int != 0 {
		return append(list, mapped(logShare, nil, dims, y, x, most, sum))
	}
	return append(list, mapped(fn.Div, nil, dims, y, e, sum))
}

// describeSoftmaxGrad: Y, G, D, outer, len, inner, logarithm.
func describeSoftmaxGrad(in args) operations {
	outer, n, inner := int(in[3].Int), int(in[4].Int), int(in[5].Int)
	dims, whole, line := []int{outer, n, inner}, []int{n * inner, inner, 1}, []int{inner, 0, 1}
	y, g, d, product, sum := view(in, 0, 0, whole...), view(in, 1, 0, whole...), view(in, 2, 0, whole...), temporary(0, whole...), temporary(1, line...)
	total := &kernels.Reduction{Function: fn.Add, Outer: outer, Len: n, Inner: inner, Shares: 1, Chunk: n, X: g, Y: sum}
	if in[6].Int != 0 {
		return operations{total, mapped(logSoftmaxGrad, nil, dims, d, y, g, sum)}
	}
	total.X = product
	return operations{mapped(fn.Mul, nil, dims, product, y, g), total, mapped(softmaxGradFormula, nil, dims, d, y, g, sum)}
}
