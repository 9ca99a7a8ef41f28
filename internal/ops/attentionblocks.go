package ops

import (
	"math"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// attentionRows is how many queries, or keys, a block of the Go device's attention has: their
// scores are products of matrices.
const attentionRows = 64

// attentionBlocks computes attention with vector instructions, block by block.
type attentionBlocks[T kernels.Float] struct {
	*attentionCall
	loops             *vec.Loops[T]
	q, k, v, bias     []T
	y, lse, g, deltas []T
	p, d              []T // probabilities and gradients of the scores, a row for each query
}

// each calls f, on several goroutines, for every block of n rows of each item of the batch: item b,
// and rows from first to below end. Each goroutine has a copy of its own.
func (a *attentionBlocks[T]) each(call kernels.HostArgs[T], items, n, work int,
	f func(a *attentionBlocks[T], b, first, end int)) {
	blocks := intmath.CeilDiv(n, attentionRows)
	call.Parallel(items*blocks, attentionRows*work, func(lo, hi int) {
		own := *a
		for i := lo; i < hi; i++ {
			first := i % blocks * attentionRows
			f(&own, i/blocks, first, min(n, first+attentionRows))
		}
	})
}

// finite reports whether a sum of all elements of rows [first, end) is finite: where it is not,
// plain loops leave out what is multiplied by a probability of 0.
func (a *attentionBlocks[T]) finite(x []T, operand, b, first, end, width int) bool {
	for i := first; i < end; i++ {
		if s := float64(a.loops.Sum(x[a.at(operand, b, i):][:width])); math.IsNaN(s) || math.IsInf(s, 0) {
			return false
		}
	}
	return true
}

// product sets c [m, n] to the products of m rows of x from row i on and of n rows of y from row j
// on, both of some width.
func (a *attentionBlocks[T]) product(c, x []T, placeX, i, m int, y []T, placeY, j, n, b, width int) {
	a.loops.Product(vec.Product[T]{M: m, N: n, K: width, A: x[a.at(placeX, b, i):], RowA: a.places[placeX].Row, StepA: 1,
		B: y[a.at(placeY, b, j):], StepB: 1, ColumnB: a.places[placeY].Row, C: c, RowC: n}, nil)
}

// scores sets a.p to the scores of queries [i0, i1) and keys [j0, j1) of item b, −∞ where the one
// does not attend to the other.
func (a *attentionBlocks[T]) scores(b, i0, i1, j0, j1 int) {
	m, n := i1-i0, j1-j0
	a.p = grown(a.p, m*n)
	a.product(a.p, a.q, placeQ, i0, m, a.k, placeK, j0, n, b, a.Features)
	for i := range m {
		row := a.p[i*n:][:n]
		a.loops.MapBy(vec.Mul, row, row, T(a.scale))
		if a.biased {
			a.loops.Map(vec.Add, row, row, a.bias[b*a.step+(i0+i)*a.s+j0:], row, row)
		}
		if a.causal {
			for j := max(0, i0+i+1-j0); j < n; j++ {
				row[j] = T(math.Inf(-1))
			}
		}
	}
}

// forward computes rows [first, end) of Y and LSE.
func (a *attentionBlocks[T]) forward(b, first, end int) bool {
	n := a.s
	if a.causal {
		n = min(n, end)
	}
	if !a.finite(a.v, placeV, b, 0, a.s, a.Values) {
		return false
	}
	a.scores(b, first, end, 0, n)
	m := end - first
	a.d = grown(a.d, m) // sums of the exponentials
	for i := range m {
		row := a.p[i*n:][:n]
		most := a.loops.Max(row)
		from := most
		if math.IsInf(float64(most), -1) {
			from = 0
		}
		a.loops.MapBy(vec.Sub, row, row, from)
		a.loops.Map(vec.Exp, row, row, row, row, row)
		a.d[i] = a.loops.Sum(row)
		a.lse[b*a.l+first+i] = T(float64(most) + math.Log(float64(a.d[i])))
	}
	a.loops.Product(vec.Product[T]{M: m, N: a.Values, K: n, A: a.p, RowA: n, StepA: 1, B: a.v[a.at(placeV, b, 0):], StepB: a.places[placeV].Row, ColumnB: 1,
		C: a.y[a.at(placeY, b, first):], RowC: a.places[placeY].Row}, nil)
	for i, sum := range a.d {
		if row := a.y[a.at(placeY, b, first+i):][:a.Values]; sum != 0 {
			a.loops.MapBy(vec.Div, row, row, sum)
		}
	}
	return true
}

// scoreGrads sets a.p to probabilities, and a.d to gradients of scores, of queries [i0, i1) and
// keys [j0, j1). It reports whether no query has a NaN or +∞ among its scores.
func (a *attentionBlocks[T]) scoreGrads(b, i0, i1, j0, j1 int) bool {
	for _, v := range a.lse[b*a.l+i0 : b*a.l+i1] {
		if v != v || math.IsInf(float64(v), 1) {
			return false
		}
	}
	m, n := i1-i0, j1-j0
	a.scores(b, i0, i1, j0, j1)
	a.d = grown(a.d, m*n)
	a.product(a.d, a.g, placeG, i0, m, a.v, placeV, j0, n, b, a.Values)
	for i := range m {
		p, d, at := a.p[i*n:][:n], a.d[i*n:][:n], b*a.l+i0+i
		if math.IsInf(float64(a.lse[at]), -1) { // the query attends to nothing
			clear(p)
			clear(d)
			continue
		}
		a.loops.MapBy(vec.Sub, p, p, a.lse[at])
		a.loops.Map(vec.Exp, p, p, p, p, p)
		a.loops.MapBy(vec.Sub, d, d, a.deltas[at])
		a.loops.Map(vec.Mul, d, d, p, d, d)
	}
	return true
}

// queries computes rows [first, end) of DQ and DELTA.
func (a *attentionBlocks[T]) queries(dq []T, b, first, end int) bool {
	n := a.s
	if a.causal {
		n = min(n, end)
	}
	if !a.finite(a.v, placeV, b, 0, a.s, a.Values) || !a.finite(a.k, placeK, b, 0, a.s, a.Features) || !a.finite(a.g, placeG, b, first, end, a.Values) {
		return false
	}
	for i := first; i < end; i++ {
		a.deltas[b*a.l+i] = a.loops.Dot(a.y[a.at(placeY, b, i):][:a.Values], a.g[a.at(placeG, b, i):])
	}
	if !a.scoreGrads(b, first, end, 0, n) {
		return false
	}
	to := dq[(b*a.l+first)*a.Features:][:(end-first)*a.Features]
	a.loops.Product(vec.Product[T]{M: end - first, N: a.Features, K: n, A: a.d, RowA: n, StepA: 1, B: a.k[a.at(placeK, b, 0):], StepB: a.places[placeK].Row, ColumnB: 1,
		C: to, RowC: a.Features}, nil)
	a.loops.MapBy(vec.Mul, to, to, T(a.scale))
	return true
}

// keys computes rows [first, end) of DK and DV.
func (a *attentionBlocks[T]) keys(dk, dv []T, b, first, end int) bool {
	from := 0
	if a.causal {
		from = min(first, a.l)
	}
	m, n := a.l-from, end-first
	if !a.finite(a.v, placeV, b, first, end, a.Values) || !a.finite(a.q, placeQ, b, 0, a.l, a.Features) || !a.finite(a.g, placeG, b, 0, a.l, a.Values) {
		return false
	}
	byKey, byValue := dk[(b*a.s+first)*a.Features:][:n*a.Features], dv[(b*a.s+first)*a.Values:][:n*a.Values]
	if m == 0 { // no query attends to the keys
		clear(byKey)
		clear(byValue)
		return true
	}
	if !a.scoreGrads(b, from, a.l, first, end) {
		return false
	}
	sum := func(to, by, x []T, place, width int) {
		a.loops.Product(vec.Product[T]{M: n, N: width, K: m, A: by, RowA: 1, StepA: n, B: x[a.at(place, b, from):], StepB: a.places[place].Row, ColumnB: 1,
			C: to, RowC: width}, nil)
	}
	sum(byValue, a.p, a.g, placeG, a.Values)
	sum(byKey, a.d, a.q, placeQ, a.Features)
	a.loops.MapBy(vec.Mul, byKey, byKey, T(a.scale))
	return true
}
