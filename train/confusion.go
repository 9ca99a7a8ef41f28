package train

import (
	"github.com/clgrad/clgrad/tensor"
)

// ConfusionOptions says which labels count.
type ConfusionOptions struct {
	Ignore *int // the label that does not count; nil: −100, as in autograd.CrossEntropy
}

// Confusion counts which class is taken for which, on the device, and is read once: for accuracy, precision,
// recall, F1 and a table.
//
//	confusion := train.NewConfusion(d, 10)
//	for batch := range loader.Epoch() {
//		confusion.Update(net.Forward(autograd.Const(batch[0])).Value(), batch[1])
//	}
//	m, err := confusion.Matrix()
//	fmt.Print(m)
//	fmt.Println(m.F1(train.Macro))
//
// Update may be part of a recorded step; Reset undoes those of the two runs of replay.Record.
type Confusion struct {
	counts *counts
	skip   float64
}

// mostClasses bounds the classes of a Confusion, whose matrix has their square.
const mostClasses = 1 << 13

// NewConfusion returns the counts of nothing. It panics with tensor.ErrValue for no classes or more than
// 8192.
func NewConfusion(d tensor.Device, classes int, options ...ConfusionOptions) *Confusion {
	if classes < 1 || classes > mostClasses {
		misuse("NewConfusion", tensor.ErrValue, "%d classes: they are 1 to %d", classes, mostClasses)
	}
	c := &Confusion{newCounts(d, classes, classes), ignored(nil)}
	if len(options) > 0 {
		c.skip = ignored(options[0].Ignore)
	}
	return c
}

// Update counts labels [N, …] of integers beside scores [N, classes, …], of which the greatest is the prediction,
// or beside predictions, integers or bools of the labels' shape. It panics with tensor.ErrShape and
// tensor.ErrType for others. A label or prediction of no class is found when the matrix is read.
func (c *Confusion) Update(scores, labels *tensor.Tensor) {
	const op = "Update"
	classes := mustLabels(op, scores, labels)
	if classes != 0 && classes != c.counts.rows {
		misuse(op, tensor.ErrShape, "the scores are of %d classes, the matrix of %d", classes, c.counts.rows)
	}
	if labels.Len() == 0 {
		return
	}
	tensor.Scope(c.counts.d, func() {
		predicted := scores
		if classes > 0 {
			predicted = scores.ArgMax(1)
		}
		labels := labels.To(tensor.Int64).Reshape(-1)
		c.counts.add(labels, predicted.To(tensor.Int64).Reshape(-1), labels.EqScalar(c.skip))
	})
}

// Matrix waits for the device and returns the counts. The error is [ErrEmpty], tensor.ErrIndex if a label or
// a prediction is of no class, or the device's.
func (c *Confusion) Matrix() (ConfusionMatrix, error) {
	return c.counts.read("Matrix", "a label or a prediction is of no class: they are from 0 on, below the number of classes")
}

// Reset makes it the counts of nothing again.
func (c *Confusion) Reset() { c.counts.sums.ZeroInPlace() }

// Free releases its memory.
func (c *Confusion) Free() { c.counts.sums.Free() }
