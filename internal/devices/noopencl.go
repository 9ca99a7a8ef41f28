//go:build !opencl || !cgo

package devices

// OpenCLBuilt says whether this build can use OpenCL.
const OpenCLBuilt = false

func noCoreFile() {}
