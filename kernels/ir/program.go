package ir

import (
	"fmt"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/kernels/expr"
)

// Program computes results at each index of a space. It is immutable once built.
type Program struct {
	Name    string   // of the operation
	Axes    []string // of the space, outermost first; a launch gives their lengths
	Values  []Value  // value i is the leaf expr.Input(i) of formulas or, of ints, expr.IntParam(i)
	Results []Result // what is stored
	// Parts says that a launch cuts lines into parts of some elements, the last of fewer: a result of
	// lines has an element for each part. The length of an axis is that of the part.
	Parts bool
}

// Value is what formulas are made of.
type Value struct {
	Kind  Kind   // where it comes from
	Name  string // of an input or a number
	Int   bool   // it is an int; else it is a float
	Along Axes   // the axes that it varies along
	// Of is the formula of a reduction or a OneHot. Sum, Prod, Max, Min and MaxNumber reduce it over
	// Over. First takes its element at index 0 along Over, Pick that at index At. OneHot has it at index
	// At along Over, and 0 elsewhere. A Length is that of the axis Over.
	Of   *expr.Expr
	Over Axes       // see Of
	At   *expr.Expr // see Of
	// Channel says that an input has an element for each channel: see [Builder.Channels].
	Channel bool
	// Set says that an input has an element for each set of lines: see [Builder.Sets].
	Set bool
}

// Kind says what a Value is.
type Kind uint8

// The kinds of values.
const (
	Input     Kind = iota // a tensor
	Number                // of the launch
	Length                // of an axis, as a float
	Sum                   // pairwise, in the type of the device's floats; of ints modulo 2³²
	Prod                  // the same of products
	Max                   // the largest element, NaN if one is; −∞, or the least int, of none
	Min                   // the smallest element, NaN if one is; ∞, or the largest int, of none
	MaxNumber             // the largest element that is not NaN, −∞ if there is none
	First                 // the first element, 0 if there is none
	Pick                  // the element at an index, 0 where there is none
	OneHot                // an element at an index, and 0 elsewhere
)

// String names the kind in printed programs.
func (k Kind) String() string {
	return [...]string{"input", "number", "length", "sum", "prod", "max", "min", "max number", "first", "pick", "one-hot"}[k]
}

// Reduces reports whether values of the kind are made of all elements along an axis.
func (k Kind) Reduces() bool { return k >= Sum && k <= Pick }

// Takes reports whether values of the kind are one of the elements along an axis.
func (k Kind) Takes() bool { return k == First || k == Pick }

// Made reports whether values of the kind are made of a formula.
func (k Kind) Made() bool { return k >= Sum }

// Result is a formula that is stored.
type Result struct {
	Name  string     // of the parameter of a kernel
	Value *expr.Expr // what is stored
	Along Axes       // those that the memory has
	Int   bool       // it is stored as an int
	// Summed says that the sum of Value over the lines of a run is stored: see [Builder.SumOfLines].
	Summed bool
}

// Axes is a set of axes of the space, a bit for each.
type Axes uint32

// Set returns the set of some axes.
func Set(axes ...int) Axes {
	var s Axes
	for _, a := range axes {
		s |= 1 << a
	}
	return s
}

// Has reports whether an axis is one of the set.
func (s Axes) Has(axis int) bool { return s>>axis&1 != 0 }

// Along returns the axes along which a formula of the program's values varies.
func (p *Program) Along(x *expr.Expr) Axes {
	var s Axes
	expr.Each(func(e *expr.Expr) {
		switch l, i := e.Leaf(); l {
		case expr.OfInput, expr.OfInt:
			s |= p.Values[i].Along
		case expr.OfIndex:
			s |= Set(i)
		}
	}, x)
	return s
}

// String prints the program, a line for each value and result.
func (p *Program) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s [%s]\n", p.Name, strings.Join(p.Axes, " "))
	for i, v := range p.Values {
		typ := ""
		if v.Int {
			typ = "int "
		}
		switch {
		case v.Kind == Pick || v.Kind == OneHot:
			fmt.Fprintf(&s, "%%%d = %s %s along %s of %s", i, v.Kind, v.At, p.names(v.Over), v.Of)
		case v.Kind == Length:
			fmt.Fprintf(&s, "%%%d = length of %s", i, p.names(v.Over))
		case v.Channel:
			fmt.Fprintf(&s, "%%%d = input %s by channel", i, v.Name)
		case v.Set:
			fmt.Fprintf(&s, "%%%d = input %s by set", i, v.Name)
		case v.Kind.Reduces():
			fmt.Fprintf(&s, "%%%d = %s over %s of %s", i, v.Kind, p.names(v.Over), v.Of)
		default:
			fmt.Fprintf(&s, "%%%d = %s%s %s", i, typ, v.Kind, v.Name)
		}
		if v.Kind != Number && v.Kind != Length {
			fmt.Fprintf(&s, " [%s]", p.names(v.Along))
		}
		s.WriteByte('\n')
	}
	for _, r := range p.Results {
		sum := ""
		if r.Summed {
			sum = "sum over a run of lines of "
		}
		fmt.Fprintf(&s, "%s [%s] = %s%s\n", r.Name, p.names(r.Along), sum, r.Value)
	}
	return s.String()
}

func (p *Program) names(s Axes) string {
	var list []string
	for i, name := range p.Axes {
		if s.Has(i) {
			list = append(list, name)
		}
	}
	return strings.Join(list, " ")
}

// Builder makes a program. Its methods return formulas. They panic for wrong arguments, since a
// definition is written in source code.
type Builder struct{ p Program }

// New returns a builder of a program over a space with these axes.
func New(name string, axes ...string) *Builder {
	return &Builder{Program{Name: name, Axes: axes}}
}

// Input returns an input of floats that varies along some axes.
func (b *Builder) Input(name string, axes ...int) *expr.Expr {
	return b.add(Value{Kind: Input, Name: name, Along: Set(axes...)})
}

// IntInput returns an input of int32.
func (b *Builder) IntInput(name string, axes ...int) *expr.Expr {
	return b.add(Value{Kind: Input, Name: name, Int: true, Along: Set(axes...)})
}

// Channels returns an input of floats with an element for each channel. Lines along axis n are of
// `sets` sets, one after the other, and have n/span channels of span neighbours: index (o, k) is
// element (o mod sets)·(n/span) + k/span. sets and span are numbers of the launch, in which inner is
// 1. A layer norm has one set of n channels of one element.
func (b *Builder) Channels(name string) *expr.Expr {
	return b.add(Value{Kind: Input, Name: name, Channel: true, Along: Set(Outer, N)})
}

// Sets returns an input of floats with an element for each set of lines: `span` neighbouring lines are
// one, and after `sets` of them the first comes again. Line o reads element o/span mod sets. sets and
// span are numbers of the launch, in which inner is 1. The channels of images [batch, channels, height,
// width] are as many sets of one line each.
func (b *Builder) Sets(name string) *expr.Expr {
	return b.add(Value{Kind: Input, Name: name, Set: true, Along: Line})
}

// Length returns how many indices an axis has, a float.
func (b *Builder) Length(axis int) *expr.Expr {
	return b.add(Value{Kind: Length, Over: Set(axis)})
}

// IntLength is Length as an int.
func (b *Builder) IntLength(axis int) *expr.Expr {
	return b.add(Value{Kind: Length, Int: true, Over: Set(axis)})
}

// Along returns the axes along which a formula varies.
func (b *Builder) Along(x *expr.Expr) Axes { return b.p.Along(x) }

// Number returns a float that a launch passes, Int an int.
func (b *Builder) Number(name string) *expr.Expr { return b.add(Value{Kind: Number, Name: name}) }

// Int is Number of an int.
func (b *Builder) Int(name string) *expr.Expr {
	return b.add(Value{Kind: Number, Name: name, Int: true})
}

// Sum returns the sum of x over axes, which it varies along.
func (b *Builder) Sum(x *expr.Expr, axes ...int) *expr.Expr { return b.reduce(Sum, x, axes) }

// Prod returns the product of x over axes.
func (b *Builder) Prod(x *expr.Expr, axes ...int) *expr.Expr { return b.reduce(Prod, x, axes) }

// Max returns the largest element of x over axes, NaN if one is. Its gradient is shared by the
// elements that attain it.
func (b *Builder) Max(x *expr.Expr, axes ...int) *expr.Expr { return b.reduce(Max, x, axes) }

// Min returns the smallest element of x over axes, NaN if one is.
func (b *Builder) Min(x *expr.Expr, axes ...int) *expr.Expr { return b.reduce(Min, x, axes) }

// MaxNumber returns the largest element of x over axes that is a number. No gradient flows through
// it: it is there to keep exponentials from overflowing.
func (b *Builder) MaxNumber(x *expr.Expr, axes ...int) *expr.Expr {
	return b.reduce(MaxNumber, x, axes)
}

// First returns the first element of x over an axis. No gradient flows through it: it is there to be
// taken off, so that the differences that follow are small.
func (b *Builder) First(x *expr.Expr, axis int) *expr.Expr { return b.reduce(First, x, []int{axis}) }

func (b *Builder) reduce(k Kind, x *expr.Expr, axes []int) *expr.Expr {
	over, along := Set(axes...), b.p.Along(x)
	if over == 0 || over&^along != 0 {
		panic(fmt.Sprintf("ir: %s: %s over [%s] of what varies along [%s]", b.p.Name, k, b.p.names(over), b.p.names(along)))
	}
	return b.add(Value{Kind: k, Int: x.IsInt(), Of: x, Over: over, Along: along &^ over})
}

// Pick returns the element of x at index i along an axis, 0 where there is none.
func (b *Builder) Pick(x, i *expr.Expr, axis int) *expr.Expr {
	over, along, at := Set(axis), b.p.Along(x), b.p.Along(i)
	if over&along == 0 || at&over != 0 || !i.IsInt() {
		panic(fmt.Sprintf("ir: %s: pick along [%s] of what varies along [%s], by what varies along [%s]", b.p.Name, b.p.names(over), b.p.names(along), b.p.names(at)))
	}
	return b.add(Value{Kind: Pick, Of: x, At: i, Over: over, Along: along&^over | at})
}

// OneHot returns x, which does not vary along an axis, at index i of it, and 0 at others.
func (b *Builder) OneHot(x, i *expr.Expr, axis int) *expr.Expr {
	over, along := Set(axis), b.p.Along(x)|b.p.Along(i)
	if over&along != 0 || !i.IsInt() {
		panic(fmt.Sprintf("ir: %s: one-hot along [%s] of what varies along [%s]", b.p.Name, b.p.names(over), b.p.names(along)))
	}
	return b.add(Value{Kind: OneHot, Of: x, At: i, Over: over, Along: along | over})
}

func (b *Builder) add(v Value) *expr.Expr {
	i := len(b.p.Values)
	b.p.Values = append(b.p.Values, v)
	if v.Int {
		return expr.IntParam(i)
	}
	return expr.Input(i)
}

// Result stores a value, which varies along the axes that its formula does and along others that are
// named.
func (b *Builder) Result(name string, x *expr.Expr, axes ...int) {
	b.p.Results = append(b.p.Results, Result{Name: name, Value: x, Along: b.p.Along(x) | Set(axes...), Int: x.IsInt()})
}

// SumOfLines stores the sum of x over the lines of a run: an element for each index along a line, for
// each run. A launch, in which inner is 1, says how many lines a run has; the last may have fewer. An
// example is the gradient of what all lines share.
func (b *Builder) SumOfLines(name string, x *expr.Expr) {
	b.p.Results = append(b.p.Results, Result{Name: name, Value: x, Along: Column, Summed: true})
}

// Runs reports whether a result is a sum over the lines of runs.
func (p *Program) Runs() bool {
	return slices.ContainsFunc(p.Results, func(r Result) bool { return r.Summed })
}

// IntResult stores a whole number as an int.
func (b *Builder) IntResult(name string, x *expr.Expr, axes ...int) {
	b.p.Results = append(b.p.Results, Result{Name: name, Value: x, Along: b.p.Along(x) | Set(axes...), Int: true})
}

// Parts cuts lines into parts: see [Program.Parts].
func (b *Builder) Parts() { b.p.Parts = true }

// Program returns what was built. It panics if [Program.Verify] finds something wrong.
func (b *Builder) Program() *Program {
	p := b.p
	p.Values, p.Results = slices.Clone(p.Values), slices.Clone(p.Results)
	p.share()
	p.prune()
	if err := p.Verify(); err != nil {
		panic(err)
	}
	return &p
}

// Only returns the program of some of the results, without what they do not read but inputs and numbers.
func (p *Program) Only(results ...string) *Program {
	q := *p
	q.Values, q.Results = slices.Clone(p.Values), nil
	for _, r := range p.Results {
		if slices.Contains(results, r.Name) {
			q.Results = append(q.Results, r)
		}
	}
	b := Builder{q}
	return b.Program()
}

// share makes equal parts of formulas one.
func (p *Program) share() {
	shared := expr.Share(p.formulas()...)
	p.setFormulas(shared)
}

// prune removes reductions, one-hots and lengths that nothing reads.
func (p *Program) prune() {
	read := make([]bool, len(p.Values))
	mark := func(x *expr.Expr) {
		expr.Each(func(e *expr.Expr) {
			if l, i := e.Leaf(); l == expr.OfInput || l == expr.OfInt {
				read[i] = true
			}
		}, x)
	}
	for _, r := range p.Results {
		mark(r.Value)
	}
	for i := len(p.Values) - 1; i >= 0; i-- {
		if v := p.Values[i]; read[i] && v.Kind.Made() {
			mark(v.Of)
			if v.At != nil {
				mark(v.At)
			}
		}
	}
	to, kept := make([]int, len(p.Values)), p.Values[:0]
	for i, v := range p.Values {
		to[i] = len(kept)
		if read[i] || !v.Kind.Made() && v.Kind != Length {
			kept = append(kept, v)
		}
	}
	if p.Values = kept; len(kept) == len(to) {
		return
	}
	moved := func(e *expr.Expr) *expr.Expr {
		switch l, i := e.Leaf(); l {
		case expr.OfInput:
			return expr.Input(to[i])
		case expr.OfInt:
			return expr.IntParam(to[i])
		}
		return nil
	}
	for i := range p.Values {
		if at := p.Values[i].At; at != nil {
			p.Values[i].At = expr.Substitute(moved, at)[0]
		}
	}
	p.setFormulas(expr.Substitute(moved, p.formulas()...))
	p.share() // leaves are new formulas
}

// formulas returns those of values, and then of results.
func (p *Program) formulas() []*expr.Expr {
	var list []*expr.Expr
	for _, v := range p.Values {
		if v.Kind.Made() {
			list = append(list, v.Of)
		}
	}
	for _, r := range p.Results {
		list = append(list, r.Value)
	}
	return list
}

// setFormulas replaces what formulas returns.
func (p *Program) setFormulas(list []*expr.Expr) {
	for i := range p.Values {
		if p.Values[i].Kind.Made() {
			p.Values[i].Of, list = list[0], list[1:]
		}
	}
	for i := range p.Results {
		p.Results[i].Value, list = list[0], list[1:]
	}
}
