package tensor

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels/fn"
)

// Functions that choose, by masks and limits. A mask is of Uint8: an element that is not 0 chooses.

// Where returns t where cond holds, else y, as NumPy's where(cond, t, y): of cond, t and y, whose
// shapes broadcast, in the higher type of t and y. What is not chosen may be anything, NaN too. It
// panics with ErrShape unless the shapes broadcast, and with ErrType unless cond is of Uint8.
func (t *Tensor) Where(cond, y *Tensor) *Tensor {
	return elementwise("Where", fn.Where, nil, t, y, cond)
}

// MaskedFill returns t with v where mask is not 0. It panics with ErrShape unless the shapes
// broadcast, and with ErrType unless mask is of Uint8, or if v is no number of t's type.
func (t *Tensor) MaskedFill(mask *Tensor, v float64) *Tensor {
	return elementwise("MaskedFill", fn.MaskedFill, []float64{v}, t, mask)
}

// MaskedSelect returns the elements of t for which mask is not 0, in the order of indices, along
// one axis. The shapes of t and mask broadcast. The number of elements depends on the mask, which
// the host reads: it waits for the device, and a step that is recorded cannot do that. It panics
// with ErrShape unless the shapes broadcast, and with ErrType unless mask is of Uint8.
func (t *Tensor) MaskedSelect(mask *Tensor) *Tensor {
	const op = "MaskedSelect"
	check(op, t, mask)
	shape, index := api{}.MaskedIndex(op, t, mask)
	defer index.Free()
	wide := t.Expand(shape...)
	defer wide.Free()
	column := wide.Reshape(intmath.Product(shape), 1)
	defer column.Free()
	rows := column.GatherRows(index)
	defer rows.Free()
	return rows.Reshape(index.Len())
}

func (api) MaskedIndex(op string, t, mask *Tensor) (shape []int, index *Tensor) {
	d := check(op, t, mask)
	if mask.typ != Uint8 {
		misuse(op, ErrType, notMask(mask), t, mask)
	}
	shape, ok := Broadcast(t.shape, mask.shape)
	if !ok {
		misuse(op, ErrShape, "", t, mask)
	}
	wide := mask.Expand(shape...)
	defer wide.Free()
	chosen, err := downloadAs[uint8](wide, op)
	if err != nil {
		chosen = nil // the device failed, and launches are skipped
	}
	list, n := make([]int32, len(chosen)), 0
	for i, c := range chosen {
		list[n] = int32(i)
		n += int((c | -c) >> 7) // 1 unless c is 0: a branch would be mispredicted for half of a random mask
	}
	list = list[:n]
	return shape, New(d, list)
}

// ClampTensor returns t limited to [low, high], element by element; a NaN wins. Where low > high,
// the result is high, as in PyTorch. It panics with ErrShape unless the shapes broadcast.
// [Tensor.Clamp] has numbers as limits.
func (t *Tensor) ClampTensor(low, high *Tensor) *Tensor {
	return elementwise("ClampTensor", fn.ClampTensor, nil, t, low, high)
}

// NanToNum returns t with other numbers in place of NaN, Inf and −Inf. Numbers beyond those of the
// device's reals become the greatest and the least of them, so that NanToNum(0, math.Inf(1),
// math.Inf(-1)) is that of NumPy and PyTorch.
func (t *Tensor) NanToNum(nan, posInf, negInf float64) *Tensor {
	real := check("NanToNum", t).Real()
	return elementwise("NanToNum", fn.NanToNum, []float64{nan, real.Limit(posInf), real.Limit(negInf)}, t)
}
