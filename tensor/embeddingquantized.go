package tensor

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
)

// EmbeddingQuantized returns the rows of a table that an index tensor of integers names, [index…, size], in Float32. w
// [size, rows] is the transpose of the table, so that each of its rows has a scale, or each Group of its elements:
//
//	w, err := tensor.Quantize(table.T(), tensor.QuantizeOptions{})
//	x := tensor.EmbeddingQuantized(w, tokens)
//	logits := tensor.MatMulQuantized(y, w) // with the same table
//
// It panics with ErrIndex for rows that there are not, with ErrType for an index of other types, and with ErrShape for
// the weights of a convolution.
func EmbeddingQuantized(w *QuantizedTensor, index *Tensor) *Tensor {
	const op = "EmbeddingQuantized"
	d := w.check(op, index)
	if w.ofConv() {
		panic(&Error{Op: op, Kind: ErrShape, Shapes: [][]int{w.Shape(), index.Shape()},
			Detail: "the weights are those of a convolution: the transpose of a table is a matrix"})
	}
	mustNameRows(op, index, index)
	checkIndices(op, w.shape, 1, index, false)
	y := alloc(op, d, Float32, append(slices.Clone(index.shape), w.k))
	if y.Len() == 0 {
		return y
	}
	at := index.indices()
	defer at.release()
	launch(d, w.kernels().Columns, w.packed.arg(), w.scale.arg(), w.zeroArg(), at.arg(), y.arg(),
		kernels.IntArg(index.Len()), kernels.IntArg(w.k), kernels.IntArg(w.n), kernels.IntArg(w.group),
		kernels.FlagArg(w.zero != nil))
	return y
}
