package expr

import "math"

// table holds formulas, each of them once.
type table struct {
	nodes map[nodeKey]*Expr
	as    map[*Expr]*Expr // the formula of the table that is the same as another
	order map[*Expr]int   // of those in the table
}

// nodeKey is what a formula is: the arguments are formulas of the table.
type nodeKey struct {
	op    op
	args  [4]*Expr
	index int
	bits  uint64
	whole bool
}

func newTable() *table {
	return &table{nodes: map[nodeKey]*Expr{}, as: map[*Expr]*Expr{}, order: map[*Expr]int{}}
}

// share returns x as a formula of the table, simplified.
func (t *table) share(x *Expr) *Expr {
	if e := t.as[x]; e != nil {
		return e
	}
	args := make([]*Expr, len(x.args))
	for i, a := range x.args {
		args[i] = t.share(a)
	}
	e := simplify(x, args)
	if e != x && t.as[e] != nil { // an argument, or an argument of one
		t.as[x] = t.as[e]
		return t.as[e]
	}
	if e != x && e.op != x.op { // other primitives, which may be simpler still
		e = t.share(e)
		t.as[x] = e
		return e
	}
	k := nodeKey{op: e.op, index: e.index, bits: math.Float64bits(e.value), whole: e.whole}
	copy(k.args[:], e.args)
	if (e.op == opAdd || e.op == opMul) && t.order[e.args[0]] > t.order[e.args[1]] {
		k.args[0], k.args[1] = k.args[1], k.args[0]
	}
	same, ok := t.nodes[k]
	if !ok {
		same = e
		t.nodes[k], t.as[e], t.order[e] = e, e, len(t.nodes)
	}
	t.as[x] = same
	return same
}

// simplify returns the primitive of x of other arguments, or a simpler formula that has the same
// value, to the bit, whatever the operands are: NaN, infinite or −0.
func simplify(x *Expr, args []*Expr) *Expr {
	var a, b *Expr
	if len(args) > 0 {
		a = args[0]
	}
	if len(args) > 1 {
		b = args[1]
	}
	switch x.op {
	case opNeg:
		switch {
		case a.op == opNeg:
			return a.args[0]
		case a.op == opConst && !a.whole:
			return Const(-a.value)
		}
	case opAdd:
		switch {
		case a == b && !a.whole:
			return Const(2).Mul(a)
		case b.op == opNeg:
			return a.Sub(b.args[0])
		case a.op == opNeg:
			return b.Sub(a.args[0])
		}
	case opSub:
		if b.op == opNeg {
			return a.Add(b.args[0])
		}
	case opMul:
		switch {
		case a.is(1):
			return b
		case b.is(1):
			return a
		case a.is(-1):
			return b.Neg()
		case b.is(-1):
			return a.Neg()
		case a.op == opNeg && b.op == opNeg:
			return a.args[0].Mul(b.args[0])
		case a.op == opNeg:
			return a.args[0].Mul(b).Neg()
		case b.op == opNeg:
			return a.Mul(b.args[0]).Neg()
		}
	case opDiv:
		switch {
		case b.is(1):
			return a
		case b.is(-1):
			return a.Neg()
		case a.op == opNeg && b.op == opNeg:
			return a.args[0].Div(b.args[0])
		case a.op == opNeg:
			return a.args[0].Div(b).Neg()
		case b.op == opNeg:
			return a.Div(b.args[0]).Neg()
		}
	case opWhere:
		yes, no := args[1], args[2]
		switch {
		case yes == no:
			return yes
		case a.op == opNot:
			return Where(a.args[0], no, yes)
		case yes.op == opWhere && yes.args[0] == a:
			return Where(a, yes.args[1], no)
		case no.op == opWhere && no.args[0] == a:
			return Where(a, yes, no.args[2])
		}
	}
	same := len(args) == len(x.args)
	for i := range args {
		same = same && args[i] == x.args[i]
	}
	if same {
		return x
	}
	e := *x
	e.args = args
	return &e
}

// Size returns of how many formulas x is made, each counted once: operands, scalars, constants and
// primitives.
func (x *Expr) Size() int { return len(newTable().share(x).sorted()) }
