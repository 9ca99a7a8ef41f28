package ops

import (
	"math"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
)

// overrideNorm lets the Go device compute rows of a norm with calls that are written by hand, where
// it has vector instructions. They finish one row before the next: of 64 to 1,024
// elements a row takes a third less time than with [ir.Machine]. So does overrideNormGrad.
func overrideNorm(k *kernels.Kernel, f defs.NormForm) {
	k.Host = kernels.HostKernel{F32: normRows(f, k.Host.F32), F64: normRows(f, k.Host.F64)}
}

// normRows returns the Go code of a norm: generated is that of its definition.
func normRows[T kernels.Float](f defs.NormForm, generated func(kernels.HostArgs[T])) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		l := loopsOf(c)
		if l == nil {
			generated(c)
			return
		}
		x, at := c.Floats(0), 1
		var w, b []T
		if f.Weights {
			w = c.Floats(at)
			at++
		}
		if f.Biases {
			b = c.Floats(at)
			at++
		}
		y, means, rstds, rows, n := c.Floats(at), c.Floats(at+1), c.Floats(at+2), c.Int(at+3), c.Int(at+4)
		at += 6
		sets, span := 1, 1
		if w != nil || b != nil {
			sets, span = c.Int(at), c.Int(at+1)
			at += 2
		}
		eps := float64(c.Float(at))
		c.Parallel(rows, 5*n, func(lo, hi int) {
			for r := lo; r < hi; r++ {
				to := y[r*n:][:n]
				row := x[r*n:][:n]
				means[r], rstds[r] = moments(l, row, to, f.Centred, eps)
				if f.Centred {
					row = to
				}
				affine(l, to, row, rstds[r], w, b, r%sets*(n/span), span)
			}
		})
	}
}

// moments returns the mean of a row and the inverse of its deviation from that, or from 0. Centred, it sets to to the
// differences from the mean.
func moments[T kernels.Float](l *vec.Loops[T], row, to []T, centred bool, eps float64) (mean, rstd T) {
	n := float64(len(row))
	var square T
	if centred {
		mean = T(float64(l.Sum(row)) / n)
		if rest := T(float64(l.SubSum(to, row, mean)) / n); rest-rest == 0 { // neither infinite nor NaN
			square = l.SubSquares(to, to, rest)
			mean += rest
		} else {
			square = l.Dot(to, to)
		}
	} else {
		square = l.Dot(row, row)
	}
	return mean, T(inverseDeviation[T](float64(square), n, eps))
}

// affine sets to to a row times a number, by weights, plus biases, of which the first is element first, and each
// is of span neighbours; either may be nil.
func affine[T kernels.Float](l *vec.Loops[T], to, row []T, by T, w, b []T, first, span int) {
	if span == 1 && w != nil && b != nil {
		l.ScaledFMA(to, row, by, w[first:], b[first:])
		return
	}
	l.MapBy(vec.Mul, to, row, by)
	switch {
	case w == nil && b == nil:
	case span == 1 && w != nil:
		l.Map(vec.Mul, to, to, w[first:], to, to)
	case span == 1:
		l.Map(vec.Add, to, to, b[first:], to, to)
	default:
		for k := 0; k < len(to); k, first = k+span, first+1 {
			part := to[k : k+span]
			if w != nil {
				l.MapBy(vec.Mul, part, part, w[first])
			}
			if b != nil {
				l.MapBy(vec.Add, part, part, b[first])
			}
		}
	}
}

// inverseDeviation is 1/√(square/n + eps) of a sum of n squares: NaN where that overflows in T,
// whose inverse would make 0 of all that it multiplies.
func inverseDeviation[T kernels.Float](square, n, eps float64) float64 {
	if math.IsInf(float64(T(square)), 1) {
		return math.NaN()
	}
	return 1 / math.Sqrt(square/n+eps)
}

func overrideNormGrad(k *kernels.Kernel, f defs.NormForm) {
	k.Host = kernels.HostKernel{F32: normGradRows(f, k.Host.F32), F64: normGradRows(f, k.Host.F64)}
}

// normGradRows returns the Go code of a norm's gradient with sums over lines: generated is that of its
// definition.
func normGradRows[T kernels.Float](f defs.NormForm, generated func(kernels.HostArgs[T])) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		l := loopsOf(c)
		if l == nil {
			generated(c)
			return
		}
		x, g, at := c.Floats(0), c.Floats(1), 2
		var w []T
		if f.Weights {
			w, at = c.Floats(2), 3
		}
		means, rstds, d, dw, db := c.Floats(at), c.Floats(at+1), c.Floats(at+2), c.Floats(at+3), c.Floats(at+4)
		rows, n, run := c.Int(at+5), c.Int(at+6), c.Int(at+8)
		c.Parallel(intmath.CeilDiv(rows, run), 5*n*run, func(lo, hi int) {
			room := l.Scratch(2 * n)
			defer l.Return(room)
			for part := lo; part < hi; part++ {
				hs, gs := dw[part*n:][:n], db[part*n:][:n]
				clear(hs)
				clear(gs)
				for r := part * run; r < min(rows, (part+1)*run); r++ {
					h, up, above := room.V[:n], room.V[n:], g[r*n:][:n]
					if w != nil {
						l.NormGradSums(h, up, hs, gs, x[r*n:][:n], above, w, means[r], rstds[r])
					} else {
						up = above
						l.MapBy(vec.Sub, h, x[r*n:][:n], means[r])
						l.MapBy(vec.Mul, h, h, rstds[r])
						l.Map(vec.Add, gs, gs, above, gs, gs)
						l.Map(vec.FMA, hs, above, h, hs, hs)
					}
					mean, by := T(0), l.Dot(up, h)/T(n)
					if f.Centred {
						mean = l.Sum(up) / T(n)
					}
					l.NormGrad(d[r*n:][:n], up, h, mean, by, rstds[r])
				}
			}
		})
	}
}
