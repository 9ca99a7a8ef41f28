package tensor

import "gonum.org/v1/gonum/mat"

// FromMat returns a copy of a gonum matrix as a tensor of rank 2, of the device's default
// type. It panics with ErrValue if m is nil.
func FromMat(d Device, m mat.Matrix) *Tensor {
	if m == nil {
		panic(&Error{Op: "FromMat", Kind: ErrValue, Detail: "the matrix is nil"})
	}
	return NewOf(d, defaultOf(d), mat.DenseCopyOf(m).RawMatrix().Data, dims(m)...)
}

func dims(m mat.Matrix) []int {
	r, c := m.Dims()
	return []int{r, c}
}

// ToMat waits for the device and returns a tensor of rank 2 as a gonum matrix. The error is the
// device's first failure; it panics with ErrShape for another rank, or for no elements, which gonum
// does not have.
func (t *Tensor) ToMat() (*mat.Dense, error) {
	check("ToMat", t)
	if t.Rank() != 2 || t.Len() == 0 {
		misuse("ToMat", ErrShape, "a gonum matrix has rank 2 and at least one element", t)
	}
	data, err := t.Float64s()
	if err != nil {
		return nil, err
	}
	return mat.NewDense(t.shape[0], t.shape[1], data), nil
}
