package autograd_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// step is the step of a central difference that balances truncation (h²) against cancellation (ε/h) in
// float64.
const step = 6e-6

// TestGradients holds every operation's gradients against central differences in float64, with a random
// gradient coming from above.
func TestGradients(t *testing.T) {
	for _, sel := range devtest.Selected() {
		t.Run(sel, func(t *testing.T) {
			d := devtest.Open(t, sel, tensor.Options{Float64: true})
			for i, c := range gradCases(d) {
				t.Run(fmt.Sprint(c.op, c.shapes), func(t *testing.T) { checkGradients(t, d, c, uint64(i)) })
			}
		})
	}
}

func checkGradients(t *testing.T, d tensor.Device, c gradCase, seed uint64) {
	r := rand.New(rand.NewPCG(1, seed))
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
			in[i] = autograd.Param(tensor.New(d, values[i], s...), fmt.Sprint("p", i))
		}
		return in
	}
	in := params()
	y := c.f(in)
	upstream := make([]float64, y.Value().Len())
	for i := range upstream {
		upstream[i] = r.Float64()*2 - 1
	}
	if err := y.Backward(autograd.Seed(tensor.New(d, upstream, y.Shape()...))); err != nil {
		t.Fatal(err)
	}
	dot := func() float64 {
		var s float64
		tensor.Scope(d, func() {
			autograd.NoGrad(d, func() {
				out, err := c.f(params()).Value().Float64s()
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range out {
					s += v * upstream[i]
				}
			})
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

// TestEveryOpHasCase fails for an operation without a gradient case: each name given to Apply as a
// literal, and each row of the kernel tables.
func TestEveryOpHasCase(t *testing.T) {
	have := map[string]bool{}
	for _, c := range gradCases(devtest.CPU(t)) {
		have[c.op] = true
	}
	want := map[string]bool{}
	for _, u := range kernels.Unaries {
		want[u.Name] = true
	}
	for _, b := range kernels.Binaries {
		want[b.Name] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if f, ok := call.Fun.(*ast.Ident); ok && f.Name == "Apply" {
				if lit, ok := call.Args[0].(*ast.BasicLit); ok {
					op, _ := strconv.Unquote(lit.Value)
					want[op] = true
				}
			}
			return true
		})
	}
	for op := range want {
		if !have[op] {
			t.Errorf("operation %q has no row in gradCases", op)
		}
	}
}
