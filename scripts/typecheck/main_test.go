package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck: errors of the types are found on the systems that have them, in tests and in packages that others import,
// too.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":            "module example.com/m\n\ngo 1.26\n",
		"m.go":              "package m\n\nimport \"example.com/m/key\"\n\nvar Key uint32 = key.Of()\n",
		"key/key_linux.go":  "package key\n\nimport \"syscall\"\n\nfunc Of() uint32 { return uint32(syscall.Getpid()) }\n",
		"key/key_darwin.go": "package key\n\nfunc Of() uint64 { return 1 }\n",
		"key/key_js.go":     "package key\n\nfunc Of() uint32 { unused := 1; return 1 }\n",
		"wide/wide.go":      "package wide\n\nconst Bits = 1 << 40\n\nvar N int = Bits\n",
		"wide/wide_test.go": "package wide_test\n\nimport \"example.com/m/wide\"\n\nvar small uint8 = wide.Bits\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for target, say := range map[string]string{"linux/arm64": "", "darwin/arm64": "m.go:5:18: cannot use key.Of()",
		"js/wasm": "key_js.go:3:20: declared and not used: unused", "linux/386": "wide.go:5:13: cannot use Bits",
		"windows/arm64": "go list: "} {
		err := check(dir, target, "./...")
		if say == "" && err != nil || say != "" && (err == nil || !strings.Contains(err.Error(), say)) {
			t.Errorf("%s: err = %v, want %q", target, err, say)
		}
	}
	err := check(dir, "linux/arm64", "-test", "./wide")
	if err == nil || !strings.Contains(err.Error(), "wide_test.go:5:19: cannot use wide.Bits") {
		t.Errorf("with tests: err = %v", err)
	}
}
