package fn

import (
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/reference"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// TestFunctionsListed: every function that the files of tables declare is in one of the lists,
// once, and under one name.
func TestFunctionsListed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var declared int
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.CompositeLit); ok {
				if name, ok := lit.Type.(*ast.SelectorExpr); ok && name.Sel.Name == "Function" {
					declared++
				}
			}
			return true
		})
	}
	seen, names := map[*kernels.Function]bool{}, map[string]bool{}
	for _, list := range [][]*kernels.Function{Functions, Choices, Conditions, Bitwise} {
		for _, f := range list {
			if seen[f] || names[f.Name] {
				t.Errorf("%s is listed twice", f.Name)
			}
			if err := f.Err(); err != nil {
				t.Error(err)
			}
			seen[f], names[f.Name] = true, true
		}
	}
	if len(seen) != declared {
		t.Errorf("the files declare %d functions, and the lists have %d", declared, len(seen))
	}
}

// draws returns operands of f, in their domains, then at special values: every pair of them for two
// operands.
func draws(f *kernels.Function) [][]float64 {
	r := rand.New(rand.NewPCG(1, 1))
	var all [][]float64
	for range 200 {
		x := make([]float64, f.Operands())
		for i := range x {
			d := f.Domain(i)
			x[i] = d[0] + (d[1]-d[0])*r.Float64()
		}
		all = append(all, x)
	}
	special := append([]float64{0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-300, -1e300, 700, -700}, f.NonDifferentiable...)
	for _, v := range special {
		for _, w := range special {
			all = append(all, []float64{v, w, 0.25}[:f.Operands()])
		}
	}
	return all
}

// TestFunctions holds the formulas to their references, also where it takes another value than its
// limit.
func TestFunctions(t *testing.T) {
	for _, f := range Functions {
		want := reference.Functions[f.Name]
		if want == nil {
			continue
		}
		for _, x := range draws(f) {
			got, want := f.At(f.Scalars, x...), want(x, f.Scalars)
			if got != want && !(math.IsNaN(got) && math.IsNaN(want)) && math.Abs(got-want) > 1e-15*math.Abs(want) {
				t.Errorf("%s of %v is %v, want %v", f.Name, x, got, want)
			}
		}
	}
}

// TestFunctionGradients holds the gradients of every function, and those of each gradient, to
// central differences.
func TestFunctionGradients(t *testing.T) {
	for _, f := range Functions {
		testGradients(t, f, 1)
		for i := range f.Operands() {
			testGradients(t, f.Gradient(i), 2)
		}
	}
}

func testGradients(t *testing.T, f *kernels.Function, order int) {
	const h = 1e-5
	r := rand.New(rand.NewPCG(1, 2))
	n := f.Operands()
	for i := range n {
		d := f.Gradient(i)
		for range 100 {
			x := make([]float64, n)
			kink := false
			for k := range x {
				lo, hi := f.Domain(k)[0], f.Domain(k)[1]
				x[k] = lo + 10*h + (hi-lo-20*h)*r.Float64()
				kink = kink || slices.ContainsFunc(f.NonDifferentiable, func(v float64) bool { return math.Abs(x[k]-v) < 10*h }) ||
					k > 0 && math.Abs(x[k]-x[0]) < 10*h
			}
			if kink {
				continue
			}
			up, down := slices.Clone(x), slices.Clone(x)
			up[i] += h
			down[i] -= h
			want := (f.At(f.Scalars, up...) - f.At(f.Scalars, down...)) / (2 * h)
			const g = 1.5
			got := d.At(f.Scalars, append(x, f.At(f.Scalars, x...), g)...)
			if math.Abs(got-g*want) > 2e-6*max(1, math.Abs(want)) && !(math.IsNaN(want) && math.IsNaN(got)) {
				t.Errorf("%s, order %d, by operand %d at %v: %v, differences %v", f.Name, order, i, x, got, g*want)
				break
			}
		}
	}
}

// TestGradientsAtKinks: what the documents of package autograd say of ties, kinks and NaN.
func TestGradientsAtKinks(t *testing.T) {
	nan, slope, elu := math.NaN(), LeakyReLU.Scalars[0], ELU.Scalars[0] // constants would be exact
	for _, c := range []struct {
		f    *kernels.Function
		by   int
		x    []float64
		want float64 // for a gradient of 3
	}{
		{Abs, 0, []float64{0}, 0}, {Abs, 0, []float64{math.Copysign(0, -1)}, 0}, {Abs, 0, []float64{nan}, nan}, {Abs, 0, []float64{-2}, -3},
		{Sign, 0, []float64{0}, 0}, {Sign, 0, []float64{nan}, 0}, {ReLU, 0, []float64{0}, 0}, {ReLU, 0, []float64{nan}, 0}, {ReLU, 0, []float64{1}, 3},
		{LeakyReLU, 0, []float64{0}, slope * 3}, {LeakyReLU, 0, []float64{nan}, slope * 3},
		{Clamp, 0, []float64{-1}, 0}, {Clamp, 0, []float64{1}, 0}, {Clamp, 0, []float64{1.5}, 0}, {Clamp, 0, []float64{-1.5}, 0}, {Clamp, 0, []float64{nan}, 3},
		{MaxScalar, 0, []float64{0.5}, 0}, {MinScalar, 0, []float64{0.5}, 0}, {MaxScalar, 0, []float64{0.4}, 0}, {MinScalar, 0, []float64{0.6}, 0},
		{Max, 0, []float64{2, 2}, 1.5}, {Max, 1, []float64{2, 2}, 1.5}, {Min, 0, []float64{2, 2}, 1.5}, {Min, 1, []float64{2, 2}, 1.5},
		{Hardtanh, 0, []float64{-1}, 0}, {Hardtanh, 0, []float64{1}, 0}, {Hardtanh, 0, []float64{nan}, 3}, {ReLU6, 0, []float64{0}, 0}, {ReLU6, 0, []float64{6}, 0},
		{Hardswish, 0, []float64{-3}, -1.5}, {Hardswish, 0, []float64{3}, 4.5}, {Hardswish, 0, []float64{nan}, nan}, {Hardsigmoid, 0, []float64{3}, 0}, {Hardsigmoid, 0, []float64{nan}, 0},
		{ELU, 0, []float64{0}, elu * 3}, {CELU, 0, []float64{0}, 3}, {ELU, 0, []float64{nan}, nan}, {SELU, 0, []float64{nan}, nan}, {CELU, 0, []float64{nan}, nan}, {SoftplusBeta, 0, []float64{4}, 3 / (1 + math.Exp(-6))}, {SoftplusBeta, 0, []float64{5}, 3},
		{GELUTanh, 0, []float64{math.Inf(1)}, 3}, {GELUTanh, 0, []float64{-1e30}, 0}, {GELU, 0, []float64{1e30}, 3}, {Mish, 0, []float64{1e30}, 3}, {Mish, 0, []float64{-1e30}, 0},
		{Atan2, 0, []float64{0, 0}, nan}, {Hypot, 1, []float64{0, 0}, nan}, {Round, 0, []float64{0.5}, 0}, {Frac, 0, []float64{2}, 3},
		{PowTensor, 0, []float64{0, 0}, 0}, {PowTensor, 1, []float64{0, 0}, 0}, {PowTensor, 1, []float64{0, 2}, 0}, {PowTensor, 1, []float64{0, -1}, math.Inf(-1)},
		{PowTensor, 1, []float64{-2, 2}, nan}, {PowTensor, 0, []float64{-2, 2}, -12}, {PowTensor, 0, []float64{nan, 0}, 0},
		{Copysign, 0, []float64{0, -2}, 0}, {Copysign, 0, []float64{-3, -2}, 3}, {Copysign, 0, []float64{3, math.Copysign(0, -1)}, -3}, {Copysign, 1, []float64{3, 2}, 0},
		{Heaviside, 1, []float64{0, 2}, 3}, {Heaviside, 1, []float64{1, 2}, 0}, {Heaviside, 0, []float64{0, 2}, 0},
		{Fmod, 1, []float64{-5, 3}, 3}, {Remainder, 1, []float64{-5, 3}, 6}, {Remainder, 0, []float64{-5, 3}, 3}, {FloorDivide, 1, []float64{-5, 3}, 0},
		{ClampTensor, 0, []float64{1, 1, 1}, 3}, {ClampTensor, 1, []float64{0, 1, 1}, 0}, {ClampTensor, 2, []float64{0, 1, -1}, 3}, {ClampTensor, 1, []float64{-2, -1, 1}, 3}, {ClampTensor, 0, []float64{nan, -1, 1}, 0},
		{Where, 0, []float64{nan, 1, 0}, 0}, {Where, 1, []float64{1, nan, 5}, 0}, {Where, 0, []float64{nan, 1, 5}, 3}, {Where, 2, []float64{1, 2, 5}, 0}, {MaskedFill, 0, []float64{nan, 1}, 0},
		{NanToNum, 0, []float64{nan}, 0}, {NanToNum, 0, []float64{math.Inf(1)}, 0}, {NanToNum, 0, []float64{2}, 3}, {Lt, 0, []float64{1, 2}, 0},
		{Max, 0, []float64{nan, 1}, 3}, {Max, 1, []float64{nan, 1}, 3}, {Min, 0, []float64{1, nan}, 3}, {Min, 1, []float64{1, nan}, 3},
		{Max, 0, []float64{1, 2}, 0}, {Max, 1, []float64{1, 2}, 3}, {Min, 0, []float64{1, 2}, 3}, {Min, 1, []float64{1, 2}, 0},
	} {
		got := c.f.Gradient(c.by).At(c.f.Scalars, append(slices.Clone(c.x), c.f.At(c.f.Scalars, c.x...), 3)...)
		if got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
			t.Errorf("%s by operand %d at %v: %v, want %v", c.f.Name, c.by, c.x, got, c.want)
		}
	}
}

// TestFarOut: second derivatives are 0 far from 0, where terms of their formulas overflow in single
// precision. What they are at 0 and at other seams is TestSecondDerivatives of internal/ops.
func TestFarOut(t *testing.T) {
	for _, f := range []*kernels.Function{Softplus, GELU, GELUTanh, SiLU, Mish, LogSigmoid} {
		second := f.Gradient(0).Gradient(0)
		eval := expr.NewEval[float32](expr.Compile(second.Value))
		eval.Scalars(func(i int) float32 { return float32(f.Scalars[i]) })
		for _, at := range []float32{-3e4, -200, -100, -30, 30, 100, 200, 3e4} {
			out := []float32{7}
			eval.Run(out, [][]float32{{at}, {0}, {1}, {0}, {1}})
			if !(math.Abs(float64(out[0])) < 1e-6) {
				t.Errorf("%s: its second derivative at %v is %v in single precision", f.Name, at, out[0])
			}
		}
	}
}

// TestGradientsStaySmall: the gradients of a function share what they have in common, so that a
// program can ask for the sixth of one operand and the fourth of several: each formula has 2,000
// parts at most, and so has the derivative as it would be of the operand alone.
func TestGradientsStaySmall(t *testing.T) {
	const most = 2000
	check := func(f *kernels.Function, order int, value *expr.Expr) {
		if n := value.Size(); n > most {
			t.Errorf("%s: a derivative of order %d has %d parts, %d at most are allowed", f.Name, order, n, most)
		}
	}
	for _, f := range slices.Concat(Functions, Choices) {
		if f.Operands() == 1 {
			d := f
			whole := f.Gradient(0).Value.Replace(func(i int) *expr.Expr { return []*expr.Expr{x, f.Value, one}[i] }, expr.Param)
			for order := 1; order <= 6; order++ {
				d = d.Gradient(0)
				check(f, order, d.Value)
				check(f, order, whole)
				whole = whole.Derivative(0, one)
			}
		}
		var by func(d *kernels.Function, order int)
		by = func(d *kernels.Function, order int) {
			for i := range d.Operands() {
				if d.Uses(i) {
					g := d.Gradient(i)
					check(f, order, g.Value)
					if order < 4 {
						by(g, order+1)
					}
				}
			}
		}
		by(f, 1)
	}
}

// TestHighOrders holds the derivatives up to the sixth of every function of one operand to central
// differences of that before.
func TestHighOrders(t *testing.T) {
	const h = 1e-5
	r := rand.New(rand.NewPCG(3, 4))
	for _, f := range Functions {
		if f.Operands() != 1 {
			continue
		}
		whole := f.Gradient(0).Value.Replace(func(i int) *expr.Expr { return []*expr.Expr{x, f.Value, one}[i] }, expr.Param)
		at := func(of *expr.Expr) func(x float64) float64 {
			p := expr.Compile(of)
			return func(x float64) float64 {
				return p.At(func(int) float64 { return x }, func(i int) float64 { return f.Scalars[i] })
			}
		}
		before := at(whole)
		for order := 2; order <= 6; order++ {
			whole = whole.Derivative(0, one)
			d := at(whole)
			for range 20 {
				lo, hi := f.Domain(0)[0], f.Domain(0)[1]
				x := lo + 10*h + (hi-lo-20*h)*r.Float64()
				if slices.ContainsFunc(f.NonDifferentiable, func(v float64) bool { return math.Abs(x-v) < 10*h }) {
					continue
				}
				got, want := d(x), (before(x+h)-before(x-h))/(2*h)
				if !(math.Abs(got-want) <= 2e-5*(1+math.Abs(want)+math.Abs(before(x)))) {
					t.Errorf("%s: its derivative of order %d at %v is %v, differences have %v", f.Name, order, x, got, want)
				}
			}
			before = d
		}
	}
}

// TestFunctionUses: a gradient reads only what it needs, so that nothing else is kept for it.
func TestFunctionUses(t *testing.T) {
	for f, want := range map[*kernels.Function][][]bool{ // operands, value, gradient
		Neg: {{false, false, true}}, Tanh: {{false, true, true}}, Square: {{true, false, true}}, Exp: {{false, true, true}}, Sign: {{false, false, false}},
		Add: {{false, false, false, true}, {false, false, false, true}}, Mul: {{false, true, false, true}, {true, false, false, true}},
	} {
		for i, uses := range want {
			d := f.Gradient(i)
			var got []bool
			for k := range d.Operands() {
				got = append(got, d.Uses(k))
			}
			if !reflect.DeepEqual(got, uses) {
				t.Errorf("gradient %d of %s uses %v, want %v", i, f.Name, got, uses)
			}
		}
	}
	for f, passes := range map[*kernels.Function]bool{Add: true, AddScalar: true, Neg: false, Sub: true} {
		if got := f.Gradient(0).Is(f.Operands() + 1); got != passes {
			t.Errorf("the gradient of %s is that of its value: %v", f.Name, got)
		}
	}
}

// TestLayerGradient: the gradient by the value is that by the operand, for the scalars that it is
// for; other functions have the one that reads what it must.
func TestLayerGradient(t *testing.T) {
	const g = 1.5
	forms := map[string]int{}
	for _, f := range Functions {
		if f.GradFromOutput == nil {
			if f.Operands() == 1 && f.CheapestGradient(f.Scalars) != f.Gradient(0) {
				t.Errorf("%s has another gradient for layers, and states none", f.Name)
			}
			continue
		}
		for _, scalars := range [][]float64{f.Scalars, {0}, {1e-300}, {3}, {-0.5}, {math.Inf(-1)}, {math.NaN()}, {math.Inf(1)}} {
			d := f.CheapestGradient(scalars)
			if d.Uses(0) {
				forms[f.Name+" by operand"]++
				continue
			}
			forms[f.Name+" by value"]++
			for _, x := range draws(f) {
				y := f.At(scalars, x...)
				got, want := d.At(scalars, math.NaN(), y, g), f.Gradient(0).At(scalars, x[0], y, g)
				if got != want && !(math.IsNaN(got) && math.IsNaN(want)) {
					t.Errorf("%s of scalars %v at %v: %v by the value, %v by the operand", f.Name, scalars, x, got, want)
				}
			}
		}
	}
	if want := map[string]int{"relu by value": 8, "leaky_relu by value": 6, "leaky_relu by operand": 2}; !reflect.DeepEqual(forms, want) {
		t.Errorf("forms %v, want %v", forms, want)
	}
}

// TestHighestOrder: a derivative that reads more tensors than a kernel takes says so, and no
// formula of the lists is wrong.
func TestHighestOrder(t *testing.T) {
	for _, f := range slices.Concat(Functions, Choices, Conditions, Bitwise) {
		if err := f.Err(); err != nil {
			t.Error(err)
		}
	}
	f := Div
	for range 8 {
		f = f.Gradient(1)
	}
	if err := f.Err(); err == nil || !strings.Contains(err.Error(), "gradient of too high an order") {
		t.Errorf("the eighth derivative of a quotient: err = %v", err)
	}
}
