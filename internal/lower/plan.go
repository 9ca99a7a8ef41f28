package lower

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// plan is a row program in passes. Its formulas have, beside the program's values, leaves of its
// own: see leaf.
type plan struct {
	p      *ir.Program
	memory memoryTypes
	leaves []leaf // those from len(p.Values) on
	passes []pass
	stores []*expr.Expr // of the results, as formulas of the pass that stores them or, of lines, of lines
	// storing is the pass that stores results of elements: the last, or the one before where that knows
	// them all.
	storing int
}

// leaf is a formula that is computed once, and that others read as if it were an input: one that is
// the same for all elements of a line, or one of elements that a pass keeps for the pass that
// stores.
type leaf struct {
	value *expr.Expr
	along ir.Axes
	level int // of a line's value: the pass before which it is known; of a kept value: the pass that computes it
	kept  bool
}

// pass goes over the elements of a line.
type pass struct {
	reduces []int        // values of the program that it computes
	terms   []*expr.Expr // their formulas
	keeps   []int        // leaves that it keeps for later passes
	parts   []int        // computed once for a line before the pass: picked values, leaves that are not kept
	sums    []int        // results that are sums over lines, of which it is the first that knows the terms
}

func newPlan(p *ir.Program, types []kernels.DType) *plan {
	p = plain(p)
	l := &plan{p: p, memory: memoryTypesOf(p, types)}
	var formulas []*expr.Expr
	reduces := map[int]int{} // the place of a value's formula
	for i, v := range p.Values {
		if v.Kind.Reduces() && !v.Kind.Takes() {
			reduces[i] = len(formulas)
			formulas = append(formulas, v.Of)
		}
	}
	results := len(formulas)
	for _, r := range p.Results {
		formulas = append(formulas, r.Value)
	}
	first := len(p.Values)
	rest, parts := expr.Hoist(first, func(axis int) bool { return axis != ir.N }, func(i int) bool { return !p.Values[i].Along.Has(ir.N) }, formulas...)
	for _, part := range parts {
		l.leaves = append(l.leaves, leaf{value: part, along: p.Along(part)})
	}
	rest = expr.Substitute(func(e *expr.Expr) *expr.Expr { // a leaf is no part
		if kind, i := e.Leaf(); kind == expr.OfInput && i >= first {
			if is, _ := parts[i-first].Leaf(); is != expr.None {
				return parts[i-first]
			}
		}
		return nil
	}, rest...)
	rest = expr.Share(rest...)

	// The level of a value is how many passes come before it.
	level := make([]int, first)
	var of func(x *expr.Expr) int
	of = func(x *expr.Expr) int {
		n := 0
		expr.Each(func(e *expr.Expr) {
			switch kind, i := e.Leaf(); {
			case kind != expr.OfInput && kind != expr.OfInt:
			case i < first:
				n = max(n, level[i])
			default:
				n = max(n, of(l.leaves[i-first].value))
			}
		}, x)
		return n
	}
	last := 0
	for i, v := range p.Values {
		if !v.Kind.Reduces() {
			continue
		}
		if v.Kind.Takes() {
			if v.Kind == ir.Pick {
				level[i] = of(v.At)
			}
			continue
		}
		level[i] = of(rest[reduces[i]])
		for len(l.passes) <= level[i] {
			l.passes = append(l.passes, pass{})
		}
		at := &l.passes[level[i]]
		at.reduces, at.terms = append(at.reduces, i), append(at.terms, rest[reduces[i]])
		level[i]++
		last = max(last, level[i])
	}
	for len(l.passes) <= last {
		l.passes = append(l.passes, pass{})
	}
	l.stores = rest[results:]
	// A line's value is computed before the first pass that can know it; a pick before the first that
	// reads it, since a load by a loaded index stalls the loads after it.
	for j := range l.leaves {
		l.leaves[j].level = of(l.leaves[j].value)
	}
	for i, v := range p.Values {
		if !v.Kind.Takes() {
			continue
		}
		at := last
		for _, part := range l.leaves {
			if l.reads([]*expr.Expr{part.value}, i) {
				at = min(at, part.level)
			}
		}
		for n, ps := range l.passes {
			if l.reads(ps.terms, i) {
				at = min(at, n)
			}
		}
		l.passes[at].parts = append(l.passes[at].parts, i)
	}
	for j := range l.leaves {
		if at := l.leaves[j].level; l.reads(rest, first+j) {
			l.passes[at].parts = append(l.passes[at].parts, first+j)
		}
	}
	if l.storing = last; last > 0 && !p.Runs() {
		l.storing--
	}
	for k, r := range p.Results {
		switch at := of(l.stores[k]); {
		case r.Summed:
			l.passes[at].sums = append(l.passes[at].sums, k)
		case r.Along == ir.Element:
			l.storing = max(l.storing, at)
		}
	}
	l.keep()
	return l
}

// plain returns a program in which one-hots are choices by the index, and what is picked,
// or first, is of inputs: others are sums of what is 0 but at the index.
func plain(p *ir.Program) *ir.Program {
	q := *p
	q.Values = slices.Clone(p.Values)
	at := func(i int, x *expr.Expr) *expr.Expr {
		return expr.Where(expr.Index(ir.N).Sub(q.Values[i].At).Float().Eq(expr.Const(0)), x, expr.Const(0)) // a difference of ints is exact
	}
	hots := func(e *expr.Expr) *expr.Expr {
		if kind, i := e.Leaf(); kind == expr.OfInput && q.Values[i].Kind == ir.OneHot {
			return at(i, q.Values[i].Of)
		}
		return nil
	}
	for i := range q.Values {
		v := &q.Values[i]
		if !v.Kind.Made() {
			continue
		}
		v.Of = expr.Substitute(hots, v.Of)[0]
		kind, of := v.Of.Leaf()
		stored := kind == expr.OfInput && q.Values[of].Kind == ir.Input && !q.Values[of].Channel && v.Along == ir.Line
		switch {
		case v.Kind == ir.First && !stored:
			v.Of, v.Kind = expr.Where(expr.Index(ir.N).Float().Eq(expr.Const(0)), v.Of, expr.Const(0)), ir.Sum
		case v.Kind == ir.Pick && !(stored && isLabel(&q, v.At)):
			v.Of, v.Kind = at(i, v.Of), ir.Sum
		}
	}
	q.Results = slices.Clone(p.Results)
	for k := range q.Results {
		q.Results[k].Value = expr.Substitute(hots, q.Results[k].Value)[0]
	}
	return &q
}

// isLabel reports whether a formula is an int input of lines.
func isLabel(p *ir.Program, x *expr.Expr) bool {
	kind, i := x.Leaf()
	return kind == expr.OfInt && p.Values[i].Kind == ir.Input && p.Values[i].Along == ir.Line
}

// Sets reports whether an input of a program is by channel or by set: then its kernel takes sets and
// span.
func Sets(p *ir.Program) bool {
	return slices.ContainsFunc(p.Values, func(v ir.Value) bool { return v.Channel || v.Set })
}

// reads reports whether a formula reads a leaf.
func (l *plan) reads(formulas []*expr.Expr, leaf int) (reads bool) {
	expr.Each(func(e *expr.Expr) {
		kind, i := e.Leaf()
		reads = reads || kind == expr.OfInput && i == leaf
	}, formulas...)
	return reads
}

// keep finds what a pass computes and the one that stores reads again: the largest formulas of elements
// that both have. They become leaves. In a pass that computes an exponential that pays for cheap ones
// too: the store hides behind it. Log-softmax of [512, 50257] took 1.21 of the time without.
func (l *plan) keep() {
	for n := range l.storing {
		there, costly := map[*expr.Expr]bool{}, false
		expr.Each(func(e *expr.Expr) {
			there[e] = true
			costly = costly || e.Costly()
		}, l.passes[n].terms...)
		if !costly { // computing it again costs no more than reading it
			continue
		}
		place := map[*expr.Expr]int{}
		read := func(e *expr.Expr) *expr.Expr {
			kind, _ := e.Leaf()
			if kind != expr.None || !there[e] || !l.along(e).Has(ir.N) || e.IsCondition() || e.IsInt() {
				return nil
			}
			at, ok := place[e]
			if !ok {
				at = len(l.p.Values) + len(l.leaves)
				place[e] = at
				l.leaves = append(l.leaves, leaf{value: e, along: l.along(e), level: n, kept: true})
				l.passes[n].keeps = append(l.passes[n].keeps, at)
			}
			return expr.Input(at)
		}
		for k, r := range l.p.Results {
			if r.Along.Has(ir.N) {
				l.stores[k] = expr.Substitute(read, l.stores[k])[0]
			}
		}
	}
}

// along returns the axes of a formula of the plan.
func (l *plan) along(x *expr.Expr) (s ir.Axes) {
	expr.Each(func(e *expr.Expr) {
		switch kind, i := e.Leaf(); {
		case kind == expr.OfIndex:
			s |= ir.Set(i)
		case kind != expr.OfInput && kind != expr.OfInt:
		case i < len(l.p.Values):
			s |= l.p.Values[i].Along
		default:
			s |= l.leaves[i-len(l.p.Values)].along
		}
	}, x)
	return s
}
