package onnx

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// exportElementwise writes a function of elements: the operator that it is, or else its formula.
func exportElementwise(c *exportCall) []string {
	return []string{c.e.function(arg[*kernels.Function](c, 0), c.scalars(1), listOf[*autograd.Node](c, 2), c.typ())}
}

// scalars returns argument i, numbers that are the same in all runs.
func (c *exportCall) scalars(i int) []float64 {
	list := c.runs[0].Args[i].([]float64)
	for _, run := range c.runs[1:] {
		if other := run.Args[i].([]float64); !slices.EqualFunc(other, list,
			func(a, b float64) bool { return a == b || a != a && b != b }) {
			fail("the number %v follows from the inputs", list)
		}
	}
	return list
}

// function returns the name of f of operands, of a type.
func (e *exporter) function(f *kernels.Function, scalars []float64, operands []value, typ tensor.Type) string {
	w := &formula{e: e, scalars: scalars, typ: computed(typ), done: map[*expr.Expr]string{}}
	masks := len(operands) - f.Masks
	if f.Value.IsCondition() {
		w.typ = computed(promoted(operands[:masks]...))
		if slices.ContainsFunc(scalars, func(v float64) bool { return v != math.Trunc(v) }) && w.typ.Integer() {
			w.typ = tensor.Float64
		}
	}
	if op := e.operatorOf(f, scalars, w.typ); op != nil && f.Masks == 0 {
		return e.cast(op(w, operands), w.typ, typ)
	}
	w.operands = operands
	// Equal parts are one: a formula that is used twice is written once.
	x := expr.Share(f.Value)[0]
	y := w.name(x)
	if x.IsCondition() {
		return e.cast(y, tensor.Bool, typ)
	}
	return e.cast(y, w.typ, typ)
}

// computed returns the type that a formula is computed in: what operators of all runtimes have.
func computed(typ tensor.Type) tensor.Type {
	switch {
	case typ.Half():
		return tensor.Float32
	case typ == tensor.Uint32:
		return tensor.Int64
	case typ.Integer() && typ != tensor.Int64 && typ != tensor.Uint64:
		return tensor.Int32
	}
	return typ
}

// operatorOf returns how a function is written by its operator, or nil if the opset has none for the type.
func (e *exporter) operatorOf(f *kernels.Function, scalars []float64, typ tensor.Type) func(w *formula,
	in []value) string {
	of := func(op string, a ...*onnxpb.Attribute) func(w *formula, in []value) string {
		return func(w *formula, in []value) string {
			var names []string
			for _, v := range in {
				names = append(names, e.as(v, w.typ))
			}
			return e.op(op, names, a...)
		}
	}
	limits := func(least, most float64) func(w *formula, in []value) string {
		return func(w *formula, in []value) string {
			return e.op("Clip", []string{e.as(in[0], w.typ), e.scalar(w.typ, least), e.scalar(w.typ, most)})
		}
	}
	switch f {
	case fn.Identity:
		return of("Identity")
	case fn.Sign:
		return of("Sign")
	case fn.Square:
		return func(w *formula, in []value) string {
			x := e.as(in[0], w.typ)
			return e.op("Mul", []string{x, x})
		}
	case fn.Softplus:
		if typ == tensor.Float32 {
			return of("Softplus")
		}
	}
	if typ.Integer() {
		return nil
	}
	switch f {
	case fn.ReLU:
		return of("Relu")
	case fn.Sigmoid:
		return of("Sigmoid")
	case fn.Reciprocal:
		return of("Reciprocal")
	case fn.ReLU6:
		return limits(0, 6)
	case fn.Clamp, fn.Hardtanh:
		if scalars[0] <= scalars[1] {
			return limits(scalars[0], scalars[1])
		}
	case fn.SiLU:
		return func(w *formula, in []value) string {
			x := e.as(in[0], w.typ)
			return e.op("Mul", []string{x, e.op("Sigmoid", []string{x})})
		}
	}
	if typ != tensor.Float32 { // runtimes have the others for this type alone
		return nil
	}
	switch f {
	case fn.LeakyReLU:
		return of("LeakyRelu", float("alpha", scalars[0]))
	case fn.ELU:
		return of("Elu", float("alpha", scalars[0]))
	case fn.SELU:
		return of("Selu")
	case fn.CELU:
		return of("Celu", float("alpha", scalars[0]))
	case fn.Softsign:
		return of("Softsign")
	case fn.Hardsigmoid:
		return of("HardSigmoid", float("alpha", 1.0/6), float("beta", 0.5))
	case fn.Hardswish:
		return of("HardSwish")
	case fn.Mish:
		if e.options.Opset >= 18 {
			return of("Mish")
		}
	case fn.GELU:
		if e.options.Opset >= 20 {
			return of("Gelu")
		}
	case fn.GELUTanh:
		if e.options.Opset >= 20 {
			return of("Gelu", word("approximate", "tanh"))
		}
	}
	return nil
}

// formula is a formula that is being written, of operands and scalars.
type formula struct {
	e        *exporter
	scalars  []float64
	operands []value
	typ      tensor.Type // of all numbers in it
	done     map[*expr.Expr]string
}

// name returns the name of a part of the formula.
func (w *formula) name(x *expr.Expr) string {
	if name, ok := w.done[x]; ok {
		return name
	}
	name := w.write(x)
	w.done[x] = name
	return name
}

func (w *formula) number(v float64) string { return w.e.scalar(w.typ, v) }

func (w *formula) op(op string, in ...string) string { return w.e.op(op, in) }

// primitiveOperators are the primitives that are an operator.
var primitiveOperators = map[string]string{
	"neg": "Neg", "abs": "Abs", "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "min": "Min", "max": "Max",
	"floor": "Floor",
	"ceil":  "Ceil", "round": "Round", "sqrt": "Sqrt", "pow": "Pow", "exp": "Exp", "log": "Log", "sin": "Sin",
	"cos": "Cos", "tan": "Tan",
	"asin": "Asin", "acos": "Acos", "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh", "asinh": "Asinh",
	"acosh": "Acosh",
	"atanh": "Atanh", "erf": "Erf", "lt": "Less", "le": "LessOrEqual", "eq": "Equal", "and": "And", "or": "Or",
	"not":   "Not",
	"where": "Where", "bitand": "BitwiseAnd", "bitor": "BitwiseOr", "bitxor": "BitwiseXor", "sigmoid": "Sigmoid",
}

// write adds the nodes of a part.
func (w *formula) write(x *expr.Expr) string {
	switch l, i := x.Leaf(); l {
	case expr.OfInput:
		return w.e.as(w.operands[i], w.typ)
	case expr.OfParam:
		return w.number(w.scalars[i])
	case expr.OfConst:
		v, _ := x.Constant()
		return w.number(v)
	case expr.OfIndex, expr.OfInt:
		fail("its formula is of indices")
	}
	op, args := x.Primitive()
	switch op { // masks, and NaN
	case "eq":
		if args[0] == args[1] && !w.typ.Integer() {
			return w.op("Not", w.op("IsNaN", w.name(args[0])))
		}
		if bit := w.bit(args); bit != "" {
			return w.op("Not", bit)
		}
	case "not":
		inner, of := args[0].Primitive()
		if inner != "eq" {
			break
		}
		if of[0] == of[1] && !w.typ.Integer() {
			return w.op("IsNaN", w.name(of[0]))
		}
		if bit := w.bit(of); bit != "" {
			return bit
		}
	}
	in := make([]string, len(args))
	for i, a := range args {
		in[i] = w.name(a)
	}
	if w.typ.Integer() && slices.Contains([]string{"floor", "ceil", "trunc", "round"}, op) {
		return in[0]
	}
	if w.e.options.Opset < 18 && slices.Contains([]string{"bitand", "bitor", "bitxor"}, op) {
		fail("opset 18 has it")
	}
	if name, ok := primitiveOperators[op]; ok {
		return w.op(name, in...)
	}
	return w.composed(op, in)
}

// bit returns the operand of Bool that is compared with 0, or "".
func (w *formula) bit(args []*expr.Expr) string {
	l, i := args[0].Leaf()
	v, constant := args[1].Constant()
	if l == expr.OfInput && constant && v == 0 && typeIn(w.operands[i]) == tensor.Bool {
		return w.e.name(w.operands[i])
	}
	return ""
}

// composed writes a primitive that the specification has no operator for.
func (w *formula) composed(op string, in []string) string {
	var x, y string
	if x = in[0]; len(in) > 1 {
		y = in[1]
	}
	zero, one := w.number(0), w.number(1)
	where := func(c, yes, no string) string { return w.op("Where", c, yes, no) }
	switch op {
	case "fma":
		return w.op("Add", w.op("Mul", x, y), in[2])
	case "fmod":
		if w.typ.Integer() { // by 0 it is 0
			none := w.op("Equal", y, zero)
			return where(none, zero, w.e.op("Mod", []string{x, where(none, one, y)}, integer("fmod", 1)))
		}
		return w.e.op("Mod", []string{x, y}, integer("fmod", 1))
	case "floordiv":
		if !w.typ.Integer() {
			rest := w.e.op("Mod", []string{x, y}, integer("fmod", 1)) // of the sign of x
			q := w.op("Round", w.op("Div", w.op("Sub", x, rest), y))
			off := w.op("And", w.op("Not", w.op("Equal", rest, zero)),
				w.op("Xor", w.op("Less", rest, zero), w.op("Less", y, zero)))
			return where(w.op("Equal", y, zero), w.op("Div", x, y), where(off, w.op("Sub", q, one), q))
		}
		none := w.op("Equal", y, zero) // by 0 it is 0
		by := where(none, one, y)
		rest := w.e.op("Mod", []string{x, by}) // of the sign of y
		return where(none, zero, w.op("Div", w.op("Sub", x, rest), by))
	case "copysign":
		negative := w.op("Or", w.op("Less", y, zero), w.op("Less", w.op("Div", one, y), zero))
		size := w.op("Abs", x)
		return where(negative, w.op("Neg", size), size)
	case "trunc":
		return where(w.op("Less", x, zero), w.op("Ceil", x), w.op("Floor", x))
	case "float16", "bfloat16":
		to := tensor.Float16
		if op == "bfloat16" {
			to = tensor.BFloat16
		}
		return w.e.cast(w.e.cast(x, w.typ, to), to, w.typ)
	case "hypot":
		a, b := w.op("Abs", x), w.op("Abs", y)
		most := w.op("Max", a, b)
		part := w.op("Div", w.op("Min", a, b), where(w.op("Equal", most, zero), one, most))
		y := w.op("Mul", most, w.op("Sqrt", w.op("Add", one, w.op("Mul", part, part))))
		return where(w.op("Or", w.op("IsInf", a), w.op("IsInf", b)), w.number(math.Inf(1)), y)
	case "erfinv":
		return w.erfinv(x)
	case "shift left", "shift right":
		return w.shifted(op, x, y)
	case "exp2":
		return w.op("Pow", w.number(2), x)
	case "expm1": // (u − 1)·x/log u is exact where u is near 1. Kahan.
		u := w.op("Exp", x)
		d := w.op("Sub", u, one)
		log := w.op("Log", u)
		near := w.op("Div", w.op("Mul", d, x), where(w.op("Equal", log, zero), one, log))
		y := where(w.op("Less", w.op("Abs", x), one), near, d)
		return where(w.op("Equal", u, one), x, y)
	case "log1p": // log u·x/(u − 1), the same
		u := w.op("Add", one, x)
		d := w.op("Sub", u, one)
		none := w.op("Equal", d, zero)
		near := w.op("Div", w.op("Mul", w.op("Log", u), x), where(none, one, d))
		y := where(w.op("Less", w.op("Abs", x), one), near, w.op("Log", u))
		return where(none, x, y)
	case "log2":
		return w.op("Div", w.op("Log", x), w.number(math.Ln2))
	case "log10":
		return w.op("Div", w.op("Log", x), w.number(math.Ln10))
	case "atan2": // of y, x: arctan(y/x), and half a turn more where x is negative
		y, x := x, y
		both := w.op("And", w.op("IsInf", x), w.op("IsInf", y)) // as if both were 1
		x, y = where(both, w.op("Sign", x), x), where(both, w.op("Sign", y), y)
		negative := func(x string) string {
			return w.op("Or", w.op("Less", x, zero), w.op("Less", w.op("Div", one, x), zero))
		} // −0 too
		turn := where(negative(y), w.number(-math.Pi), w.number(math.Pi))
		none := w.op("Equal", x, zero)
		a := w.op("Atan", w.op("Div", y, where(none, one, x)))
		a = where(w.op("And", none, w.op("Not", w.op("Equal", y, zero))), w.op("Mul", w.op("Sign", y), w.number(math.Pi/2)),
			a)
		return where(w.op("And", negative(x), w.op("Or", w.op("Not", none), w.op("Equal", y, zero))), w.op("Add", a, turn), a)
	case "erfc":
		return w.op("Sub", one, w.op("Erf", x))
	case "sinpi", "cospi":
		return w.op(map[string]string{"sinpi": "Sin", "cospi": "Cos"}[op], w.op("Mul", x, w.number(math.Pi)))
	case "softplus":
		if w.typ == tensor.Float32 {
			return w.op("Softplus", x)
		}
		small := w.op("Exp", w.op("Neg", w.op("Abs", x)))
		return w.op("Add", w.op("Max", x, zero), w.composed("log1p", []string{small}))
	}
	fail("there is no operator for %s", op)
	return ""
}

// shifted writes a shift of the bits of x, by a power of two from a table. By a number that is no place of a bit, all
// bits go out.
func (w *formula) shifted(op, x, y string) string {
	most := w.typ.Size()*8 - 1
	powers := make([]float64, most)
	for i := range powers {
		powers[i] = math.Ldexp(1, i)
	}
	zero, last := w.number(0), w.number(float64(most))
	within := w.op("And", w.op("LessOrEqual", zero, y), w.op("Less", y, last))
	table := w.e.literal(tensor.NewOf(w.e.device(), w.typ, powers))
	place := w.e.cast(w.op("Where", within, y, zero), w.typ, tensor.Int64)
	power := w.e.op("Gather", []string{table, place}, integer("axis", 0))
	if op == "shift left" {
		top := w.op("Mul", w.op("Mul", x, w.number(math.Ldexp(1, most-1))), w.number(2)) // the lowest bit
		out := w.op("Where", w.op("Equal", y, last), top, zero)
		return w.op("Where", within, w.op("Mul", x, power), out)
	}
	sign := w.op("Where", w.op("Less", x, zero), w.number(-1), zero)
	rest := w.op("Mod", x, power) // 0 or more
	return w.op("Where", within, w.op("Div", w.op("Sub", x, rest), power), sign)
}

// erfinvNear and erfinvFar are polynomials of the inverse of the error function over x, highest powers first: of
// v − 2.5, where v = −log(1 − x²) is below 5, and of √v − 3. Source: Giles, "Approximating the erfinv function", 2010.
var (
	erfinvNear = []float64{2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
		-0.00417768164, 0.246640727, 1.50140941}
	erfinvFar = []float64{-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
		0.00943887047, 1.00167406, 2.83297682}
)

// erfinv writes the inverse of the error function, exact to float32; in float64 Newton's method makes it exact.
func (w *formula) erfinv(x string) string {
	one := w.number(1)
	v := w.op("Neg", w.op("Log", w.op("Mul", w.op("Sub", one, x), w.op("Add", one, x))))
	polynomial := func(t string, list []float64) string {
		p := w.number(list[0])
		for _, k := range list[1:] {
			p = w.op("Add", w.op("Mul", p, t), w.number(k))
		}
		return p
	}
	near := polynomial(w.op("Sub", v, w.number(2.5)), erfinvNear)
	far := polynomial(w.op("Sub", w.op("Sqrt", v), w.number(3)), erfinvFar)
	y := w.op("Mul", w.op("Where", w.op("Less", v, w.number(5)), near, far), x)
	for range 2 {
		if w.typ != tensor.Float64 {
			break
		}
		slope := w.op("Mul", w.op("Exp", w.op("Neg", w.op("Mul", y, y))), w.number(2/math.Sqrt(math.Pi)))
		y = w.op("Sub", y, w.op("Div", w.op("Sub", w.op("Erf", y), x), slope))
	}
	return w.op("Where", w.op("Equal", w.op("Abs", x), one), w.op("Mul", x, w.number(math.Inf(1))), y)
}
