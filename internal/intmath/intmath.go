// Package intmath is the integer arithmetic of sizes.
package intmath

// CeilDiv returns n/d, rounded up. Neither may be negative.
func CeilDiv(n, d int) int { return (n + d - 1) / d }

// RoundUp returns the least multiple of to that is not below n. Neither may be negative.
func RoundUp(n, to int) int { return CeilDiv(n, to) * to }
