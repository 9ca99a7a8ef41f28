package doctest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// declared is what the cells of docs/coming-from-pytorch.md name.
const declared = `package idioms

import (
	"fmt"
	"math"
	"os"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/data/augment"
	"github.com/clgrad/clgrad/data/images"
	"github.com/clgrad/clgrad/data/parquet"
	"github.com/clgrad/clgrad/fft"
	"github.com/clgrad/clgrad/generate"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/linalg"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/plot"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
	"github.com/clgrad/clgrad/train"
	"github.com/clgrad/clgrad/train/tensorboard"
)

var (
	_ = fmt.Sprint
	_ = math.Inf
	_ = plot.Save
	_ = fn.ReLU
	_ = replay.Record

	d             tensor.Device
	t, u          *tensor.Tensor
	index, labels *tensor.Tensor
	x, y, w, b    *autograd.Node
	loss          *autograd.Node
	rng           *tensor.RNG
	losses        []float64
	net           *nn.MLP
	model         generate.Model
	opt           optim.Optimizer
	step          func() ([]*tensor.Tensor, error)
	arrays        []data.Array
	tab           *data.Table
	pixels, marks data.Array
	loader        *data.Loader
)
`

var row = regexp.MustCompile("(?m)^\\| `[^`]+`.* \\| `([^`]+)` \\|$")

// TestIdioms: what docs/coming-from-pytorch.md says of clgrad compiles, and there are 40 rows or
// more.
func TestIdioms(t *testing.T) {
	builds(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "coming-from-pytorch.md"))
	if err != nil {
		t.Fatal(err)
	}
	source := declared
	rows := row.FindAllSubmatch(text, -1)
	for i, match := range rows {
		cell := string(match[1])
		source += fmt.Sprintf("\nfunc row%d() {\n\t%s\n\t%s\n}\n", i, cell, used(t, cell))
	}
	if len(rows) < 40 {
		t.Errorf("%d rows", len(rows))
	}
	for _, b := range blocks(t, filepath.Join(root, "docs", "coming-from-pytorch.md")) {
		if b.language == "go" {
			source += "\n" + b.text
		}
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "idioms.go"), []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	env := environment()
	run(t, folder, env, "go", "mod", "init", "idioms")
	require(t, folder)
	build := exec.Command("go", "build", ".")
	build.Dir, build.Env = folder, env
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// used returns a statement that uses the variables that a cell declares.
func used(t *testing.T, cell string) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {\n"+cell+"\n}", 0)
	if err != nil {
		t.Errorf("%s: %v", cell, err)
		return ""
	}
	var statements []string
	for _, s := range file.Decls[0].(*ast.FuncDecl).Body.List {
		if assign, ok := s.(*ast.AssignStmt); ok && assign.Tok == token.DEFINE {
			for _, left := range assign.Lhs {
				if name := left.(*ast.Ident).Name; name != "_" {
					statements = append(statements, "_ = "+name)
				}
			}
		}
	}
	return strings.Join(statements, "; ")
}
