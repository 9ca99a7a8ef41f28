package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/kernels"
)

// Unmasked implements tensorapi.API.
func (api) Unmasked(op string, t *Tensor, indices []*Tensor) []*Tensor {
	check(op, t)
	if !slices.ContainsFunc(indices, func(i *Tensor) bool { return i != nil && i.st != nil && i.typ == Bool }) {
		return indices
	}
	var list []*Tensor
	for _, index := range indices {
		if index == nil || index.typ != Bool {
			list = append(list, index)
			continue
		}
		check(op, t, index)
		first := len(list)
		if end := first + index.Rank(); index.Rank() == 0 || end > t.Rank() || !slices.Equal(index.shape, t.shape[first:end]) {
			misuse(op, ErrShape, fmt.Sprintf("a mask has the shape of the axes that it stands for, from axis %d on", first), t, index)
		}
		list = append(list, index.nonzero(op)...)
	}
	return list
}

// indexedBy is indexed by indices of which a mask stands for the places where it is true.
func (t *Tensor) indexedBy(op string, indices []*Tensor) indexed {
	list := api{}.Unmasked(op, t, indices)
	defer func() {
		for _, index := range list {
			if index != nil && !slices.Contains(indices, index) {
				index.Free()
			}
		}
	}()
	return t.indexed(op, list)
}

// nonzero returns the indices of the elements of a mask that are true, in row-major order: a tensor for
// each axis. It waits for the device.
func (t *Tensor) nonzero(op string) []*Tensor {
	var bits []uint8
	if host, err := t.download(op); err == nil { // else the device failed, and launches are skipped
		bits = kernels.Slice[uint8](host, 0, t.Len())
	}
	places := make([][]int32, t.Rank())
	for i, b := range bits {
		if b == 0 {
			continue
		}
		for a := len(places) - 1; a >= 0; a-- {
			places[a] = append(places[a], int32(i%t.shape[a]))
			i /= t.shape[a]
		}
	}
	list := make([]*Tensor, len(places))
	for a, at := range places {
		list[a] = New(t.Device(), at, len(at))
	}
	return list
}
