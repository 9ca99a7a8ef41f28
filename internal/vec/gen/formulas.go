package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// formula is a function that is made of others. Its loop keeps what is between its steps in
// registers, and rounds as the loops of the steps do, one after the other.
type formula struct {
	name     string
	operands int
	of       func(s *steps) term // the last step
}

// steps are those of a formula, in their order, each of them once.
type steps struct{ list []call }

// call is a function of the list functions and its arguments.
type call struct {
	name string
	args []term
}

// term is what a step takes: an operand, the value of an earlier step, or a number.
type term struct {
	kind   string // as package vec has it
	index  int    // of the operand or step
	number float64
}

// The operands.
var (
	x = term{kind: "OfOperand"}
	y = term{kind: "OfOperand", index: 1}
	z = term{kind: "OfOperand", index: 2}
	w = term{kind: "OfOperand", index: 3}
)

func number(v float64) term { return term{kind: "OfNumber", number: v} }

// do returns the value of a function.
func (s *steps) do(name string, args ...term) term {
	at := slices.IndexFunc(s.list, func(other call) bool { return other.name == name && slices.Equal(other.args, args) })
	if at < 0 {
		at, s.list = len(s.list), append(s.list, call{name, args})
	}
	return term{kind: "OfStep", index: at}
}

func (s *steps) neg(a term) term    { return s.do("Neg", a) }
func (s *steps) exp(a term) term    { return s.do("Exp", a) }
func (s *steps) add(a, b term) term { return s.do("Add", a, b) }
func (s *steps) sub(a, b term) term { return s.do("Sub", a, b) }
func (s *steps) mul(a, b term) term { return s.do("Mul", a, b) }
func (s *steps) div(a, b term) term { return s.do("Div", a, b) }

// above is yes where a is at least 0, and no elsewhere.
func (s *steps) above(a, yes, no term) term { return s.do("WhereLessEqual", number(0), a, yes, no) }

// power is e to the power −|a|.
func (s *steps) power(a term) term { return s.exp(s.above(a, s.neg(a), a)) }

// sigmoid is 1/(1 + e⁻ᵃ), and sigmoidOfMinus that of −a: of the power of e that is at most 1.
func (s *steps) sigmoid(a term) term {
	e := s.power(a)
	return s.div(s.above(a, number(1), e), s.add(number(1), e))
}

func (s *steps) sigmoidOfMinus(a term) term {
	e := s.power(a)
	return s.div(s.above(a, e, number(1)), s.add(number(1), e))
}

// logistic is a/(1 + e⁻ᵇ).
func (s *steps) logistic(a, b term) term { return s.div(a, s.add(number(1), s.exp(s.neg(b)))) }

// normal is the distribution of the normal distribution.
func (s *steps) normal(a term) term {
	return s.mul(number(0.5), s.do("Erfc", s.mul(a, number(-1/math.Sqrt2))))
}

// geluTwice is the polynomial of a whose sigmoid GELUTanh takes for normal.
func (s *steps) geluTwice(a term) term {
	return s.mul(number(2*geluScale), s.mul(a, s.add(number(1), s.mul(number(0.044715), s.mul(a, a)))))
}

// mish returns the parts of a quotient: tanh(softplus(a)) is top/(top + rest).
func (s *steps) mish(a term) (top, rest term) {
	e := s.power(a)
	twice := s.mul(number(2), e)
	return s.above(a, s.add(twice, number(1)), s.mul(e, s.add(e, number(2)))), s.above(a, s.mul(twice, e), number(2))
}

// less is yes where a < b, and no elsewhere.
func (s *steps) less(a, b, yes, no term) term { return s.do("WhereLess", a, b, yes, no) }

// limit is a limited to low … high; NaN stays.
func (s *steps) limit(a, low, high term) term {
	least := s.less(a, low, low, a)
	return s.less(high, least, high, least)
}

// hardsigmoid is a + 3 limited to 0 … 6, divided by 6.
func (s *steps) hardsigmoid(a term) term {
	return s.div(s.limit(s.add(a, number(3)), number(0), number(6)), number(6))
}

var geluScale = math.Sqrt(2 / math.Pi)

// formulas are those that package expr finds in others, in single precision. Those of derivatives
// take the gradient of the value last. The parts of a softplus stay apart: with both exponential
// and logarithm, the chain is too long for a processor to look beyond it.
var formulas = []formula{
	{"AddFour", 4, func(s *steps) term { return s.add(s.add(x, y), s.add(z, w)) }},
	{"Logistic", 2, func(s *steps) term { return s.logistic(x, y) }},
	{"LogisticGrad", 2, func(s *steps) term { return s.mul(s.mul(x, s.sub(number(1), x)), y) }},
	{"TanhGrad", 2, func(s *steps) term { return s.mul(s.sub(number(1), s.mul(x, x)), y) }},
	{"Sigmoid", 1, func(s *steps) term { return s.sigmoid(x) }},
	{"SigmoidBy", 2, func(s *steps) term { return s.mul(s.sigmoid(x), y) }},
	{"SigmoidOfMinus", 1, func(s *steps) term { return s.sigmoidOfMinus(x) }},
	{"SigmoidOfMinusBy", 2, func(s *steps) term { return s.mul(s.sigmoidOfMinus(x), y) }},
	{"ExpOfMinusAbs", 1, func(s *steps) term { return s.exp(s.neg(s.do("Abs", x))) }},
	{"AddPositive", 2, func(s *steps) term { return s.add(s.do("Max", x, number(0)), y) }},
	{"SiLUGrad", 2, func(s *steps) term {
		return s.mul(s.mul(s.sigmoid(x), s.add(number(1), s.mul(x, s.sigmoidOfMinus(x)))), y)
	}},
	{"GELU", 1, func(s *steps) term { return s.mul(x, s.normal(x)) }},
	{"GELUGrad", 2, func(s *steps) term {
		density := s.mul(s.mul(x, s.exp(s.neg(s.mul(s.mul(x, x), number(0.5))))), number(1/math.Sqrt(2*math.Pi)))
		return s.mul(s.add(s.normal(x), density), y)
	}},
	{"GELUTanh", 1, func(s *steps) term { return s.logistic(x, s.geluTwice(x)) }},
	{"GELUTanhGrad", 2, func(s *steps) term {
		near := s.do("Min", s.do("Max", x, number(-100)), number(100))
		t := s.geluTwice(near)
		p := s.sigmoid(t)
		slope := s.mul(number(2*geluScale), s.add(number(1), s.mul(number(3*0.044715), s.mul(near, near))))
		return s.mul(s.add(p, s.mul(s.mul(near, s.mul(p, s.sigmoidOfMinus(t))), slope)), y)
	}},
	{"Mish", 1, func(s *steps) term {
		top, rest := s.mish(x)
		return s.mul(x, s.div(top, s.add(top, rest)))
	}},
	{"MishGrad", 2, func(s *steps) term {
		top, rest := s.mish(x)
		sum := s.add(top, rest)
		tanh := s.div(top, sum)
		more := s.mul(s.mul(x, s.mul(s.div(rest, sum), s.add(number(1), tanh))), s.sigmoid(x))
		return s.mul(s.add(tanh, more), y)
	}},
	{"ELU", 2, func(s *steps) term {
		return s.do("WhereLessEqual", x, number(0), s.mul(y, s.do("Expm1", x)), x)
	}},
	{"ELUGrad", 3, func(s *steps) term {
		return s.less(number(0), x, y, s.mul(s.mul(z, s.exp(x)), y))
	}},
	{"Limit", 3, func(s *steps) term { return s.limit(x, y, z) }},
	{"LimitDifference", 3, func(s *steps) term { return s.limit(s.sub(x, y), s.neg(z), z) }},
	{"LimitGrad", 4, func(s *steps) term {
		return s.do("Where", s.do("Or", s.do("LessEqual", x, y), s.do("LessEqual", z, x)), number(0), w)
	}},
	{"Leaky", 3, func(s *steps) term { return s.less(number(0), x, y, s.mul(z, y)) }},
	{"Sign", 1, func(s *steps) term { return s.less(number(0), x, number(1), s.less(x, number(0), number(-1), x)) }},
	{"Frac", 1, func(s *steps) term { return s.sub(x, s.do("Trunc", x)) }},
	{"NanToNum", 4, func(s *steps) term {
		finite := s.do("WhereEqual", s.sub(x, x), number(0), x, s.less(number(0), x, z, w))
		return s.do("WhereEqual", x, x, finite, y)
	}},
	{"Hardsigmoid", 1, func(s *steps) term { return s.hardsigmoid(x) }},
	{"HardsigmoidGrad", 2, func(s *steps) term {
		return s.do("Where", s.do("And", s.do("Less", number(-3), x), s.do("Less", x, number(3))), s.div(y, number(6)), number(0))
	}},
	{"Hardswish", 1, func(s *steps) term { return s.mul(x, s.hardsigmoid(x)) }},
	{"HardswishGrad", 2, func(s *steps) term {
		slope := s.mul(s.add(s.div(x, number(3)), number(0.5)), y)
		return s.less(x, number(-3), number(0), s.less(number(3), x, y, slope))
	}},
	{"Lerp", 3, func(s *steps) term {
		way := s.sub(y, x)
		return s.less(s.do("Abs", z), number(0.5), s.add(x, s.mul(z, way)), s.sub(y, s.mul(way, s.sub(number(1), z))))
	}},
	{"Huber", 3, func(s *steps) term {
		d := s.sub(x, y)
		far := s.do("Abs", d)
		return s.less(far, z, s.mul(number(0.5), s.mul(d, d)), s.mul(z, s.sub(far, s.mul(number(0.5), z))))
	}},
	{"SmoothL1", 3, func(s *steps) term {
		d := s.sub(x, y)
		far := s.do("Abs", d)
		return s.less(far, z, s.div(s.mul(number(0.5), s.mul(d, d)), z), s.sub(far, s.mul(number(0.5), z)))
	}},
}

// allFunctions are those that there are loops of: the primitives and the formulas.
func allFunctions() []function {
	list := slices.Clone(functions)
	for _, f := range formulas {
		list = append(list, function{f.name, f.operands, false, f.write})
	}
	return list
}

// write computes the formula of vectors.
func (f formula) write(k *code, in []value) value {
	var s steps
	f.of(&s)
	values := make([]value, len(s.list))
	for i, step := range s.list {
		args := make([]value, len(step.args))
		for j, a := range step.args {
			switch a.kind {
			case "OfOperand":
				args[j] = in[a.index]
			case "OfStep":
				args[j] = values[a.index]
			default:
				args[j] = k.load(k.number(a.number))
			}
		}
		at := slices.IndexFunc(functions, func(f function) bool { return f.name == step.name })
		values[i] = functions[at].of(k, args)
	}
	return values[len(values)-1]
}

// table writes the steps of the formula in Go.
func (f formula) table() string {
	var s steps
	f.of(&s)
	var t strings.Builder
	fmt.Fprintf(&t, "\t{%s, []Step{\n", f.name)
	for _, step := range s.list {
		fmt.Fprintf(&t, "\t\t{%s, []Value{", step.name)
		for _, a := range step.args {
			if a.kind == "OfNumber" {
				fmt.Fprintf(&t, "{Kind: OfNumber, Number: %v}, ", a.number)
			} else {
				fmt.Fprintf(&t, "{Kind: %s, Index: %d}, ", a.kind, a.index)
			}
		}
		t.WriteString("}},\n")
	}
	t.WriteString("\t}},\n")
	return t.String()
}
