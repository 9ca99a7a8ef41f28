package tensor

import (
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// Functions that choose, by masks and limits. A mask is of Bool.

func (t *Tensor) maskedSelect(mask *Tensor) *Tensor {
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
	if mask.typ != Bool {
		misuse(op, ErrType, notMask(mask), t, mask)
	}
	shape, ok := Broadcast(t.shape, mask.shape)
	if !ok {
		misuse(op, ErrShape, "", t, mask)
	}
	wide := mask.Expand(shape...)
	defer wide.Free()
	var chosen []uint8
	if host, err := wide.download(op); err == nil { // else the device failed, and launches are skipped
		chosen = kernels.Slice[uint8](host, 0, wide.Len())
	}
	list, n := make([]int32, len(chosen)), 0
	for i, c := range chosen {
		list[n] = int32(i)
		n += int(c) // a branch would be mispredicted for half of a random mask
	}
	list = list[:n]
	return shape, New(d, list)
}

func (t *Tensor) nanToNum(nan, posInf, negInf float64) *Tensor {
	check("NanToNum", t)
	typ := floatsOf(t)
	return elementwise("NanToNum", fn.NanToNum, []float64{nan, typ.Limit(posInf), typ.Limit(negInf)}, t)
}
