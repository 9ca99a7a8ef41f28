package data

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/clgrad/clgrad/tensor"
)

// Concat returns the rows of arrays one after the other, in memory of its own. It panics with
// tensor.ErrShape unless rows have the same shape, with tensor.ErrType unless they have one type, and
// with tensor.ErrValue without arrays.
func Concat(arrays ...Array) Array {
	const op = "Concat"
	if len(arrays) == 0 {
		panic(misuse(op, tensor.ErrValue, "there are no arrays"))
	}
	first, n := arrays[0], 0
	list := make([]rows, len(arrays))
	for i, a := range arrays {
		a.check(op)
		if a.Type() != first.Type() {
			panic(misuse(op, tensor.ErrType, fmt.Sprintf("array 0 is of %v, and array %d of %v", first.Type(), i, a.Type())))
		}
		if !slices.Equal(a.shape[1:], first.shape[1:]) {
			panic(misuse(op, tensor.ErrShape, "rows differ", first.shape, a.shape))
		}
		list[i], n = a.rows, n+a.shape[0]
	}
	return Array{append([]int{n}, first.shape[1:]...), first.rows.concat(list)}
}

// Type returns the type of the elements.
func (a Array) Type() tensor.Type {
	a.check("Type")
	return a.rows.typ()
}

func (e of[T]) len() int { return len(e) }

func (of[T]) concat(list []rows) rows {
	n := 0
	for _, e := range list {
		n += e.len()
	}
	all := make(of[T], 0, n)
	for _, e := range list {
		if same, ok := e.(of[T]); ok {
			all = append(all, same...)
			continue
		}
		others := reflect.ValueOf(e) // int beside int64, which are one type of tensors
		for i := range others.Len() {
			all = append(all, others.Index(i).Convert(reflect.TypeFor[T]()).Interface().(T))
		}
	}
	return all
}
