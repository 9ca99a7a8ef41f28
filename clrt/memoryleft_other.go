//go:build !linux && opencl && cgo

package clrt

import "math"

// memoryLeft returns how many bytes the process may still take, and what limits them: nothing that
// is known here.
func memoryLeft() (left int64, of string) { return math.MaxInt64, "" }
