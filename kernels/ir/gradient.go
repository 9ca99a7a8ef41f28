package ir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/kernels/expr"
)

// Gradient returns the program of the gradients of p by some of its inputs. Its inputs are those of
// p. For each result R it has the input GR, the gradient of a scalar by R; for each input X in of,
// the result DX, the gradient of that scalar by X. A name that is taken gets a number. It panics for an
// input by channel, or none.
//
// Rules: a formula has its derivative, by package expr; a sum hands its gradient to every element;
// an element that was picked gets that of what was picked, and a first one none; the elements that attain a maximum or
// minimum share its gradient; a MaxNumber has gradient 0. A product has no rule: Gradient panics. What comes
// from all indices that read an element is summed.
func (p *Program) Gradient(of ...string) *Program {
	b := New(p.Name+"_d"+strings.ToLower(strings.Join(of, "")), p.Axes...)
	b.p.Values = append(b.p.Values, p.Values...)
	flows := make([]map[Axes]*expr.Expr, len(p.Values)) // to each value: what comes to it, by the axes that it varies along
	flow := func(from, seed *expr.Expr) {
		reads := map[int]bool{}
		expr.Each(func(e *expr.Expr) {
			if l, i := e.Leaf(); l == expr.OfInput {
				reads[i] = true
			}
		}, from)
		for i := range p.Values {
			if !reads[i] {
				continue
			}
			d := from.Derivative(i, seed)
			if d.IsZero() {
				continue
			}
			if flows[i] == nil {
				flows[i] = map[Axes]*expr.Expr{}
			}
			along := b.p.Along(from) | b.p.Along(seed)
			if before := flows[i][along]; before != nil {
				d = before.Add(d)
			}
			flows[i][along] = d
		}
	}
	for _, r := range p.Results {
		if r.Summed {
			panic(fmt.Sprintf("ir: %s: a sum over lines has no gradient", p.Name))
		}
		flow(r.Value, b.add(Value{Kind: Input, Name: b.p.free("G" + r.Name), Along: r.Along}))
	}
	total := func(i int) *expr.Expr {
		var sum *expr.Expr
		along := p.Values[i].Along
		for axes := Axes(0); axes < 1<<len(p.Axes); axes++ {
			d := flows[i][axes]
			if d == nil {
				continue
			}
			for a := range p.Axes {
				if (axes &^ along).Has(a) && !b.p.Along(d).Has(a) { // as much comes from each index
					d = d.Mul(b.Length(a))
				}
			}
			if over := b.p.Along(d) &^ along; over != 0 {
				d = b.add(Value{Kind: Sum, Of: d, Over: over, Along: b.p.Along(d) &^ over})
			}
			if sum == nil {
				sum = d
			} else {
				sum = sum.Add(d)
			}
		}
		return sum
	}
	for i := len(p.Values) - 1; i >= 0; i-- {
		v := p.Values[i]
		if len(flows[i]) == 0 || !v.Kind.Made() || v.Kind == MaxNumber || v.Kind == First {
			continue
		}
		seed := total(i)
		switch v.Kind {
		case Prod:
			panic(fmt.Sprintf("ir: %s: a product has no gradient", p.Name))
		case Max, Min:
			ties := Attained(v.Of, expr.Input(i), one, zero)
			count := b.add(Value{Kind: Sum, Of: ties, Over: v.Over, Along: b.p.Along(ties) &^ v.Over})
			seed = Attained(v.Of, expr.Input(i), seed.Div(count), zero)
		case Pick:
			seed = b.OneHot(seed, v.At, axisOf(v.Over))
		case OneHot:
			if a := axisOf(v.Over); b.p.Along(seed)&v.Over != 0 {
				seed = b.Pick(seed, v.At, a)
			} else { // every element of what is picked from is the same
				at := v.At.Float()
				seed = expr.Where(at.Ge(expr.Const(0)).And(at.Lt(b.Length(a))), seed, expr.Const(0))
			}
		}
		flow(v.Of, seed)
	}
	for _, name := range of {
		i := p.find(name)
		d := total(i)
		if d == nil {
			d = expr.Const(0)
		}
		b.p.Results = append(b.p.Results, Result{Name: b.p.free("D" + name), Value: d, Along: p.Values[i].Along})
	}
	return b.Program()
}

var zero, one = expr.Const(0), expr.Const(1)

// Attained returns yes where x is the maximum or minimum m, or both are NaN, and no elsewhere.
func Attained(x, m, yes, no *expr.Expr) *expr.Expr {
	both := x.Ne(x).And(m.Ne(m))
	return expr.Where(x.Eq(m).Or(both), yes, no)
}

// free returns a name that no input, number or result of p has: the given one, or that with a number.
func (p *Program) free(name string) string {
	for free, i := name, 2; ; free, i = fmt.Sprint(name, "_", i), i+1 {
		value := slices.ContainsFunc(p.Values, func(v Value) bool { return v.Name == free })
		result := slices.ContainsFunc(p.Results, func(r Result) bool { return r.Name == free })
		if !value && !result {
			return free
		}
	}
}

// find returns the value that an input is.
func (p *Program) find(name string) int {
	for i, v := range p.Values {
		if v.Kind == Input && v.Name == name && !v.Channel {
			return i
		}
	}
	panic(fmt.Sprintf("ir: %s has no input %s, or it is by channel", p.Name, name))
}

// axisOf returns the one axis of a set.
func axisOf(s Axes) int {
	a := 0
	for !s.Has(a) {
		a++
	}
	return a
}
