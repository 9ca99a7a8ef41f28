package lower

import (
	"slices"

	"github.com/clgrad/clgrad/kernels/ir"
)

// Layout says which arguments the kernel of a program takes: its inputs, its results, the ints outer,
// len and inner, the length of a part if lines are cut, the lines of a run if results are sums over
// them, sets and span if an input is by channel or
// set, and its numbers.
type Layout struct {
	Values  []int // by value: the argument that an input or a number is, −1 of others
	Results int   // the first result
	Sizes   int   // outer; len and inner follow
	Chunk   int   // −1: lines are not cut
	Run     int   // −1: no result is a sum over lines
	Sets    int   // span follows; −1: no input is by channel or set
}

// LayoutOf returns the layout of a program.
func LayoutOf(p *ir.Program) *Layout {
	l := &Layout{Values: slices.Repeat([]int{-1}, len(p.Values)), Chunk: -1, Run: -1, Sets: -1}
	next := 0
	take := func(n int) int {
		next += n
		return next - n
	}
	for i, v := range p.Values {
		if v.Kind == ir.Input {
			l.Values[i] = take(1)
		}
	}
	l.Results, l.Sizes = take(len(p.Results)), take(3)
	if p.Parts {
		l.Chunk = take(1)
	}
	if p.Runs() {
		l.Run = take(1)
	}
	if Sets(p) {
		l.Sets = take(2)
	}
	for i, v := range p.Values {
		if v.Kind == ir.Number {
			l.Values[i] = take(1)
		}
	}
	return l
}
