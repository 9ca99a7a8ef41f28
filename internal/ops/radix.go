package ops

import (
	"math/bits"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/x448/float16"
)

// RADIX_GROUP of radix.cl, which is also how many digits there are.
const radixGroup = 256

// Radix are the passes of a radix sort by SortDigit bits at a time, for GPUs.
type Radix struct {
	// Count counts the digits of each tile: X, C [rows, tiles + 1, 256], rows, n, tiles, shift,
	// flags. It leaves the last of a row.
	Count *kernels.Kernel
	// Scan makes of counts the sums of those before them: C, rows, tiles.
	Scan *kernels.Kernel
	// Move moves elements and their indices, or places unless these are given, by a digit: X, I, C,
	// Y, J, rows, n, tiles, shift, flags, given.
	Move *kernels.Kernel

	tile func(kernels.DType) int
}

// Tiles returns how many tiles a row of n elements of type t is.
func (r *Radix) Tiles(n int, t kernels.DType) int { return intmath.CeilDiv(n, r.tile(t)) }

// RowSorts sort a row of ints that name rows: the flags are how many of these there are. An int
// that names none becomes that number, which is the last.
var RowSorts = newRadix(kernels.Int32, "-DOF_INTS -DOF_ROWS -DELEM=int", rowTiles,
	kernels.ElementHostKernel(radixCountHost(rowKey, rowTiles)), kernels.ElementHostKernel(radixMoveHost(rowKey, true)))

// RowPasses returns in how many passes ints that name so many rows are sorted.
func RowPasses(rows int) int { return intmath.CeilDiv(bits.Len(uint(rows)), SortDigit) }

// rowTiles and sortTiles return TILE of radix.cl.
func rowTiles(kernels.DType) int { return 4 * radixGroup }

func sortTiles(t kernels.DType) int {
	if t == kernels.Float64 || t == kernels.Int64 {
		return 8 * radixGroup
	}
	return 16 * radixGroup
}

// newRadix makes the kernels of a type, Float32 for floats.
func newRadix(t kernels.DType, defines string, tile func(kernels.DType) int, count, move kernels.HostKernel) Radix {
	x, y := kernels.Param{Name: "X", Mode: kernels.In.Of(t)}, kernels.Param{Name: "Y", Mode: kernels.Out.Of(t)}
	r := Radix{tile: tile}
	grid := func(rows int) func([]kernels.Arg, kernels.Target) kernels.Grid { // a work-group for a tile
		return func(a []kernels.Arg, _ kernels.Target) kernels.Grid {
			return kernels.Grid{Dims: 1, Global: [3]int{int(a[rows].Int) * int(a[rows+2].Int) * radixGroup}, Local: [3]int{radixGroup}}
		}
	}
	r.Count = &kernels.Kernel{Name: "k_radix_count", File: "radix.cl", Defines: defines, Grid: grid(2), Host: count,
		Params: []kernels.Param{x, {Name: "C", Mode: kernels.InOutInts}, intArg("rows"), intArg("n"), intArg("tiles"), intArg("shift"), intArg("flags")}}
	r.Scan = &kernels.Kernel{Name: "k_radix_scan", File: "radix.cl", Defines: defines,
		Grid: func(a []kernels.Arg, _ kernels.Target) kernels.Grid {
			return kernels.Grid{Dims: 1, Global: [3]int{int(a[1].Int) * 32 * radixGroup}, Local: [3]int{radixGroup}}
		},
		Params: []kernels.Param{{Name: "C", Mode: kernels.InOutInts}, intArg("rows"), intArg("tiles")},
		Host:   kernels.HostKernel{F32: radixScanHost[float32], F64: radixScanHost[float64]}}
	r.Move = &kernels.Kernel{Name: "k_radix_move", File: "radix.cl", Defines: defines, Grid: grid(5), Host: move,
		Params: []kernels.Param{x, inInts("I"), inInts("C"), y, outInts("J"), intArg("rows"), intArg("n"), intArg("tiles"), intArg("shift"), intArg("flags"), intArg("given")}}
	return r
}

// rowKey is the key of an int that names one of rows.
func rowKey(index int32, rows int) uint64 {
	if index < 0 || int(index) >= rows {
		return uint64(rows)
	}
	return uint64(index)
}

func radixCountHost[T sortable](key func(T, int) uint64, tileOf func(kernels.DType) int) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		x, counts, rows, n, tiles, shift, flags := c.Floats(0), c.Ints(1), c.Int(2), c.Int(3), c.Int(4), c.Int(5), c.Int(6)
		tile := tileOf(typeOf[T]())
		for row := range rows {
			of := counts[row*(tiles+1)*radixGroup:][:tiles*radixGroup]
			clear(of)
			for i, v := range x[row*n:][:n] {
				of[i/tile*radixGroup+int(key(v, flags)>>shift&255)]++
			}
		}
	}
}

// typeOf returns the type of elements of a type of Go.
func typeOf[T sortable]() kernels.DType {
	switch any(*new(T)).(type) {
	case float64:
		return kernels.Float64
	case int32:
		return kernels.Int32
	case int64:
		return kernels.Int64
	case float16.Float16:
		return kernels.Float16
	case bfloat16.BFloat16:
		return kernels.BFloat16
	}
	return kernels.Float32
}

func radixScanHost[T kernels.Float](c kernels.HostArgs[T]) {
	counts, rows, tiles := c.Ints(0), c.Int(1), c.Int(2)
	for row := range rows {
		for d := range radixGroup {
			sum := int32(0)
			for t := range tiles {
				at := (row*(tiles+1)+t)*radixGroup + d
				counts[at], sum = sum, sum+counts[at]
			}
			counts[(row*(tiles+1)+tiles)*radixGroup+d] = sum
		}
	}
}

func radixMoveHost[T sortable](key func(T, int) uint64, asKey bool) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		x, given, counts, y, j := c.Floats(0), c.Ints(1), c.Ints(2), c.Floats(3), c.Ints(4)
		rows, n, tiles, shift, flags, isGiven := c.Int(5), c.Int(6), c.Int(7), c.Int(8), c.Int(9), c.Int(10) != 0
		for row := range rows {
			var next [radixGroup]int
			sum := row * n
			for d := range next {
				next[d] = sum
				sum += int(counts[(row*(tiles+1)+tiles)*radixGroup+d])
			}
			for i, v := range x[row*n:][:n] {
				d := key(v, flags) >> shift & 255
				to := next[d]
				next[d]++
				if y[to], j[to] = v, int32(i); asKey {
					y[to] = T(key(v, flags))
				}
				if isGiven {
					j[to] = given[row*n+i]
				}
			}
		}
	}
}
