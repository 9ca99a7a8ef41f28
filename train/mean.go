package train

import (
	"errors"
	"fmt"
	"math"

	"github.com/clgrad/clgrad/tensor"
)

// ErrEmpty is the error of a mean or a metric of nothing, as after an evaluation without a batch.
var ErrEmpty = errors.New("nothing was counted")

// empty returns the ErrEmpty of a method.
func empty(op string) error {
	return fmt.Errorf("train: %s: %w: it has no value before the first Update that has elements", op, ErrEmpty)
}

// MeanOptions says how a [Mean] weights.
type MeanOptions struct {
	// Decay makes it a moving average: with each Update, what came before counts that much less, such as
	// 0.98. 0: all counts alike.
	Decay float64
}

// Mean is a running mean that the device computes, such as that of the losses of an epoch. It is read
// once, at the end or where it is shown:
//
//	mean := train.NewMean(d)
//	for batch := range loader.Epoch() {
//		loss := …
//		mean.Update(loss.Value(), float64(batch[0].Shape()[0])) // a short last batch counts less
//	}
//	loss, err := mean.Item()
//
// Its sums are of Float64 where the device has that. A NaN among the numbers makes a NaN of the mean.
// Update may be part of a recorded step; Reset undoes those of the two runs of replay.Record.
type Mean struct {
	d     tensor.Device
	decay float64
	sums  *tensor.Tensor // [2]: of the numbers by weight, and of the weights
}

// NewMean returns a mean of nothing. It panics with tensor.ErrValue for a decay that is not in [0, 1).
func NewMean(d tensor.Device, options ...MeanOptions) *Mean {
	m := &Mean{d: d, decay: 1}
	if len(options) > 0 && options[0].Decay != 0 {
		m.decay = options[0].Decay
		if !(m.decay > 0 && m.decay < 1) {
			misuse("NewMean", tensor.ErrValue, "Decay is %v, not in [0, 1)", m.decay)
		}
	}
	typ := tensor.Float32
	if d.Supports(tensor.Float64) {
		typ = tensor.Float64
	}
	m.sums = tensor.ZerosOf(d, typ, 2).Retain()
	return m
}

// Update adds the mean of x, of any shape and numbers, with a weight: the rows of a batch, say, or 1. Of no
// elements it adds nothing. It panics with tensor.ErrDevice for a tensor of another device, and with
// tensor.ErrValue for a weight below 0 or one that is not finite.
func (m *Mean) Update(x *tensor.Tensor, weight float64) {
	mustTensors("Update", x)
	if !(weight >= 0) || math.IsInf(weight, 1) {
		misuse("Update", tensor.ErrValue, "the weight is %v: it is a number, 0 at least", weight)
	}
	if x.Len() == 0 {
		return
	}
	tensor.Scope(m.d, func() {
		mean := x.To(m.sums.Type()).Mean().MulScalar(weight)
		added := tensor.Stack(0, mean, tensor.FullLike(mean, weight))
		m.sums.SetInPlace(m.sums.MulScalar(m.decay).Add(added))
	})
}

// Item returns the mean. The error is [ErrEmpty], or the device's.
func (m *Mean) Item() (float64, error) {
	sums, err := m.sums.Float64s()
	switch {
	case err != nil:
		return 0, err
	case sums[1] == 0:
		return 0, empty("Mean")
	}
	return sums[0] / sums[1], nil
}

// Reset makes it a mean of nothing again.
func (m *Mean) Reset() { m.sums.ZeroInPlace() }

// Free releases its memory.
func (m *Mean) Free() { m.sums.Free() }
