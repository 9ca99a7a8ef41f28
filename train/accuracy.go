package train

import (
	"fmt"

	"github.com/clgrad/clgrad/tensor"
)

// AccuracyOptions says what is right, and what counts.
type AccuracyOptions struct {
	TopK   int  // a label is right if its score is among so many greatest ones; 0: 1
	Ignore *int // the label that does not count; nil: −100, as in autograd.CrossEntropy
}

// Accuracy is the share of labels that scores get right, counted on the device and read once:
//
//	accuracy := train.NewAccuracy(d)
//	for batch := range loader.Epoch() {
//		accuracy.Update(net.Forward(autograd.Const(batch[0])).Value(), batch[1])
//	}
//	share, err := accuracy.Item()
//
// Its numbers are those of accuracy_score and top_k_accuracy_score of scikit-learn; of equal scores, that of
// the first class is the greatest. Update may be part of a recorded step; Reset undoes those of the two
// runs of replay.Record.
type Accuracy struct {
	d    tensor.Device
	k    int
	skip float64
	sums *tensor.Tensor // [3] of Int64: right, counted, of no class
}

// NewAccuracy returns the accuracy of nothing. It panics with tensor.ErrValue for a TopK below 0.
func NewAccuracy(d tensor.Device, options ...AccuracyOptions) *Accuracy {
	a := &Accuracy{d: d, k: 1, skip: ignored(nil)}
	if len(options) > 0 {
		o := options[0]
		if a.skip = ignored(o.Ignore); o.TopK < 0 {
			misuse("NewAccuracy", tensor.ErrValue, "TopK is %d: it counts classes", o.TopK)
		}
		a.k = max(1, o.TopK)
	}
	a.sums = tensor.ZerosOf(d, tensor.Int64, 3).Retain()
	return a
}

// Update counts labels [N, …] of integers beside scores [N, C, …], or beside predictions, integers or bools of
// their shape. With TopK above 1 there are scores, of so many classes at least. It panics with
// tensor.ErrShape, tensor.ErrType and tensor.ErrValue for others. A label of no class is found when the
// metric is read.
func (a *Accuracy) Update(scores, labels *tensor.Tensor) {
	const op = "Update"
	classes := mustLabels(op, scores, labels)
	if a.k > 1 && classes < a.k {
		misuse(op, tensor.ErrValue, "the scores are of %d classes, TopK is %d", classes, a.k)
	}
	if labels.Len() == 0 {
		return
	}
	tensor.Scope(a.d, func() {
		labels := labels.To(tensor.Int64)
		counted := labels.NeScalar(a.skip)
		var right *tensor.Tensor
		switch {
		case classes == 0:
			right = scores.To(tensor.Int64).Eq(labels)
		case a.k == 1:
			right = scores.ArgMax(1).Eq(labels)
		default:
			_, best := scores.TopK(a.k, 1)
			right = best.Eq(labels.Unsqueeze(1)).Any(1)
		}
		wrong := tensor.ZerosLike(counted)
		if classes > 0 {
			wrong = outside(labels, classes).LogicalAnd(counted)
		}
		added := tensor.Stack(0, right.LogicalAnd(counted), counted, wrong).Reshape(3, -1).Sum(1)
		a.sums.SetInPlace(a.sums.Add(added))
	})
}

// Item returns the accuracy. The error is [ErrEmpty], tensor.ErrIndex if a label is of no class, or the
// device's.
func (a *Accuracy) Item() (float64, error) {
	n, err := a.sums.Int64s()
	switch {
	case err != nil:
		return 0, err
	case n[2] > 0:
		return 0, &tensor.Error{Pkg: "train", Op: "Accuracy", Kind: tensor.ErrIndex,
			Detail: fmt.Sprintf("%d labels are of no class: they are from 0 on, below the number of scores, or the one that is ignored", n[2])}
	case n[1] == 0:
		return 0, empty("Accuracy")
	}
	return float64(n[0]) / float64(n[1]), nil
}

// Reset makes it the accuracy of nothing again.
func (a *Accuracy) Reset() { a.sums.ZeroInPlace() }

// Free releases its memory.
func (a *Accuracy) Free() { a.sums.Free() }
