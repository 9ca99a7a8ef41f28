package expr

import (
	"slices"
	"strconv"
)

// Replace returns the formula with others in the place of its operands and scalars: operand(i) for
// X(i), and scalar(i) for S(i). It panics if the formula reads an operand by index, or a scalar
// that is an int.
func (x *Expr) Replace(operand, scalar func(i int) *Expr) *Expr {
	order := x.sorted()
	as := make(map[*Expr]*Expr, len(order))
	for _, e := range order {
		switch e.op {
		case opOperand:
			as[e] = operand(e.index)
			continue
		case opScalar:
			as[e] = scalar(e.index)
			continue
		case opAt, opInt:
			panic("expr: Replace: " + primitives[e.op].name + " stays where it is")
		}
		if !slices.ContainsFunc(e.args, func(a *Expr) bool { return as[a] != a }) {
			as[e] = e
			continue
		}
		with := *e
		with.args = make([]*Expr, len(e.args))
		for i, a := range e.args {
			with.args[i] = as[a]
		}
		as[e] = &with
	}
	return as[x]
}

// Steps returns how many primitives are computed for each element.
func (p *Program) Steps() int {
	n := 0
	for i := range p.steps {
		if s := &p.steps[i]; !s.number() && s.op != opOperand {
			n++
		}
	}
	return n
}

// Simple reports whether every step is arithmetic, a comparison or a choice: as cheap as what it
// takes to move an element.
func (p *Program) Simple() bool {
	for i := range p.steps {
		info := &primitives[p.steps[i].op]
		long := info.depends != "" && info.depends != "whole"
		if info.ulp > 3 || long || info.lanes || info.value != nil && info.ulp > 0 {
			return false
		}
	}
	return true
}

// Alike reports whether an element has the same bits on every device of one kind whether it is
// computed alone or in a vector. What a driver brings for vectors may be another function than its
// own for one element; quotients and roots are the processor's.
func (p *Program) Alike() bool {
	for i := range p.steps {
		o := p.steps[i].op
		info := &primitives[o]
		if info.ulp > 0 && !info.lanes && !info.alike && o != opDiv && o != opSqrt {
			return false
		}
	}
	return true
}

// Key returns a text that two programs have in common if and only if they do the same steps.
func (p *Program) Key() string {
	var key []byte
	for i := range p.steps {
		s := &p.steps[i]
		key = strconv.AppendInt(key, int64(s.op), 36)
		for _, a := range s.operands() {
			key = strconv.AppendInt(append(key, ' '), int64(a), 36)
		}
		switch s.op {
		case opConst:
			key = strconv.AppendFloat(append(key, '='), s.value, 'x', -1, 64)
		case opOperand, opScalar, opInt, opIndex, opAt:
			key = strconv.AppendInt(append(key, '#'), int64(s.index), 36)
		}
		if s.whole {
			key = append(key, 'i')
		}
		key = append(key, ';')
	}
	for _, r := range p.results {
		key = strconv.AppendInt(append(key, '>'), int64(r), 36)
	}
	return string(key)
}
