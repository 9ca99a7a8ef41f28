// Package archtest holds the packages to the architecture: who may import whom.
package archtest

import (
	"cmp"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/clgrad/clgrad"

// allowed lists, for each package, the packages of this module that it may import. An arrow goes
// down only; internal packages serve the layers named here.
var allowed = map[string][]string{
	".":                         {},
	"clrt":                      {"internal/mempool"},
	"bfloat16":                  {},
	"lowbit":                    {},
	"kernels":                   {"bfloat16", "lowbit", "kernels/expr", "internal/intmath", "internal/parallel", "internal/convert", "internal/stepwatch", "kernels/cl"},
	"kernels/cl":                {"internal/regular"},
	"kernels/operation":         {"bfloat16", "kernels"},
	"kernels/selftest":          {"kernels"},
	"kernels/fn":                {"kernels", "kernels/expr"},
	"kernels/expr":              {"bfloat16", "internal/convert", "internal/vec"},
	"kernels/ir":                {"kernels/expr", "internal/vec"},
	"kernels/defs":              {"kernels/expr", "kernels/ir"},
	"internal/fused":            {"bfloat16", "lowbit", "kernels", "kernels/cl", "kernels/expr", "internal/convert", "internal/intmath", "internal/vec", "kernels/operation", "kernels/selftest"},
	"internal/lower":            {"bfloat16", "kernels", "kernels/expr", "kernels/fn", "kernels/ir", "internal/vec", "internal/fused"},
	"tensor":                    {"bfloat16", "lowbit", "clrt", "kernels", "kernels/cl", "kernels/defs", "kernels/fn", "internal/caller", "internal/compose", "internal/einsum", "internal/environment", "internal/goroutine", "internal/intmath", "internal/mempool", "internal/npz", "internal/safetensors", "internal/torchfile", "internal/atomicfile", "internal/compare", "internal/ops", "internal/capture", "internal/convert", "internal/hooks", "internal/selftestargs", "internal/vec", "internal/regular", "internal/fused"},
	"autograd":                  {"kernels", "kernels/fn", "tensor", "internal/caller", "internal/compose", "internal/dot", "internal/einsum", "internal/hooks", "internal/intmath", "internal/ops", "internal/tensorapi", "internal/trace", "internal/capture"},
	"replay":                    {"kernels", "kernels/expr", "kernels/fn", "internal/dot", "tensor", "internal/environment", "internal/gradsums", "internal/intmath", "internal/tensorapi", "internal/capture", "internal/stepwatch", "internal/shapecache", "replay/fusion", "internal/fused", "kernels/operation"},
	"replay/fusion":             {"kernels", "kernels/operation"},
	"kerneltest":                {"kernels", "tensor", "internal/compare", "internal/refexec"},
	"nn":                        {"autograd", "fusedmlp", "kernels", "kernels/expr", "kernels/fn", "tensor", "internal/recurrent", "internal/tensorapi", "internal/trace"},
	"optim":                     {"autograd", "kernels", "kernels/expr", "kernels/fn", "tensor", "internal/flatparams", "internal/ops", "internal/tensorapi"},
	"checkpoint":                {"bfloat16", "lowbit", "optim", "tensor", "internal/tensorapi", "internal/atomicfile", "internal/safetensors", "internal/regular"},
	"data":                      {"kernels", "tensor", "internal/npz", "internal/tensorapi", "internal/regular"},
	"data/augment":              {"kernels", "kernels/expr", "tensor"},
	"data/parquet":              {"data", "tensor", "internal/regular"},
	"data/images":               {"data", "tensor", "internal/imagefile", "internal/regular"},
	"fusedmlp":                  {"kernels", "kernels/expr", "kernels/fn", "internal/boolmath", "internal/gradsums", "internal/intmath", "internal/parallel", "internal/vec", "replay/fusion", "internal/fused", "kernels/operation", "kernels/selftest"},
	"hashgrid":                  {"autograd", "internal/vec", "kernels", "kernels/expr", "tensor", "internal/fused", "kernels/selftest"},
	"fft":                       {"autograd", "internal/trace", "internal/vec", "kernels", "tensor"},
	"internal/conditioned":      {"kernels"},
	"internal/recurrent":        {"kernels", "tensor", "internal/conditioned", "internal/parallel", "internal/vec"},
	"linalg":                    {"autograd", "internal/conditioned", "internal/trace", "internal/vec", "kernels", "tensor"},
	"onnx":                      {".", "autograd", "bfloat16", "kernels", "kernels/expr", "kernels/fn", "lowbit", "nn", "replay", "tensor", "internal/atomicfile", "internal/einsum", "internal/onnxpb", "internal/recurrent", "internal/tensorapi", "internal/trace", "fft", "internal/shapecache"},
	"onnx/imagedecoder":         {"onnx"},
	"generate":                  {"autograd", "kernels", "kernels/expr", "nn", "replay", "tensor"},
	"serve":                     {"autograd", "data", "replay", "tensor", "internal/shapecache"},
	"train":                     {"nn", "tensor", "internal/atomicfile", "internal/scalar", "internal/tensorapi", "internal/terminal"},
	"train/tensorboard":         {"autograd", "tensor", "internal/atomicfile", "internal/scalar"},
	"plot":                      {"autograd", "tensor", "internal/atomicfile"},
	"imagefit":                  {"autograd", "fusedmlp", "hashgrid", "kernels", "kernels/expr", "nn", "optim", "replay", "replay/fusion", "tensor", "internal/npz", "internal/parallel", "internal/regular", "internal/imagefile", "internal/fused", "kernels/operation"},
	"cmd/clgrad":                {"bfloat16", "fusedmlp", "kernels", "onnx", "onnx/imagedecoder", "tensor", "internal/atomicfile", "internal/bench", "internal/cli", "internal/devices", "internal/ops", "internal/tensorapi", "internal/recurrent", "internal/regular", "internal/terminal", "fft", "linalg"},
	"cmd/mlpimage":              {"fusedmlp", "hashgrid", "imagefit", "kernels", "tensor", "internal/atomicfile", "internal/cli", "internal/devices", "internal/liveview", "internal/samefile", "internal/regular", "internal/terminal", "plot"},
	"examples/polynomial":       {"autograd", "optim", "tensor", "examples/internal/program"},
	"examples/circles":          {"autograd", "nn", "optim", "tensor", "examples/internal/program"},
	"examples/chars":            {"autograd", "checkpoint", "generate", "nn", "optim", "tensor", "examples/internal/program"},
	"examples/gpt2":             {"autograd", "generate", "kernels/fn", "nn", "tensor", "examples/internal/program"},
	"examples/serve":            {"autograd", "data", "nn", "serve", "tensor", "examples/internal/program"},
	"examples/onnxserver":       {"bfloat16", "data", "onnx", "serve", "tensor", "examples/internal/program"},
	"examples/digits":           {"autograd", "data", "nn", "optim", "tensor", "train", "examples/internal/program"},
	"examples/vae":              {"autograd", "data", "nn", "optim", "tensor", "examples/internal/program"},
	"examples/mnist":            {"autograd", "data", "nn", "optim", "tensor", "train", "examples/internal/program"},
	"examples/faces":            {"onnx", "tensor", "examples/internal/picture", "examples/internal/program"},
	"examples/filetypes":        {"onnx", "tensor", "examples/internal/program"},
	"examples/finetune":         {"autograd", "data", "nn", "onnx", "optim", "tensor", "examples/internal/picture", "examples/internal/program"},
	"examples/ocr":              {"onnx", "tensor", "examples/internal/picture", "examples/internal/program"},
	"examples/speech":           {"onnx", "tensor", "examples/internal/program"},
	"examples/diffusion":        {"autograd", "data", "nn", "optim", "tensor"},
	"examples/lstm":             {"autograd", "nn", "optim", "tensor"},
	"examples/mixed":            {"autograd", "data", "nn", "optim", "tensor"},
	"examples/pinn":             {"autograd", "nn", "optim", "tensor"},
	"examples/resnet":           {"autograd", "data", "nn", "optim", "tensor"},
	"examples/tabular":          {"autograd", "data", "nn", "optim", "tensor"},
	"examples/unet":             {"autograd", "nn", "optim", "tensor"},
	"examples/weights":          {"autograd", "data", "nn", "optim", "tensor"},
	"examples/customfusion":     {"kernels", "kernels/expr", "kernels/fn", "replay", "replay/fusion", "tensor", "kernels/operation"},
	"examples/customop":         {"autograd", "kernels", "kernels/expr", "nn", "optim", "tensor", "kernels/operation"},
	"scripts/benchops":          {"autograd", "fft", "kernels", "kernels/fn", "linalg", "tensor"},
	"scripts/drawtestdata":      {},
	"scripts/livepage":          {},
	"scripts/mutants":           {},
	"scripts/notebook":          {"internal/atomicfile"},
	"docs/notebook":             {"autograd", "nn", "optim", "plot", "tensor"},
	"scripts/onnxscore":         {"onnx", "onnx/imagedecoder", "tensor", "internal/onnxtest"},
	"scripts/peers/calls":       {"autograd", "tensor"},
	"scripts/showcase":          {},
	"scripts/typecheck":         {},
	"internal/bench":            {"autograd", "imagefit", "kernels", "kernels/fn", "nn", "optim", "replay", "tensor", "internal/ops", "internal/tensorapi", "internal/capture"},
	"internal/cli":              {".", "clrt", "internal/atomicfile", "internal/environment", "internal/terminal"},
	"internal/clitest":          {"tensor", "internal/devices"},
	"internal/devices":          {"clrt", "kernels", "kernels/cl", "kerneltest", "tensor", "internal/atomicfile", "internal/cli", "internal/environment", "internal/ops", "internal/tensorapi", "internal/regular"},
	"internal/tensorapi":        {"kernels", "tensor", "internal/ops", "internal/capture", "internal/hooks"},
	"internal/compare":          {"kernels", "internal/fused"},
	"internal/refexec":          {"kernels", "kernels/expr", "kernels/fn", "internal/compare", "kernels/operation"},
	"internal/selftestargs":     {"kernels", "internal/ops", "kernels/selftest"},
	"internal/gradsums":         {"kernels"},
	"internal/ops":              {"bfloat16", "lowbit", "kernels", "kernels/defs", "kernels/expr", "kernels/fn", "kernels/ir", "internal/lower", "internal/boolmath", "internal/gradsums", "internal/intmath", "internal/parallel", "internal/convert", "internal/vec", "internal/regular", "internal/fused", "kernels/operation", "kernels/selftest"},
	"internal/onnxpb":           {},
	"internal/onnxtest":         {"onnx", "tensor"},
	"internal/boolmath":         {},
	"internal/dot":              {},
	"internal/operations":       {},
	"internal/operations/gen":   {"internal/operations"},
	"internal/operations/table": {},
	"internal/flatparams":       {"autograd", "tensor", "internal/gradsums", "internal/hooks", "internal/intmath", "internal/tensorapi"},
	"internal/hooks":            {},
	"internal/environment":      {},
	"internal/intmath":          {},
	"internal/irtest":           {"kernels/expr", "kernels/ir", "internal/vec"},
	"internal/einsum":           {},
	"internal/capture":          {"kernels"},
	"internal/trace":            {"internal/goroutine"},
	"internal/goroutine":        {},
	"internal/caller":           {},
	"internal/shapecache":       {},
	"internal/stepwatch":        {"internal/goroutine"},
	"internal/parallel":         {},
	"internal/vec":              {"bfloat16"},
	"internal/vec/gen":          {},
	"internal/imagefile":        {},
	"internal/regular":          {},
	"internal/compose":          {"kernels"},
	"internal/convert":          {"bfloat16"},
	"internal/reference":        {},
	"internal/liveview":         {},
	"internal/mempool":          {},
	"internal/npz":              {},
	"internal/safetensors":      {"bfloat16", "lowbit"},
	"internal/torchfile":        {"bfloat16", "lowbit"},
	"internal/atomicfile":       {},
	"internal/samefile":         {"internal/atomicfile"},
	"internal/terminal":         {},
	"internal/scalar":           {},
	"internal/devtest":          {"clrt", "tensor", "internal/tensorapi", "internal/operations", "kernels", "kernels/fn"},
	"internal/archtest":         {},
	"internal/catalog":          {},

	"examples/internal/picture":     {"imagefit", "internal/regular"},
	"examples/internal/program":     {"tensor", "internal/atomicfile", "internal/cli"},
	"examples/internal/exampletest": {"autograd", "data", "kernels", "nn", "optim", "tensor"},
}

// inOneFile lists imports that only one file, and its stub for builds without OpenCL, may have.
var inOneFile = map[string][]string{
	"tensor > clrt": {"device_cl.go", "device_nocl.go", "environment.go", "program_cl.go", "selftest.go"},
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
			rest, ours := strings.CutPrefix(name+"/", module+"/")
			dep := strings.TrimSuffix(cmp.Or(rest, "."), "/")
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

// TestArchitecturePage: docs/architecture.md names every package.
func TestArchitecturePage(t *testing.T) {
	text, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range allowed {
		top, rest, below := strings.Cut(pkg, "/")
		name := map[bool]string{true: rest, false: top}[below]
		if slices.Contains([]string{".", "docs", "examples", "scripts"}, top) {
			continue
		}
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).Match(text) {
			t.Errorf("docs/architecture.md does not name package %s", pkg)
		}
	}
}
