package tensor_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// TestRuns: a run is any part of a tensor, empty ones at both ends included, and nothing outside
// it.
func TestRuns(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		whole := tensor.Full(d, 5, 6)
		x := whole.Slice(0, 1, 5) // a view: its runs count from its own first element
		for _, c := range []struct {
			off, n int
			want   string // of whole, after a run is filled; "" where there is none
		}{
			{0, 4, "[5 7 7 7 7 5]"}, {0, 1, "[5 7 5 5 5 5]"}, {3, 1, "[5 5 5 5 7 5]"}, {1, 2, "[5 5 7 7 5 5]"},
			{0, 0, "[5 5 5 5 5 5]"}, {4, 0, "[5 5 5 5 5 5]"},
			{-1, 2, ""}, {0, -1, ""}, {0, 5, ""}, {4, 1, ""}, {5, 0, ""}, {1, math.MaxInt, ""}, {math.MaxInt, 1, ""}, {math.MinInt, 0, ""},
		} {
			whole.FillInPlace(5)
			err := tensor.Try(func() {
				tensor.Launch(d, ops.Fill, x.BufferArg(c.off, c.n), kernels.IntArg(min(c.n, 4)), kernels.FloatArg(7))
			})
			if c.want == "" {
				failsWith(t, err, tensor.ErrIndex)
				continue
			}
			if err != nil {
				t.Errorf("[%d, +%d): %v", c.off, c.n, err)
			}
			if v, err := whole.Float64s(); err != nil || fmt.Sprint(v) != c.want {
				t.Errorf("[%d, +%d) filled: %v, want %v (err %v)", c.off, c.n, v, c.want, err)
			}
		}
	})
}

// TestOne: a tensor of ones has one element, however many axes, and all share what the device
// keeps.
func TestOne(t *testing.T) {
	d := devtest.CPU(t)
	for _, shape := range [][]int{{}, {1}, {1, 1, 1}} {
		one := tensorapi.Impl.One(d, shape...)
		if v, err := one.Item(); v != 1 || err != nil || len(one.Shape()) != len(shape) || !tensorapi.Impl.IsOne(one) {
			t.Errorf("One%v is %v of shape %v, err = %v", shape, v, one.Shape(), err)
		}
		one.Free()
	}
	if tensorapi.Impl.IsOne(tensor.Full(d, 1)) {
		t.Error("another tensor of one is taken for the device's")
	}
	for _, shape := range [][]int{{2}, {0}, {1, 3}, {-1}, {-1, -1}} {
		failsWith(t, tensor.Try(func() { tensorapi.Impl.One(d, shape...) }), tensor.ErrShape)
	}
	fresh, err := tensor.Open("cpu", tensor.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer fresh.Close()
	if tensorapi.Impl.IsOne(tensor.Full(fresh, 1)) {
		t.Error("a tensor is taken for One before there is one")
	}
}

// TestIsContiguous: contiguous elements in row-major order. How far apart those of an axis of
// length 1 would lie does not matter, nor anything where there are no elements.
func TestIsContiguous(t *testing.T) {
	d := devtest.CPU(t)
	x := tensor.Zeros(d, 4, 3, 2)
	for i, c := range []struct {
		x    *tensor.Tensor
		want bool
	}{
		{x, true}, {x.Slice(0, 1, 3), true}, {x.Slice(1, 0, 2), false}, {x.Slice(2, 0, 1), false}, {x.Slice(0, 1, 2).Slice(1, 1, 3), true},
		{x.Slice(0, 1, 2).Slice(1, 1, 2), true}, {x.Slice(1, 0, 1), false}, {x.Slice(1, 0, 1).Slice(0, 2, 3), true}, {x.Slice(1, 0, 1).Slice(2, 1, 2), false},
		{x.Transpose(), false}, {x.Transpose(1, 0, 2), false}, {x.Slice(0, 0, 1).Transpose(1, 0, 2), true}, {x.Slice(1, 2, 2), true}, {x.Slice(1, 2, 2).Transpose(), true},
		{tensor.Zeros(d, 1).Expand(3), false}, {tensor.Zeros(d, 1).Expand(1, 1), true}, {tensor.Scalar(d, 1), true}, {tensor.Zeros(d, 1, 3).Expand(2, 3), false},
		{tensor.Zeros(d, 1, 3).Expand(0, 3), true},
	} {
		if got := c.x.IsContiguous(); got != c.want {
			t.Errorf("case %d, shape %v: contiguous is %v, want %v", i, c.x.Shape(), got, c.want)
		}
		if tensor.Try(func() { c.x.Arg() }) == nil != c.want {
			t.Errorf("case %d: Arg takes it: %v", i, !c.want)
		}
	}
}
