package ops

import (
	"math/bits"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// SORT_GROUP·SORT_KEYS, SORT_DIGITS and RUN_BLOCK of runs.cl.
const (
	sortGroup  = 256
	sortTile   = sortGroup * 8
	sortDigits = 16
	runBlock   = 32
)

// SortBits is how many bits of a key one pass of a sort looks at.
const SortBits = 4

// SortTiles returns how many tiles n keys are, each of which has SortDigits counts.
func SortTiles(n int) (tiles, counts int) {
	tiles = intmath.CeilDiv(n, sortTile)
	return tiles, tiles * sortDigits
}

// SortPasses returns how many passes sort keys from 0 to rows.
func SortPasses(rows int) int { return intmath.CeilDiv(bits.Len(uint(rows)), SortBits) }

// RunBlocks returns how many blocks n sorted keys are. What is left of them is two rows of each.
func RunBlocks(n int) int { return intmath.CeilDiv(n, runBlock) }

// Kernels of runs.cl: scatters to rows on GPUs, where the indices are sorted first.
var (
	// SortCount counts the digits of each tile of keys: K, C, n, rows, shift.
	SortCount = &kernels.Kernel{Name: "k_sort_count", File: "runs.cl", Grid: sortGrid(2),
		Params: []kernels.Param{inInts("K"), outInts("C"), intArg("n"), intArg("rows"), intArg("shift")},
		Twin:   kernels.Twin{F32: sortCountTwin[float32], F64: sortCountTwin[float64]}}
	// SortScan makes of counts the sums of those before them: C, n.
	SortScan = &kernels.Kernel{Name: "k_sort_scan", File: "runs.cl",
		Grid: func(a []kernels.Arg, _ kernels.Limits) kernels.Grid {
			return kernels.Grid{Dims: 1, Global: [3]int{sortGroup * min(1, int(a[1].Int))}, Local: [3]int{sortGroup}}
		},
		Params: []kernels.Param{{Name: "C", Mode: kernels.InOutInts}, intArg("n")},
		Twin:   kernels.Twin{F32: sortScanTwin[float32], F64: sortScanTwin[float64]}}
	// SortMove moves keys to their places by a digit: K, P, C, KO, PO, n, rows, shift, first.
	SortMove = &kernels.Kernel{Name: "k_sort_move", File: "runs.cl", Grid: sortGrid(5),
		Params: []kernels.Param{inInts("K"), inInts("P"), inInts("C"), outInts("KO"), outInts("PO"), intArg("n"), intArg("rows"), intArg("shift"), intArg("first")},
		Twin:   kernels.Twin{F32: sortMoveTwin[float32], F64: sortMoveTwin[float64]}}
	// ScatterRuns brings rows of G [., cols] to rows of Y [rows, cols] by sorted keys, and leaves those of runs that reach
	// beyond a block: G, P, K, Y, H, HK, n, cols, rows, how, sorted.
	ScatterRuns = kernels.Typed(&kernels.Kernel{Name: "k_scatter_runs", File: "runs.cl",
		Grid: func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
			return kernels.Plane(int(a[7].Int), RunBlocks(int(a[6].Int)), l)
		},
		Params: []kernels.Param{in("G"), inInts("P"), inInts("K"), inOut("Y"), out("H"), outInts("HK"), intArg("n"), intArg("cols"), intArg("rows"), intArg("how"), intArg("sorted")},
		Twin:   kernels.Twin{F32: scatterRunsTwin[float32], F64: scatterRunsTwin[float64]}}, "runs.cl", "k_scatter_runs",
		kernels.ElementTwin(scatterRunsTwin[int32]), kernels.ElementTwin(scatterRunsTwin[uint8]), kernels.Twin{})
)

// sortGrid is a work-group for each tile of the keys, whose number is an int argument.
func sortGrid(n int) func([]kernels.Arg, kernels.Limits) kernels.Grid {
	return func(a []kernels.Arg, _ kernels.Limits) kernels.Grid {
		tiles, _ := SortTiles(int(a[n].Int))
		return kernels.Grid{Dims: 1, Global: [3]int{tiles * sortGroup}, Local: [3]int{sortGroup}}
	}
}

// sortKey makes a key of an index.
func sortKey(index int32, rows int) int {
	if index < 0 || int(index) >= rows {
		return rows
	}
	return int(index)
}

func sortCountTwin[T kernels.Real](c kernels.Call[T]) {
	keys, counts, rows, shift := c.Ints(0), c.Ints(1), c.Int(3), c.Int(4)
	tiles, _ := SortTiles(len(keys))
	clear(counts)
	for i, k := range keys {
		counts[sortKey(k, rows)>>shift%sortDigits*tiles+i/sortTile]++
	}
}

func sortScanTwin[T kernels.Real](c kernels.Call[T]) {
	sum := int32(0)
	for i, n := range c.Ints(0) {
		c.Ints(0)[i] = sum
		sum += n
	}
}

func sortMoveTwin[T kernels.Real](c kernels.Call[T]) {
	keys, from, sortedKeys, sortedFrom := c.Ints(0), c.Ints(1), c.Ints(3), c.Ints(4)
	rows, shift, first := c.Int(6), c.Int(7), c.Int(8) != 0
	tiles, _ := SortTiles(len(keys))
	next := append([]int32{}, c.Ints(2)...)
	for i, index := range keys {
		key := sortKey(index, rows)
		at := key>>shift%sortDigits*tiles + i/sortTile
		to := next[at]
		next[at]++
		sortedKeys[to], sortedFrom[to] = int32(key), int32(i)
		if !first {
			sortedFrom[to] = from[i]
		}
	}
}

func scatterRunsTwin[T number](c kernels.Call[T]) {
	g, from, keys, y, h, left := c.Reals(0), c.Ints(1), c.Ints(2), c.Reals(3), c.Reals(4), c.Ints(5)
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
