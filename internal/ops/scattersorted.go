package ops

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

const runBlock = 32 // RUN_BLOCK of scatter_sorted.cl

// RunBlocks returns how many blocks n sorted keys are. What is left of them is two rows of each.
func RunBlocks(n int) int { return intmath.CeilDiv(n, runBlock) }

// ScatterRuns is a pass of scatters to rows on GPUs, where the indices are sorted first. It brings rows of
// G [., cols] to rows of Y [rows, cols] by sorted keys, and leaves those of runs that reach beyond
// a block: G, P, K, Y, H, HK, n, cols, rows, how, sorted.
var ScatterRuns = kernels.Typed(&kernels.Kernel{Name: "k_scatter_runs", File: "scatter_sorted.cl",
	Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		return kernels.Grid2D(int(a[7].Int), RunBlocks(int(a[6].Int)), l)
	},
	Params: []kernels.Param{in("G"), inInts("P"), inInts("K"), inOut("Y"), out("H"), outInts("HK"), intArg("n"), intArg("cols"), intArg("rows"), intArg("how"), intArg("sorted")},
	Host:   kernels.HostKernel{F32: scatterRunsHost[float32], F64: scatterRunsHost[float64]}}, "scatter_sorted.cl",
	"k_scatter_runs",
	kernels.ElementHostKernel(scatterRunsHost[int32]), kernels.ElementHostKernel(scatterRunsHost[uint8]),
	kernels.HostKernel{}, kernels.ElementHostKernel(scatterRunsHost[int64]))

func scatterRunsHost[T number](c kernels.HostArgs[T]) {
	g, from, keys, y, h, left := c.Floats(0), c.Ints(1), c.Ints(2), c.Floats(3), c.Floats(4), c.Ints(5)
	n, cols, rows, how, sorted := c.Int(6), c.Int(7), c.Int(8), Scatter(c.Int(9)), c.Int(10) != 0
	row := func(i int) []T {
		if sorted {
			i = int(from[i])
		}
		return g[i*cols:][:cols]
	}
	c.Parallel(RunBlocks(n), runBlock*cols, func(lo, hi int) {
		sum := make([]T, cols)
		for b := lo; b < hi; b++ {
			begin, end := b*runBlock, min(n, (b+1)*runBlock)
			head, tail := h[2*b*cols:][:cols], h[(2*b+1)*cols:][:cols]
			clear(head)
			clear(tail)
			left[2*b], left[2*b+1] = int32(rows), int32(rows)
			for i := begin; i < end; {
				key, at := keys[i], i
				copy(sum, row(i))
				for i++; i < end && keys[i] == key; i++ {
					for k, v := range row(i) {
						sum[k] = combined(sum[k], v, how)
					}
				}
				if int(key) >= rows {
					continue
				}
				before := at == begin && begin > 0 && keys[begin-1] == key
				behind := i == end && end < n && keys[end] == key
				if before {
					left[2*b] = key
					switch copy(head, sum); {
					case behind && how == ScatterAdd:
						clear(head)
					case behind && how == ScatterMul:
						for k := range head {
							head[k] = 1
						}
					}
				}
				if behind {
					left[2*b+1] = key
					copy(tail, sum)
				}
				if !before && !behind {
					to := y[int(key)*cols:][:cols]
					for k, v := range sum {
						to[k] = combined(to[k], v, how)
					}
				}
			}
		}
	})
}
