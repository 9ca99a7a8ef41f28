// Package archtest holds the packages to the architecture: who may import whom.
package archtest

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/clgrad/clgrad/"

// allowed lists, for each package, the packages of this module that it may import. An arrow goes down
// only; internal packages serve the layers named here.
var allowed = map[string][]string{
	"clrt":                 {"internal/mempool"},
	"kernels":              {"kernels/expr", "internal/intmath", "internal/par", "internal/round", "internal/turns", "internal/vec", "internal/regular"},
	"kernels/expr":         {"internal/vec"},
	"tensor":               {"clrt", "kernels", "internal/einsum", "internal/environment", "internal/goroutine", "internal/intmath", "internal/mempool", "internal/npz", "internal/safetensors", "internal/atomicfile", "internal/agree", "internal/ops", "internal/recorder", "internal/round", "internal/trial", "internal/vec", "internal/regular"},
	"replay":               {"kernels", "kernels/expr", "internal/dot", "tensor", "internal/environment", "internal/intmath", "internal/ops", "internal/plumbing", "internal/recorder", "internal/turns"},
	"autograd":             {"kernels", "tensor", "internal/dot", "internal/einsum", "internal/ops", "internal/plumbing", "internal/recorder"},
	"kerneltest":           {"kernels", "tensor", "internal/agree", "internal/interpret"},
	"nn":                   {"autograd", "kernels", "kernels/expr", "tensor", "internal/plumbing"},
	"optim":                {"autograd", "kernels", "kernels/expr", "tensor", "internal/ops", "internal/plumbing"},
	"checkpoint":           {"optim", "tensor", "internal/atomicfile", "internal/safetensors", "internal/regular"},
	"data":                 {"kernels", "tensor", "internal/npz", "internal/plumbing", "internal/regular"},
	"hashgrid":             {"autograd", "internal/vec", "kernels", "kernels/expr", "tensor"},
	"imagefit":             {"autograd", "hashgrid", "kernels", "kernels/expr", "nn", "optim", "replay", "tensor", "internal/npz", "internal/par", "internal/regular"},
	"cmd/clgrad":           {"kernels", "tensor", "internal/atomicfile", "internal/bench", "internal/cli", "internal/devices", "internal/ops", "internal/plumbing", "internal/regular"},
	"cmd/mlpimage":         {"hashgrid", "imagefit", "tensor", "internal/atomicfile", "internal/cli", "internal/devices", "internal/live", "internal/samefile", "internal/regular"},
	"examples/polynomial":  {"autograd", "optim", "tensor", "examples/internal/program"},
	"examples/circles":     {"autograd", "nn", "optim", "tensor", "examples/internal/program"},
	"examples/chars":       {"autograd", "checkpoint", "nn", "optim", "tensor", "examples/internal/program"},
	"examples/serve":       {"autograd", "nn", "tensor", "examples/internal/program"},
	"examples/digits":      {"autograd", "data", "nn", "optim", "tensor", "examples/internal/program"},
	"examples/vae":         {"autograd", "data", "nn", "optim", "tensor", "examples/internal/program"},
	"examples/mnist":       {"autograd", "data", "nn", "optim", "tensor", "examples/internal/program"},
	"examples/customop":    {"autograd", "kernels", "kernels/expr", "optim", "tensor"},
	"scripts/benchops":     {"autograd", "kernels", "tensor"},
	"scripts/drawtestdata": {},
	"scripts/livepage":     {},
	"scripts/mutants":      {},
	"scripts/showcase":     {},
	"internal/bench":       {"autograd", "imagefit", "kernels", "nn", "optim", "replay", "tensor", "internal/ops", "internal/plumbing", "internal/recorder"},
	"internal/cli":         {"clrt", "internal/atomicfile", "internal/environment"},
	"internal/clitest":     {"tensor", "internal/devices"},
	"internal/devices":     {"clrt", "kernels", "kerneltest", "tensor", "internal/atomicfile", "internal/cli", "internal/environment", "internal/kernelcases", "internal/ops", "internal/plumbing", "internal/regular"},
	"internal/plumbing":    {"kernels", "tensor", "internal/ops", "internal/recorder"},
	"internal/agree":       {"kernels"},
	"internal/interpret":   {"kernels", "kernels/expr", "internal/agree"},
	"internal/kernelcases": {"kernels", "internal/ops"},
	"internal/trial":       {"kernels", "internal/kernelcases", "internal/ops"},
	"internal/ops":         {"kernels", "kernels/expr", "internal/cond", "internal/intmath", "internal/par", "internal/round", "internal/vec", "internal/regular"},
	"internal/cond":        {},
	"internal/dot":         {},
	"internal/environment": {},
	"internal/intmath":     {},
	"internal/einsum":      {},
	"internal/recorder":    {"kernels"},
	"internal/goroutine":   {},
	"internal/turns":       {"internal/goroutine"},
	"internal/par":         {},
	"internal/vec":         {},
	"internal/vec/gen":     {},
	"internal/regular":     {},
	"internal/round":       {},
	"internal/reference":   {},
	"internal/live":        {},
	"internal/mempool":     {},
	"internal/npz":         {},
	"internal/safetensors": {},
	"internal/atomicfile":  {},
	"internal/samefile":    {"internal/atomicfile"},
	"internal/devtest":     {"clrt", "tensor", "internal/plumbing", "kernels"},
	"internal/archtest":    {},
	"internal/catalog":     {},

	"examples/internal/program":     {"internal/atomicfile", "internal/cli"},
	"examples/internal/exampletest": {"autograd", "data", "kernels", "nn", "optim", "tensor"},
}

// inOneFile lists imports that only one file, and its stub for builds without OpenCL, may have.
var inOneFile = map[string][]string{
	"tensor > clrt": {"device_cl.go", "device_nocl.go", "environment.go", "program_cl.go", "trial.go"},
}

func TestImports(t *testing.T) {
	root := "../.."
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != root {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		rel, _ := filepath.Rel(root, path)
		pkg := filepath.ToSlash(filepath.Dir(rel))
		may, known := allowed[pkg]
		if !known {
			t.Errorf("package %s has no row in allowed", pkg)
		}
		seen[pkg] = true
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			dep, ours := strings.CutPrefix(name, module)
			if name == "C" || name == "github.com/samuel/go-opencl/cl" {
				if pkg != "clrt" {
					t.Errorf("%s imports %s: only clrt may", rel, name)
				}
			}
			if !ours {
				continue
			}
			if !slices.Contains(may, dep) {
				t.Errorf("%s imports %s, which the architecture does not allow", rel, dep)
			}
			if files, limited := inOneFile[pkg+" > "+dep]; limited && !slices.Contains(files, filepath.Base(path)) {
				t.Errorf("%s imports %s: only %v may", rel, dep, files)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range allowed {
		if !seen[pkg] && pkg != "internal/archtest" {
			t.Errorf("allowed has a row for %s, which does not exist", pkg)
		}
	}
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
}
