//go:build opencl && cgo

package clrt

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// clangHeader is where PoCL keeps the header that withBuiltins takes the place of.
const clangHeader = "/usr/share/pocl/include/opencl-c.h"

// TestBuiltins compares the declarations of every function, their types and attributes with
// Clang's.
func TestBuiltins(t *testing.T) {
	if _, err := os.Stat(clangHeader); err != nil {
		t.Skip(err)
	}
	var names []string
	for _, b := range builtins {
		names = append(names, strings.Fields(b.names)...)
	}
	for _, b := range widthBuiltins {
		names = append(names, b.name)
	}
	for _, t := range convertible {
		names = append(names, "convert_"+t)
	}
	all := strings.Join(names, " ")
	text, _ := withBuiltins(all, wordsOf(all))
	ours := filepath.Join(t.TempDir(), "ours.cl")
	if err := os.WriteFile(ours, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, want := declarations(t, ours), declarations(t, clangHeader)
	if len(got) < len(names) {
		t.Fatalf("%d functions are declared, of %d", len(got), len(names))
	}
	for name, overloads := range got {
		slices.Sort(overloads)
		slices.Sort(want[name])
		if !slices.Equal(overloads, slices.Compact(want[name])) {
			t.Errorf("%s: %d declarations %q\nclang has %d: %q", name, len(overloads), overloads, len(want[name]), want[name])
		}
	}
	for name := range maps.Keys(got) {
		if undeclared.MatchString(name) {
			t.Errorf("%s is declared, and among those that are not", name)
		}
	}
}

var (
	attributes  = regexp.MustCompile(`__attribute__\s*\(\(([^()]*)\)\)`)
	declaration = regexp.MustCompile(`([^;{}()]*)\b(\w+)\s*\(([^()]*)\)\s*;`)
	parameter   = regexp.MustCompile(`^(.*(?:\*|\d|float|double|int|long|short|char|half|size_t|flags))\s*\w*$`)
)

// declarations returns the functions that a header declares for a CPU with float64, by name:
// result, attributes and parameter types.
func declarations(t *testing.T, header string) map[string][]string {
	t.Helper()
	text, err := exec.Command("cc", "-E", "-P", "-undef", "-x", "c", "-D__OPENCL_C_VERSION__=120", "-DCL_VERSION_1_0=100", "-DCL_VERSION_1_1=110",
		"-DCL_VERSION_1_2=120", "-DCL_VERSION_2_0=200", "-Dcl_khr_fp64", "-Dcl_khr_int64_base_atomics",
		"-Dcl_khr_global_int32_base_atomics", "-Dcl_khr_local_int32_base_atomics", header).Output()
	if err != nil {
		t.Fatal(err)
	}
	clean := attributes.ReplaceAllStringFunc(string(text), func(a string) string {
		list := strings.FieldsFunc(attributes.FindStringSubmatch(a)[1], func(r rune) bool { return r == ',' || r == ' ' })
		return " @" + strings.Join(list, " @") + " "
	})
	clean = regexp.MustCompile(`(?m)^#.*$`).ReplaceAllString(strings.ReplaceAll(clean, "__", ""), "")
	all := map[string][]string{}
	for _, d := range declaration.FindAllStringSubmatch(clean, -1) {
		var types []string
		for p := range strings.SplitSeq(d[3], ",") {
			p = strings.TrimSpace(strings.ReplaceAll(strings.TrimSuffix(p, " flags"), "*", " * "))
			if m := parameter.FindStringSubmatch(p); m != nil && !strings.HasSuffix(p, "size_t") && !strings.HasSuffix(p, "flags") {
				p = m[1]
			}
			words := strings.Fields(p)
			slices.Sort(words)
			types = append(types, strings.Join(words, " "))
		}
		result := strings.Fields(d[1])
		slices.Sort(result)
		all[d[2]] = append(all[d[2]], strings.Join(result, " ")+" ("+strings.Join(types, ", ")+")")
	}
	return all
}
