package ops

import (
	"math"

	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
)

// Kernels of means and variances.
var (
	// Moments is the mean M of each share of the middle axis of X [outer, len, inner], and scale
	// times the sum V of the squared deviations from it, both [outer, shares, inner]: X, M, V,
	// outer, len, inner, chunk, shares, wide, tall, scale; see FoldShape. Where V is NaN, M is.
	Moments = &kernels.Kernel{Name: "k_moments", File: "moments_cpu.cl", GPU: "moments_gpu.cl",
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			outer, n, inner, chunk, shares := int(a[3].Int), int(a[4].Int), int(a[5].Int), int(a[6].Int), int(a[7].Int)
			if l.CPU {
				return cpuLines(outer*shares, min(n, chunk), inner, l)
			}
			return gpuLines(outer*shares, inner, int(a[8].Int), int(a[9].Int))
		},
		Params: []kernels.Param{in("X"), out("M"), out("V"), intArg("outer"), intArg("len"), intArg("inner"), intArg("chunk"), intArg("shares"),
			intArg("wide"), intArg("tall"), realArg("scale")},
		Twin: kernels.Twin{F32: momentsTwin[float32], F64: momentsTwin[float64]}, Tol: kernels.Tolerance{ULP: 4, Bound: momentsBound}}
	// MomentsJoin makes of the means and the squared deviations of shares those of whole lines, the
	// latter times scale: M, V [outer, shares, inner], Y, Z [outer, inner], outer, len, inner,
	// chunk, shares, scale.
	MomentsJoin = &kernels.Kernel{Name: "k_moments_join", File: "moments_cpu.cl", GPU: "moments_gpu.cl",
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			g := foldGroup
			if l.CPU {
				g = 1
			}
			return kernels.Grid{Dims: 1, Global: [3]int{int(a[4].Int) * int(a[6].Int) * g}, Local: [3]int{g}}
		},
		Params: []kernels.Param{in("M"), in("V"), out("Y"), out("Z"), intArg("outer"), intArg("len"), intArg("inner"), intArg("chunk"), intArg("shares"), realArg("scale")},
		Twin:   kernels.Twin{F32: momentsJoinTwin[float32], F64: momentsJoinTwin[float64]},
		Tol: kernels.Tolerance{ULP: 4, Rel: 8, Scale: func(a []kernels.Arg) float64 {
			most, n := kernels.MaxAbs(a, 0), float64(a[5].Int)
			return most + math.Abs(a[9].Real)*float64(a[8].Int)*(kernels.MaxAbs(a, 1)+n*most*most)
		}}}
)

// moments returns the mean of a line and the sum of the squared deviations from it; both NaN if the
// latter is. Blocks of it are joined in pairs.
func moments[T kernels.Real](line []T) (mean, squares float64) {
	if n := len(line); n > pairTerms {
		half := halfOf(n)
		m, s := moments(line[:half])
		mean, squares = moments(line[half:])
		d, part := m-mean, float64(half)/float64(n)
		mean, squares = mean+d*part, squares+s+d*d*part*float64(n-half)
		if squares != squares {
			mean = squares
		}
		return mean, squares
	}
	for k, v := range line {
		d := float64(v) - mean
		mean += d / float64(k+1)
		squares += d * (float64(v) - mean)
	}
	if squares != squares {
		mean = squares
	}
	return mean, squares
}

func momentsTwin[T kernels.Real](c kernels.Call[T]) {
	m, v, scale := c.Reals(1), c.Reals(2), c.Real(10)
	if n, inner := min(c.Int(4), c.Int(6)), c.Int(5); vectorFold(c, n, inner) != nil {
		momentsVectors(c, loopsOf(c), m, v, scale)
		return
	}
	eachPart(c, c.Reals(0), c.Int(3), c.Int(4), c.Int(5), c.Int(6), c.Int(7), 8, func(at int, line []T) {
		mean, squares := moments(line)
		m[at], v[at] = T(mean), scale*T(squares)
	})
}

func momentsVectors[T kernels.Real](c kernels.Call[T], l *vec.Loops[T], m, v []T, scale T) {
	inner := c.Int(5)
	eachPartial(c, c.Reals(0), c.Int(3), c.Int(4), inner, c.Int(6), c.Int(7), cachedColumns[T](min(c.Int(4), c.Int(6))), 8, func(at int, x []T, rows, w int) {
		means, squares := m[at:at+w], v[at:at+w]
		if inner == 1 {
			means[0], squares[0] = channelMoments(l, x, rows, rows, func(body func(at int)) { body(0) })
		} else {
			columnMoments(l, means, squares, x, rows, inner)
		}
		for j, s := range squares {
			if s != s {
				means[j] = s
			}
			squares[j] = scale * s
		}
	})
}

// momentsBound is that of Welford's sums: the error of the squares is that of as many additions,
// times how far the mean is off in terms of the deviations.
func momentsBound(real kernels.DType, a []kernels.Arg) func(param, i int) float64 {
	eps, _ := real.Epsilon()
	n, inner, chunk, shares, scale := int(a[4].Int), int(a[5].Int), int(a[6].Int), int(a[7].Int), math.Abs(a[10].Real)
	return func(param, i int) float64 {
		row := i / inner
		begin := row % shares * chunk
		var line []float64
		norm, most := 0.0, 0.0
		for k := begin; k < min(n, begin+chunk); k++ {
			x := a[0].At((row/shares*n+k)*inner + i%inner)
			line = append(line, x)
			norm, most = norm+x*x, max(most, math.Abs(x))
		}
		terms := float64(len(line) + 8)
		if param == 1 {
			return eps * terms * most
		}
		_, squares := moments(line)
		return scale * (eps*terms*math.Sqrt(squares*norm) + terms*(eps*terms*most)*(eps*most))
	}
}

func momentsJoinTwin[T kernels.Real](c kernels.Call[T]) {
	m, v, y, z := c.Reals(0), c.Reals(1), c.Reals(2), c.Reals(3)
	outer, n, inner, chunk, shares, scale := c.Int(4), c.Int(5), c.Int(6), c.Int(7), c.Int(8), c.Real(9)
	for o := range outer {
		for i := range inner {
			mean, sum := 0.0, 0.0
			for s := range shares {
				mean += float64(m[(o*shares+s)*inner+i]) * float64(min(n-s*chunk, chunk)) / float64(n)
			}
			for s := range shares {
				d := float64(m[(o*shares+s)*inner+i]) - mean
				sum += float64(v[(o*shares+s)*inner+i]) + d*d*float64(min(n-s*chunk, chunk))
			}
			if sum != sum {
				mean = sum
			}
			y[o*inner+i], z[o*inner+i] = T(mean), scale*T(sum)
		}
	}
}
