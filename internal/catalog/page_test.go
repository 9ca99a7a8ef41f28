package catalog

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/operations"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/tensor"
)

var update = flag.Bool("update", false, "regenerate docs/operations.md")

const page = "../../docs/operations.md"

const head = `# Operations

<!-- Made by "make generate". -->

Each is a method of ` + "`autograd.Node`" + `, and of ` + "`tensor.Tensor`" + ` without a graph, unless a package stands
before its name. Semantics are PyTorch's and NumPy's; where one differs on purpose, its
documentation says so (` + "`go doc autograd.Node.NAME`" + `).

The error is the largest difference in float64, of results and gradients in all cases of the
operation, to the numbers in ` + "`testdata/references`" + `: PyTorch's, or where a case says so a formula's.
It is the next power of ten, relative to numbers above 1, and to the largest of an array where all
are less. It is that of the Go device; the tests compare float32, too, and PoCL but for the longer
lists of functions and masks. Kernels are tested on their own on these, in both types, under
Oclgrind, and on an H200.

ONNX says which operators [onnx.Export](onnx.md#export) writes, in opset 20, for the simplest case;
– stands for what tensors alone have, and no graph. What follows from no input, such as
` + "`tensor.Arange`" + `, is written as a constant.

Some of PyTorch's functions, and some of their arguments, are one or two of these:

| PyTorch | here |
|---|---|
| addcmul | ` + "`t.Add(x.Mul(y).MulScalar(v))`" + ` |
| addcdiv | ` + "`t.Add(x.Div(y).MulScalar(v))`" + ` |
| add with alpha | ` + "`t.Add(x.MulScalar(alpha))`" + ` |
| rsub | ` + "`y.Sub(t)`" + ` |
| a number where there is no ` + "`…Scalar`" + ` | ` + "`x.Fmod(autograd.Const(tensor.Scalar(d, 2.5)))`" + ` |
| meshgrid(x, y, indexing="xy") | ` + "`ym, xm := autograd.Meshgrid(y, x)`" + ` |
| repeat_interleave without dim | ` + "`x.Flatten(0, -1).RepeatInterleave(n, 0)`" + ` |
| roll without dims | ` + "`x.Flatten(0, -1).Roll(n, 0).Reshape(x.Shape()...)`" + ` |
| roll along two dims | ` + "`x.Roll(n, 0).Roll(m, 1)`" + ` |
| scaled_dot_product_attention(q, k, v, enable_gqa=True) | ` + "`q.Reshape(n, h, group, l, e).ScaledDotProductAttention(k.Unsqueeze(2), v.Unsqueeze(2), nil).Flatten(1, 2)`" + ` |
| scatter with a number | ` + "`x.Scatter(0, index, autograd.Const(tensor.Full(d, v, index.Shape()...)))`" + ` |
| std_mean | ` + "`x.Std(1), x.Mean()`" + ` |
| sum(dtype=torch.float64) | ` + "`x.To(tensor.Float64).Sum()`" + ` |
| unflatten | ` + "`x.Reshape(…)`" + ` |
| diag of a vector | ` + "`t.Expand(n, n).Where(tensor.Eye(d, n, n).To(tensor.Bool), tensor.Zeros(d, n, n))`" + ` |
| randperm | ` + "`rng.Permutation(d, n)`" + ` |
`

// TestPage: docs/operations.md is what the table of operations and the errors of today make.
// -update writes it.
func TestPage(t *testing.T) {
	signatures := exported(t)
	listed, err := operations.Families()
	if err != nil {
		t.Fatal(err)
	}
	d := devtest.CPU(t)
	onnx := exporting{d: devtest.Open(t, "cpu", tensor.Options{}), opset: 20}
	var b strings.Builder
	b.WriteString(head)
	for _, f := range listed {
		if f.Title == "" {
			continue
		}
		at := slices.IndexFunc(families, func(c family) bool { return c.name == f.Name })
		if at < 0 {
			t.Fatalf("family %s of package operations has no cases", f.Name)
		}
		refs := references(t, families[at])
		fmt.Fprintf(&b, "\n## %s\n\n| operation | PyTorch | ONNX | error |\n|---|---|---|---|\n", f.Title)
		for _, o := range f.Operations {
			signature, ok := signatures[o.Name]
			if !ok {
				t.Errorf("neither Node nor Tensor has a method %s, nor is there such a function", o.Name)
			}
			torch := "-"
			if o.Torch != "" {
				torch = "`" + o.Torch + "`"
			}
			c := families[at].find(o.Name)
			if len(c.cases) == 0 {
				t.Errorf("%s has no cases: add them to internal/catalog/%s_test.go", o.Name, f.Name)
			}
			operators := column(onnx.operators(t, c, refs))
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", signature, torch, operators, power(c.compare(t, d, d.DefaultType(), refs)))
		}
		for _, c := range families[at].operations {
			if !slices.ContainsFunc(f.Operations, func(o *operations.Operation) bool { return o.Name == c.name }) {
				t.Errorf("%s has cases, and is not in internal/operations/table/%s.go", c.name, f.Name)
			}
		}
	}
	if *update && !t.Failed() {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("the page has the errors of amd64: other compilers fuse products and sums")
	}
	if set, _ := vec.Chosen(); set == nil {
		t.Skip("the page has the errors of vector instructions")
	}
	want, err := os.ReadFile(page)
	if err != nil || string(want) != b.String() {
		t.Errorf("%s differs from what the operations of today make (err %v): make generate", page, err)
	}
}

// ofGraph are the methods of Node that return one and are no operation on it.
var ofGraph = []string{"Detach", "Retain", "Named", "GradNode"}

// find returns the cases of an operation, none if there are none.
func (f family) find(name string) operation {
	if at := slices.IndexFunc(f.operations, func(o operation) bool { return o.name == name }); at >= 0 {
		return f.operations[at]
	}
	return operation{name: name}
}

// TestEveryOperationListed: what a node is made by is in the table of operations.
func TestEveryOperationListed(t *testing.T) {
	listed := slices.Clone(ofGraph)
	families, err := operations.Families()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, o := range f.Operations {
			listed = append(listed, o.Name)
		}
	}
	of := reflect.TypeFor[*node]()
	for i := range of.NumMethod() {
		m := of.Method(i)
		if m.Type.NumOut() > 0 && m.Type.Out(0) == of && !slices.Contains(listed, m.Name) {
			t.Errorf("Node.%s is not in internal/operations/table: add it, with cases", m.Name)
		}
	}
	for _, name := range ofGraph {
		if _, ok := of.MethodByName(name); !ok {
			t.Errorf("Node has no %s", name)
		}
	}
}

// power returns the power of ten that an error is below.
func power(e float64) string {
	if e == 0 {
		return "0"
	}
	return fmt.Sprintf("1e%d", int(math.Ceil(math.Log10(e))))
}

// exported returns the signatures of what the packages export, by name: methods of Node before
// those of Tensor, and functions with their package.
func exported(t *testing.T) map[string]string {
	t.Helper()
	of := map[string]string{}
	for _, pkg := range []string{"tensor", "nn", "autograd", "linalg", "fft"} {
		paths, err := filepath.Glob("../../" + pkg + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, decl := range file.Decls {
				f, ok := decl.(*ast.FuncDecl)
				if !ok || !f.Name.IsExported() {
					continue
				}
				name, prefix := pkg+"."+f.Name.Name, pkg+"."
				if f.Recv != nil {
					star, _ := f.Recv.List[0].Type.(*ast.StarExpr)
					if star == nil || fmt.Sprint(star.X) != "Tensor" && fmt.Sprint(star.X) != "Node" {
						continue
					}
					name, prefix = f.Name.Name, ""
				}
				of[name] = prefix + f.Name.Name + parameters(f)
			}
		}
	}
	return of
}

// parameters returns those of a function as its source has them.
func parameters(f *ast.FuncDecl) string {
	var b strings.Builder
	_ = printer.Fprint(&b, token.NewFileSet(), f.Type.Params)
	if b.Len() > 0 {
		return b.String()
	}
	var list []string
	for _, p := range f.Type.Params.List {
		var typ strings.Builder
		_ = printer.Fprint(&typ, token.NewFileSet(), p.Type)
		var names []string
		for _, n := range p.Names {
			names = append(names, n.Name)
		}
		list = append(list, strings.TrimSpace(strings.Join(names, ", ")+" "+typ.String()))
	}
	return "(" + strings.Join(list, ", ") + ")"
}
