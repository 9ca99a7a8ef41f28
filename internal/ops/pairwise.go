package ops

import (
	"math"

	"github.com/clgrad/clgrad/internal/parallel"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// pairTerms is PAIR_TERMS of pairwise.cl: how many terms of a long sum are added one after the
// other, before the sums of such blocks are added in pairs.
const pairTerms = 64

// sumRun is the most rows of a run that a kernel adds up one after the other; the sums of runs are
// added pairwise.
const sumRun = 256

// additions bounds how many additions of a sum of n terms a term sees: those of a block, of a
// vector's lanes, of what is left beside whole vectors, and of pairs.
func additions(n int) float64 {
	const block = pairTerms + 64
	if n <= block {
		return float64(n)
	}
	return block + math.Log2(float64(n)/block)
}

// pairwise sums x as a balanced tree over blocks, in the precision of its elements.
func pairwise[T kernels.Float](x []T) T {
	if len(x) <= pairTerms {
		var s T
		for _, v := range x {
			s += v
		}
		return s
	}
	half := halfOf(len(x))
	return pairwise(x[:half]) + pairwise(x[half:])
}

// summing returns what a call sums rows with.
func summing[T kernels.Float](c kernels.HostArgs[T]) func(x []T) T {
	if loops := loopsOf(c); loops != nil {
		return loops.Sum
	}
	return pairwise[T]
}

// halfOf returns about half of n terms, in whole blocks.
func halfOf(n int) int { return (n/2 + pairTerms - 1) / pairTerms * pairTerms }

// pairwiseOf sums the terms [from, to) as a balanced tree over what `block` returns of blocks.
func pairwiseOf(from, to int, block func(from, to int) float64) float64 {
	if to-from <= pairTerms {
		return block(from, to)
	}
	half := from + halfOf(to-from)
	return pairwiseOf(from, half, block) + pairwiseOf(half, to, block)
}

// wideSums sums columns in double precision, row by row, so that the inner loop runs along memory;
// blocks of rows as a balanced tree. With vectors four rows are one first, in the precision of the
// elements.
type wideSums[T kernels.Float] struct {
	loops  *vec.Loops[T] // nil: plain loops
	levels [][]float64   // the sums at each level of the tree
	four   []T           // the sum of four rows
}

// of returns the sums of w columns of n rows, which are `apart` and begin at x. They are
// overwritten by the next call.
func (c *wideSums[T]) of(x []T, n, apart, w int) []float64 { return c.level(0, x, n, apart, w) }

// parallel returns the same sums as of. The tree is cut into up to eight subtrees of neighbouring rows,
// and cores compute these: rows are contiguous in memory, columns are not.
func (c *wideSums[T]) parallel(x []T, n, apart, w int) []float64 {
	const deepest, least = 3, 8 * parallel.Grain // levels; elements of a subtree that is worth a core
	depth := 0
	for depth < deepest && n>>depth > 2*pairTerms && n*w>>depth > 2*least {
		depth++
	}
	if parallel.Workers(1<<depth, 1) == 1 {
		return c.of(x, n, apart, w)
	}
	parts, loops := make([]float64, w<<depth), c.loops // c itself is not to be on the heap
	parallel.For(1<<depth, 1, func(lo, hi int) {
		for part := lo; part < hi; part++ {
			from, to := 0, n
			for level := depth - 1; level >= 0; level-- {
				if half := from + halfOf(to-from); part>>level&1 == 0 {
					to = half
				} else {
					from = half
				}
			}
			columns := wideSums[T]{loops: loops, levels: [][]float64{parts[part*w:][:w]}}
			columns.of(x[from*apart:], to-from, apart, w)
		}
	})
	for span := w; span < len(parts); span *= 2 {
		for first := 0; first < len(parts); first += 2 * span {
			sums := parts[first:][:w]
			for j, v := range parts[first+span:][:w] {
				sums[j] += v
			}
		}
	}
	return parts[:w]
}

func (c *wideSums[T]) level(l int, x []T, n, apart, w int) []float64 {
	if l == len(c.levels) {
		c.levels = append(c.levels, nil)
	}
	if cap(c.levels[l]) < w {
		c.levels[l] = make([]float64, w)
	}
	if n > pairTerms {
		half := halfOf(n)
		sums := c.level(l, x, half, apart, w)
		for j, v := range c.level(l+1, x[half*apart:], n-half, apart, w) {
			sums[j] += v
		}
		return sums
	}
	sums := c.levels[l][:w]
	clear(sums)
	first := 0
	if c.loops != nil && c.loops.Has(vec.AddFour) {
		if cap(c.four) < w {
			c.four = make([]T, w)
		}
		for four := c.four[:w]; first+4 <= n; first += 4 {
			rows := x[first*apart:]
			c.loops.Map(vec.AddFour, four, rows, rows[apart:], rows[2*apart:], rows[3*apart:])
			c.loops.AddWide(sums, four)
		}
	}
	for k := first; k < n; k++ {
		row := x[k*apart:][:w]
		if c.loops != nil {
			c.loops.AddWide(sums, row)
			continue
		}
		for j, v := range row {
			sums[j] += float64(v)
		}
	}
	return sums
}
