package clrt

import (
	"strings"
	"testing"
)

// TestRetarget: statements for a target become ones of a program for it, and a program for other
// devices is refused.
func TestRetarget(t *testing.T) {
	const ptx = ".version 9.0\n.target sm_90, texmode_independent\n.entry k_a() {\n\t// begin inline asm\n\t//sm_90a wgmma.fence.sync.aligned;\n\t// end inline asm\n\tret;\n}\n"
	const want = ".version 9.0\n.target sm_90a, texmode_independent\n.entry k_a() {\n\t// begin inline asm\n\twgmma.fence.sync.aligned;\n\t// end inline asm\n\tret;\n}\n"
	if got, err := retarget(ptx, "sm_90a"); err != nil || got != want {
		t.Errorf("got %v:\n%s", err, got)
	}
	if got, err := retarget(strings.Replace(ptx, "sm_90,", "sm_90\n//", 1), "sm_90a"); err != nil || !strings.Contains(got, ".target sm_90a\n") {
		t.Errorf("without options: %v:\n%s", err, got)
	}
	for name, c := range map[string][2]string{
		"other devices":           {strings.Replace(ptx, "sm_90,", "sm_100,", 1), "for \"sm_100\", not for sm_90"},
		"devices of longer names": {strings.Replace(ptx, "sm_90,", "sm_900,", 1), "for \"sm_900\", not for sm_90"},
		"no text":                 {"\x7fELF", "not in PTX"},
		"nothing":                 {"", "not in PTX"},
		"no target":               {".target ", "it is for \"\", not for sm_90"},
		"a mark before a tab":     {ptx + "//sm_90a\twgmma.commit_group.sync.aligned;\n", "a statement is marked \"//sm_90a\\twgmma.commit_group.sync.aligned;\", not \"//sm_90a \""},
		"marks for two targets":   {ptx + "//sm_100a tcgen05.fence;\n", "a statement is marked \"//sm_100a tcgen05.fence;\", not \"//sm_90a \""},
		"no marks":                {strings.Replace(ptx, "//sm_90a", "//", 1), "no statement is marked for sm_90a"},
	} {
		if got, err := retarget(c[0], "sm_90a"); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, want %q; text %q", name, err, c[1], got)
		}
	}
}
