package expr

import "strings"

// Match reports whether x is the formula p of some operands and numbers: x is p if each Input(i) of p stands for
// operands[i], and each Param(i) for numbers[i], which are parameters or constants.
//
//	operands, _, _ := Input(2).Neg().Exp().Match(Input(0).Exp()) // -%2
func (x *Expr) Match(p *Expr) (operands, numbers map[int]*Expr, ok bool) {
	operands, numbers = map[int]*Expr{}, map[int]*Expr{}
	return operands, numbers, x.match(p, operands, numbers)
}

func (x *Expr) match(p *Expr, operands, numbers map[int]*Expr) bool {
	bound := operands
	switch p.op {
	case opScalar:
		if x.op != opScalar && x.op != opConst {
			return false
		}
		bound = numbers
		fallthrough
	case opOperand:
		if x.IsCondition() {
			return false
		}
		if y := bound[p.index]; y != nil {
			return x.equal(y)
		}
		bound[p.index] = x
		return true
	}
	if !x.alike(p) {
		return false
	}
	for i := range x.args {
		if !x.args[i].match(p.args[i], operands, numbers) {
			return false
		}
	}
	return true
}

// alike reports whether two formulas are of the same primitive, or leaf.
func (x *Expr) alike(y *Expr) bool {
	return x.op == y.op && x.index == y.index && x.value == y.value && x.whole == y.whole && len(x.args) == len(y.args)
}

func (x *Expr) equal(y *Expr) bool {
	if x == y {
		return true
	}
	if !x.alike(y) {
		return false
	}
	for i := range x.args {
		if !x.args[i].equal(y.args[i]) {
			return false
		}
	}
	return true
}

// Format prints the formula as String does, but for parts that other prints otherwise: it returns "" of those that it
// does not, and may print what a part is made of with the function it is passed. Parts that lie deeper than 12
// primitives are "…".
func (x *Expr) Format(other func(part *Expr, print func(*Expr) string) string) string {
	return x.format(other, 12)
}

func (x *Expr) format(other func(*Expr, func(*Expr) string) string, deep int) string {
	print := func(a *Expr) string { return a.format(other, deep-1) }
	if s := other(x, print); s != "" {
		return s
	}
	if len(x.args) == 0 {
		return x.String()
	}
	if deep == 0 {
		return "…"
	}
	return x.print(print)
}

// print prints a formula of arguments that are printed so.
func (x *Expr) print(arg func(*Expr) string) string {
	args := make([]string, len(x.args))
	for i, a := range x.args {
		args[i] = arg(a)
	}
	switch sign := infix[x.op]; {
	case x.op == opAt:
		return Input(x.index).String() + "[" + args[0] + "]"
	case x.op == opNeg:
		return "-" + args[0]
	case sign != "":
		return "(" + strings.Join(args, " "+sign+" ") + ")"
	}
	return primitives[x.op].name + "(" + strings.Join(args, ", ") + ")"
}
