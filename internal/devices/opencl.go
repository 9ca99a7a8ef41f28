//go:build opencl && cgo

package devices

import "syscall"

// OpenCLBuilt says whether this build can use OpenCL.
const OpenCLBuilt = true

// noCoreFile keeps a crash of this process from leaving a core file.
func noCoreFile() { _ = syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) } // one that is left does no harm
