package data

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

// TestConcat: rows follow each other in memory of their own.
func TestConcat(t *testing.T) {
	a, b := []float32{1, 2, 3, 4}, []float32{5, 6}
	all := Concat(New(a, 2, 2), New([]float32{}, 0, 2), New(b, 1, 2))
	if got := Elements[float32](all); !slices.Equal(all.Shape(), []int{3, 2}) || !slices.Equal(got, []float32{1, 2, 3, 4, 5, 6}) {
		t.Errorf("%v %v", all.Shape(), got)
	}
	one := Concat(New(a))
	if a[0] = 9; Elements[float32](all)[0] != 1 || Elements[float32](one)[0] != 1 {
		t.Error("memory is shared")
	}
	ints := Concat(New([]int64{-1, 1 << 62}), New([]int{3})) // both are Int64
	if got := Elements[int64](ints); ints.Type() != tensor.Int64 || !slices.Equal(got, []int64{-1, 1 << 62, 3}) {
		t.Errorf("%v", got)
	}
	if bools := Concat(New([]bool{true}), New([]bool{false})); bools.Type() != tensor.Bool || !Elements[bool](bools)[0] || Elements[bool](bools)[1] {
		t.Error("other bools")
	}
	for says, c := range map[string]struct {
		kind   error
		arrays []Array
	}{
		"there are no arrays":           {tensor.ErrValue, nil},
		"zero value":                    {tensor.ErrValue, []Array{New(a), {}}},
		"[4] [2 2]: rows differ":        {tensor.ErrShape, []Array{New(a), New(a, 2, 2)}},
		"float32, and array 1 of int64": {tensor.ErrType, []Array{New(a), New([]int64{1})}},
	} {
		if err := tensor.Try(func() { Concat(c.arrays...) }); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: err %v", says, err)
		}
	}
}
