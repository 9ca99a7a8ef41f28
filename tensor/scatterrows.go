package tensor

import (
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// fewIndices is how many indices of a scatter a work-item of a GPU goes over faster than they are sorted.
const fewIndices = 64

// scatterRows brings the rows of src [n, cols] to the rows of dst [rows, cols] that index [n] names, in the order of index;
// what is no row is passed over. All are contiguous, dst and src of one type, and dst is nobody else's operand. On CPUs each
// core has rows and columns of its own. On GPUs indices are sorted first, and what comes to a row is added up by a tree of
// their places: in an order that depends on nothing else.
func scatterRows(how ops.Scatter, dst, index, src *Tensor, rows, cols int) {
	n := index.Len()
	if n == 0 || dst.Len() == 0 {
		return
	}
	d := dst.Device()
	typ := dst.typ.On(d)
	if d.Limits().CPU || n <= fewIndices {
		launch(d, ops.ScatterRows.Of(typ), src.arg(), index.arg(), dst.arg(), kernels.I(n), kernels.I(cols), kernels.I(rows), kernels.I(int(how)))
		return
	}
	keys, places := sortRows(index, rows)
	for sorted := true; ; sorted = false {
		blocks := ops.RunBlocks(n)
		left, leftKeys := allocOf("Scatter", d, dst.typ, []int{2 * blocks, cols}), allocOf("Scatter", d, Int32, []int{2 * blocks})
		launch(d, ops.ScatterRuns.Of(typ), src.arg(), places.arg(), keys.arg(), dst.arg(), left.arg(), leftKeys.arg(),
			kernels.I(n), kernels.I(cols), kernels.I(rows), kernels.I(int(how)), kernels.Flag(sorted))
		keys.Free()
		if !sorted {
			src.Free()
		}
		src, keys, n = left, leftKeys, 2*blocks
		if blocks == 1 { // no run reaches beyond it
			break
		}
	}
	src.Free()
	keys.Free()
	places.Free()
}

// sortRows returns indices in ascending order, those that are no row last, and where they were.
func sortRows(index *Tensor, rows int) (keys, places *Tensor) {
	d, n := index.Device(), index.Len()
	_, counts := ops.SortTiles(n)
	count := allocOf("Scatter", d, Int32, []int{counts})
	defer count.Free()
	keys, places = index, index // the first pass makes them
	for pass := range ops.SortPasses(rows) {
		shift := kernels.I(pass * ops.SortBits)
		launch(d, ops.SortCount, keys.arg(), count.arg(), kernels.I(n), kernels.I(rows), shift)
		launch(d, ops.SortScan, count.arg(), kernels.I(counts))
		nextKeys, nextPlaces := allocOf("Scatter", d, Int32, []int{n}), allocOf("Scatter", d, Int32, []int{n})
		launch(d, ops.SortMove, keys.arg(), places.arg(), count.arg(), nextKeys.arg(), nextPlaces.arg(), kernels.I(n), kernels.I(rows), shift, kernels.Flag(pass == 0))
		if pass > 0 {
			keys.Free()
			places.Free()
		}
		keys, places = nextKeys, nextPlaces
	}
	return keys, places
}
