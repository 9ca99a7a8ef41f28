package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devices"
)

// TestMake: make builds with OpenCL where the C compiler compiles, and where it does not, as gcc
// without the C library's headers, it says so and builds without.
func TestMake(t *testing.T) {
	for _, tool := range []string{"make", "sh"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	broken := filepath.Join(t.TempDir(), "brokencc")
	script := "#!/bin/sh\necho 'a.c:1:10: fatal error: stdlib.h: No such file or directory' >&2\nexit 1\n"
	if err := os.WriteFile(broken, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	makes := func(args ...string) string {
		cmd := exec.Command("make", append([]string{"-s", "-C", "../.."}, args...)...)
		cmd.Env = append(os.Environ(), "MAKEFLAGS=", "CGO_ENABLED=") // of a make that runs this test
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("make %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	const show = "--eval=show: ; @echo tags [$(TAGS)] cgo [$$CGO_ENABLED]"
	if _, err := exec.LookPath("cc"); err == nil && devices.OpenCLBuilt {
		if got := strings.TrimSpace(makes(show, "show", "CC=cc")); got != "tags [-tags opencl] cgo []" {
			t.Errorf("with a C compiler: %s", got)
		}
		if got := makes("-n", "build", "CC=cc"); strings.Contains(got, "without OpenCL") {
			t.Errorf("with a C compiler: %s", got)
		}
	}
	if got := makes("-n", "build"); !strings.Contains(got, "./cmd/mlpimage") || !strings.Contains(got, "./cmd/clgrad") {
		t.Errorf("make builds one program of two: %s", got)
	}
	for _, cc := range []string{broken, filepath.Join(t.TempDir(), "nothere")} {
		if got := strings.TrimSpace(makes(show, "show", "CC="+cc)); got != "tags [] cgo [0]" {
			t.Errorf("with a C compiler that fails: %s", got)
		}
		if got := makes("-n", "build", "CC="+cc); strings.Contains(got, "stdlib.h") || strings.Count(got, "cannot compile C (Debian: apt-get install gcc libc6-dev)") != 1 {
			t.Errorf("with a C compiler that fails: %s", got)
		}
	}
}
