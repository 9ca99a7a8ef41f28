package expr

import "slices"

// expand returns the formulas with others in the place of the primitives that no device has. These
// are primitives for the sake of their derivatives: what they are made of has |x| and choices by
// the sign of x, so that nothing overflows, and of these each rule would give the derivative of one
// side at 0.
func expand(formulas []*Expr) []*Expr {
	order := sorted(formulas)
	as := map[*Expr]*Expr{} // of those that become another
	now := func(e *Expr) *Expr {
		if other, ok := as[e]; ok {
			return other
		}
		return e
	}
	all := func(list []*Expr) []*Expr {
		of := make([]*Expr, len(list))
		for i, e := range list {
			of[i] = now(e)
		}
		return of
	}
	for _, e := range order {
		switch {
		case e.op == opSigmoid:
			as[e] = sigmoid(now(e.args[0]))
		case e.op == opSoftplus:
			t := now(e.args[0])
			as[e] = t.Max(Const(0)).Add(t.Abs().Neg().Exp().Log1p())
		case slices.ContainsFunc(e.args, func(a *Expr) bool { return now(a) != a }):
			with := *e
			with.args = all(e.args)
			as[e] = &with
		}
	}
	return all(formulas)
}

// sigmoid is 1/(1 + e⁻ᵗ) of the power of e that is at most 1. That of −t has the same power.
func sigmoid(t *Expr) *Expr {
	one := Const(1)
	negative := t.op == opNeg
	if negative {
		t = t.args[0]
	}
	above := t.Ge(Const(0))
	e := Where(above, t.Neg(), t).Exp()
	if negative {
		return Where(above, e, one).Div(one.Add(e))
	}
	return Where(above, one, e).Div(one.Add(e))
}
