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
