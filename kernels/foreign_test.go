package kernels

import (
	"strings"
	"testing"
)

// TestForeign: a twin is foreign if its function is, or one that it calls for a kernel made of
// others. The functions of package strings stand for those of other modules.
func TestForeign(t *testing.T) {
	own := Twin{F32: func(Call[float32]) {}}
	if (Twin{}).Foreign() || own.Foreign() || isForeign(TestForeign) || ElementTwin(func(Call[int32]) {}).Foreign() {
		t.Error("functions of this module are foreign")
	}
	if !isForeign(strings.ToUpper) || isForeign((func(Call[int32]))(nil)) {
		t.Error("a function of another module is not foreign, or none is")
	}
	k := Kernel{Name: "k", Params: []Param{{"Y", Out}, {"n", IntParam}}, Twin: own, Text: "kernel void k(OUT(Y), int n) {}",
		Forms: Forms{Together: &Together{Function: "own"}}, Grid: GridFromArg(1)}
	k.Twin.foreign = true
	several := k.Several(2)
	if several == nil || !several.Twin.Foreign() {
		t.Error("several launches of a foreign twin are not foreign")
	}
	if looked := k.LookedUp(0, 1, 1); !looked.Twin.Foreign() {
		t.Error("the form that looks up of a foreign twin is not foreign")
	}
}
