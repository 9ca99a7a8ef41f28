package kernels

import (
	"math"

	"github.com/clgrad/clgrad/internal/par"
)

// Kernels of the sums and maxima. Sums over a tree or in chunks differ from the twin's by rounding: the
// error grows with the number of terms and their size.
var (
	// Sum is P[g] = scale·ΣX over chunk g, in a fixed order: X, P, n, chunk, scale.
	Sum = &Kernel{Name: "k_sum", File: "reduce_cpu.cl", GPU: "reduce_gpu.cl",
		Grid:   perChunk(1),
		Params: []Param{{"X", In}, {"P", Out}, {"n", IntArg}, {"chunk", IntArg}, {"scale", RealArg}},
		Twin:   Twin{sumTwin[float32], sumTwin[float64]},
		Tol:    Tolerance{ULP: 4, Rel: 8, Scale: sumScale(3, 4)}}
	// SquaredError is P[g] = Σ(X−T)² over chunk g, in a fixed order, and the gradient D = 2(X−T):
	// X, T, D, P, n, chunk.
	SquaredError = &Kernel{Name: "k_squared_error", File: "reduce_cpu.cl", GPU: "reduce_gpu.cl",
		Grid:   perChunk(3),
		Params: []Param{{"X", In}, {"T", In}, {"D", Out}, {"P", Out}, {"n", IntArg}, {"chunk", IntArg}},
		Twin:   Twin{squaredErrorTwin[float32], squaredErrorTwin[float64]},
		Tol: Tolerance{ULP: 4, Rel: 8, Scale: func(a []Arg) float64 {
			most := MaxAbs(a, 0) + MaxAbs(a, 1)
			return float64(a[5].Int) * most * most
		}}}
	// SumAtomic is Y[0] += scale·ΣX with float atomics: X, Y, n, scale.
	SumAtomic = &Kernel{Name: "k_sum_atomic", File: "reduce.cl",
		Grid: func(a []Arg, l Limits) Grid {
			g := l.group()
			return Grid{Dims: 1, Global: [3]int{min(roundUp(a[0].N, g), 4*l.Units*g)}, Local: [3]int{g}}
		},
		Params: []Param{{"X", In}, {"Y", InOut}, {"n", IntArg}, {"scale", RealArg}},
		Twin:   Twin{sumAtomicTwin[float32], sumAtomicTwin[float64]},
		Tol:    Tolerance{ULP: 4, Rel: 16, Scale: sumScale(2, 3)}} // added one by one
	// SumAxis sums the middle axis of X [outer, len, inner] in a fixed order, times scale, into or onto
	// Y [outer, inner]: X, Y, outer, len, inner, scale, accumulate.
	SumAxis = &Kernel{Name: "k_sum_axis", File: "reduce_cpu.cl", GPU: "reduce_gpu.cl",
		Grid: func(a []Arg, l Limits) Grid {
			outer, inner := int(a[2].Int), int(a[4].Int)
			if l.CPU {
				return groups(ceilDiv(inner, 16), outer)
			}
			wide := 1
			for wide < inner && wide < 32 {
				wide *= 2
			}
			tall := sumGroup / wide
			return Grid{Dims: 2, Global: [3]int{roundUp(inner, wide), outer * tall}, Local: [3]int{wide, tall}}
		},
		Params: []Param{{"X", In}, {"Y", InOut}, {"outer", IntArg}, {"len", IntArg}, {"inner", IntArg},
			{"scale", RealArg}, {"accumulate", IntArg}},
		Twin: Twin{sumAxisTwin[float32], sumAxisTwin[float64]},
		Tol:  Tolerance{ULP: 4, Rel: 8, Scale: sumScale(3, 5)}}
	// MaxAxis is the maximum over the middle axis of X [outer, len, inner], of reals or integers; a NaN wins:
	// X, Y, outer, len, inner.
	MaxAxis = Typed(&Kernel{Name: "k_max_axis", File: "reduce.cl", Grid: axisPlane(2, 4),
		Params: []Param{{"X", In}, {"Y", Out}, {"outer", IntArg}, {"len", IntArg}, {"inner", IntArg}},
		Twin:   Twin{extremeAxisTwin[float32](1), extremeAxisTwin[float64](1)}}, "integer.cl", "k_int_max_axis",
		ElementTwin(extremeIntegerTwin[int32](false)), ElementTwin(extremeIntegerTwin[uint8](false)), Twin{})
	// MinAxis is the minimum over the middle axis of X [outer, len, inner], of reals or integers; a NaN wins:
	// X, Y, outer, len, inner.
	MinAxis = Typed(&Kernel{Name: "k_min_axis", File: "reduce.cl", Grid: axisPlane(2, 4),
		Params: []Param{{"X", In}, {"Y", Out}, {"outer", IntArg}, {"len", IntArg}, {"inner", IntArg}},
		Twin:   Twin{extremeAxisTwin[float32](-1), extremeAxisTwin[float64](-1)}}, "integer.cl", "k_int_min_axis",
		ElementTwin(extremeIntegerTwin[int32](true)), ElementTwin(extremeIntegerTwin[uint8](true)), Twin{})
	// MaxAxisGrad hands the gradient of a maximum, or of a minimum, to its ties in equal parts:
	// X, Y, G, D, outer, len, inner.
	MaxAxisGrad = &Kernel{Name: "k_max_axis_grad", File: "reduce.cl", Grid: axisPlane(4, 6),
		Params: []Param{{"X", In}, {"Y", In}, {"G", In}, {"D", Out}, {"outer", IntArg}, {"len", IntArg}, {"inner", IntArg}},
		Twin:   Twin{maxAxisGradTwin[float32], maxAxisGradTwin[float64]}, Tol: ULP(3)}
)

// sumGroup is SUM_GROUP of reduce_gpu.cl.
const sumGroup = 256

// SumRuns returns in how many runs the rows of [outer, n, inner] are to be summed before the runs are: 1,
// unless the columns would fill only a part of a GPU.
func SumRuns(outer, n, inner int, l Limits) int {
	const short = 256 // rows: a shorter run is not worth a work-group
	columns := ceilDiv(inner, 32)
	if l.CPU || outer != 1 || columns >= l.Units || n < 8*short {
		return 1
	}
	return max(1, min(2*l.Units/columns, n/short))
}

// perChunk launches one work-group per element of argument arg.
func perChunk(arg int) func([]Arg, Limits) Grid {
	return func(a []Arg, l Limits) Grid {
		if l.CPU {
			return Grid{Dims: 1, Global: [3]int{a[arg].N}, Local: [3]int{1}}
		}
		return Grid{Dims: 1, Global: [3]int{a[arg].N * sumGroup}, Local: [3]int{sumGroup}}
	}
}

func axisPlane(outer, inner int) func([]Arg, Limits) Grid {
	return func(a []Arg, l Limits) Grid { return plane(int(a[inner].Int), int(a[outer].Int), l) }
}

// sumScale bounds the error of a sum: terms (an int argument) times scale times the largest term.
func sumScale(terms, scale int) func([]Arg) float64 {
	return func(a []Arg) float64 { return float64(a[terms].Int) * math.Abs(a[scale].Real) * MaxAbs(a, 0) }
}

// pairwise sums x as a balanced tree over runs of 64: error O(log n), and the same on every run.
func pairwise[T Real](x []T) T {
	if len(x) <= 64 {
		var s T
		for _, v := range x {
			s += v
		}
		return s
	}
	half := (len(x)/2 + 63) / 64 * 64
	return pairwise(x[:half]) + pairwise(x[half:])
}

func sumTwin[T Real](c Call[T]) {
	x, p, chunk, scale := c.Reals(0), c.Reals(1), c.Int(3), c.Real(4)
	par.For(len(p), max(1, par.Grain/max(chunk, 1)), func(lo, hi int) {
		for g := lo; g < hi; g++ {
			p[g] = scale * pairwise(x[min(g*chunk, len(x)):min((g+1)*chunk, len(x))])
		}
	})
}

func squaredErrorTwin[T Real](c Call[T]) {
	x, t, d, p, chunk := c.Reals(0), c.Reals(1), c.Reals(2), c.Reals(3), c.Int(5)
	par.For(len(p), max(1, par.Grain/max(chunk, 1)), func(lo, hi int) {
		for g := lo; g < hi; g++ {
			sum := 0.0
			for i := min(g*chunk, len(x)); i < min((g+1)*chunk, len(x)); i++ {
				e := x[i] - t[i]
				d[i] = 2 * e
				sum += float64(e) * float64(e)
			}
			p[g] = T(sum)
		}
	})
}

func sumAtomicTwin[T Real](c Call[T]) { c.Reals(1)[0] += c.Real(3) * pairwise(c.Reals(0)) }

func sumAxisTwin[T Real](c Call[T]) {
	x, y, outer, n, inner, scale, accumulate := c.Reals(0), c.Reals(1), c.Int(2), c.Int(3), c.Int(4), c.Real(5), c.Int(6) != 0
	if inner == 1 {
		par.For(outer, max(1, par.Grain/max(n, 1)), func(lo, hi int) {
			for o := lo; o < hi; o++ {
				s := scale * pairwise(x[o*n:(o+1)*n])
				if accumulate {
					s += y[o]
				}
				y[o] = s
			}
		})
		return
	}
	// Columns are summed in float64, row by row: the inner loop runs along memory.
	par.For(outer*inner, max(1, par.Grain/max(n, 1)), func(lo, hi int) {
		sums := make([]float64, hi-lo)
		for at := lo; at < hi; {
			o, i := at/inner, at%inner
			w := min(inner-i, hi-at)
			s := sums[:w]
			clear(s)
			for k := range n {
				row := x[(o*n+k)*inner+i:][:w]
				for j, v := range row {
					s[j] += float64(v)
				}
			}
			for j, v := range s {
				if accumulate {
					y[at+j] += T(float64(scale) * v)
				} else {
					y[at+j] = T(float64(scale) * v)
				}
			}
			at += w
		}
	})
}

// extremeAxisTwin is the maximum along an axis for sign 1, the minimum for −1.
func extremeAxisTwin[T Real](sign T) func(Call[T]) {
	return func(c Call[T]) {
		x, y, outer, n, inner := c.Reals(0), c.Reals(1), c.Int(2), c.Int(3), c.Int(4)
		for o := range outer {
			for i := range inner {
				m := x[o*n*inner+i]
				for k := 1; k < n; k++ {
					if v := x[(o*n+k)*inner+i]; m == m && !(sign*m > sign*v) {
						m = v
					}
				}
				y[o*inner+i] = m
			}
		}
	}
}

// attains reports whether x attains the maximum, or minimum, m of its line: NaNs do where it is NaN.
func attains[T Real](x, m T) bool { return x == m || x != x && m != m }

func maxAxisGradTwin[T Real](c Call[T]) {
	x, y, g, d := c.Reals(0), c.Reals(1), c.Reals(2), c.Reals(3)
	outer, n, inner := c.Int(4), c.Int(5), c.Int(6)
	for o := range outer {
		for i := range inner {
			m, ties := y[o*inner+i], 0
			for k := range n {
				if attains(x[(o*n+k)*inner+i], m) {
					ties++
				}
			}
			for k := range n {
				at := (o*n+k)*inner + i
				d[at] = 0
				if attains(x[at], m) {
					d[at] = g[o*inner+i] / T(ties)
				}
			}
		}
	}
}
