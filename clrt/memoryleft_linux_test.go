//go:build opencl && cgo

package clrt

import (
	"syscall"
	"testing"
)

// TestMemoryLeft: what is left is some of what the machine has, and a limit of the address space
// lowers it.
func TestMemoryLeft(t *testing.T) {
	total, ok := field("/proc/meminfo", "MemTotal:")
	if !ok {
		t.Skip("there is no /proc/meminfo")
	}
	if left, of := memoryLeft(); left < 1<<20 || left > total<<10 || of == "" {
		t.Errorf("%d bytes are left of %d: %q", left, total<<10, of)
	}
	var space syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &space); err != nil {
		t.Skip(err)
	}
	size, ok := field("/proc/self/status", "VmSize:")
	if !ok {
		t.Fatal("/proc/self/status does not say VmSize")
	}
	const more = 100 << 20
	low := space
	low.Cur = uint64(size)<<10 + more
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &low); err != nil {
		t.Skip(err)
	}
	defer syscall.Setrlimit(syscall.RLIMIT_AS, &space)
	if left, of := memoryLeft(); left > more || of != "the address space (ulimit -v) has" {
		t.Errorf("%d bytes are left of %d: %q", left, int64(more), of)
	}
}
