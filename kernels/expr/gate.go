package expr

// gate says for which elements a formula is part of the value of another: where c holds, or where it does not. A c of nil is
// everywhere.
type gate struct {
	c         *Expr
	otherwise bool
}

// choice returns where argument j of e is what was chosen.
func (e *Expr) choice(j int) gate {
	switch e.op {
	case opWhere:
		return gate{e.args[0], j == 2}
	case opMin:
		return gate{e.args[1-j].Lt(e.args[j]), true}
	case opMax:
		return gate{e.args[j].Lt(e.args[1-j]), true}
	}
	return gate{}
}

// condition is the gate as a condition.
func (g gate) condition() *Expr {
	if g.otherwise {
		return g.c.Not()
	}
	return g.c
}

func (g gate) and(h gate) gate {
	switch {
	case g.c == nil || g == h:
		return h
	case h.c == nil:
		return g
	}
	return gate{c: g.condition().And(h.condition())}
}

func (g gate) or(h gate) gate {
	switch {
	case g.c == nil || h.c == nil || g.c == h.c && g != h:
		return gate{}
	case g == h:
		return g
	}
	return gate{c: g.condition().Or(h.condition())}
}

// gated is a formula where a gate says, and 0 elsewhere. What is made of it is gated again: 0 times an infinite derivative
// would not be 0. A value of nil is 0.
type gated struct {
	value *Expr
	gate
}

// formula returns the value with its gate.
func (a gated) formula() *Expr {
	zero := C(0)
	switch {
	case a.c == nil:
		return a.value
	case a.otherwise:
		return Where(a.c, zero, a.value)
	}
	return Where(a.c, a.value, zero)
}

// plus returns the sum, where either is.
func (a gated) plus(b gated) gated {
	switch {
	case a.value == nil:
		return b
	case a.gate == b.gate:
		return gated{plus(a.value, b.value), a.gate}
	}
	return gated{plus(a.formula(), b.formula()), a.gate.or(b.gate)}
}
