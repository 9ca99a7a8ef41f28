//go:build !opencl || !cgo

package tensor

// HeaderBuilds is that of OpenCL devices.
func HeaderBuilds(Device) int { return 0 }
