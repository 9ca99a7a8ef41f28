package ir

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels/expr"
)

// The axes of a row program: it is over [outer, n, inner], and reduces along n. A line is n elements
// at one index of the others.
const (
	Outer = iota
	N
	Inner
)

// The inputs of a row program vary along one of these, or along no axis.
var (
	Element = Set(Outer, N, Inner)
	Line    = Set(Outer, Inner) // an element for each line
	Column  = Set(N)            // an element for each of a line
)

// NewRows returns a builder of a row program.
func NewRows(name string) *Builder { return New(name, "outer", "n", "inner") }

// OfInts reports whether elements are ints: a [Machine] does not compute such a program.
func (p *Program) OfInts() bool {
	return slices.ContainsFunc(p.Values, func(v Value) bool { return v.Int && v.Along.Has(N) })
}

// Rows is a row program as a list of steps, for a [Machine].
type Rows struct {
	p     *Program
	plans [2]*rowPlan // in primitives, and with the vector loops of several
	count int         // see Steps
}

// Rows returns the steps of a row program, an error if p is none.
func (p *Program) Rows() (*Rows, error) {
	if len(p.Axes) != 3 {
		return nil, fmt.Errorf("ir: %s: a row program is over [outer, n, inner]", p.Name)
	}
	for _, v := range p.Values {
		switch {
		case (v.Kind.Made() || v.Kind == Length) && v.Over != Column:
			return nil, fmt.Errorf("ir: %s: a row program reduces along n", p.Name)
		case v.Int && v.Kind == Input && v.Along.Has(N) && v.Along != Element:
			return nil, fmt.Errorf("ir: %s: in a row program an int is of elements or of lines", p.Name)
		case p.Parts && (v.Channel || v.Set):
			return nil, fmt.Errorf("ir: %s: a row program in parts has no input by channel or set", p.Name)
		case !v.Channel && v.Along != 0 && v.Along != Element && v.Along != Line && v.Along != Column:
			return nil, fmt.Errorf("ir: %s: in a row program a value is of elements, lines, or columns", p.Name)
		}
	}
	if p.Runs() && (p.Parts || p.OfInts()) {
		return nil, fmt.Errorf("ir: %s: a row program in parts, or of ints, has no sums over lines", p.Name)
	}
	for _, r := range p.Results {
		if !r.Summed && r.Along != Line && (r.Along != Element || r.Int) {
			return nil, fmt.Errorf("ir: %s: a result of a row program is of elements or of lines, an int of lines", p.Name)
		}
	}
	outside := false
	expr.Each(func(e *expr.Expr) {
		if l, axis := e.Leaf(); l == expr.OfIndex && axis != N {
			outside = true
		}
	}, p.formulas()...)
	if outside {
		return nil, fmt.Errorf("ir: %s: a row program reads the index along n alone", p.Name)
	}
	if p.OfInts() {
		return &Rows{p: p}, nil
	}
	r := &Rows{p: p, plans: [2]*rowPlan{newRowPlan(p, false), newRowPlan(p, true)}}
	for i := range r.plans[0].steps {
		if s := &r.plans[0].steps[i]; s.Leaf == expr.None && s.class == element && !s.dot {
			r.count++
		}
	}
	return r, nil
}

// class says along what a step's value varies: a bit for lines, and one for columns.
type class uint8

const (
	single  class = 0 // one number
	line    class = 1
	column  class = 2
	element class = line | column
)

func classOf(a Axes) class {
	var c class
	if a&Line != 0 {
		c |= line
	}
	if a.Has(N) {
		c |= column
	}
	return c
}

// rowPlan is the steps of a row program in their order.
type rowPlan struct {
	steps   []rowStep
	homes   []int            // of each buffer of elements: the result in whose memory it is, or −1
	numbers []int            // steps that are one number, and no constant
	once    []int            // steps that are the same for all blocks
	before  []int            // steps of a batch, ahead of its blocks: of lines, and made of no elements
	each    []int            // steps of a block: of elements, and those of lines that read or make elements
	after   []int            // steps of a batch, past its blocks: of lines, and no elements are made of them
	shown   []int            // steps of before that a block reads
	kept    []int            // steps of lines, in each, that a batch reads past its blocks
	results []int            // the steps of the program's results
	stored  []int            // results that a block stores: of elements, or sums over lines
	last    []int            // results that a batch stores: of lines
	buffers [element + 1]int // of each class, how many values are kept at one time
	folds   bool             // no value of elements is kept where steps are fused
	small   bool             // a block touches few elements
	picks   bool             // no step computes or folds elements: they are inputs of which some are picked
}

type rowStep struct {
	expr.Step
	class  class
	buffer int
	value  int // of the program, of a leaf that is one; else −1
	of     int // of a reduction: the step that it folds
	at     int // of a Pick: the step of the index
	result int // the first result that it is, −1 for none
	// dot is set of a product that a sum alone reads, over elements or over lines. It is not computed: the
	// sum multiplies. One of its factors may be fused, see below.
	dot  bool
	loop vec.Function
	// Of a loop of elements and a number: these arguments, where lines are rows of a block and where
	// they are columns; the second is −1 of others.
	by    [2][2]int
	whole bool // every argument is of elements, or one number
	hot   int  // of a sum or a difference: the one-hot that is its second argument; −1 if none is
	lazy  bool // it is a one-hot that is computed where it is added
	// fused is set of a step of elements that one reduction alone reads, or a step that is fused: where
	// rows of a block are long it is computed a piece of a row at a time, as the reduction takes it.
	fused bool
}

func newRowPlan(p *Program, joined bool) *rowPlan {
	formulas := p.formulas()
	var order []*expr.Expr
	for _, v := range p.Values {
		if v.Kind == Pick || v.Kind == OneHot { // its index is computed before it is
			order = append(order, v.At.Float())
		}
	}
	picks := len(order)
	steps, at := expr.Compile(append(order, formulas...)...).Sequence(joined)
	plan := &rowPlan{steps: make([]rowStep, len(steps))}
	of, index := make([]int, len(p.Values)), make([]int, len(p.Values))
	next, pick := picks, 0
	for i, v := range p.Values {
		if v.Kind.Made() {
			of[i] = at[next]
			next++
		}
		if v.Kind == Pick || v.Kind == OneHot {
			index[i] = at[pick]
			pick++
		}
	}
	plan.results = at[next:]
	uses := make([]int, len(steps))
	for i, s := range steps {
		t := rowStep{Step: s, value: -1, result: -1, hot: -1}
		switch s.Leaf {
		case expr.OfInput, expr.OfInt:
			t.value = s.Index
			v := p.Values[s.Index]
			t.class = classOf(v.Along)
			if v.Channel {
				t.class = element
			}
			if v.Kind.Made() {
				t.of, t.at = of[s.Index], index[s.Index]
				uses[t.of]++
			}
		case expr.OfIndex:
			t.class = classOf(Set(s.Index))
		default:
			for _, a := range s.Args {
				t.class |= plan.steps[a].class
				uses[a]++
			}
		}
		plan.steps[i] = t
	}
	for k, r := range plan.results {
		uses[r]++
		if plan.steps[r].result < 0 && !p.Results[k].Summed {
			plan.steps[r].result = k
		}
	}
	product := func(i int) { // one that a sum alone reads
		f := &plan.steps[i]
		if uses[i] != 1 || f.Loop() != vec.Mul {
			return
		}
		f.dot = plan.steps[f.Args[0]].class == element && plan.steps[f.Args[1]].class == element
	}
	for k, r := range plan.results {
		if p.Results[k].Summed {
			product(r)
		}
	}
	for i := range plan.steps {
		s := &plan.steps[i]
		if s.value >= 0 && p.Values[s.value].Kind == Sum {
			product(s.of)
		}
	}
	for i := range plan.steps {
		s := &plan.steps[i]
		if f := s.Loop(); s.Leaf != expr.None || f != vec.Add && f != vec.Sub || plan.steps[s.Args[0]].class != element {
			continue
		}
		if of := &plan.steps[s.Args[1]]; of.value >= 0 && p.Values[of.value].Kind == OneHot && uses[s.Args[1]] == 1 {
			s.hot, of.lazy = s.Args[1], true
		}
	}
	plan.fuse(p, uses)
	plan.folds = !slices.ContainsFunc(plan.steps, func(s rowStep) bool { return s.class == element && s.value < 0 && !s.fused && !s.dot })
	plan.picks = !slices.ContainsFunc(plan.steps, func(s rowStep) bool {
		whole := s.value < 0 || p.Values[s.value].Kind != Input || p.Values[s.value].Channel
		return whole && s.class == element || s.value >= 0 && p.Values[s.value].Kind.Reduces() && !p.Values[s.value].Kind.Takes()
	})
	plan.place(p, plan.phases(p))
	plan.small = plan.touchesFew(p)
	plan.prepare()
	return plan
}

// fuse marks the steps that are fused.
func (plan *rowPlan) fuse(p *Program, uses []int) {
	fusible := func(i int) {
		if s := &plan.steps[i]; s.class == element && s.Leaf == expr.None && !s.dot && s.hot < 0 && s.result < 0 && uses[i] == 1 {
			s.fused = true
		}
	}
	factor := func(s *rowStep) { // one of the factors of a product that a sum reads
		if !s.dot {
			return
		}
		if fusible(s.Args[0]); !plan.steps[s.Args[0]].fused {
			fusible(s.Args[1])
		}
	}
	for k, r := range plan.results {
		if p.Results[k].Summed {
			factor(&plan.steps[r])
		}
	}
	for i := len(plan.steps) - 1; i >= 0; i-- {
		switch s := &plan.steps[i]; {
		case s.value >= 0 && p.Values[s.value].Kind.Reduces() && !p.Values[s.value].Kind.Takes():
			fusible(s.of)
			factor(&plan.steps[s.of])
		case s.fused:
			for _, a := range s.Args {
				fusible(a)
			}
		}
	}
}

// fusedArg returns which factor of a product that a sum reads is fused, −1 for none.
func (plan *rowPlan) fusedArg(s *rowStep) int {
	return slices.IndexFunc(s.Args, func(a int) bool { return plan.steps[a].fused })
}

// home puts a buffer in the memory of a result where the step that makes the result of what the
// buffer holds is the last to use it: less memory is touched.
func (plan *rowPlan) home(last []int) {
	plan.homes = slices.Repeat([]int{-1}, plan.buffers[element])
	for k, r := range plan.results {
		s := &plan.steps[r]
		if s.class != element || s.Leaf != expr.None || s.result != k {
			continue
		}
		for _, a := range s.Args {
			of := &plan.steps[a]
			if of.class != element || of.Leaf != expr.None || of.result >= 0 || last[a] != r || plan.homes[of.buffer] >= 0 {
				continue
			}
			later := slices.ContainsFunc(plan.steps[r+1:], func(t rowStep) bool { return t.class == element && t.buffer == of.buffer && t.result != k })
			if !later {
				plan.homes[of.buffer] = k
				break
			}
		}
	}
}

// touchesFew reports whether a block touches few elements: no result has elements, or only one input has, and all
// that is kept of elements lies in the memory of results.
func (plan *rowPlan) touchesFew(p *Program) bool {
	if !slices.ContainsFunc(p.Results, func(r Result) bool { return r.Along.Has(N) }) {
		return true
	}
	inputs := 0
	for _, v := range p.Values {
		if v.Kind == Input && (v.Along.Has(N) || v.Channel) {
			inputs++
		}
	}
	return inputs <= 1 && !slices.ContainsFunc(plan.steps, func(s rowStep) bool {
		return s.class == element && s.Leaf == expr.None && s.result < 0 && plan.homes[s.buffer] < 0
	})
}

// phases finds out which steps are computed for a batch and which for a block, and returns the steps in the order
// in which they are computed.
func (plan *rowPlan) phases(p *Program) (order []int) {
	reads := func(i int) []int {
		s := &plan.steps[i]
		switch {
		case s.value < 0 || !p.Values[s.value].Kind.Made():
			return s.Args
		case p.Values[s.value].Kind == Pick || p.Values[s.value].Kind == OneHot:
			return []int{s.of, s.at}
		}
		return []int{s.of}
	}
	n := len(plan.steps)
	elements := make([]bool, n) // steps that are made of elements
	block := make([]bool, n)    // steps that a block computes, or reads
	batch := make([]bool, n)    // steps that a batch reads past its blocks
	for i, s := range plan.steps {
		elements[i], block[i] = s.class == element, s.class == element
		for _, a := range reads(i) {
			elements[i] = elements[i] || elements[a]
			block[i] = block[i] || plan.steps[a].class == element
		}
	}
	for k, r := range plan.results {
		if p.Results[k].Summed || classOf(p.Results[k].Along) == element {
			plan.stored, block[r] = append(plan.stored, k), true
		} else {
			plan.last, batch[r] = append(plan.last, k), true
		}
	}
	for i := n - 1; i >= 0; i-- {
		read := batch
		if block[i] {
			read = block
		}
		for _, a := range reads(i) {
			read[a] = read[a] || elements[i]
		}
	}
	var each []int
	for i, s := range plan.steps {
		switch {
		case s.dot, s.lazy:
			each = append(each, i)
		case s.class&line == 0:
			order, plan.once = append(order, i), append(plan.once, i)
		case !elements[i]:
			order, plan.before = append(order, i), append(plan.before, i)
			if block[i] {
				plan.shown = append(plan.shown, i)
			}
		case block[i]:
			each, plan.each = append(each, i), append(plan.each, i)
			if s.class == line && batch[i] {
				plan.kept = append(plan.kept, i)
			}
		default:
			plan.after = append(plan.after, i)
		}
	}
	return slices.Concat(order, each, plan.after)
}

// prepare finds out what a machine would for every block.
func (plan *rowPlan) prepare() {
	for i := range plan.steps {
		s := &plan.steps[i]
		switch {
		case s.dot, s.lazy:
			continue
		case s.class == single && s.Leaf != expr.OfConst:
			plan.numbers = append(plan.numbers, i)
		}
		s.by = [2][2]int{{0, -1}, {0, -1}}
		if s.Leaf != expr.None {
			continue
		}
		s.loop, s.whole = s.Loop(), true
		for _, a := range s.Args {
			s.whole = s.whole && (plan.steps[a].class == element || plan.steps[a].class == single)
		}
		if len(s.Args) != 2 || s.class != element {
			continue
		}
		for across, above := range []class{line, column} { // what has one element for each row of a block
			number := func(k int) bool { c := plan.steps[s.Args[k]].class; return c == single || c == above }
			commutes := s.loop == vec.Add || s.loop == vec.Mul
			switch {
			case !commutes && s.loop != vec.Sub && s.loop != vec.Div:
			case number(1) && !number(0):
				s.by[across] = [2]int{s.Args[0], s.Args[1]}
			case commutes && number(0) && !number(1):
				s.by[across] = [2]int{s.Args[1], s.Args[0]}
			}
		}
	}
}

// fusedArgs calls f with the steps that a fused step reads, and those that are fused with it read.
func (plan *rowPlan) fusedArgs(i int, f func(a int)) {
	if s := &plan.steps[i]; s.fused {
		for _, a := range s.Args {
			f(a)
			plan.fusedArgs(a, f)
		}
	}
}

// place gives each step a buffer of its class that no value needs any more, or a new one. Steps are computed in
// the order given.
func (plan *rowPlan) place(p *Program, order []int) {
	last := make([]int, len(plan.steps))
	reads := func(i int, f func(a int)) {
		s := &plan.steps[i]
		switch {
		case s.lazy:
		case s.hot >= 0:
			f(s.Args[0])
			f(plan.steps[s.hot].of)
			f(plan.steps[s.hot].at)
		case s.value >= 0 && p.Values[s.value].Kind.Made():
			if of := &plan.steps[s.of]; of.dot {
				for _, a := range of.Args {
					f(a)
					plan.fusedArgs(a, f)
				}
			} else {
				f(s.of)
				plan.fusedArgs(s.of, f)
			}
			if k := p.Values[s.value].Kind; k == Pick || k == OneHot {
				f(s.at)
			}
		case !s.dot:
			for _, a := range s.Args {
				f(a)
			}
		}
	}
	for _, i := range order {
		last[i] = i
		reads(i, func(a int) { last[a] = i })
	}
	for _, r := range plan.results {
		last[r] = len(plan.steps)
		if s := &plan.steps[r]; s.dot {
			for _, a := range s.Args {
				last[a] = len(plan.steps)
				plan.fusedArgs(a, func(a int) { last[a] = len(plan.steps) })
			}
		}
	}
	var free [element + 1][]int
	for _, i := range order {
		s := &plan.steps[i]
		var release []int // in an order that is the same each time
		reads(i, func(a int) {
			if last[a] == i && a != i && !slices.Contains(release, a) {
				release = append(release, a)
			}
		})
		elementwise := s.Leaf == expr.None
		give := func() {
			for _, a := range release {
				c := plan.steps[a].class
				if c&line == 0 { // it is kept for the next block
					continue
				}
				free[c] = append(free[c], plan.steps[a].buffer)
			}
		}
		if elementwise { // it may be computed where an argument lies
			give()
		}
		if n := len(free[s.class]); n > 0 && s.class != single {
			s.buffer = free[s.class][n-1]
			free[s.class] = free[s.class][:n-1]
		} else {
			s.buffer = plan.buffers[s.class]
			plan.buffers[s.class]++
		}
		if !elementwise {
			give()
		}
		if last[i] == i && s.class&line != 0 { // nothing reads it: a product that is part of a sum
			free[s.class] = append(free[s.class], s.buffer)
		}
	}
	plan.home(last)
}

// Steps returns how many primitives are computed for each element.
func (r *Rows) Steps() int { return r.count }
