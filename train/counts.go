package train

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// counts counts pairs of a row and a column on a device: a matrix of Int64 that stays there until it is
// read. Behind the matrix are the pairs that are not in it, and a place for those that do not count.
type counts struct {
	d          tensor.Device
	rows, cols int
	sums       *tensor.Tensor // [rows·cols + 2] of Int64
}

// mostExact is up to how many ones a float32 counts.
const mostExact = 1 << 24

func newCounts(d tensor.Device, rows, cols int) *counts {
	return &counts{d: d, rows: rows, cols: cols, sums: tensor.ZerosOf(d, tensor.Int64, rows*cols+2).Retain()}
}

// add counts row i beside column i of lists of Int64, but for those that the list ignored, of Bool, has true.
// It reads nothing on the host: the indices are in range as they are made.
func (c *counts) add(row, col, ignored *tensor.Tensor) {
	wrong, skipped := float64(c.rows*c.cols), float64(c.rows*c.cols+1)
	index := row.MulScalar(float64(c.cols)).Add(col).
		MaskedFill(outside(row, c.rows).LogicalOr(outside(col, c.cols)), wrong).MaskedFill(ignored, skipped)
	n := index.Len()
	for from := 0; from < n; from += mostExact {
		part := index.Slice(0, from, min(from+mostExact, n))
		batch := tensor.ZerosOf(c.d, tensor.Float32, c.sums.Len(), 1)
		tensorapi.Impl.AddRows(batch, part, tensor.FullOf(c.d, tensor.Float32, 1, part.Len(), 1))
		c.sums.SetInPlace(c.sums.Add(batch.Reshape(-1).To(tensor.Int64)))
	}
}

// outside returns a mask of the integers that are no index of n.
func outside(x *tensor.Tensor, n int) *tensor.Tensor { return x.Clamp(0, float64(n-1)).Ne(x) }

// read returns the rows. The error is [ErrEmpty], tensor.ErrIndex if pairs are not in the matrix, or the
// device's.
func (c *counts) read(op, what string) ([][]int64, error) {
	flat, err := c.sums.Int64s()
	if err != nil {
		return nil, err
	}
	if wrong := flat[c.rows*c.cols]; wrong > 0 {
		return nil, &tensor.Error{Pkg: "train", Op: op, Kind: tensor.ErrIndex, Detail: fmt.Sprintf("%d times %s", wrong, what)}
	}
	rows, total := make([][]int64, c.rows), int64(0)
	for i := range rows {
		rows[i] = flat[i*c.cols : (i+1)*c.cols : (i+1)*c.cols]
		for _, n := range rows[i] {
			total += n
		}
	}
	if total == 0 {
		return nil, empty(op)
	}
	return rows, nil
}

// ignored returns the label that does not count: −100 if none is named, as in autograd.CrossEntropy.
func ignored(label *int) float64 {
	if label == nil {
		return -100
	}
	return float64(*label)
}

// mustTensors panics with tensor.ErrValue for a tensor that is nil.
func mustTensors(op string, ts ...*tensor.Tensor) {
	if slices.Contains(ts, nil) {
		misuse(op, tensor.ErrValue, "a tensor is nil")
	}
}

// mustLabels panics unless labels are integers or bools, of the shape that scores [N, C, …] leave, or of
// that of x, predictions that are integers or bools. It returns the number of classes, or 0 of
// predictions.
func mustLabels(op string, x, labels *tensor.Tensor) (classes int) {
	const want = "scores are floats [N, C, …] and labels integers [N, …], or both are integers of one shape"
	fails := func(kind error) {
		panic(&tensor.Error{Pkg: "train", Op: op, Kind: kind, Shapes: [][]int{x.Shape(), labels.Shape()}, Detail: want})
	}
	mustTensors(op, x, labels)
	whole := func(t *tensor.Tensor) bool { return t.Type().Integer() || t.Type() == tensor.Bool }
	shape := x.Shape()
	if !whole(labels) {
		fails(tensor.ErrType)
	}
	if !whole(x) {
		if len(shape) < 2 || shape[1] == 0 {
			fails(tensor.ErrShape)
		}
		classes = shape[1]
		shape = append([]int{shape[0]}, shape[2:]...)
	}
	if !slices.Equal(shape, labels.Shape()) {
		fails(tensor.ErrShape)
	}
	return classes
}
