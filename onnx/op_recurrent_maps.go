package onnx

import (
	"slices"
	"strings"
	"sync"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// ofOne is a function of one operand.
type ofOne func(x *expr.Expr) *expr.Expr

// gateFunction is a function of a recurrent layer, whose numbers are scalars of the maps that it is part of.
type gateFunction struct {
	name    string // letters and _
	numbers []float64
	of      func(x *expr.Expr, numbers []*expr.Expr) *expr.Expr
}

// stepFormula is what a step computes of operands by activations.
type stepFormula func(in []*expr.Expr, f []ofOne) *expr.Expr

// recurrentMaps are the functions that steps are made of, by name. There are as many as there are cells and activations.
var recurrentMaps sync.Map

// mapOf returns a map of operands, element by element: what of gives of them and of activations. A name is for one
// formula.
func mapOf(name string, activations []gateFunction, of stepFormula, operands ...*autograd.Node) *autograd.Node {
	return mapped(name, activations, of, 0, operands)
}

// next is mapOf of a state, in which sequences that have ended keep the one before.
func (s *cell) next(name string, before *autograd.Node, activations []gateFunction, of stepFormula,
	operands ...*autograd.Node) *autograd.Node {
	if s.on == nil {
		return mapped(name, activations, of, 0, operands)
	}
	state := slices.Index(operands, before)
	if state < 0 {
		state, operands = len(operands), append(operands, before)
	}
	on := len(operands)
	if on+1 > kernels.MapOperands-2 { // of a map with a gradient
		return mapped(name, activations, of, 0, operands).Where(s.on, before)
	}
	return mapped(name+"_on", activations, func(in []*expr.Expr, f []ofOne) *expr.Expr {
		return expr.Where(in[on].Ne(expr.Const(0)), of(in, f), in[state])
	}, 1, append(operands, s.on))
}

// mapped is mapOf with so many masks, the last operands.
func mapped(name string, activations []gateFunction, of stepFormula, masks int, operands []*autograd.Node) *autograd.Node {
	var numbers []float64
	for _, a := range activations {
		name += "_" + a.name
		numbers = append(numbers, a.numbers...)
	}
	f, ok := recurrentMaps.Load(name)
	if !ok {
		in := make([]*expr.Expr, len(operands)+1) // formulas may name one that is not there
		for i := range operands {
			in[i] = expr.Input(i)
		}
		formulas := make([]ofOne, len(activations))
		first := 0
		for i, a := range activations {
			own := make([]*expr.Expr, len(a.numbers))
			for k := range own {
				own[k] = expr.Param(first + k)
			}
			first += len(own)
			formulas[i] = func(x *expr.Expr) *expr.Expr { return a.of(x, own) }
		}
		made := &kernels.Function{Name: name, Value: of(in, formulas), Scalars: numbers, Masks: masks}
		f, _ = recurrentMaps.LoadOrStore(name, made)
	}
	return autograd.Map(f.(*kernels.Function), numbers, operands...)
}

// activationsOf returns the functions of all directions. Those of gates limit what they are given to attribute clip; the
// third of an LSTM is given its cell as it is.
func activationsOf(c *Call, names []string, directions int) []gateFunction {
	each := len(names)
	if given := c.StringList("activations"); given != nil {
		if len(given) != len(names)*directions {
			c.Fail("attribute activations has %d names, and should have %d", len(given), len(names)*directions)
		}
		names = given
	} else {
		names = slices.Repeat(names, directions)
	}
	alphas, betas := c.FloatList("activation_alpha"), c.FloatList("activation_beta")
	clip := c.Float("clip", 0)
	activations := make([]gateFunction, len(names))
	for i, name := range names {
		a := recurrentFunction(c, name, taken(&alphas), taken(&betas))
		if clip > 0 && i%each < 2 {
			inner := a
			k := len(inner.numbers)
			a.name, a.numbers = inner.name+"_clipped", append(slices.Clip(inner.numbers), -clip, clip)
			a.of = func(x *expr.Expr, n []*expr.Expr) *expr.Expr { return inner.of(clamp(x, n[k], n[k+1]), n[:k]) }
		}
		activations[i] = a
	}
	return activations
}

// taken returns a function that takes the first number off a list, or returns another if there is none.
func taken(list *[]float64) func(or float64) float64 {
	return func(or float64) float64 {
		if len(*list) == 0 {
			return or
		}
		v := (*list)[0]
		*list = (*list)[1:]
		return v
	}
}

// clamp returns x between two limits, and NaN for NaN.
func clamp(x, low, high *expr.Expr) *expr.Expr {
	return expr.Where(x.Lt(low), low, expr.Where(x.Gt(high), high, x))
}

// recurrentFunction returns a function by its name, in letters of either case. It takes the numbers that it needs.
func recurrentFunction(c *Call, name string, alpha, beta func(or float64) float64) gateFunction {
	var numbers []float64
	zero, one := expr.Const(0), expr.Const(1)
	name = strings.ToLower(name)
	var of func(x *expr.Expr, n []*expr.Expr) *expr.Expr
	switch name {
	case "relu":
		of = func(x *expr.Expr, n []*expr.Expr) *expr.Expr { return expr.Where(x.Lt(zero), zero, x) }
	case "tanh":
		of = func(x *expr.Expr, n []*expr.Expr) *expr.Expr { return x.Tanh() }
	case "sigmoid":
		of = func(x *expr.Expr, n []*expr.Expr) *expr.Expr { return one.Div(one.Add(x.Neg().Exp())) }
	case "softsign":
		of = func(x *expr.Expr, n []*expr.Expr) *expr.Expr { return x.Div(one.Add(x.Abs())) }
	case "softplus":
		of = func(x *expr.Expr, n []*expr.Expr) *expr.Expr { return x.Softplus() }
	case "affine":
		numbers = []float64{alpha(1), beta(0)}
		of = func(x *expr.Expr, n []*expr.Expr) *expr.Expr { return x.Mul(n[0]).Add(n[1]) }
	case "leakyrelu":
		numbers = []float64{alpha(0.01)}
		of = func(x *expr.Expr, n []*expr.Expr) *expr.Expr { return expr.Where(x.Lt(zero), x.Mul(n[0]), x) }
	case "thresholdedrelu":
		numbers = []float64{alpha(1)}
		of = func(x *expr.Expr, n []*expr.Expr) *expr.Expr { return expr.Where(x.Ge(n[0]), x, zero) }
	case "scaledtanh":
		numbers = []float64{alpha(1), beta(1)}
		of = func(x *expr.Expr, n []*expr.Expr) *expr.Expr { return x.Mul(n[1]).Tanh().Mul(n[0]) }
	case "hardsigmoid":
		numbers = []float64{alpha(0.2), beta(0.5)}
		of = func(x *expr.Expr, n []*expr.Expr) *expr.Expr { return clamp(x.Mul(n[0]).Add(n[1]), zero, one) }
	case "elu":
		numbers = []float64{alpha(1)}
		of = func(x *expr.Expr, n []*expr.Expr) *expr.Expr { return expr.Where(x.Le(zero), n[0].Mul(x.Expm1()), x) }
	default:
		c.Fail("attribute activations has %q", name)
	}
	return gateFunction{name, numbers, of}
}
