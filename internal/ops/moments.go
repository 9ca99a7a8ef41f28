package ops

import (
	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
)

// Kernels of package defs' means and variances: X, M, V, OFF, outer, len, inner, chunk, scale, and X, Y,
// OFF, M, V, outer, len, inner, count, last, chunk, scale.
var (
	Moments = rowKernel(defs.Moments, lanesForOne, momentsCases).with(func(k *kernels.Kernel) {
		k.Host = kernels.HostKernel{F32: momentsOfColumns(k.Host.F32), F64: momentsOfColumns(k.Host.F64)}
	})
	MomentsJoin = rowKernel(defs.MomentsJoin, lanesForOne, momentsJoinCases)
)

// momentsOfColumns overrides the Go code of columns, which keeps no matrix of differences: those of
// [1000, 1000] take half the time. generated is that of the definition.
func momentsOfColumns[T kernels.Float](generated func(kernels.HostArgs[T])) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		x, m, v, off := c.Floats(0), c.Floats(1), c.Floats(2), c.Floats(3)
		outer, n, inner, chunk, scale := c.Int(4), c.Int(5), c.Int(6), c.Int(7), c.Float(8)
		if loopsOf(c) == nil || n > lower.MostExact {
			plainMoments(x, m, v, off, outer, n, inner, chunk, float64(scale), c.Parallel)
			return
		}
		l := vectorFold(c, min(n, chunk), inner)
		if l == nil || inner == 1 {
			generated(c)
			return
		}
		parts, wide := lower.Parts(n, chunk), cachedColumns[T](min(n, chunk, pairTerms))
		eachPartial(c, x, outer, n, inner, chunk, parts, wide, 8, func(at int, x []T, rows, w int) {
			means, squares := m[at:at+w], v[at:at+w]
			offs := off[at : at+w]
			columnMoments(l, means, squares, offs, x, rows, inner)
			for j, s := range squares {
				if s != s {
					means[j] = s
				}
				if offs[j]-offs[j] != 0 { // of what is infinite, or no number
					offs[j] = 0
				}
				squares[j] = scale * s
			}
		})
	}
}

// plainMoments overrides the Go code without vectors, which computes in double precision: OFF is what
// storing takes off the mean. Sums overflow where they would in T.
func plainMoments[T float32 | float64](
	x, m, v, off []T, outer, n, inner, chunk int, scale float64, parallel func(n, cost int, f func(lo, hi int)),
) {
	parts := lower.Parts(n, chunk)
	parallel(outer*parts*inner, 4*min(n, chunk), func(lo, hi int) {
		for at := lo; at < hi; at++ {
			row, i := at/inner, at%inner
			begin := row % parts * chunk
			count, first := min(chunk, n-begin), (row/parts*n+begin)*inner+i
			about := 0.0
			if count > 0 {
				if about = float64(x[first]); about-about != 0 {
					about = 0
				}
			}
			rest := pairwiseOf(0, count, func(from, to int) (sum float64) {
				for k := from; k < to; k++ {
					sum += float64(x[first+k*inner]) - about
				}
				return sum
			})
			mean := about + overflowed[T](rest)/float64(count)
			squares := pairwiseOf(0, count, func(from, to int) (sum float64) {
				for k := from; k < to; k++ {
					d := float64(x[first+k*inner]) - mean
					sum += d * d
				}
				return sum
			})
			squares = overflowed[T](squares)
			if m[at] = T(mean); squares != squares {
				m[at] = T(squares)
			}
			v[at], off[at] = T(scale*squares), 0
			if left := T(mean - float64(m[at])); left-left == 0 {
				off[at] = left
			}
		}
	})
}

// overflowed returns a sum, infinite or NaN where it is that in T.
func overflowed[T float32 | float64](sum float64) float64 {
	if v := T(sum); v-v != 0 {
		return float64(v)
	}
	return sum
}

func momentsCases(s rowSizes) []kernels.Case {
	var cases caseList
	for i, b := range s.lines {
		cases.add(func(o operands) {
			o.In(b[0]*b[1]*b[2], 90, 92)
			if i == 4 {
				o.Special()
			}
			chunk := []int{max(b[1], 1), b[1]/3 + 1, b[1] + 30}[i%3]
			results := b[0] * lower.Parts(b[1], chunk) * b[2]
			o.Out(results).Out(results).Out(results).Int(b[0], b[1], b[2], chunk).Float(0.5)
		}, "%v", b)
	}
	return cases
}

func momentsJoinCases(s rowSizes) []kernels.Case {
	var cases caseList
	for _, b := range s.lines {
		if b[1] == 0 {
			continue
		}
		cases.add(func(o operands) {
			n := b[0] * b[1] * b[2]
			o.In(n, 9, 11).In(n, 0, 5).In(n, -1e-6, 1e-6).Out(b[0]*b[2]).Out(b[0]*b[2]).Int(b[0], b[1], b[2])
			o.Float(float64(32*b[1] - 9)).Float(23).Float(32).Float(0.01)
		}, "%v", b)
	}
	return cases
}
