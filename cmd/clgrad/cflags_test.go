package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/cli"
)

// TestCFlags: the flags name the headers of the version that the module of the working folder uses, and an error says
// what is missing where there is none.
func TestCFlags(t *testing.T) {
	repo, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	call := func(args ...string) (code int, out, failure string) {
		var o, e bytes.Buffer
		code = cli.Run(newRoot(), append([]string{"cflags"}, args...), &o, &e, cli.CommandFirst)
		return code, o.String(), e.String()
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if code, out, _ := call(); code != 0 || out != "-O2 -g -Wno-deprecated -I"+filepath.Join(repo, "clrt", "include")+"\n" {
		t.Errorf("in the repository: %d, %q", code, out)
	}
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOWORK", "off")
	folder := filepath.Join(t.TempDir(), "a folder")
	if err := os.Mkdir(folder, 0o777); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	if code, out, failure := call(); code != 1 || out != "" || !strings.Contains(failure, "no module in this folder uses github.com/clgrad/clgrad: change to yours, and run go get") {
		t.Errorf("without a module: %d, %q, %q", code, out, failure)
	}
	write("go.mod", "module program\n\ngo 1.26\n")
	if code, _, failure := call(); code != 1 || !strings.Contains(failure, "and run go get github.com/clgrad/clgrad") {
		t.Errorf("a module without clgrad: %d, %q", code, failure)
	}
	write("go.mod", "module program\n\ngo 1.26\n\nrequire github.com/clgrad/clgrad v0.0.0\n\nreplace github.com/clgrad/clgrad => ./library\n")
	headers := filepath.Join(folder, "library", "clrt", "include")
	if err := os.MkdirAll(headers, 0o777); err != nil {
		t.Fatal(err)
	}
	write("library/go.mod", "module github.com/clgrad/clgrad\n\ngo 1.26\n")
	if code, _, failure := call(); code != 1 || !strings.Contains(failure, "is not downloaded: run go mod download") {
		t.Errorf("without headers: %d, %q", code, failure)
	}
	write(filepath.Join(headers, "cl.h"), "")
	if code, out, failure := call(); code != 0 || out != `-O2 -g -Wno-deprecated "-I`+headers+"\"\n" {
		t.Errorf("a folder with a space: %d, %q, %q", code, out, failure)
	}
	if code, _, _ := call("more"); code != 2 {
		t.Errorf("an argument: %d, want 2", code)
	}
}
