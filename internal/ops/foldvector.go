package ops

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// Folds of columns in vectors, row by row. Blocks are folded in pairs, as in pairwise.
const (
	foldShort   = 32      // the least row that is worth lanes
	foldNarrow  = 16      // the least columns that are worth vectors
	foldColumns = 2048    // of a block: their results stay in the first cache
	foldCache   = 1 << 20 // bytes of a block of columns that is read again
)

// elementOf makes of elements x what is folded: in room, which is as long, or x itself.
type elementOf[T kernels.Float] func(room, x []T) []T

// itself is the elements as they are.
func itself[T kernels.Float](_, x []T) []T { return x }

// vectorFold returns the loops that lines of n elements, inner columns beside each other, are
// folded with: nil if plain ones are as good.
func vectorFold[T kernels.Float](c kernels.HostArgs[T], n, inner int) *vec.Loops[T] {
	if n == 0 || inner == 1 && n < foldShort || inner > 1 && inner < foldNarrow {
		return nil
	}
	return loopsOf(c)
}

// foldDown folds columns: n rows, at least one, whose first elements are inner apart, into as many
// as `to` has room for.
func foldDown[T kernels.Float](l *vec.Loops[T], join vec.Function, to, x []T, n, inner int, of elementOf[T]) {
	w := len(to)
	room := l.Scratch(w)
	defer l.Return(room)
	if n > pairTerms {
		half := halfOf(n)
		foldDown(l, join, to, x, half, inner, of)
		foldDown(l, join, room.V, x[half*inner:], n-half, inner, of)
		l.Map(join, to, to, room.V, to, to)
		return
	}
	copy(to, of(room.V, x[:w]))
	for k := 1; k < n; k++ {
		l.Map(join, to, to, of(room.V, x[k*inner:][:w]), to, to)
	}
}

// eachPartial calls f with the shares of the lines of x [outer, n, inner], in blocks of at most
// `wide` neighbouring columns: with the place of the first result in [outer, shares, inner], the
// elements from the first on, and how many rows and columns there are. f is called from several
// goroutines.
func eachPartial[T, E kernels.Element](c kernels.HostArgs[T], x []E, outer, n, inner, chunk, shares, wide, cost int,
	f func(at int, x []E, rows, columns int)) {
	blocks := intmath.CeilDiv(inner, wide)
	c.Parallel(outer*shares*blocks, cost*min(n, chunk)*min(inner, wide), func(lo, hi int) {
		for u := lo; u < hi; u++ {
			row, i := u/blocks, u%blocks*wide
			begin := row % shares * chunk
			f(row*inner+i, x[min(len(x), (row/shares*n+begin)*inner+i):], max(0, min(n-begin, chunk)), min(wide, inner-i))
		}
	})
}

// cachedColumns returns how many columns of n elements a cache holds, or the first one the results
// of.
func cachedColumns[T kernels.Float](n int) int {
	return max(foldNarrow, min(foldColumns, foldCache/kernels.DTypeOf[T]().Size()/max(n, 1)/foldNarrow*foldNarrow))
}

// columnMoments sets means to the means of columns, n rows whose first elements are inner apart, offs to
// what rounding took off those, and squares to the sums of the squared deviations: see defs.Moments.
// Halves are joined as defs.MomentsJoin joins parts, so that each row is read once.
func columnMoments[T kernels.Float](l *vec.Loops[T], means, squares, offs, x []T, n, inner int) {
	if n <= pairTerms {
		momentsOfBlock(l, means, squares, offs, x, n, inner)
		return
	}
	w, half := len(means), halfOf(n)
	room := l.Scratch(4 * w)
	defer l.Return(room)
	means2, squares2, offs2, delta := room.V[:w], room.V[w:2*w], room.V[2*w:3*w], room.V[3*w:]
	columnMoments(l, means, squares, offs, x, half, inner)
	columnMoments(l, means2, squares2, offs2, x[half*inner:], n-half, inner)
	share := float64(n-half) / float64(n)
	l.Map(vec.Sub, delta, means2, means, means2, means2)
	l.Map(vec.Sub, offs2, offs2, offs, offs2, offs2)
	l.Map(vec.Add, delta, delta, offs2, delta, delta)
	l.Map(vec.Add, squares, squares, squares2, squares, squares)
	l.Map(vec.Mul, squares2, delta, delta, delta, delta)
	l.MapBy(vec.Mul, squares2, squares2, T(share*float64(half)))
	l.Map(vec.Add, squares, squares, squares2, squares, squares)
	l.MapBy(vec.Mul, delta, delta, T(share))
	l.Map(vec.Add, offs, offs, delta, offs, offs) // what the mean grows by
	l.Map(vec.Add, means2, means, offs, means, means)
	l.Map(vec.Sub, delta, means2, means, delta, delta)
	l.Map(vec.Sub, offs, offs, delta, offs, offs)
	copy(means, means2)
}

// momentsOfBlock is columnMoments of a few rows.
func momentsOfBlock[T float32 | float64](l *vec.Loops[T], means, squares, offs, x []T, n, inner int) {
	w := len(means)
	room := l.Scratch(w)
	defer l.Return(room)
	from := room.V[:w] // what elements deviate from
	for j, first := range x[:w] {
		if from[j] = first; first-first != 0 {
			from[j] = 0
		}
	}
	clear(means)
	l.Deviations(means, nil, from, x, n, inner)
	l.MapBy(vec.Div, means, means, T(n))
	l.Map(vec.Add, means, means, from, means, means)
	clear(offs)
	clear(squares)
	l.Deviations(offs, squares, means, x, n, inner)
	for j, rest := range offs {
		offs[j] = 0
		if off := float64(rest) / float64(n); off-off == 0 { // of an infinite mean: what differs from it is infinite or NaN
			mean := float64(means[j]) + off
			means[j], squares[j] = T(mean), T(max(0, float64(squares[j])-off*off*float64(n)))
			if left := T(mean - float64(means[j])); left-left == 0 {
				offs[j] = left
			}
		}
	}
}
