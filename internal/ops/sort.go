package ops

import (
	"cmp"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// Flags of a sort.
const (
	SortDescending = 1 << iota // from the greatest to the least
	SortGiven                  // elements have the indices of I, not those of their places
)

// Sizes of sorts.
const (
	SortBlock   = 2048 // SORT_BLOCK of sort_gpu.cl
	SortInserts = 64   // elements that a CPU sorts by inserting them, at most
	SortTile    = 8192 // elements that a work-item of a CPU joins
	SortDigit   = 8    // bits by which a pass of a radix sort sorts
)

// Sorts are the kernels that sort rows of elements of a type, reals or int32, NaN last, by their values X and their indices I
// [rows, n] to Y and J. Equal elements keep their order.
type Sorts struct {
	// Blocks sorts blocks of at most SortBlock elements and keeps the first of each: X, I, Y, J, rows, n, block, keep, flags. Y and J
	// have keep elements of each block, or all there are.
	Blocks *kernels.Kernel
	// Digit sorts blocks of any length by SortDigit bits of their keys from shift on: X, I, Y, J, rows, n, block, shift, flags.
	Digit *kernels.Kernel
	// Merge joins each two sorted runs: X, I, Y, J, rows, n, run, tile, flags, where tile is SortTile. It is
	// for CPUs.
	Merge *kernels.Kernel
	// Radix sorts long rows on GPUs.
	Radix
	// Median is the lower median of sorted rows, or the first NaN, and its index: X, I, Y, J, rows, n.
	Median *kernels.Kernel
}

// SortsOf returns the sorts of a type.
func SortsOf(t kernels.DType) *Sorts {
	if t == kernels.Int32 {
		return &intSorts
	}
	return &realSorts
}

var realSorts, intSorts = newSorts(kernels.Float32), newSorts(kernels.Int32)

func newSorts(t kernels.DType) Sorts {
	sort := func(name, file, gpu string, grid func([]kernels.Arg, kernels.Limits) kernels.Grid, real, ints kernels.Twin, numbers ...string) *kernels.Kernel {
		k := &kernels.Kernel{Name: name, File: file, GPU: gpu, Grid: grid, Params: []kernels.Param{in("X"), inInts("I"), out("Y"), outInts("J")}, Twin: real}
		if t == kernels.Int32 {
			k.Defines, k.Twin, k.Params[0], k.Params[2] = "-DOF_INTS -DELEM=int", ints, inInts("X"), outInts("Y")
		}
		for _, n := range numbers {
			k.Params = append(k.Params, intArg(n))
		}
		return k
	}
	blocks := func(a []kernels.Arg) (rows, n, block, blocks int) {
		rows, n, block = int(a[4].Int), int(a[5].Int), int(a[6].Int)
		return rows, n, block, intmath.CeilDiv(n, block)
	}
	radix := newRadix("", sortTiles, kernels.Twin{F32: radixCountTwin(orderKey[float32], sortTiles), F64: radixCountTwin(orderKey[float64], sortTiles)},
		kernels.Twin{F32: radixMoveTwin(orderKey[float32], false), F64: radixMoveTwin(orderKey[float64], false)})
	if t == kernels.Int32 {
		radix = newRadix("-DOF_INTS -DELEM=int", sortTiles, kernels.ElementTwin(radixCountTwin(orderKey[int32], sortTiles)),
			kernels.ElementTwin(radixMoveTwin(orderKey[int32], false)))
	}
	return Sorts{
		Radix: radix,
		Blocks: sort("k_sort_blocks", "sort_cpu.cl", "sort_gpu.cl", func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
			rows, n, block, blocks := blocks(a)
			if l.CPU {
				return cpuLines(rows*blocks, 8*min(n, block), 1, l)
			}
			return kernels.Grid{Dims: 1, Global: [3]int{rows * blocks * foldGroup}, Local: [3]int{foldGroup}}
		}, kernels.Twin{F32: sortBlocksTwin[float32], F64: sortBlocksTwin[float64]}, kernels.ElementTwin(sortBlocksTwin[int32]), "rows", "n", "block", "keep", "flags"),
		Digit: sort("k_sort_digit", "sort_digit.cl", "", func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
			rows, n, block, blocks := blocks(a)
			return cpuLines(rows*blocks, 8*min(n, block), 1, l)
		}, kernels.Twin{F32: sortDigitTwin[float32], F64: sortDigitTwin[float64]}, kernels.ElementTwin(sortDigitTwin[int32]), "rows", "n", "block", "shift", "flags"),
		Merge: sort("k_sort_merge", "sort_digit.cl", "", func(a []kernels.Arg, _ kernels.Limits) kernels.Grid {
			rows, n, run, tile := int(a[4].Int), int(a[5].Int), int(a[6].Int), int(a[7].Int)
			groups := rows * intmath.CeilDiv(n, 2*run) * intmath.CeilDiv(2*run, tile)
			return kernels.Grid{Dims: 1, Global: [3]int{groups}, Local: [3]int{1}}
		}, kernels.Twin{F32: sortMergeTwin[float32], F64: sortMergeTwin[float64]}, kernels.ElementTwin(sortMergeTwin[int32]), "rows", "n", "run", "tile", "flags"),
		Median: sort("k_median", "sort_digit.cl", "", kernels.PerInt(4),
			kernels.Twin{F32: medianTwin[float32], F64: medianTwin[float64]}, kernels.ElementTwin(medianTwin[int32]), "rows", "n"),
	}
}

// sortable are the elements that are sorted.
type sortable interface{ float32 | float64 | int32 }

// orderKey returns an unsigned integer for an element, in the order of a sort.
func orderKey[T sortable](x T, flags int) uint64 {
	var k, all uint64
	switch x := any(x).(type) {
	case int32:
		k, all = uint64(uint32(x)^1<<31), math.MaxUint32
	case float32:
		b := math.Float32bits(x + 0) // both zeros are one
		if all = math.MaxUint32; x != x {
			k = all
		} else if b>>31 != 0 {
			k = uint64(^b)
		} else {
			k = uint64(b | 1<<31)
		}
	case float64:
		b := math.Float64bits(x + 0)
		if all = math.MaxUint64; x != x {
			k = all
		} else if b>>63 != 0 {
			k = ^b
		} else {
			k = b | 1<<63
		}
	}
	if flags&SortDescending != 0 {
		k ^= all
	}
	return k
}

// sorted is an element beside its key and its index.
type sorted[T sortable] struct {
	key   uint64
	value T
	index int32
}

func sortBlocksTwin[T sortable](c kernels.Call[T]) {
	x, given, y, j := c.Reals(0), c.Ints(1), c.Reals(2), c.Ints(3)
	rows, n, block, keep, flags := c.Int(4), c.Int(5), c.Int(6), c.Int(7), c.Int(8)
	blocks := intmath.CeilDiv(n, block)
	width := min(keep, block)
	rowOut := (blocks-1)*width + min(keep, n-(blocks-1)*block)
	c.Parallel(rows*blocks, 16*min(n, block), func(lo, hi int) {
		for u := lo; u < hi; u++ {
			row, b := u/blocks, u%blocks
			from, m := row*n+b*block, min(block, n-b*block)
			all := make([]sorted[T], m)
			for k := range all {
				all[k] = sorted[T]{orderKey(x[from+k], flags), x[from+k], int32(b*block + k)}
				if flags&SortGiven != 0 {
					all[k].index = given[from+k]
				}
			}
			slices.SortStableFunc(all, func(a, b sorted[T]) int { return cmp.Compare(a.key, b.key) })
			for k, e := range all[:min(keep, m)] {
				to := row*rowOut + b*width + k
				y[to], j[to] = e.value, e.index
			}
		}
	})
}

func sortDigitTwin[T sortable](c kernels.Call[T]) {
	x, given, y, j := c.Reals(0), c.Ints(1), c.Reals(2), c.Ints(3)
	rows, n, block, shift, flags := c.Int(4), c.Int(5), c.Int(6), c.Int(7), c.Int(8)
	blocks := intmath.CeilDiv(n, block)
	c.Parallel(rows*blocks, 4*min(n, block), func(lo, hi int) {
		for u := lo; u < hi; u++ {
			b := u % blocks
			from, m := u/blocks*n+b*block, min(block, n-b*block)
			var next [256]int
			for _, v := range x[from:][:m] {
				next[orderKey(v, flags)>>shift&255]++
			}
			sum := from
			for d, count := range next {
				next[d] = sum
				sum += count
			}
			for k, v := range x[from:][:m] {
				d := orderKey(v, flags) >> shift & 255
				to := next[d]
				next[d]++
				y[to], j[to] = v, int32(b*block+k)
				if flags&SortGiven != 0 {
					j[to] = given[from+k]
				}
			}
		}
	})
}

func sortMergeTwin[T sortable](c kernels.Call[T]) {
	x, index, y, j := c.Reals(0), c.Ints(1), c.Reals(2), c.Ints(3)
	rows, n, run, flags := c.Int(4), c.Int(5), c.Int(6), c.Int(8)
	pairs := intmath.CeilDiv(n, 2*run)
	c.Parallel(rows*pairs, 8*min(n, run), func(lo, hi int) {
		for u := lo; u < hi; u++ {
			at, end := u/pairs*n+u%pairs*2*run, u/pairs*n+min(n, (u%pairs+1)*2*run)
			a, b := at, min(end, at+run)
			for middle := b; at < end; at++ {
				from := &b
				if a < middle && (b == end || orderKey(x[a], flags) <= orderKey(x[b], flags)) {
					from = &a
				}
				y[at], j[at] = x[*from], index[*from]
				*from++
			}
		}
	})
}

func medianTwin[T sortable](c kernels.Call[T]) {
	x, index, y, j, rows, n := c.Reals(0), c.Ints(1), c.Reals(2), c.Ints(3), c.Int(4), c.Int(5)
	for row := range rows {
		line := x[row*n:][:n]
		at := (n - 1) / 2
		if nan := slices.IndexFunc(line, func(v T) bool { return v != v }); nan >= 0 {
			at = nan
		}
		y[row], j[row] = line[at], index[row*n+at]
	}
}
