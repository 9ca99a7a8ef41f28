package ops

import (
	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// takes reports whether v takes the place of best, which comes before it.
func takes[T kernels.Element](v, best T, least bool) bool {
	return best == best && (v != v || (v > best) != least && v != best)
}

// extremeAt returns the first index of the extreme of n elements that are step apart.
func extremeAt[T kernels.Element](x []T, n, step int, least bool) int {
	at, best := 0, x[0]
	for k := 1; k < n; k++ {
		if v := x[k*step]; takes(v, best, least) {
			at, best = k, v
		}
	}
	return at
}

// joinExtremesHost finds the extremes of lines of which there are those of parts.
func joinExtremesHost[T kernels.Element](least bool) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		x, j, y, at := c.Floats(0), c.Ints(1), c.Floats(2), c.Ints(3)
		outer, n, inner, chunk := c.Int(4), c.Int(5), c.Int(6), c.Int(7)
		c.Parallel(outer*inner, n, func(lo, hi int) {
			for l := lo; l < hi; l++ {
				from := l/inner*n*inner + l%inner
				part := extremeAt(x[from:], n, inner, least)
				from += part * inner
				y[l], at[l] = x[from], int32(part*chunk)+j[from]
			}
		})
	}
}

// overrideExtreme lets the Go device find extremes of rows, and those of columns where it has vector
// instructions, with loops that are written by hand: they read each element once. [ir.Machine] takes
// twice the time for rows of ten elements, ten times for long ones.
func overrideExtreme(k *kernels.Kernel, least bool) {
	k.Host = kernels.HostKernel{F32: extremeLoops(k.Host.F32, least), F64: extremeLoops(k.Host.F64, least)}
}

// extremeLoops returns the Go code of extremes: generated is that of their definition.
func extremeLoops[T kernels.Float](generated func(kernels.HostArgs[T]), least bool) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		x, y, at, outer, n, inner, chunk := c.Floats(0), c.Floats(1), c.Ints(2), c.Int(3), c.Int(4), c.Int(5), c.Int(6)
		loops := vectorFold(c, min(n, chunk), inner)
		if loops == nil && !(c.Vectors() && inner == 1) {
			generated(c)
			return
		}
		eachPartial(c, x, outer, n, inner, chunk, lower.Parts(n, chunk), foldColumns, 1, func(to int, x []T, m, w int) {
			switch {
			case inner > 1:
				extremesOfColumns(loops, y[to:][:w], at[to:][:w], x, m, inner, least)
				return
			case loops != nil:
				at[to] = int32(extremeOfRow(loops, x[:m], least))
			default:
				at[to] = int32(extremeAt(x, m, 1, least))
			}
			y[to] = x[at[to]]
		})
	}
}

// extremeJoin returns the loop that folds to extremes.
func extremeJoin(least bool) vec.Function {
	if least {
		return vec.Min
	}
	return vec.Max
}

// attains reports whether v attains the extreme of its line, which is NaN where v is.
func attains[T kernels.Float](v, best T) bool { return v == best || v != v }

// extremeRun is how many rows, and extremeBlock how many elements of a row, are searched for an extreme
// at a time.
const extremeRun, extremeBlock = 32, 1024

// extremeOfRow returns the first index of the extreme of a row: it finds the first block that has it, and
// in that, by halves, the element.
func extremeOfRow[T kernels.Float](l *vec.Loops[T], x []T, least bool) int {
	join := extremeJoin(least)
	best, begin := l.Reduce(join, x[:min(len(x), extremeBlock)]), 0
	for k := extremeBlock; k < len(x); k += extremeBlock {
		if v := l.Reduce(join, x[k:min(len(x), k+extremeBlock)]); takes(v, best, least) {
			best, begin = v, k
		}
	}
	for end := min(len(x), begin+extremeBlock); end-begin > 4*extremeRun; {
		if half := (begin + end) / 2; attains(l.Reduce(join, x[begin:half]), best) {
			end = half
		} else {
			begin = half
		}
	}
	for !attains(x[begin], best) {
		begin++
	}
	return begin
}

// extremesOfColumns sets best to the extremes of columns, n rows whose first elements are inner apart, and
// first to their first indices: it finds the first run of rows that has each, and then the element.
func extremesOfColumns[T kernels.Float](l *vec.Loops[T], best []T, first []int32, x []T, n, inner int, least bool) {
	join, room := extremeJoin(least), l.Scratch(len(best))
	defer l.Return(room)
	clear(first)
	foldDown(l, join, best, x, min(n, extremeRun), inner, itself[T])
	for k := extremeRun; k < n; k += extremeRun {
		foldDown(l, join, room.V, x[k*inner:], min(n-k, extremeRun), inner, itself[T])
		for j, v := range room.V {
			if takes(v, best[j], least) {
				best[j], first[j] = v, int32(k)
			}
		}
	}
	for j, k := range first {
		for !attains(x[int(k)*inner+j], best[j]) {
			k++
		}
		first[j] = k
	}
}
