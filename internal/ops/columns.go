package ops

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// ColumnSums adds up the columns of runs of rows of X [rows, cols], row after row, into P
// [⌈rows/run⌉, cols]: X, P, rows, cols, run. Its shares are those of LinearGrad, with the same
// bits.
var ColumnSums = &kernels.Kernel{Name: "k_column_sums", File: "columns_cpu.cl", GPU: "columns_gpu.cl",
	Params: []kernels.Param{in("X"), out("P"), intArg("rows"), intArg("cols"), intArg("run")},
	Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		cols, runs := int(a[3].Int), intmath.CeilDiv(int(a[2].Int), int(a[4].Int))
		if l.CPU {
			return kernels.Groups(intmath.CeilDiv(cols, 16), runs)
		}
		const wide = 32 // whatever the columns are: launches of several sizes can be one
		tall := max(1, l.Group()/wide)
		return kernels.Grid{Dims: 2, Global: [3]int{intmath.RoundUp(cols, wide), intmath.RoundUp(runs, tall)}, Local: [3]int{wide, tall}}
	},
	Host: kernels.HostKernel{F32: columnSumsHost[float32], F64: columnSumsHost[float64]}, Semantics: columnSumsSemantics,
	Cases:   columnSumsCases,
	Fusions: fused.Fusions{Batch: &fused.BatchSpec{Function: "column_sums"}},
	Tol: kernels.Tolerance{ULP: 4, Rel: 8, Scale: func(a []kernels.Arg) float64 {
		return float64(a[4].Int) * kernels.MaxAbs(a, 0)
	}},
}

func columnSumsHost[T kernels.Float](c kernels.HostArgs[T]) {
	x, p, rows, cols, run := c.Floats(0), c.Floats(1), c.Int(2), c.Int(3), c.Int(4)
	loops := loopsOf(c)
	c.Parallel(intmath.CeilDiv(rows, run), run*cols, func(lo, hi int) {
		for z := lo; z < hi; z++ {
			addRows(loops, p[z*cols:(z+1)*cols], x[z*run*cols:min(rows, (z+1)*run)*cols])
		}
	})
}

// addRows sets sum to the sum of rows of its length, one after the other.
func addRows[T kernels.Float](loops *vec.Loops[T], sum, rows []T) {
	clear(sum)
	for cols := len(sum); len(rows) > 0; rows = rows[cols:] {
		if loops != nil {
			loops.Map(vec.Add, sum, sum, rows[:cols], sum, sum)
			continue
		}
		for j, v := range rows[:cols] {
			sum[j] += v
		}
	}
}

func columnSumsSemantics(in args) operations {
	rows, cols, run := int(in[2].Int), int(in[3].Int), int(in[4].Int)
	return operations{columnSums(rows, cols, run, view(in, 0, 0, 0, cols, 1), view(in, 1, 0, 0, cols, 1))}
}

// columnSums describes sums of the columns of runs of rows.
func columnSums(rows, cols, run int, x, p kernels.View) *operation.Reduction {
	return &operation.Reduction{Function: fn.Add, Outer: 1, Len: rows, Inner: cols, Shares: intmath.CeilDiv(rows, run),
		Chunk: run, X: x, Y: p}
}

// columnSumsCases are the launches that test ColumnSums, around the vectors of a CPU and the groups
// of a GPU.
func columnSumsCases(few bool) []kernels.Case {
	var cases []kernels.Case
	for i, s := range [][2]int{{1, 1}, {3, 5}, {17, 3}, {5, 33}, {64, 64}, {130, 67}, {0, 4}, {9, 16}} {
		rows, cols, run := s[0], s[1], 1+4*i
		if few && rows*cols > 3000 {
			continue
		}
		cases = append(cases, kernels.Case{Name: fmt.Sprintf("%dx%d in runs of %d", rows, cols, run), Build: func(o *kernels.Operands) {
			o.In(rows*cols, -1, 1).Out(intmath.CeilDiv(rows, run)*cols).Int(rows, cols, run)
		}})
	}
	return cases
}
