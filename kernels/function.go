package kernels

import (
	"fmt"
	"strings"
	"sync"
	"unicode"

	"github.com/clgrad/clgrad/kernels/expr"
)

// MapOperands is the most tensors that element-wise functions read, and MapResults the most that they
// write. A gradient of a gradient reads four more than its function.
const (
	MapOperands = 8
	MapResults  = 8
)

// Function is an element-wise function: y = f(x₀, x₁, …; s₀, s₁, …) of operands, which are tensors,
// and scalars. It is declared once, as a formula; its kernels for every layout of the operands,
// their host kernels, and its gradients come from that. A gradient is a Function of the operands, the
// value and a gradient, and has gradients as long as they read [MapOperands] tensors at most.
// Package tensor applies a Function with Map, package autograd with a gradient. It must not be
// changed after its first use.
//
// A formula that is a condition makes a function that is 1 where it holds and 0 elsewhere, of Uint8
// whatever its operands are, and without a gradient. One of a primitive that only integers have,
// such as BitAnd of package expr, is of integers alone.
type Function struct {
	Name  string     // of kernels, nodes and errors: letters, digits and _
	Value *expr.Expr // of expr.Input(0) … and expr.Param(0) …

	// Gradients are those by operand that are faster or more exact than the derivative of Value, or
	// that state another value at a kink: the derivative times g, in terms of the n operands, y =
	// expr.Input(n) and g = expr.Input(n+1), and the scalars. Nil, or a nil element: the
	// derivative.
	Gradients []*expr.Expr

	// GradFromOutput is the gradient in terms of y and g alone, of a function of one operand whose
	// gradient reads that too. A product with such an epilogue need not store its operand.
	GradFromOutput       *expr.Expr
	OutputDeterminesGrad func(scalars []float64) bool // for which scalars GradFromOutput holds; nil: for all

	Integers bool // of integers, computed in int32 and wrapping around, it is of integers; else they are taken for floats

	// Masks is how many of the operands, the last ones, are masks: of Uint8 whatever the others
	// are, and in the formula the number of an element. They have no say in the type of the result,
	// and no gradient.
	Masks int

	Domains           [][2]float64 // where tests and trials draw each operand; that of the last holds for the rest; nil: [−3, 3)
	Scalars           []float64    // what tests and trials take, as many as the function has
	NonDifferentiable []float64    // of operand 0, where there is no derivative at those scalars: tests of gradients stay away

	// Of a gradient, the function that it is of: y, among its operands, is that function's value.
	of *Function

	once           sync.Once
	err            error
	operands       []bool // whether each occurs
	scalars        []bool
	indexed        bool
	whole          bool   // of integers alone
	inPlace        string // see InPlace
	program        *expr.Program
	mu             sync.Mutex
	gradients      []*Function
	gradFromOutput *Function
	alone          *FusedElementwise
}

// String returns the name.
func (f *Function) String() string { return f.Name }

// prepare works out what the function's formula says, once.
func (f *Function) prepare() {
	f.once.Do(func() {
		if f.Value == nil {
			f.err = fmt.Errorf("function %q has no formula: set Value", f.Name)
			return
		}
		if strings.ContainsFunc(f.Name, unicode.IsControl) {
			f.err = fmt.Errorf("function %q: its name has a control character: it is of letters, digits and _", f.Name)
			return
		}
		f.operands, f.scalars = f.Value.Operands(), f.Value.Scalars()
		for n := f.least(); len(f.operands) < n; {
			f.operands = append(f.operands, false)
		}
		switch {
		case len(f.scalars) > len(f.Scalars):
			f.err = fmt.Errorf("function %q: its formula has %d scalars, and Scalars has values of %d for tests", f.Name, len(f.scalars), len(f.Scalars))
		case f.Integers && !f.Value.Whole():
			f.err = fmt.Errorf("function %q: its formula has no value in integers: leave Integers out", f.Name)
		case f.of == nil && len(f.operands) > MapOperands:
			f.err = fmt.Errorf("function %q has %d operands: there are %d at most", f.Name, len(f.operands), MapOperands)
		case f.Value.IsInt():
			f.err = fmt.Errorf("function %q: its formula is an int: make a number of it with Real", f.Name)
		case f.Value.OfIntegers() && !f.Integers:
			f.err = fmt.Errorf("function %q: its formula is of integers: set Integers", f.Name)
		case f.Masks < 0 || f.of == nil && f.Masks > len(f.operands):
			f.err = fmt.Errorf("function %q has %d operands and %d masks", f.Name, len(f.operands), f.Masks)
		case f.GradFromOutput != nil && (len(f.operands) != 1 || reads(f.GradFromOutput, 0)):
			f.err = fmt.Errorf("function %q: GradFromOutput is of y = expr.Input(1) and g = expr.Input(2), for a function of one operand", f.Name)
		case len(f.Gradients) > len(f.operands):
			f.err = fmt.Errorf("function %q has %d operands and %d gradients", f.Name, len(f.operands), len(f.Gradients))
		}
		for _, g := range append([]*expr.Expr{f.GradFromOutput}, f.Gradients...) {
			if n := len(f.operands); f.err == nil && g != nil && (g.IsCondition() || len(g.Operands()) > n+2 || len(g.Scalars()) > len(f.Scalars)) {
				f.err = fmt.Errorf("function %q: a gradient is a number, made of its operands, y = expr.Input(%d), g = expr.Input(%d) and its scalars", f.Name, n, n+1)
			}
		}
		if n := count(f.operands); n > MapOperands {
			f.err = fmt.Errorf("function %q reads %d tensors, and a kernel %d at most: it is a gradient of too high an order", f.Name, n, MapOperands)
		}
		f.indexed = len(f.Value.Axes())+len(f.Value.Gathers())+len(f.Value.Ints()) > 0
		f.whole = f.Value.OfIntegers()
		f.program, f.inPlace = expr.Compile(f.number()), f.Name+"InPlace"
		f.gradients = make([]*Function, len(f.operands))
		f.alone = &FusedElementwise{Name: f.Name, Functions: []*Function{f}}
	})
}

// number is the formula, of a condition 1 where it holds and 0 elsewhere.
func (f *Function) number() *expr.Expr {
	if f.Value.IsCondition() {
		return expr.Where(f.Value, expr.Const(1), expr.Const(0))
	}
	return f.Value
}

// reads reports whether operand i occurs in a formula.
func reads(x *expr.Expr, i int) bool {
	operands := x.Operands()
	return i < len(operands) && operands[i]
}

// Err returns what is wrong with the declaration of f, or nil.
func (f *Function) Err() error { f.prepare(); return f.err }

// least returns how many operands there are at least: of a gradient, those of its function, y and
// g.
func (f *Function) least() int {
	if f.of != nil {
		return f.of.Operands() + 2
	}
	return 0
}

// Alone returns f fused with no other.
func (f *Function) Alone() *FusedElementwise { f.prepare(); return f.alone }

// Indexed reports whether f reads indices, operands by index or scalars that are ints: only as one
// of [FusedElementwise] it is computed.
func (f *Function) Indexed() bool {
	f.prepare()
	return f.indexed
}

// Operands returns how many operands f takes.
func (f *Function) Operands() int { f.prepare(); return len(f.operands) }

// Uses reports whether operand i occurs in f: one that does not is nil where f is applied.
func (f *Function) Uses(i int) bool { f.prepare(); return i < len(f.operands) && f.operands[i] }

// UsesScalar reports whether scalar i occurs in f.
func (f *Function) UsesScalar(i int) bool { f.prepare(); return i < len(f.scalars) && f.scalars[i] }

// InPlace returns the name of the form that writes over its first operand, for errors.
func (f *Function) InPlace() string { f.prepare(); return f.inPlace }

// Condition reports whether f is 1 where a condition holds and 0 elsewhere, of Uint8.
func (f *Function) Condition() bool { return f.Value.IsCondition() }

// Whole reports whether f is of integers alone.
func (f *Function) Whole() bool { f.prepare(); return f.whole }

// Mask reports whether operand i is a mask.
func (f *Function) Mask(i int) bool {
	for f.of != nil {
		f = f.of
	}
	n := f.Operands()
	return i < n && i >= n-f.Masks
}

// Is reports whether f is operand i itself.
func (f *Function) Is(i int) bool { return f.Value.IsOperand(i) }

// IsZero reports whether f is 0 whatever the operands are.
func (f *Function) IsZero() bool { return f.Value.IsZero() }

// Gradient returns the derivative of f by operand i times g, as a function of the operands of f,
// its value y, and g.
func (f *Function) Gradient(i int) *Function {
	f.prepare()
	f.mu.Lock()
	defer f.mu.Unlock()
	if g := f.gradients[i]; g != nil {
		return g
	}
	n := len(f.operands)
	value := f.Value.Derivative
	if f.Condition() || f.Mask(i) {
		value = func(int, *expr.Expr) *expr.Expr { return expr.Const(0) }
	}
	if i < len(f.Gradients) && f.Gradients[i] != nil {
		value = func(int, *expr.Expr) *expr.Expr { return f.Gradients[i] }
	}
	f.gradients[i] = f.gradient(gradientSuffix(n, i), value(i, expr.Input(n+1)))
	return f.gradients[i]
}

// CheapestGradient returns the gradient of f, of one operand, that reads the least for such
// scalars: of y alone if that determines it, or else Gradient(0).
func (f *Function) CheapestGradient(scalars []float64) *Function {
	if f.GradFromOutput == nil || f.OutputDeterminesGrad != nil && !f.OutputDeterminesGrad(scalars) {
		return f.Gradient(0)
	}
	f.prepare()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.gradFromOutput == nil {
		f.gradFromOutput = f.gradient("_grad_by_value", f.GradFromOutput)
	}
	return f.gradFromOutput
}

// gradient returns a gradient of f.
func (f *Function) gradient(suffix string, value *expr.Expr) *Function {
	g := &Function{Name: f.Name + suffix, of: f, Value: value, Scalars: f.Scalars, NonDifferentiable: f.NonDifferentiable}
	for k := range f.operands {
		g.Domains = append(g.Domains, f.Domain(k))
	}
	g.Domains = append(g.Domains, [2]float64{0.1, 0.9}, [2]float64{-2, 2})
	return g
}

func gradientSuffix(operands, i int) string {
	switch {
	case operands == 1:
		return "_grad"
	case operands == 2:
		return [...]string{"_dx", "_dy"}[i]
	}
	return fmt.Sprintf("_d%d", i)
}

// IsGradient reports whether f is the gradient of another function.
func (f *Function) IsGradient() bool { return f.of != nil }

// Of returns the function that f is a gradient of, nil if it is none.
func (f *Function) Of() *Function { return f.of }

// Domain returns where tests and trials draw operand i.
func (f *Function) Domain(i int) [2]float64 {
	if len(f.Domains) == 0 {
		return [2]float64{-3, 3}
	}
	return f.Domains[min(i, len(f.Domains)-1)]
}

// At returns f of one element, in double precision.
func (f *Function) At(scalars []float64, operands ...float64) float64 {
	f.prepare()
	return f.program.At(func(i int) float64 { return operands[i] }, func(i int) float64 { return scalars[i] })
}

// Entry returns the name of the kernels' entry point: that of f, as C has it.
func (f *Function) Entry() string { return entry(f.Name) }

func entry(name string) string { return "k_" + strings.Map(letter, name) }

// letter keeps what a name in C may have.
func letter(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return r
	}
	return '_'
}
