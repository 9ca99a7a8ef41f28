package ops

import (
	"fmt"
	"strings"
	"sync"
	"unsafe"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/operation"
)

// rule is an optimizer's update of an element: formulas of the parameter x, its gradient w and its moments v and u,
// whose values take the places of the parameter and of the moments. The OpenCL C of a rule (kernels/cl/rules.cl), its
// Go and its description are made of these.
type rule struct {
	*kernels.FusedElementwise
	params []kernels.Param // the scalars
	evals  [2]sync.Pool    // of *expr.Eval[float32] and *expr.Eval[float64]
}

func newRule(name string, params []kernels.Param, numbers []float64, formulas ...*expr.Expr) *rule {
	r := &rule{FusedElementwise: &kernels.FusedElementwise{Name: name}, params: params}
	for i, f := range formulas {
		r.Functions = append(r.Functions,
			&kernels.Function{Name: name + [...]string{"", "_first", "_second"}[i], Value: f, Scalars: numbers})
	}
	return r
}

// SGD has velocities for moments. Without momentum the velocity is the gradient, whatever it was: an infinite gradient
// is gone with its step.
var (
	sgdScalars = []kernels.Param{floatArg("lr"), floatArg("momentum"), floatArg("l2")}
	sgdNumbers = []float64{0.01, 0.9, 0.1}

	// sgdRules are those without decay and with it, for 0·x of an infinite x is NaN: each plain, and Nesterov's.
	sgdRules = [2][2]*rule{newSGDRules("", w), newSGDRules("_decay", expr.Param(2).FMA(x, w))}
)

func newSGDRules(suffix string, g *expr.Expr) [2]*rule {
	momentum := expr.Param(1)
	velocity := expr.Where(momentum.Eq(zero), g, momentum.FMA(v, g))
	by := func(step *expr.Expr) *expr.Expr { return x.Sub(a.Mul(step)) }
	return [2]*rule{newRule("sgd"+suffix, sgdScalars, sgdNumbers, by(velocity), velocity),
		newRule("sgd_nesterov"+suffix, sgdScalars, sgdNumbers, by(momentum.FMA(velocity, g)), velocity)}
}

// AdamW: Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019, as PyTorch computes it (eps outside
// the root, after the bias correction). The host passes, computed in double precision: decay = lr·wd, one_b1 = 1−b1,
// one_b2 = 1−b2, step = lr/(1−b1ᵗ), root = 1/√(1−b2ᵗ).
var (
	adamwScalars = []kernels.Param{floatArg("decay"), floatArg("b1"), floatArg("one_b1"), floatArg("b2"),
		floatArg("one_b2"), floatArg("step"), floatArg("root"), floatArg("eps")}
	// adamwNumbers are the scalars of a trial: those of a launch may make a step as large as the
	// parameter, where rounding shows.
	adamwNumbers = []float64{1e-3, 0.9, 0.1, 0.99, 0.01, 0.02, 1.5, 1e-8}

	adamwRule = newAdamWRule(w)
	// adamwSeededRule has a gradient that is operand 4 times operand 1.
	adamwSeededRule = newAdamWRule(expr.Input(4).Mul(w))
)

func newAdamWRule(g *expr.Expr) *rule {
	s := expr.Param
	first := s(1).FMA(v, s(2).Mul(g))
	second := s(3).FMA(u, s(4).Mul(g).Mul(g))
	p := x.Mul(one.Sub(s(0))).Sub(s(5).Mul(first).Div(second.Sqrt().FMA(s(6), s(7))))
	return newRule("adamw", adamwScalars, adamwNumbers, p, first, second)
}

// operation is the rule of n elements, of which operand 1 is the gradient, with the scalars from argument at on.
func (r *rule) operation(n, at int, operands ...kernels.View) *operation.Map {
	op := &operation.Map{Dims: []int{n}, Operands: operands}
	scalars := make([]operation.Scalar, len(r.params))
	for i := range scalars {
		scalars[i] = passed(at + i)
	}
	for i, f := range r.Functions {
		op.Results = append(op.Results, operation.Result{Function: f, Scalars: scalars, View: operands[r.place(i)]})
	}
	return op
}

// place returns the operand whose place result i takes.
func (r *rule) place(i int) int {
	if i == 0 {
		return 0
	}
	return i + 1
}

// text is the rule in OpenCL C: a function of pointers to an element and its moments, and of its gradient.
func (r *rule) text() string {
	var all, scalars []int
	var params, args, results, stores []string
	for i := range r.Operands() {
		all = append(all, i)
		params, args = append(params, fmt.Sprintf("global REAL *x%d", i)), append(args, fmt.Sprintf("*x%d", i))
	}
	params[1], args[1] = "REAL g", "g"
	for i, p := range r.params {
		scalars = append(scalars, i)
		params, args = append(params, "REAL "+p.Name), append(args, p.Name)
	}
	for i := range r.Functions {
		results, args = append(results, fmt.Sprint("y", i)), append(args, fmt.Sprint("&y", i))
		stores = append(stores, fmt.Sprintf("    *x%d = y%d;\n", r.place(i), i))
	}
	formula := r.Program().Function(r.Name+"_rule", expr.Types{Vector: "REAL", Scalar: "REAL", Width: 1}, all, scalars)
	formula = strings.Replace(formula, "{\n", "{\n"+expr.NoContraction, 1)
	return fmt.Sprintf("%sstatic void %s_element(%s) {\n    REAL %s;\n    %s_rule(%s);\n%s}\n",
		formula, r.Name, strings.Join(params, ", "),
		strings.Join(results, ", "), r.Name, strings.Join(args, ", "), strings.Join(stores, ""))
}

// updated is parameters, their gradients and moments.
type updated[T kernels.Float] [4][]T

// updater returns the rule in Go for a call, with the scalars from argument at on.
func updater[T kernels.Float](r *rule, c kernels.HostArgs[T], at int) func(updated[T]) {
	pool := &r.evals[unsafe.Sizeof(T(0))/8]
	return func(x updated[T]) {
		eval, _ := pool.Get().(*expr.Eval[T])
		if eval == nil {
			eval = expr.NewEval[T](r.Program())
		}
		defer pool.Put(eval)
		eval.Vectors(c.Vectors())
		eval.Scalars(func(i int) T { return c.Float(at + i) })
		var in, out updated[T]
		n, most := len(x[0]), r.Program().Block()
		for lo := 0; lo < n; lo += most {
			for k := range r.Operands() {
				in[k] = x[k][lo:min(lo+most, n)]
			}
			for k := range r.Functions {
				out[k] = in[r.place(k)]
			}
			eval.RunAll(out[:len(r.Functions)], in[:r.Operands()], nil)
		}
	}
}
