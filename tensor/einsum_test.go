package tensor_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestEinsumViews: operands may be views of any kind, and a sum of products is what loops make of
// it.
func TestEinsumViews(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		seed := uint64(0)
		draw := func(shape []int) *tensor.Tensor {
			seed++
			return tensor.NewRNG(seed).Uniform(d, -1, 1, shape...)
		}
		for kind := range 5 {
			x, y := view(draw, []int{2, 3, 4}, kind), view(draw, []int{4, 2, 5}, (kind+2)%5)
			got := download(t, tensor.Einsum("abc,cad->bda", x, y))
			ax, ay := download(t, x), download(t, y)
			want := array{shape: []int{3, 5, 2}}
			each(want.shape, func(i []int) {
				sum := 0.0
				for c := range 4 {
					sum += ax.at([]int{i[2], i[0], c}) * ay.at([]int{c, i[2], i[1]})
				}
				want.data = append(want.data, sum)
			})
			agrees(t, fmt.Sprint("views of kind ", kind), got, want, 4)
			agrees(t, fmt.Sprint("dot of kind ", kind), download(t, x.TensorDot(y, []int{-1, 0}, []int{0, 1})), download(t, tensor.Einsum("abc,cad", x, y)), 8)
		}
	})
}

// TestEinsumIntegers: of integers it is of integers, which wrap around, and of mixed ones of floats.
func TestEinsumIntegers(t *testing.T) {
	d := devtest.CPU(t)
	a := devtest.New(d, []int32{1, 2, 3, 1 << 30}, 2, 2)
	got, err := tensor.Einsum("ij,jk->ik", a, a).Int32s()
	if want := []int32{7, -1<<31 + 2, 3, 6}; err != nil || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%v, want %v (err %v)", got, want, err)
	}
	if y := tensor.Einsum("ij,jk", a, tensor.Full(d, 0.5, 2, 3)); y.Type() != d.DefaultType() {
		t.Errorf("of integers and reals it is of %v", y.Type())
	}
	if y := a.Select(0, 0).Outer(a.Select(1, 0)); y.Type() != tensor.Int32 || !slices.Equal(y.Shape(), []int{2, 2}) {
		t.Errorf("the outer product of integers is %v", y)
	}
}

// TestEinsumMemory: what is made on the way is freed, and the result is not what an operand is.
func TestEinsumMemory(t *testing.T) {
	devtest.Uncollected(t)
	d := devtest.CPU(t)
	a, b, c := tensor.Full(d, 1, 8, 8), tensor.Full(d, 2, 8, 8), tensor.Full(d, 3, 8)
	before := d.Stats().LiveBytes
	y := tensor.Einsum("ij,jk,k->i", a, b, c)
	if v, err := y.Float64s(); err != nil || v[3] != 8*8*6 {
		t.Error(v, err)
	}
	y.Free()
	same := tensor.Einsum("ij->ij", a)
	same.Free()
	if after := d.Stats().LiveBytes; after != before || a.Freed() {
		t.Errorf("%d bytes live before, %d afterwards", before, after)
	}
	tensor.Scope(d, func() { y = tensor.Einsum("ij,jk->ik", a, b) })
	if !y.Freed() {
		t.Error("a scope leaves the result")
	}
}

// TestEinsumMisuse: what has no sum of products is named.
func TestEinsumMisuse(t *testing.T) {
	d := devtest.CPU(t)
	a, b := tensor.Zeros(d, 2, 3), tensor.Zeros(d, 3, 4)
	for _, c := range []struct {
		f    func()
		kind error
		say  string
	}{
		{func() { tensor.Einsum("i,j") }, tensor.ErrValue, "no operand"},
		{func() { tensor.Einsum("ij,ij", a, b) }, tensor.ErrShape, `[2 3] [3 4]: "ij,ij": axis 'i' is 2 long, and 3 in operand 1`},
		{func() { tensor.Einsum("ij", a, b) }, tensor.ErrShape, "of 1 operands"},
		{func() {
			tensor.Einsum("abcdefghijklmnop,z", tensor.Zeros(d, slices.Repeat([]int{1}, 16)...), tensor.Zeros(d, 2))
		}, tensor.ErrShape, "the result would have 17 axes: there are 16 at most"},
		{func() { tensor.Zeros(d, slices.Repeat([]int{1}, 14)...).TensorDot(tensor.Zeros(d, 1, 1, 1), nil, nil) }, tensor.ErrShape, "[1 1 1]: the result would have 17 axes"},
		{func() { a.TensorDot(b, []int{0}, []int{1, 0}) }, tensor.ErrAxis, "pairs"},
		{func() { a.TensorDot(b, []int{2}, []int{0}) }, tensor.ErrAxis, "axis 2 of a tensor of rank 2"},
		{func() { a.TensorDot(b, []int{1, -1}, []int{0, 1}) }, tensor.ErrAxis, "named twice"},
		{func() { a.TensorDot(b, []int{0}, []int{0}) }, tensor.ErrShape, "axis 0 of the first is 2 long, axis 0 of the second 3"},
		{func() { a.Outer(b.Select(0, 0)) }, tensor.ErrShape, "[2 3] [4]: both are of one axis"},
	} {
		if err := tensor.Try(c.f); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.say) {
			t.Errorf("err = %v, want %v: %s", err, c.kind, c.say)
		}
	}
}

// TestEinsumOfManyAxes: where one order of the products has more axes on the way than a tensor,
// another is taken.
func TestEinsumOfManyAxes(t *testing.T) {
	d := devtest.CPU(t)
	y := tensor.Einsum("abcdfghi,abcde,fghij->ej", tensor.Full(d, 2, 1, 1, 1, 1, 1, 1, 1, 1), tensor.Full(d, 3, 1, 1, 1, 1, 1), tensor.Full(d, 5, 1, 1, 1, 1, 1))
	expectNumbers(t, "the product of three", devtest.Float64s(t, y), []float64{30})
}
