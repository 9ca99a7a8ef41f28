//go:build !opencl || !cgo

package main

// openCLBuilt says whether this build can use OpenCL.
const openCLBuilt = false

func noCoreFile() {}
