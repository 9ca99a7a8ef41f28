package ops

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// Kernels of the sums and maxima. Sums over a tree or in chunks differ from the host kernel's by rounding:
// the error grows with the number of terms and their size.
var (
	// Sum is P[g] = scale·ΣX over chunk g, in a fixed order: X, P, n, chunk, scale.
	Sum = &kernels.Kernel{Name: "k_sum", File: "reduce_cpu.cl", GPU: "reduce_gpu.cl",
		Grid:   perChunk(1),
		Params: []kernels.Param{in("X"), out("P"), intArg("n"), intArg("chunk"), floatArg("scale")},
		Host:   kernels.HostKernel{F32: sumHost[float32], F64: sumHost[float64]}, Semantics: sumSemantics,
		Fusions: fused.Fusions{Rows: sumRows("sum", func(a []kernels.Arg) (rows, n int) { return a[1].N, int(a[3].Int) })},
		Tol:     kernels.Tolerance{ULP: 4, Rel: 8, Scale: sumScale(3, 4)}}
	// SumAxis sums the middle axis of X [outer, len, inner] in a fixed order, times scale, into or
	// onto Y [outer, inner]: X, Y, outer, len, inner, scale, accumulate.
	SumAxis = &kernels.Kernel{Name: "k_sum_axis", File: "reduce_cpu.cl", GPU: "reduce_gpu.cl",
		Grid: sumAxisGrid,
		Params: []kernels.Param{in("X"), inOut("Y"), intArg("outer"), intArg("len"), intArg("inner"),
			floatArg("scale"), intArg("accumulate")},
		Host: kernels.HostKernel{F32: sumAxisHost[float32], F64: sumAxisHost[float64]}, Semantics: sumAxisSemantics,
		Fusions: fused.Fusions{Batch: &fused.BatchSpec{Function: "sum_axis", Local: "SUM_GROUP",
			GroupRanges: &fused.GroupRanges{Items: sumGroup, Ints: []string{"lx"},
				Of: func(g kernels.Grid) []int { return []int{g.Local[0]} },
				Place: "const int columns = (inner + lx - 1) / lx, column = block % columns, o = block / columns, " +
					"lid = get_local_id(0);"}}, AsElementwise: sumAxisTerms, Epilogue: storesSumAxis,
			Rows: sumRows("sum_row", func(a []kernels.Arg) (rows, n int) {
				if a[4].Int == 1 {
					rows, n = int(a[2].Int), int(a[3].Int)
				}
				return rows, n
			})},
		Cases: sumAxisCases, Tol: kernels.Tolerance{ULP: 4, Rel: 8, Scale: sumScale(3, 5)}}
)

func sumAxisGrid(a []kernels.Arg, l kernels.Target) kernels.Grid {
	outer, n, inner := int(a[2].Int), int(a[3].Int), int(a[4].Int)
	if l.CPU { // as few as keep the units busy: a work-group of more columns reads longer pieces of rows
		enough := intmath.CeilDiv(4*l.Units, max(outer, 1))
		return kernels.Groups(min(intmath.CeilDiv(inner, 16), max(intmath.CeilDiv(inner, 64), enough)), outer)
	}
	const strip = 16 // rows of a work-item: narrower groups, which read less at a time, are no faster
	wide := 1
	for wide < inner && wide < 32 {
		wide *= 2
	}
	for wide > 1 && n*wide > strip*sumGroup && outer*intmath.CeilDiv(inner, wide) < 2*l.Units {
		wide /= 2
	}
	for wide >= 32 && 2*wide <= sumGroup && 4*n*wide <= strip*sumGroup && outer*inner >= 4*wide*l.Units { // few rows
		wide *= 2
	}
	tall := sumGroup / wide
	return kernels.Grid{Dims: 2, Global: [3]int{intmath.RoundUp(inner, wide), outer * tall}, Local: [3]int{wide, tall}}
}

// sumAxisCases are the launches that test SumAxis: lines that are short and long, and side by side.
func sumAxisCases(few bool) []kernels.Case {
	var cases []kernels.Case
	for i, b := range [][3]int{{1, 1, 1}, {1, 300, 1}, {7, 33, 1}, {1, 100, 64}, {3, 17, 5}, {2, 65, 35}, {1, 513, 3}, {4, 0, 3}} {
		if few && b[0]*b[1]*b[2] > 5000 {
			continue
		}
		cases = append(cases, kernels.Case{Name: fmt.Sprint(b), Build: func(o *kernels.Operands) {
			o.In(b[0]*b[1]*b[2], -1, 1).In(b[0]*b[2], -1, 1).Int(b[0], b[1], b[2]).Float(0.5).Int(i % 2)
		}})
	}
	return cases
}

// sumRows is the Rows of a kernel that sums rows of n elements of its first argument, each by a
// work-group on GPUs.
func sumRows(function string, shape func(a []kernels.Arg) (rows, n int)) *fused.RowSpec {
	return &fused.RowSpec{Function: function, Local: []fused.Local{{Type: "REAL", N: sumGroup}},
		Of: func(a []kernels.Arg, l kernels.Target) *fused.RowTiling {
			rows, n := shape(a)
			if rows == 0 || n == 0 {
				return nil
			}
			of := &fused.RowTiling{Rows: rows, Slices: []fused.RowSlice{fused.ConsecutiveRows(n), fused.ConsecutiveRows(1)}}
			if !l.CPU {
				of.Run = 1
			}
			return of
		}}
}

// sumGroup is SUM_GROUP of reduce_gpu.cl.
const sumGroup = 256

// SumRuns returns in how many runs the rows of [outer, n, inner] are to be summed before the runs
// are: 1, unless the columns would fill only a part of a GPU, and a single launch of narrow groups
// would take longer than two.
func SumRuns(outer, n, inner int, l kernels.Target) int {
	const short, few, small = 128, 8192, 1 << 20 // rows of a run, rows and elements of a single launch
	columns := intmath.CeilDiv(inner, 32)
	if l.CPU || outer != 1 || columns >= l.Units || n < 8*short || n <= few && n*inner <= small {
		return 1
	}
	return max(1, min(8*l.Units/columns, n/short))
}

// perChunk launches one work-group per element of argument arg.
func perChunk(arg int) func([]kernels.Arg, kernels.Target) kernels.Grid {
	return func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		if l.CPU {
			return kernels.Grid{Dims: 1, Global: [3]int{a[arg].N}, Local: [3]int{1}}
		}
		return kernels.Grid{Dims: 1, Global: [3]int{a[arg].N * sumGroup}, Local: [3]int{sumGroup}}
	}
}

// sumScale bounds the error of a sum: terms (an int argument) times scale times the largest term.
func sumScale(terms, scale int) func([]kernels.Arg) float64 {
	return func(a []kernels.Arg) float64 {
		return float64(a[terms].Int) * math.Abs(a[scale].Float) * kernels.MaxAbs(a, 0)
	}
}

func sumHost[T kernels.Float](c kernels.HostArgs[T]) {
	x, p, chunk, scale := c.Floats(0), c.Floats(1), c.Int(3), c.Float(4)
	sum := summing(c)
	c.Parallel(len(p), chunk, func(lo, hi int) {
		for g := lo; g < hi; g++ {
			p[g] = scale * sum(x[min(g*chunk, len(x)):min((g+1)*chunk, len(x))])
		}
	})
}

func sumAxisHost[T kernels.Float](c kernels.HostArgs[T]) {
	x, y, outer, n, inner, scale, accumulate := c.Floats(0), c.Floats(1), c.Int(2), c.Int(3), c.Int(4), c.Float(5), c.Int(6) != 0
	if inner == 1 {
		const few = 8 // take longer in vectors
		sum := pairwise[T]
		if n > few {
			sum = summing(c)
		}
		c.Parallel(outer, n, func(lo, hi int) {
			for o := lo; o < hi; o++ {
				s := scale * sum(x[o*n:(o+1)*n])
				if accumulate {
					s += y[o]
				}
				y[o] = s
			}
		})
		return
	}
	const wide = 1024 // columns of a block: their sums stay in the first cache
	loops, blocks := loopsOf(c), intmath.CeilDiv(inner, wide)
	c.Parallel(outer*blocks, n*min(inner, wide), func(lo, hi int) {
		columns := wideSums[T]{loops: loops}
		for at := lo; at < hi; at++ {
			o, i := at/blocks, at%blocks*wide
			w := min(inner-i, wide)
			to := y[o*inner+i:][:w]
			for j, v := range columns.parallel(x[min(len(x), o*n*inner+i):], n, inner, w)[:w] {
				if accumulate {
					to[j] += T(float64(scale) * v)
				} else {
					to[j] = T(float64(scale) * v)
				}
			}
		}
	})
}
