package ops

import (
	"fmt"
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
	SortDigit   = 8    // bits by which a pass of a radix sort sorts on a GPU
	SortBits    = 11   // bits by which a CPU's sorts, at most: MOST_BITS of sort_digit.cl
)

// Sorts are the kernels that sort rows of elements of a type, floats, floats of 16 bits, int32 or int64, NaN
// last, by their values X and their indices I [rows, n] to Y and J. Equal elements keep their order.
type Sorts struct {
	// Blocks sorts blocks of at most SortBlock elements and keeps the first of each: X, I, Y, J,
	// rows, n, block, keep, flags. Y and J have keep elements of each block, or all there are.
	Blocks *kernels.Kernel
	// Digit is a pass of a radix sort on CPUs: it sorts blocks of any length by so many bits of their keys from shift
	// on, at most SortBits: X, I, Y, J, rows, n, block, shift, bits, flags.
	Digit *kernels.Kernel
	// Merge joins each two sorted runs: X, I, Y, J, rows, n, run, tile, flags, where tile is
	// SortTile. It is for CPUs.
	Merge *kernels.Kernel
	// Radix sorts long rows on GPUs.
	Radix
	// Median is the lower median of sorted rows, or the first NaN, and its index: X, I, Y, J, rows,
	// n.
	Median *kernels.Kernel
	// SelectMedian is that of rows in any order: X, Y, J, rows, n. It is for CPUs.
	SelectMedian *kernels.Kernel
}

// SortsOf returns the sorts of a type.
func SortsOf(t kernels.DType) *Sorts {
	if t.Half() {
		return sorts[t]
	}
	return sorts[lineType(t)]
}

// lineTypes are the types of elements that are scanned, Float32 for floats, and sortTypes those that are
// sorted, Float32 for floats.
var lineTypes = [...]kernels.DType{kernels.Float32, kernels.Int32, kernels.Int64}

var sortTypes = append(lineTypes[:], kernels.Float16, kernels.BFloat16)

// lineType returns the one of lineTypes that stands for a type.
func lineType(t kernels.DType) kernels.DType {
	if t.Float() {
		return kernels.Float32
	}
	return t
}

var sorts = func() map[kernels.DType]*Sorts {
	all := map[kernels.DType]*Sorts{}
	for _, t := range sortTypes {
		s := newSorts(t)
		all[t] = &s
	}
	return all
}()

// lineDefines are the compiler options of scans and sorts of a type: none of floats.
func lineDefines(t kernels.DType) string {
	switch t {
	case kernels.Int32:
		return "-DOF_INTS -DELEM=int"
	case kernels.Int64:
		return "-DOF_INTS -DOF_LONGS -DELEM=long"
	case kernels.Float16, kernels.BFloat16:
		return fmt.Sprintf("-DHALF_INFINITY=%#x -DELEM=ushort", halfInfinity(t))
	}
	return ""
}

// halfInfinity returns the bits of the infinity of a type of 16 bits.
func halfInfinity(t kernels.DType) uint16 {
	if t == kernels.Float16 {
		return 0x7c00
	}
	return 0x7f80
}

func newSorts(t kernels.DType) Sorts {
	w := sortHostsOf(t)
	sort := func(name, file, gpu string, grid func([]kernels.Arg, kernels.Target) kernels.Grid, host kernels.HostKernel, numbers ...string) *kernels.Kernel {
		k := &kernels.Kernel{Name: name, File: file, GPU: gpu, Grid: grid,
			Params: []kernels.Param{in("X"), inInts("I"), out("Y"), outInts("J")}, Host: host}
		k.Defines, k.Params[0].Mode, k.Params[2].Mode = lineDefines(t), kernels.In.Of(t), kernels.Out.Of(t)
		for _, n := range numbers {
			k.Params = append(k.Params, intArg(n))
		}
		return k
	}
	blocks := func(a []kernels.Arg) (rows, n, block, blocks int) {
		rows, n, block = int(a[4].Int), int(a[5].Int), int(a[6].Int)
		return rows, n, block, intmath.CeilDiv(n, block)
	}
	selects := sort("k_select_median", "sort_select.cl", "", func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		return cpuLines(int(a[3].Int), 8*int(a[4].Int), 1, l)
	}, w.selectMedian, "rows", "n")
	selects.Params = slices.Delete(selects.Params, 1, 2) // elements have the indices of their places
	selects.Semantics = selectMedianSemantics
	s := Sorts{
		SelectMedian: selects,
		Radix:        newRadix(t, lineDefines(t), sortTiles, w.count, w.move),
		Blocks: sort("k_sort_blocks", "sort_cpu.cl", "sort_gpu.cl", func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			rows, n, block, blocks := blocks(a)
			if l.CPU {
				return cpuLines(rows*blocks, 8*min(n, block), 1, l)
			}
			return kernels.Grid{Dims: 1, Global: [3]int{rows * blocks * foldGroup}, Local: [3]int{foldGroup}}
		}, w.blocks, "rows", "n", "block", "keep", "flags"),
		Digit: sort("k_sort_digit", "sort_digit.cl", "", func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			rows, n, block, blocks := blocks(a)
			return cpuLines(rows*blocks, 8*min(n, block), 1, l)
		}, w.digit, "rows", "n", "block", "shift", "bits", "flags"),
		Merge: sort("k_sort_merge", "sort_digit.cl", "", func(a []kernels.Arg, _ kernels.Target) kernels.Grid {
			rows, n, run, tile := int(a[4].Int), int(a[5].Int), int(a[6].Int), int(a[7].Int)
			groups := rows * intmath.CeilDiv(n, 2*run) * intmath.CeilDiv(2*run, tile)
			return kernels.Grid{Dims: 1, Global: [3]int{groups}, Local: [3]int{1}}
		}, w.merge, "rows", "n", "run", "tile", "flags"),
		Median: sort("k_median", "sort_digit.cl", "", kernels.GridFromArg(4), w.median, "rows", "n"),
	}
	s.Blocks.Semantics, s.Merge.Semantics, s.Median.Semantics = blocksSemantics, mergeSemantics, medianSemantics
	return s
}
