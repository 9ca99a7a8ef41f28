package expr

import (
	"fmt"
	"math"
	"slices"
)

// Derivative returns the derivative of x with respect to operand i, times g. Where a condition
// decides, it is that of the value that was chosen, even where that of the other is infinite or
// NaN; terms that are zero whatever the operands are vanish. A function that has another value at a
// kink, or a form that is more exact, states it beside its formula.
//
// What the derivative has in common with x, and in itself, is one formula: a product, a quotient or
// a function of one has two or three times as many parts as it from one order to the next. Those of
// package kernels have less than 900 in the sixth order, and most less than 200: see [Expr.Size].
func (x *Expr) Derivative(i int, g *Expr) *Expr {
	t := newTable()
	x = t.share(x)
	slope := map[*Expr]*Expr{}  // the derivative of each formula that x is made of; none is 0
	byIndex := map[*Expr]bool{} // it is one by an operand that is read by index
	for _, e := range x.sorted() {
		switch {
		case e.op == opOperand && e.index == i:
			slope[e] = Const(1)
			continue
		case e.op == opAt && e.index == i:
			slope[e], byIndex[e] = Const(1), true
			continue
		}
		var total *Expr
		for j, a := range e.args {
			if d := slope[a]; d != nil {
				if p := e.partial(j, d); p != nil && !p.is(0) {
					total = t.share(plus(total, t.share(p)))
					byIndex[e] = byIndex[e] || byIndex[a]
				}
			}
		}
		if total != nil && !total.is(0) {
			slope[e] = total
		}
	}
	d := slope[x]
	switch {
	case d == nil:
		return Const(0)
	case byIndex[x]:
		panic(fmt.Sprintf("expr: operand %d is read by index: its gradient is no map", i))
	}
	return t.share(scaled(d, t.share(g)))
}

// partial returns what argument j of e, of which the derivative is g, adds to the derivative of e.
// Where g is 0 because something else was chosen, it is 0 too: 0 times an infinite derivative would
// not be.
func (e *Expr) partial(j int, g *Expr) *Expr {
	switch {
	case g.is(0):
		return g
	case e.op == opWhere && j > 0:
		zero := Const(0)
		if j == 1 {
			return Where(e.args[0], g, zero)
		}
		return Where(e.args[0], zero, g)
	case g.gated():
		return g.distributed(func(part *Expr) *Expr { return e.partial(j, part) })
	}
	return e.partials(g)[j]
}

// gated reports whether a formula is 0 where a condition says so, or a sum of such.
func (x *Expr) gated() bool {
	switch x.op {
	case opWhere:
		return x.args[1].is(0) || x.args[2].is(0) || x.args[1].gated() || x.args[2].gated()
	case opAdd, opSub:
		return x.args[0].gated() && x.args[1].gated()
	}
	return false
}

// distributed returns a choice of f of what x chooses, or a sum of f of its terms; nil where f is.
func (x *Expr) distributed(f func(part *Expr) *Expr) *Expr {
	n := len(x.args)
	a, b := f(x.args[n-2]), f(x.args[n-1])
	switch {
	case a == nil || b == nil:
		return nil
	case x.op == opWhere:
		return Where(x.args[0], a, b)
	case x.op == opSub:
		b = negative(b)
	}
	return plus(a, b)
}

// scaled returns d·g. What is 0 stays so, whatever g is, and a constant numerator takes g: a
// quotient is rounded once.
func scaled(d, g *Expr) *Expr {
	switch {
	case d.gated() || d.op == opWhere && (d.args[1].op == opConst || d.args[2].op == opConst):
		return d.distributed(func(part *Expr) *Expr { return scaled(part, g) })
	case d.op == opNeg:
		return negative(scaled(d.args[0], g))
	case d.op == opDiv && d.args[0].numerator():
		return over(scaled(d.args[0], g), d.args[1])
	case d.op == opLdexp:
		return scaled(d.args[0], g).Ldexp(d.args[1])
	}
	return times(d, g)
}

// constant reports whether a formula is the same for all elements.
func (x *Expr) constant() bool {
	for _, e := range x.sorted() {
		if e.op != opConst && e.op != opScalar && e.args == nil {
			return false
		}
	}
	return true
}

// numerator reports whether a formula is a constant, or one divided by others.
func (x *Expr) numerator() bool {
	for x.op == opDiv || x.op == opNeg {
		x = x.args[0]
	}
	return x.op == opConst
}

// sorted returns the formulas that x is made of, arguments before what takes them.
func (x *Expr) sorted() []*Expr { return sorted([]*Expr{x}) }

func sorted(formulas []*Expr) []*Expr {
	const few = 24 // among so many, searching takes less than a map
	order := make([]*Expr, 0, few)
	var seen map[*Expr]bool
	var visit func(*Expr)
	visit = func(e *Expr) {
		if seen[e] || seen == nil && slices.Contains(order, e) {
			return
		}
		for _, a := range e.args {
			visit(a)
		}
		if order = append(order, e); seen != nil {
			seen[e] = true
		} else if len(order) > few {
			seen = make(map[*Expr]bool, 4*few)
			for _, e := range order {
				seen[e] = true
			}
		}
	}
	for _, x := range formulas {
		visit(x)
	}
	return order
}

// plus, times and over are sums, products and quotients in which 0 and 1 vanish, and like terms are
// one. A nil sum is 0.
func plus(a, b *Expr) *Expr {
	switch {
	case a == nil || a.is(0):
		return b
	case b.is(0):
		return a
	case a.op == opWhere && b.op == opWhere && a.args[0] == b.args[0] && (a.gated() || b.gated()):
		return Where(a.args[0], plus(a.args[1], b.args[1]), plus(a.args[2], b.args[2]))
	}
	if j, of := a.coefficient(); true {
		if k, same := b.coefficient(); same == of && j+k != 0 {
			return times(Const(j+k), of)
		}
	}
	return a.Add(b)
}

// coefficient returns k and y for the formula k·y.
func (x *Expr) coefficient() (k float64, y *Expr) {
	switch {
	case x.op == opNeg:
		k, y = x.args[0].coefficient()
		return -k, y
	case x.op == opMul && x.args[0].op == opConst && !x.args[0].whole:
		return x.args[0].value, x.args[1]
	}
	return 1, x
}

func times(a, b *Expr) *Expr {
	switch {
	case a.is(0) || b.is(0):
		return Const(0)
	case a.is(1):
		return b
	case b.is(1):
		return a
	case a.op == opConst && b.op == opConst:
		return Const(a.value * b.value)
	case b.op == opConst:
		return times(b, a)
	case a.op == opConst && a.value != a.value:
		return a
	case a.op == opConst && b.op == opMul && b.args[0].op == opConst:
		return times(Const(a.value*b.args[0].value), b.args[1])
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

// partials returns, for each argument of e, its derivative of e times g, where that argument is
// chosen; nil where it is 0.
func (e *Expr) partials(g *Expr) []*Expr {
	one, two := Const(1), Const(2)
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
		zero := Const(0)
		return []*Expr{Where(x.Gt(zero), g, Where(x.Lt(zero), negative(g), Where(x.Eq(zero), zero, Const(math.NaN()))))}
	case opFloat16, opBFloat16:
		return []*Expr{g}
	case opAdd:
		return []*Expr{g, g}
	case opSub:
		return []*Expr{g, negative(g)}
	case opMul:
		return []*Expr{times(y, g), times(x, g)}
	case opDiv:
		return []*Expr{over(g, y), negative(times(over(e, y), g))}
	case opFMA:
		return []*Expr{times(y, g), times(x, g), g}
	case opMin, opMax: // halves at ties; with a NaN, to both, so that it is not lost on the way back
		share, first, second := Where(x.Eq(y), over(g, two), g), y.Lt(x), x.Lt(y)
		if e.op == opMax {
			first, second = second, first
		}
		return []*Expr{Where(first, Const(0), share), Where(second, Const(0), share)}
	case opFmod:
		return []*Expr{g, negative(times(over(x, y).Trunc(), g))}
	case opCopysign: // ±1 by the signs of x and y; that of x = 0 counts as positive
		return []*Expr{times(one.Copysign(x).Mul(one.Copysign(y)), g), nil}
	case opSqrt:
		return []*Expr{over(g, two.Mul(e))}
	case opHypot:
		return []*Expr{times(over(x, e), g), times(over(y, e), g)}
	case opPow:
		zero := Const(0)
		none := y.Eq(zero).And(x.Lt(zero).Or(x.Gt(zero)).Not()) // 0·x⁻¹ is 0, but of 0 and NaN
		if y.constant() {
			none = y.Eq(zero)
		}
		return []*Expr{Where(none, zero, times(times(y, x.Pow(y.Sub(one))), g)),
			Where(e.Eq(zero), zero, times(times(e, x.Log()), g))}
	case opExp, opExpOfNegative:
		return []*Expr{times(e, g)}
	case opExp2:
		return []*Expr{times(times(e, Const(math.Ln2)), g)}
	case opExpm1:
		return []*Expr{times(x.Exp(), g)}
	case opLog:
		return []*Expr{over(g, x)}
	case opLog2:
		return []*Expr{over(g, times(x, Const(math.Ln2)))}
	case opLog10:
		return []*Expr{over(g, times(x, Const(math.Ln10)))}
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
		return []*Expr{times(times(Const(2/math.SqrtPi), x.Square().Neg().Exp()), g)}
	case opErfc:
		return []*Expr{times(times(Const(-2/math.SqrtPi), x.Square().Neg().Exp()), g)}
	case opSinPi:
		return []*Expr{times(times(Const(math.Pi), x.CosPi()), g)}
	case opCosPi:
		return []*Expr{negative(times(times(Const(math.Pi), x.SinPi()), g))}
	case opLdexp:
		return []*Expr{g.Ldexp(y), nil}
	case opSoftplus:
		return []*Expr{times(x.Sigmoid(), g)}
	case opSigmoid:
		return []*Expr{times(times(e, negative(x).Sigmoid()), g)}
	case opErfInv:
		return []*Expr{times(times(Const(math.Sqrt(math.Pi)/2), e.Square().Exp()), g)}
	}
	return make([]*Expr, len(e.args)) // steps, conditions and ints
}
