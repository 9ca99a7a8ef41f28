// Package agree holds what a kernel wrote on a device against what its Go twin wrote.
package agree

import (
	"math"

	"github.com/clgrad/clgrad/kernels"
)

// Scale returns the scale of k's tolerance for a launch with args as host memory, before the twin has run; NaN if it
// depends on the results.
func Scale(k *kernels.Kernel, args []kernels.Arg) float64 {
	if k.Tol.Scale == nil {
		return math.NaN()
	}
	return k.Tol.Scale(args)
}

// Differs returns the index of the first element of got that k's tolerance does not accept for want, or −1. A scale of
// NaN stands for the largest finite magnitude in want.
func Differs(k *kernels.Kernel, got, want *kernels.Mem, scale float64) int {
	if math.IsNaN(scale) {
		scale = 0
		for i := range want.Len() {
			if v := math.Abs(want.At(i)); v > scale && !math.IsInf(v, 0) {
				scale = v
			}
		}
	}
	for i := range want.Len() {
		if !k.Tol.Accepts(want.DType(), got.At(i), want.At(i), scale) {
			return i
		}
	}
	return -1
}
