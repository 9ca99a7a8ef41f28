package train

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/tensor"
)

// AUROCOptions says how exact an [AUROC] is, and what counts.
type AUROCOptions struct {
	Bins   int  // of equal width that probabilities are sorted into; 0: 1000
	Ignore *int // the label that does not count; nil: −100
}

// AUROC is the area under the curve of true over false positives for two classes, counted on the device and
// read once. It is scikit-learn's roc_auc_score of probabilities rounded down to multiples of 1/Bins, so
// that the memory does not grow with the data. Update may be part of a recorded step; Reset undoes those of
// the two runs of replay.Record.
type AUROC struct {
	counts *counts // label by bin
	skip   float64
}

// NewAUROC returns the area of nothing. It panics with tensor.ErrValue for fewer than two bins or more than
// 2²⁰.
func NewAUROC(d tensor.Device, options ...AUROCOptions) *AUROC {
	bins, skip := 1000, ignored(nil)
	if len(options) > 0 {
		if skip = ignored(options[0].Ignore); options[0].Bins != 0 {
			bins = options[0].Bins
		}
	}
	if bins < 2 || bins > 1<<20 {
		misuse("NewAUROC", tensor.ErrValue, "%d Bins: they are 2 to %d", bins, 1<<20)
	}
	return &AUROC{newCounts(d, 2, bins), skip}
}

// Update counts probabilities of class 1, floats of any shape, and labels of that shape, 0 and 1 or bools. It
// panics with tensor.ErrShape and tensor.ErrType for others. A label or a probability that is none, NaN
// among them, is found when the area is read.
func (a *AUROC) Update(probabilities, labels *tensor.Tensor) {
	const op = "Update"
	mustTensors(op, probabilities, labels)
	if !slices.Equal(probabilities.Shape(), labels.Shape()) {
		panic(&tensor.Error{Pkg: "train", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{probabilities.Shape(), labels.Shape()},
			Detail: "there is a label for each probability"})
	}
	if probabilities.Type().Integer() || probabilities.Type() == tensor.Bool || !labels.Type().Integer() && labels.Type() != tensor.Bool {
		misuse(op, tensor.ErrType, "probabilities are of %v and labels of %v: they are floats, and integers or bools", probabilities.Type(), labels.Type())
	}
	if labels.Len() == 0 {
		return
	}
	tensor.Scope(a.counts.d, func() {
		bins := float64(a.counts.cols)
		p, labels := probabilities.Reshape(-1), labels.To(tensor.Int64).Reshape(-1)
		if p.Type().Size() == 2 {
			p = p.To(tensor.Float32) // 16 bits do not count as many bins
		}
		is := p.GeScalar(0).LogicalAnd(p.LeScalar(1)) // false of NaN
		bin := p.MulScalar(bins).Floor().MinScalar(bins-1).MaskedFill(is.LogicalNot(), -1).To(tensor.Int64)
		a.counts.add(labels, bin, labels.EqScalar(a.skip))
	})
}

// Item returns the area, NaN if all labels are of one class. The error is [ErrEmpty], tensor.ErrIndex if a
// probability is not in [0, 1] or a label neither 0 nor 1, or the device's.
func (a *AUROC) Item() (float64, error) {
	rows, err := a.counts.read("AUROC", "a probability is not in [0, 1], or a label is neither 0 nor 1")
	if err != nil {
		return 0, err
	}
	// Of all pairs of a negative and a positive, the share in which the positive has the greater
	// probability; equal ones count half.
	below, negatives, positives, sum := 0.0, 0.0, 0.0, 0.0
	for bin := range rows[0] {
		n, p := float64(rows[0][bin]), float64(rows[1][bin])
		sum += p * (below + n/2)
		below, negatives, positives = below+n, negatives+n, positives+p
	}
	if negatives == 0 || positives == 0 {
		return math.NaN(), nil
	}
	return sum / (negatives * positives), nil
}

// Reset makes it the area of nothing again.
func (a *AUROC) Reset() { a.counts.sums.ZeroInPlace() }

// Free releases its memory.
func (a *AUROC) Free() { a.counts.sums.Free() }
