package tensor_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// TestSizeLimit: a shape has as many elements as an int of 32 bits counts, and a dimension of 0
// makes it empty whatever the others are. Views have such shapes without the memory.
func TestSizeLimit(t *testing.T) {
	d := devtest.CPU(t)
	one := tensor.Scalar(d, 1)
	for _, c := range []struct {
		shape []int
		ok    bool
	}{
		{[]int{math.MaxInt32}, true}, {[]int{1, math.MaxInt32, 1}, true}, {[]int{46340, 46340}, true}, {[]int{2, 1<<30 - 1}, true},
		{[]int{1 << 15, 1 << 16}, false}, {[]int{46341, 46341}, false}, {[]int{2, 1 << 30}, false}, {[]int{1 << 30, 2, 1}, false},
		{[]int{1 << 30, 1 << 30, 1, 1, 1, 1}, false}, {[]int{1 << 30, 1 << 30, 1 << 30}, false}, {[]int{1, 1, 1, 1, 1, 1, 1, 1}, true}, {slices.Repeat([]int{1}, 16), true}, {slices.Repeat([]int{1}, 17), false},
		{[]int{-1}, false}, {[]int{-2, -3}, false}, {[]int{0, -1}, false}, {[]int{-1, 0}, false},
	} {
		var x *tensor.Tensor
		err := tensor.Try(func() { x = one.Expand(c.shape...) })
		if ok := err == nil; ok != c.ok {
			t.Errorf("%v: err = %v, want one: %v", c.shape, err, !c.ok)
			continue
		}
		if c.ok && !slices.Equal(x.Shape(), c.shape) {
			t.Errorf("%v: the shape is %v", c.shape, x.Shape())
		}
		if !c.ok {
			failsWith(t, err, tensor.ErrShape)
		}
	}
	for _, shape := range [][]int{{0}, {0, 1 << 30, 1 << 30}, {1 << 30, 1 << 30, 0}, {3, 0, 2}} {
		if n := tensor.Zeros(d, shape...).Len(); n != 0 {
			t.Errorf("%v has %d elements", shape, n)
		}
	}
}

// TestReshapeInfers: −1 stands for the one dimension that makes the sizes equal, and for nothing
// where there is none or more than one.
func TestReshapeInfers(t *testing.T) {
	d := devtest.CPU(t)
	for _, c := range []struct{ from, to, want []int }{
		{[]int{2, 6}, []int{-1}, []int{12}},
		{[]int{2, 6}, []int{3, -1}, []int{3, 4}},
		{[]int{2, 6}, []int{2, -1, 3}, []int{2, 2, 3}},
		{[]int{2, 6}, []int{-1, 12}, []int{1, 12}},
		{[]int{2, 6}, []int{-1, -1}, nil},
		{[]int{2, 6}, []int{3, -1, -1}, nil},
		{[]int{2, 6}, []int{-1, 0}, nil},
		{[]int{2, 6}, []int{-1, -12}, nil},
		{[]int{2, 6}, []int{-1, 5}, nil},
		{[]int{2, 6}, []int{}, nil},
		{[]int{}, []int{-1}, []int{1}},
		{[]int{0, 3}, []int{-1, 3}, []int{0, 3}},
		{[]int{0, 3}, []int{-1, 7}, []int{0, 7}},
		{[]int{0, 3}, []int{-1, 0}, nil}, // every number would do
		{[]int{0, 3}, []int{5, 0}, []int{5, 0}},
	} {
		x := tensor.Zeros(d, c.from...)
		var y *tensor.Tensor
		err := tensor.Try(func() { y = x.Reshape(c.to...) })
		switch {
		case c.want == nil:
			failsWith(t, err, tensor.ErrShape)
		case err != nil:
			t.Errorf("%v as %v: %v", c.from, c.to, err)
		case !slices.Equal(y.Shape(), c.want):
			t.Errorf("%v as %v has shape %v, want %v", c.from, c.to, y.Shape(), c.want)
		}
	}
}

// TestAllocLimit: memory of more bytes than an int counts is refused, and not that of the few that
// are left of them. On machines of 32 bits a shape reaches there.
func TestAllocLimit(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, n := range []int{-1, math.MaxInt, math.MaxInt / 4, math.MaxInt/4 + 1, math.MaxInt/2 + 1} {
			if b, err := d.Alloc(kernels.Int32, n); err == nil || !strings.Contains(err.Error(), "there is no memory of") {
				t.Errorf("%d elements: %v, %v", n, b, err)
			}
		}
	})
}

func failsWith(t *testing.T, err, kind error) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("err = %v, want %v", err, kind)
	}
}
