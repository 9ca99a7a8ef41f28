package expr

import (
	"cmp"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/vec"
)

// longestFirst has the formulas that there are vector loops of.
var longestFirst = slices.SortedStableFunc(slices.Values(vec.Formulas), func(a, b vec.Formula) int {
	return cmp.Compare(len(b.Steps), len(a.Steps))
})

// join returns the plan with one step for each formula of package vec that is in it, nil if none
// is. It computes the same bits.
func (p *plan) join() *plan {
	q := &plan{steps: slices.Clone(p.steps), results: slices.Clone(p.results)}
	uses, found := q.uses(), false
	for i := len(q.steps) - 1; i >= 0; i-- {
		if uses[i] == 0 {
			continue
		}
		for _, f := range longestFirst {
			if m := (match{p: q, f: f, uses: uses}); m.at(i) {
				q.steps[i] = step{op: opLoop, loop: f.Function, args: m.operands()}
				uses, found = q.uses(), true
				break
			}
		}
	}
	if !found {
		return nil
	}
	q.settle()
	return q
}

// uses counts how often each step is an argument of one that results need, or a result.
func (p *plan) uses() []int {
	n := make([]int, len(p.steps))
	for _, r := range p.results {
		n[r]++
	}
	for i := len(p.steps) - 1; i >= 0; i-- {
		if n[i] > 0 {
			for _, a := range p.steps[i].operands() {
				n[a]++
			}
		}
	}
	return n
}

// match is a formula that the last of some steps of a plan may be.
type match struct {
	p     *plan
	f     vec.Formula
	uses  []int // of the steps of the plan
	bound []int // by operand of the formula, the step of the plan; −1 for none yet
	steps []int // by step of the formula, the same
	used  []int // how often each step of the formula is an argument in it
}

// at reports whether step i of the plan is the formula. Steps within a formula must have no other
// use, for which they would be computed again.
func (m *match) at(i int) bool {
	last := len(m.f.Steps) - 1
	if vectorOf[m.p.steps[i].op] != m.f.Steps[last].Function {
		return false
	}
	m.bound, m.steps, m.used = slices.Repeat([]int{-1}, 4), slices.Repeat([]int{-1}, last+1), make([]int, last+1)
	if !m.value(vec.Value{Kind: vec.OfStep, Index: last}, i) {
		return false
	}
	for k, s := range m.f.Steps {
		for _, a := range s.Args {
			if a.Kind == vec.OfStep {
				m.used[a.Index]++
			}
		}
		if slices.Index(m.steps, m.steps[k]) != k {
			return false // two steps of the formula are one of the plan
		}
	}
	for k, s := range m.steps[:last] {
		if m.uses[s] != m.used[k] {
			return false
		}
	}
	return true
}

// value reports whether step i of the plan is a value of the formula.
func (m *match) value(v vec.Value, i int) bool {
	s := &m.p.steps[i]
	switch v.Kind {
	case vec.OfNumber:
		return s.op == opConst && !s.whole && math.Float64bits(s.value) == math.Float64bits(v.Number)
	case vec.OfOperand:
		if m.bound[v.Index] < 0 {
			m.bound[v.Index] = i
		}
		return m.bound[v.Index] == i
	}
	if m.steps[v.Index] >= 0 {
		return m.steps[v.Index] == i
	}
	m.steps[v.Index] = i
	of := m.f.Steps[v.Index]
	if vectorOf[s.op] != of.Function {
		return false
	}
	for k, a := range of.Args {
		if !m.value(a, s.args[k]) {
			return false
		}
	}
	return true
}

// operands returns the arguments of the step that takes the place of the formula: those that it has
// not are the first.
func (m *match) operands() [4]int {
	var args [4]int
	for k, i := range m.bound {
		if args[k] = i; i < 0 {
			args[k] = m.bound[0]
		}
	}
	return args
}
