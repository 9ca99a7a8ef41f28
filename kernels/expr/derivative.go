package expr

import (
	"fmt"
	"math"
)

// Derivative returns the derivative of x with respect to operand i, times g. Where a condition decides, it is that of
// the value that was chosen, even where that of the other is infinite or NaN; terms that are zero whatever the operands
// are vanish. A function that has another value at a kink, or a form that is more exact, states it beside its formula.
func (x *Expr) Derivative(i int, g *Expr) *Expr {
	order := x.sorted()
	by := map[*Expr]gated{x: {value: g}} // what a change of a formula adds to the result, times g
	var total *Expr
	for k := len(order) - 1; k >= 0; k-- {
		e := order[k]
		d, ok := by[e]
		if !ok {
			continue
		}
		if e.op == opAt && e.index == i {
			panic(fmt.Sprintf("expr: operand %d is read by index: its gradient is no map", i))
		}
		if e.op == opOperand && e.index == i {
			total = plus(total, d.formula())
			continue
		}
		for j, share := range e.partials(d.value) {
			if share != nil && !share.is(0) {
				by[e.args[j]] = by[e.args[j]].plus(gated{share, d.gate.and(e.choice(j))})
			}
		}
	}
	if total == nil {
		return C(0)
	}
	return total
}

// sorted returns the formulas that x is made of, arguments before what takes them.
func (x *Expr) sorted() []*Expr { return sorted([]*Expr{x}) }

func sorted(formulas []*Expr) []*Expr {
	var order []*Expr
	seen := map[*Expr]bool{}
	var visit func(*Expr)
	visit = func(e *Expr) {
		if seen[e] {
			return
		}
		seen[e] = true
		for _, a := range e.args {
			visit(a)
		}
		order = append(order, e)
	}
	for _, x := range formulas {
		visit(x)
	}
	return order
}

// plus, times and over are sums, products and quotients in which 0 and 1 vanish. A nil sum is 0.
func plus(a, b *Expr) *Expr {
	switch {
	case a == nil || a.is(0):
		return b
	case b.is(0):
		return a
	}
	return a.Add(b)
}

func times(a, b *Expr) *Expr {
	switch {
	case a.is(0) || b.is(0):
		return C(0)
	case a.is(1):
		return b
	case b.is(1):
		return a
	}
	return a.Mul(b)
}

func over(a, b *Expr) *Expr {
	if a.is(0) {
		return a
	}
	return a.Div(b)
}

func negative(a *Expr) *Expr {
	switch {
	case a.is(0):
		return a
	case a.op == opNeg:
		return a.args[0]
	}
	return a.Neg()
}

// partials returns, for each argument of e, its derivative of e times g, where that argument is chosen; nil where it is 0.
func (e *Expr) partials(g *Expr) []*Expr {
	one, two := C(1), C(2)
	var x, y *Expr
	if len(e.args) > 0 {
		x = e.args[0]
	}
	if len(e.args) > 1 {
		y = e.args[1]
	}
	switch e.op {
	case opNeg:
		return []*Expr{negative(g)}
	case opAbs:
		zero := C(0)
		return []*Expr{Where(x.Gt(zero), g, Where(x.Lt(zero), negative(g), Where(x.Eq(zero), zero, x)))} // NaN stays
	case opAdd:
		return []*Expr{g, g}
	case opSub:
		return []*Expr{g, negative(g)}
	case opMul:
		return []*Expr{times(y, g), times(x, g)}
	case opDiv:
		return []*Expr{over(g, y), negative(times(over(over(x, y), y), g))}
	case opFMA:
		return []*Expr{times(y, g), times(x, g), g}
	case opMin, opMax: // halves at ties; with a NaN, to both, so that it is not lost on the way back
		share := Where(x.Eq(y), over(g, two), g)
		return []*Expr{share, share}
	case opFmod:
		return []*Expr{g, negative(times(over(x, y).Trunc(), g))}
	case opCopysign: // ±1 by the signs of x and y; that of x = 0 counts as positive
		return []*Expr{times(one.Copysign(x).Mul(one.Copysign(y)), g), nil}
	case opSqrt:
		return []*Expr{over(g, two.Mul(e))}
	case opHypot:
		return []*Expr{times(over(x, e), g), times(over(y, e), g)}
	case opPow:
		zero := C(0)
		return []*Expr{Where(y.Eq(zero), zero, times(times(y, x.Pow(y.Sub(one))), g)),
			Where(e.Eq(zero), zero, times(times(e, x.Log()), g))}
	case opExp:
		return []*Expr{times(e, g)}
	case opExp2:
		return []*Expr{times(times(e, C(math.Ln2)), g)}
	case opExpm1:
		return []*Expr{times(x.Exp(), g)}
	case opLog:
		return []*Expr{over(g, x)}
	case opLog2:
		return []*Expr{over(g, times(x, C(math.Ln2)))}
	case opLog10:
		return []*Expr{over(g, times(x, C(math.Ln10)))}
	case opLog1p:
		return []*Expr{over(g, one.Add(x))}
	case opSin:
		return []*Expr{times(x.Cos(), g)}
	case opCos:
		return []*Expr{negative(times(x.Sin(), g))}
	case opTan:
		return []*Expr{times(one.Add(e.Square()), g)}
	case opAsin:
		return []*Expr{over(g, one.Sub(x).Mul(one.Add(x)).Sqrt())}
	case opAcos:
		return []*Expr{negative(over(g, one.Sub(x).Mul(one.Add(x)).Sqrt()))}
	case opAtan:
		return []*Expr{over(g, one.Add(x.Square()))}
	case opAtan2:
		r := x.Hypot(y)
		return []*Expr{times(over(over(y, r), r), g), negative(times(over(over(x, r), r), g))}
	case opSinh:
		return []*Expr{times(x.Cosh(), g)}
	case opCosh:
		return []*Expr{times(x.Sinh(), g)}
	case opTanh:
		return []*Expr{times(one.Sub(e.Square()), g)}
	case opAsinh:
		return []*Expr{over(g, one.Hypot(x))}
	case opAcosh:
		return []*Expr{over(g, x.Sub(one).Sqrt().Mul(x.Add(one).Sqrt()))}
	case opAtanh:
		return []*Expr{over(g, one.Sub(x).Mul(one.Add(x)))}
	case opErf:
		return []*Expr{times(times(C(2/math.SqrtPi), x.Square().Neg().Exp()), g)}
	case opErfc:
		return []*Expr{times(times(C(-2/math.SqrtPi), x.Square().Neg().Exp()), g)}
	case opSinPi:
		return []*Expr{times(times(C(math.Pi), x.CosPi()), g)}
	case opCosPi:
		return []*Expr{negative(times(times(C(math.Pi), x.SinPi()), g))}
	case opLdexp:
		return []*Expr{g.Ldexp(y), nil}
	case opErfInv:
		return []*Expr{times(times(C(math.Sqrt(math.Pi)/2), e.Square().Exp()), g)}
	case opWhere:
		return []*Expr{nil, g, g}
	}
	return make([]*Expr, len(e.args)) // steps, conditions and ints
}
