package tensor

import (
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// fewIndices is how many indices of a scatter a work-item of a GPU goes over faster than they are
// sorted.
const fewIndices = 64

// scatterRows brings the rows of src [n, cols] to the rows of dst [rows, cols] that index [n]
// names, in the order of index; what is no row is passed over. All are contiguous, dst and src of
// one type, and dst is nobody else's operand. On CPUs each core has rows and columns of its own. On
// GPUs few indices and rows take one launch, in that order, too; else indices are sorted first, and
// what comes to a row is added up by a tree of their places: in an order that depends on nothing
// else.
func scatterRows(how ops.Scatter, dst, index, src *Tensor, rows, cols int) {
	n := index.Len()
	if n == 0 || dst.Len() == 0 {
		return
	}
	d := dst.Device()
	typ := dst.typ
	if l := d.Target(); l.CPU || n <= fewIndices || ops.Lists(n, rows, l) {
		k := ops.ScatterRows
		if !l.CPU && n > fewIndices {
			k = ops.ScatterLists
		}
		launch(d, k.Of(typ), src.arg(), index.arg(), dst.arg(), kernels.IntArg(n), kernels.IntArg(cols), kernels.IntArg(rows), kernels.IntArg(int(how)))
		return
	}
	keys, places := radixSorted("Scatter", &ops.RowSorts, index, 1, n, ops.RowPasses(rows), rows, Int32)
	for sorted := true; ; sorted = false {
		blocks := ops.RunBlocks(n)
		left, leftKeys := alloc("Scatter", d, dst.typ, []int{2 * blocks, cols}), alloc("Scatter", d, Int32, []int{2 * blocks})
		launch(d, ops.ScatterRuns.Of(typ), src.arg(), places.arg(), keys.arg(), dst.arg(), left.arg(), leftKeys.arg(),
			kernels.IntArg(n), kernels.IntArg(cols), kernels.IntArg(rows), kernels.IntArg(int(how)), kernels.FlagArg(sorted))
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
