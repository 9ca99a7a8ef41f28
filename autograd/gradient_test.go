package autograd_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// step is the step of a central difference that balances truncation (h²) against cancellation (ε/h)
// in float64.
const step = 6e-6

// TestGradients holds every operation's gradients against central differences in float64, with a
// random gradient coming from above.
func TestGradients(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel != "cpu" && !devtest.More() { // internal/catalog has all but element-wise ones there, in float32
			continue
		}
		t.Run(sel, func(t *testing.T) {
			d := devtest.Open(t, sel, tensor.Options{DefaultType: tensor.Float64})
			for _, c := range gradCases(d) {
				t.Run(fmt.Sprint(c.op, c.shapes), func(t *testing.T) { checkGradients(t, d, c) })
			}
		})
	}
}

func checkGradients(t *testing.T, d tensor.Device, c gradCase) {
	r := rand.New(rand.NewPCG(1, c.seed()))
	values := make([][]float64, len(c.shapes))
	for i, s := range c.shapes {
		values[i] = make([]float64, product(s))
		for j := range values[i] {
			values[i][j] = c.low + (c.high-c.low)*r.Float64()
		}
	}
	params := func() []*node {
		in := make([]*node, len(c.shapes))
		for i, s := range c.shapes {
			in[i] = autograd.Param(devtest.New(d, values[i], s...), fmt.Sprint("p", i))
		}
		return in
	}
	in := params()
	y := c.f(in)
	var graph bytes.Buffer
	err := autograd.WriteDOT(&graph, y)
	label := regexp.MustCompile(`(?i)label="` + strings.ReplaceAll(c.op, "_", "_?") + `(imum)?\\n`) // of a function the name of the method, Maximum say
	if c.op != "" && (err != nil || !label.MatchString(graph.String())) {
		t.Errorf("no %q in the graph of its case (err %v):\n%s", c.op, err, graph.String())
	}
	upstream := make([]float64, y.Value().Len())
	for i := range upstream {
		upstream[i] = r.Float64()*2 - 1
	}
	if err := y.Backward(autograd.BackwardOptions{Seed: devtest.New(d, upstream, y.Shape()...)}); err != nil {
		t.Fatal(err)
	}
	dot := func() float64 {
		var s float64
		tensor.Scope(d, func() {
			out, err := c.f(params()).Value().Float64s()
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range out {
				s += v * upstream[i]
			}
		})
		return s
	}
	for i, p := range in {
		got, err := p.Grad().Float64s()
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(p.Grad().Shape()) != fmt.Sprint(p.Shape()) {
			t.Fatalf("gradient has shape %v, parameter %v", p.Grad().Shape(), p.Shape())
		}
		for j := range values[i] {
			x := values[i][j]
			values[i][j] = x + step
			up := dot()
			values[i][j] = x - step
			down := dot()
			values[i][j] = x
			want := (up - down) / (2 * step)
			if math.Abs(got[j]-want) > 1e-7*max(1, math.Abs(want)) {
				t.Fatalf("input %d element %d: gradient %v, central difference %v", i, j, got[j], want)
			}
		}
	}
}

func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// TestEveryOpHasCase fails for an operation without a gradient case: each name that a file gives to
// NewOp, and each row of the kernel tables.
func TestEveryOpHasCase(t *testing.T) {
	have := map[string]bool{}
	for _, c := range gradCases(devtest.CPU(t)) {
		have[c.op] = true
	}
	want := map[string]bool{}
	for _, f := range slices.Concat(fn.Functions, fn.Choices) {
		if f != fn.Identity { // whose node is Copy
			want[f.Name] = true
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ops, err := recordedOps(file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, op := range ops {
			want[op] = true
		}
	}
	for _, op := range []string{"Sum", "MatMul", "Linear", "SquaredError"} {
		if !want[op] {
			t.Errorf("operation %q was not found in the sources", op)
		}
	}
	for op := range want {
		if !have[op] {
			t.Errorf("operation %q has no row in gradCases", op)
		}
	}
	for op := range have {
		if !want[op] {
			t.Errorf("gradCases has rows for %q, which no operation is named", op)
		}
	}
}

// recordedOps returns the names that a file gives to NewOp, to the part of it that looks at
// nothing, or to linewise: literals, and constants of the function or the file. One of any other kind is an error, so
// that none is missed, but in what passes a name on, as elementwise does for the rows of the kernel tables.
func recordedOps(file *ast.File) (ops []string, err error) {
	inFile := constants(file, func(n ast.Node) bool { _, body := n.(*ast.BlockStmt); return !body })
	for _, decl := range file.Decls {
		passOn := []string{"NewOp", "linewise", "ofLines", "elementwise", "applied"} // a name
		if f, is := decl.(*ast.FuncDecl); is && slices.Contains(passOn, f.Name.Name) {
			continue
		}
		inFunc := constants(decl, func(ast.Node) bool { return true })
		ast.Inspect(decl, func(n ast.Node) bool {
			if pair, ok := n.(*ast.CompositeLit); ok {
				if of, ok := pair.Type.(*ast.Ident); ok && of.Name == "adjoint" {
					for _, name := range pair.Elts[:2] {
						if lit, ok := name.(*ast.BasicLit); ok {
							op, _ := strconv.Unquote(lit.Value)
							ops = append(ops, op)
						}
					}
				}
			}
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, ok := call.Fun.(*ast.Ident); !ok || f.Name != "NewOp" && f.Name != "apply" && f.Name != "linewise" {
				return true
			}
			switch name := call.Args[0].(type) {
			case *ast.BasicLit:
				op, _ := strconv.Unquote(name.Value)
				ops = append(ops, op)
				return true
			case *ast.Ident:
				for _, known := range []map[string]string{inFunc, inFile} {
					if op, ok := known[name.Name]; ok {
						ops = append(ops, op)
						return true
					}
				}
			}
			err = fmt.Errorf("NewOp is given a name that is no literal or constant of its file (in %T)", call.Args[0])
			return true
		})
	}
	return ops, err
}

// constants returns the string constants declared under n, where into says to look.
func constants(n ast.Node, into func(ast.Node) bool) map[string]string {
	known := map[string]string{}
	ast.Inspect(n, func(n ast.Node) bool {
		if decl, ok := n.(*ast.GenDecl); ok && decl.Tok == token.CONST {
			for _, s := range decl.Specs {
				spec := s.(*ast.ValueSpec)
				for i, v := range spec.Values {
					if lit, ok := v.(*ast.BasicLit); ok && lit.Kind == token.STRING {
						known[spec.Names[i].Name], _ = strconv.Unquote(lit.Value)
					}
				}
			}
		}
		return n != nil && into(n)
	})
	return known
}

// TestRecordedOps: names are found in each form, and one in a form that is not known is not passed
// over.
func TestRecordedOps(t *testing.T) {
	for source, want := range map[string]string{
		`func f() { NewOp("A", y) }`:                                                         "[A]",
		`func f() { apply("A", y) }`:                                                         "[A]",
		`func f() { linewise("A", l) }; func linewise() { NewOp(op, y) }`:                    "[A]",
		`func f() { adjoint{"A", "B", r, s}.applied(x) }; func applied() { NewOp(a.op, y) }`: "[A B]",
		`func f() { const op = "B"; NewOp(op, y) }`:                                          "[B]",
		"const op = `C`\nfunc f() { g(NewOp(op, y)) }":                                       "[C]",
		`const op = "D"; func f() { const op = "E"; NewOp(op, y) }`:                          "[E]",
		`func f() { const op = "F"; NewOp(op, y) }; func elementwise() { NewOp(op, y) }`:     "[F]",
		`func g() { const op = "G" }; func f() { NewOp(op, y) }`:                             "error",
		`func f(op string) { NewOp(op, y) }`:                                                 "error",
		`func f() { NewOp("H" + s, y) }`:                                                     "error",
		`func f() { NewOp(f.Name, y) }`:                                                      "error",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+source, 0)
		if err != nil {
			t.Fatal(err)
		}
		ops, err := recordedOps(file)
		if got := fmt.Sprint(ops); err == nil && got != want || err != nil && want != "error" {
			t.Errorf("%s: %v (err %v), want %s", source, got, err, want)
		}
	}
}
