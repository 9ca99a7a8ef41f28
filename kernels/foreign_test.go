package kernels

import (
	"strings"
	"testing"
)

// TestForeign: a twin is foreign if its function is, or one of a kernel that it calls. The functions of
// package strings stand for those of other modules.
func TestForeign(t *testing.T) {
	own := Twin{F32: func(Call[float32]) {}}
	if (Twin{}).Foreign() || own.Foreign() || isForeign(TestForeign) || ElementTwin(func(Call[int32]) {}).Foreign() {
		t.Error("functions of this module are foreign")
	}
	if !isForeign(strings.ToUpper) || isForeign((func(Call[int32]))(nil)) {
		t.Error("a function of another module is not foreign, or none is")
	}
	if own.Calling(&Kernel{Twin: own}).Foreign() || !own.Calling(&Kernel{Twin: Twin{foreign: true}}).Foreign() {
		t.Error("what calls twins of this module is foreign, or what calls a foreign one is not")
	}
}
