package expr

// Hoist takes apart formulas of which parts are the same for many elements: those of constants,
// scalars, the indices along some axes and the elements of some operands. It returns the formulas
// with X(first), X(first + 1), … in the place of their largest such parts that are numbers and read
// an index or an operand, and these parts: each of them once.
func Hoist(first int, axis, operand func(i int) bool, formulas ...*Expr) (rest, parts []*Expr) {
	same, reads := map[*Expr]bool{}, map[*Expr]bool{}
	all := sorted(formulas)
	for _, e := range all {
		is, some := true, false
		switch e.op {
		case opOperand:
			is, some = operand(e.index), true
		case opIndex:
			is, some = axis(e.index), true
		}
		for _, a := range e.args {
			is, some = is && same[a], some || reads[a]
		}
		same[e], reads[e] = is, some || e.op == opAt
	}
	as := map[*Expr]*Expr{}
	var with func(e *Expr) *Expr
	with = func(e *Expr) *Expr {
		if v := as[e]; v != nil {
			return v
		}
		v := e
		switch {
		case same[e] && reads[e] && !e.whole && !e.IsCondition():
			v = Input(first + len(parts))
			parts = append(parts, e)
		case len(e.args) > 0:
			of := *e
			of.args = make([]*Expr, len(e.args))
			for i, a := range e.args {
				of.args[i] = with(a)
			}
			v = &of
		}
		as[e] = v
		return v
	}
	for _, f := range formulas {
		rest = append(rest, with(f))
	}
	return rest, parts
}

// Reads reports whether an operand occurs.
func (p *Program) Reads(operand int) bool { return p.has(opOperand, operand) || p.has(opAt, operand) }

// Takes reports whether a scalar occurs.
func (p *Program) Takes(scalar int) bool { return p.has(opScalar, scalar) || p.has(opInt, scalar) }

// Follows reports whether the index along an axis occurs.
func (p *Program) Follows(axis int) bool { return p.has(opIndex, axis) }

// Literal is a number of the device's floats in OpenCL C, behind [Prelude].
func Literal(v float64) string { return number(v, false) }

// Units returns by how many units in the last place the steps of a formula are off, one with the
// other.
func (p *Program) Units() int {
	n := 0
	for i := range p.steps {
		n += int(primitives[p.steps[i].op].ulp)
	}
	return n
}
