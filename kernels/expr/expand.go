package expr

// expand returns the formulas with others in the place of the primitives that no device has. These
// are primitives for the sake of their derivatives: what they are made of has |x| and choices by
// the sign of x, so that nothing overflows, and of these each rule would give the derivative of one
// side at 0.
func expand(formulas []*Expr) []*Expr {
	as := map[*Expr]*Expr{}
	for _, e := range sorted(formulas) {
		args, same := make([]*Expr, len(e.args)), true
		for i, a := range e.args {
			args[i] = as[a]
			same = same && args[i] == a
		}
		switch {
		case e.op == opSigmoid:
			as[e] = sigmoid(args[0])
		case e.op == opSoftplus:
			as[e] = args[0].Max(Const(0)).Add(args[0].Abs().Neg().Exp().Log1p())
		case same:
			as[e] = e
		default:
			with := *e
			with.args = args
			as[e] = &with
		}
	}
	all := make([]*Expr, len(formulas))
	for i, x := range formulas {
		all[i] = as[x]
	}
	return all
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
