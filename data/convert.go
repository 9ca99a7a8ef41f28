package data

import (
	"fmt"

	"github.com/clgrad/clgrad/tensor"
)

// To returns the array with elements of another type, converted as [tensor.Tensor.To] does it:
// labels of bytes as Int64, which is what autograd.CrossEntropy takes. An array of that
// type is returned as it is. It panics as [Array.Tensor] does.
func (a Array) To(typ tensor.Type) Array {
	a.check("To")
	from := a.rows.typ()
	if from == typ {
		return a
	}
	d, err := tensor.Open("cpu")
	if err != nil {
		panic(err) // cpu is always there
	}
	defer d.Close()
	converted, err := FromTensor(a.Tensor(d).To(typ))
	if err != nil {
		panic(err) // it does not fail
	}
	return converted
}

// Elements returns the elements of an array in row-major order, which it shares with a. It panics
// with tensor.ErrType unless they are of type T, as [New] or a file made them; [Array.To] converts.
func Elements[T tensor.Element](a Array) []T {
	a.check("Elements")
	e, ok := a.rows.(of[T])
	if !ok {
		panic(misuse("Elements", tensor.ErrType, fmt.Sprintf("the elements are of type %s, not %T", a.rows.name(), *new(T)), a.shape))
	}
	return e
}

func (e of[T]) name() string { return fmt.Sprintf("%T", *new(T)) }
