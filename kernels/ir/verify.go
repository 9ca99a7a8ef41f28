package ir

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/kernels/expr"
)

// Verify returns what is wrong with the program, nil if nothing is: a formula reads a value that
// comes later, or as another type than it has; an axis is none of the space; two inputs, numbers or
// results have a name in common, or none; a result is a condition, or a float for a formula of ints;
// an index is no int, or varies along its axis.
func (p *Program) Verify() error {
	bad := func(format string, a ...any) error {
		return fmt.Errorf("ir: %s: %s", p.Name, fmt.Sprintf(format, a...))
	}
	names := map[string]bool{}
	named := func(name string) error {
		if name == "" || names[name] {
			return bad("two things are named %q, or one has no name", name)
		}
		names[name] = true
		return nil
	}
	space := Set() | 1<<len(p.Axes) - 1
	for i, v := range p.Values {
		if v.Along&^space != 0 {
			return bad("value %d varies along an axis that the space has not", i)
		}
		if v.Kind == Length {
			if v.Over == 0 || v.Over&(v.Over-1) != 0 || v.Over&^space != 0 || v.Along != 0 {
				return bad("value %d is no length of an axis", i)
			}
			continue
		}
		byChannel := func(v Value) bool { return v.Channel }
		if v.Set && (v.Kind != Input || v.Int || v.Along != Line || slices.ContainsFunc(p.Values, byChannel)) {
			return bad("value %d is no input of floats by set, or another is by channel", i)
		}
		if v.Channel && (v.Kind != Input || v.Int || v.Along != Set(Outer, N)) {
			return bad("value %d is no input of floats by channel", i)
		}
		if !v.Kind.Made() {
			if err := named(v.Name); err != nil {
				return err
			}
			if v.Kind == Number && v.Along != 0 {
				return bad("%s is a number, and varies", v.Name)
			}
			continue
		}
		for _, f := range []*expr.Expr{v.Of, v.At} {
			if f == nil {
				if f == v.Of || v.Kind == Pick || v.Kind == OneHot {
					return bad("value %d has no formula", i)
				}
				continue
			}
			if err := p.reads(f, i); err != nil {
				return bad("value %d %v", i, err)
			}
		}
		along := p.Along(v.Of)
		if v.Kind == Pick || v.Kind == OneHot {
			if !v.At.IsInt() {
				return bad("value %d has an index that is no int", i)
			}
			if v.Over&(v.Over-1) != 0 {
				return bad("value %d has an index along several axes", i)
			}
			if v.Over&p.Along(v.At) != 0 {
				return bad("value %d has an index that varies along its axis", i)
			}
		}
		if v.Of.IsCondition() || v.Of.IsInt() != v.Int {
			return bad("value %d has another type than its formula", i)
		}
		if v.Int && (v.Kind == MaxNumber || v.Kind.Takes() || v.Kind == OneHot) {
			return bad("value %d is of floats, and has a formula of ints", i)
		}
		if v.Kind == OneHot {
			along |= p.Along(v.At)
			if v.Over == 0 || v.Over&along != 0 || v.Along != along|v.Over {
				return bad("value %d varies along [%s], and says [%s]", i, p.names(along|v.Over), p.names(v.Along))
			}
			continue
		}
		if v.Over == 0 || v.Over&^along != 0 {
			return bad("value %d folds an axis that its formula does not vary along", i)
		}
		want := along &^ v.Over
		if v.Kind == Pick {
			want |= p.Along(v.At)
		}
		if v.Along != want {
			return bad("value %d varies along [%s], and says [%s]", i, p.names(want), p.names(v.Along))
		}
	}
	if len(p.Results) == 0 {
		return bad("there is no result")
	}
	for _, r := range p.Results {
		if err := named(r.Name); err != nil {
			return err
		}
		if err := p.reads(r.Value, len(p.Values)); err != nil {
			return bad("%s %v", r.Name, err)
		}
		if r.Value.IsCondition() || r.Value.IsInt() && !r.Int {
			return bad("%s has another type than its formula", r.Name)
		}
		if r.Summed {
			if p.Along(r.Value)&^Element != 0 || !p.Along(r.Value).Has(N) || r.Along != Column || r.Int {
				return bad("%s is no sum of floats over lines", r.Name)
			}
			continue
		}
		if r.Along&^space != 0 || p.Along(r.Value)&^r.Along != 0 {
			return bad("%s varies along [%s], and says [%s]", r.Name, p.names(p.Along(r.Value)), p.names(r.Along))
		}
	}
	return nil
}

// reads returns an error unless a formula reads values before value n, as what they are.
func (p *Program) reads(f *expr.Expr, n int) (err error) {
	expr.Each(func(e *expr.Expr) {
		l, i := e.Leaf()
		switch {
		case err != nil:
		case (l == expr.OfInput || l == expr.OfInt) && i >= n:
			err = fmt.Errorf("reads value %d, which comes later", i)
		case l == expr.OfInput && p.Values[i].Int, l == expr.OfInt && !p.Values[i].Int:
			err = fmt.Errorf("reads value %d as another type", i)
		case l == expr.OfParam:
			err = fmt.Errorf("reads parameter %d: numbers are values of the program", i)
		case l == expr.OfIndex && i >= len(p.Axes):
			err = fmt.Errorf("reads the index along axis %d, which the space has not", i)
		}
	}, f)
	return err
}
