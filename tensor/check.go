package tensor

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/kernels"
)

// CheckError is the first launch in check mode, of Kernel on Device, whose result differs from the Go twin's: it Got one
// number, and was to Want another.
type CheckError struct {
	Device, Kernel string
	Param          string // the output that differs
	Sizes          []int  // elements of each buffer argument
	Index          int    // first element of it that differs
	Got, Want      float64
	ULP            int64  // representable reals between them
	Node           string // the graph node that asked for the launch, once known
}

// Error names the kernel, the element and both values.
func (e *CheckError) Error() string {
	node := ""
	if e.Node != "" {
		node = " for node " + e.Node
	}
	return fmt.Sprintf("tensor: check: %s on %s%s, buffers of %v elements: %s[%d] is %v, its Go twin has %v (%d ULP apart)",
		e.Kernel, e.Device, node, e.Sizes, e.Param, e.Index, e.Got, e.Want, e.ULP)
}

// Compare returns the index of the first element of got that k's tolerance does not accept for want, or
// −1. A scale of NaN stands for the largest finite magnitude in want.
func Compare(k *kernels.Kernel, got, want *kernels.Mem, scale float64) int {
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
