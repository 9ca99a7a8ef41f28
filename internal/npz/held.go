package npz

import "fmt"

// Held returns the data as a type that tensors have, a slice of bool, uint8, int32,
// float16.Float16, float32 or float64: other integers become int32. One that int32 does not hold is an
// error that names the element.
func (a Array) Held() (any, error) {
	switch data := a.Data.(type) {
	case []int8:
		return ints(data, a.Shape)
	case []int16:
		return ints(data, a.Shape)
	case []int64:
		return ints(data, a.Shape)
	case []uint16:
		return ints(data, a.Shape)
	case []uint32:
		return ints(data, a.Shape)
	case []uint64:
		return ints(data, a.Shape)
	}
	return a.Data, nil
}

func ints[T int8 | int16 | int64 | uint16 | uint32 | uint64](data []T, shape []int) (any, error) {
	held := make([]int32, len(data))
	for i, v := range data {
		held[i] = int32(v)
		if T(held[i]) != v || (held[i] < 0) != (v < 0) {
			return nil, Unfit(shape, i, v, "int32 holds -2147483648 to 2147483647")
		}
	}
	return held, nil
}

// Unfit is the error of element i, in row-major order, of an array that a tensor does not hold.
func Unfit[T any](shape []int, i int, v T, why string) error {
	index := make([]int, len(shape))
	for a := len(shape) - 1; a >= 0; a-- {
		index[a], i = i%shape[a], i/shape[a]
	}
	return fmt.Errorf("%T does not fit: element %v is %v, and %s", v, index, v, why)
}
