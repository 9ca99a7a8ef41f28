package doctest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// fragments are the documents whose Go is parts of functions, with what these take for granted.
var fragments = map[string]string{
	"README.md":         "inputs, targets *tensor.Tensor",
	"docs/concepts.md":  "d tensor.Device, x *tensor.Tensor",
	"docs/errors.md":    "x, y, w *tensor.Tensor",
	"docs/training.md":  "d tensor.Device, x, labels *tensor.Tensor, net *nn.Linear, opt optim.Optimizer, loader, heldBack *data.Loader, loss *autograd.Node, accuracy *train.Accuracy, step int",
	"docs/recording.md": "d tensor.Device, x, y *tensor.Tensor, net *nn.MLP, opt optim.Optimizer, loader *data.Loader",
}

// unused matches what the compiler says of a variable that a fragment only shows, of an expression
// likewise, and of imports.
var unused = regexp.MustCompile(`declared and not used|is not used|imported and not used|^#|^$|missing return`)

// TestFragments: Go in documents that is no whole program compiles, but for what it declares and
// does not use.
func TestFragments(t *testing.T) {
	builds(t)
	var source strings.Builder
	source.WriteString("package fragments\n\nimport (\n\t\"errors\"\n\t\"fmt\"\n\t\"os\"\n")
	for _, pkg := range []string{"autograd", "data", "kernels", "nn", "optim", "replay", "tensor", "train", "train/tensorboard"} {
		fmt.Fprintf(&source, "\t%q\n", "github.com/clgrad/clgrad/"+pkg)
	}
	source.WriteString(")\n")
	count := 0
	for path, params := range fragments {
		for _, b := range blocks(t, filepath.Join(root, path)) {
			if b.language != "go" {
				continue
			}
			count++
			fmt.Fprintf(&source, "\n//line %s:1\nfunc fragment%d(%s) error {{\n%s}}\n", path, count, params, b.text)
		}
	}
	if count < 6 {
		t.Errorf("only %d fragments", count)
	}
	folder, env := t.TempDir(), environment()
	run(t, folder, env, "go", "mod", "init", "fragments")
	require(t, folder)
	if err := os.WriteFile(filepath.Join(folder, "fragments.go"), []byte(source.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-gcflags=-e", ".")
	build.Dir, build.Env = folder, env
	out, _ := build.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if !unused.MatchString(strings.TrimSpace(line)) {
			t.Error(strings.TrimSpace(line))
		}
	}
}
