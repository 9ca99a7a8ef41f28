// Package intmath is the integer arithmetic of sizes.
package intmath

import "math"

// CeilDiv returns n/d, rounded up. Neither may be negative.
func CeilDiv(n, d int) int { return (n + d - 1) / d }

// RoundUp returns the least multiple of to that is not below n. Neither may be negative.
func RoundUp(n, to int) int { return CeilDiv(n, to) * to }

// Product returns the product of dimensions, none of them negative, the largest int if it is more:
// those beside a 0 may be any.
func Product(dims []int) int {
	n := 1
	for _, d := range dims {
		switch {
		case d == 0:
			return 0
		case n > math.MaxInt/d:
			n = math.MaxInt
		default:
			n *= d
		}
	}
	return n
}

// Dense reports whether strides name elements of dims one after the other, row by row.
func Dense(strides, dims []int) bool {
	step := 1
	for d := len(dims) - 1; d >= 0; d-- {
		if dims[d] != 1 && strides[d] != step {
			return false
		}
		step *= dims[d]
	}
	return true
}
