package kernels

import (
	"strings"
	"testing"
)

// TestForeign: a host kernel is foreign if its function is, or one of a kernel that it calls. The functions of
// package strings stand for those of other modules.
func TestForeign(t *testing.T) {
	own := HostKernel{F32: func(HostArgs[float32]) {}}
	if (HostKernel{}).Foreign() || own.Foreign() || isForeign(TestForeign) ||
		ElementHostKernel(func(HostArgs[int32]) {}).Foreign() {
		t.Error("functions of this module are foreign")
	}
	if !isForeign(strings.ToUpper) || isForeign((func(HostArgs[int32]))(nil)) {
		t.Error("a function of another module is not foreign, or none is")
	}
	if own.Calling(&Kernel{Host: own}).Foreign() || !own.Calling(&Kernel{Host: HostKernel{foreign: true}}).Foreign() {
		t.Error("what calls host kernels of this module is foreign, or what calls a foreign one is not")
	}
}
