package expr

import "cmp"

// Loops returns how many loops over a block the program takes in vectors.
func (p *Program) Loops() int {
	use := cmp.Or(p.joined(), &p.plan)
	n := 0
	for i := range use.steps {
		if s := &use.steps[i]; !s.number() && s.op != opOperand {
			n++
		}
	}
	return n
}

// Apart returns the program without joined steps.
func (p *Program) Apart() *Program { return &Program{p.plan, func() *plan { return nil }} }
