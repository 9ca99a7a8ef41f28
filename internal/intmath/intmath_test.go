package intmath_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/intmath"
)

func TestProduct(t *testing.T) {
	for _, c := range []struct {
		dims []int
		want int
	}{
		{nil, 1}, {[]int{7}, 7}, {[]int{2, 3, 5}, 30}, {[]int{4, 0, 3}, 0},
		{[]int{math.MaxInt, 1}, math.MaxInt}, {[]int{math.MaxInt, 2}, math.MaxInt}, {[]int{1 << 20, 1 << 20, 1 << 20, 1 << 20}, math.MaxInt},
		{[]int{math.MaxInt, 2, 0}, 0}, {[]int{0, math.MaxInt, 2}, 0},
	} {
		if got := intmath.Product(c.dims); got != c.want {
			t.Errorf("the product of %v is %d, want %d", c.dims, got, c.want)
		}
	}
}

func TestDense(t *testing.T) {
	for _, c := range []struct {
		strides, dims []int
		dense         bool
	}{
		{nil, nil, true}, {[]int{3, 1}, []int{2, 3}, true}, {[]int{1, 2}, []int{2, 3}, false}, {[]int{7, 1}, []int{1, 3}, true},
		{[]int{4, 1}, []int{2, 3}, false}, {[]int{0, 1}, []int{2, 3}, false}, {[]int{-3, 1}, []int{2, 3}, false},
	} {
		if got := intmath.Dense(c.strides, c.dims); got != c.dense {
			t.Errorf("%v of %v: %v", c.strides, c.dims, got)
		}
	}
}
