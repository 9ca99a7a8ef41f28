package expr

import (
	"cmp"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/vec"
)

// Leaf says which value, given from outside, a [Step] is.
type Leaf uint8

// The leaves of formulas. None is a primitive of other steps.
const (
	None Leaf = iota
	OfInput
	OfParam
	OfInt   // an [IntParam]
	OfIndex // along axis Step.Index
	OfConst
)

// Step is one step of a program, for interpreters: a leaf, or a primitive of the values of earlier
// steps. A condition is the number 1 or 0.
type Step struct {
	Leaf  Leaf    // which leaf it is
	Index int     // of an input or a parameter, or an axis
	Value float64 // of a constant
	Args  []int   // the steps whose values a primitive takes
	op    op
	loop  vec.Function
}

// Sequence returns the steps of p in their order, with vector loops in the place of several primitives
// where there are such, and the steps whose values are the formulas'.
func (p *Program) Sequence(joined bool) (steps []Step, results []int) {
	of := &p.plan
	if joined {
		of = cmp.Or(p.joined(), of)
	}
	for i := range of.steps {
		s := &of.steps[i]
		t := Step{Index: s.index, Value: s.value, op: s.op, loop: s.loop}
		switch s.op {
		case opOperand:
			t.Leaf = OfInput
		case opScalar:
			t.Leaf = OfParam
		case opInt:
			t.Leaf = OfInt
		case opIndex:
			t.Leaf = OfIndex
		case opConst:
			t.Leaf = OfConst
		default:
			t.Args = slices.Clone(s.operands())
		}
		steps = append(steps, t)
	}
	return steps, slices.Clone(of.results)
}

// Loop returns the vector loop of the step, with its arguments in their order; vec.None for a leaf,
// for a primitive without one, and for those whose loops leave elements to plain ones.
func (s *Step) Loop() vec.Function {
	switch {
	case s.op == opLoop:
		return s.loop
	case s.op == opSin || s.op == opCos || s.op == opTan || s.op == opFmod || s.op == opFloorDiv || int(s.op) >= len(vectorOf):
		return vec.None
	}
	return vectorOf[s.op]
}

// Chooses returns how many of its arguments say which of the two others a step takes, 0 if it takes
// none of them: one that is a condition, or two that are compared.
func (s *Step) Chooses() int {
	switch s.op {
	case opWhere:
		return 1
	case opWhereLt, opWhereLe, opWhereEq:
		return 2
	}
	return 0
}

// Holds reports whether a step that chooses takes the first of the two, by what decides it.
func (s *Step) Holds(a, b float64) bool {
	switch s.op {
	case opWhereLt:
		return a < b
	case opWhereLe:
		return a <= b
	case opWhereEq:
		return a == b
	}
	return a != 0
}

// Apply sets d to the primitive of s of the first elements of its arguments, by the loops l where
// they have one; nil is plain loops. Arguments that s has not may be anything as long.
func Apply[T vec.Float](l *vec.Loops[T], s *Step, d, a, b, c, e []T) {
	if s.op == opFloat { // of an int that is a number here
		copy(d, a[:len(d)])
		return
	}
	if f := s.Loop(); l != nil && f != vec.None && l.Has(f) {
		l.Map(f, d, a, b, c, e)
		return
	}
	for len(d) > mostBlock { // what compute is made for
		compute(s.op, d[:mostBlock], a, b, c, e)
		d, a, b, c, e = d[mostBlock:], a[mostBlock:], b[mostBlock:], c[mostBlock:], e[mostBlock:]
	}
	compute(s.op, d, a, b, c, e)
}

// Few is how many elements [ApplyFew] computes in the time that it takes to start a vector loop.
const Few = 16

// ApplyFew is [Apply] of few elements, where it has the same bits in plain loops, and of arguments of
// which some are one number: that has the stride 0, others have 1. Else it returns false.
func ApplyFew[T vec.Float](s *Step, d []T, args *[4][]T, strides *[4]int) bool {
	a, b, c, e := args[0], args[1], args[2], args[3]
	as, bs, cs, es := strides[0], strides[1], strides[2], strides[3]
	switch s.op {
	case opAdd:
		for i := range d {
			d[i] = a[i*as] + b[i*bs]
		}
	case opSub:
		for i := range d {
			d[i] = a[i*as] - b[i*bs]
		}
	case opMul:
		for i := range d {
			d[i] = a[i*as] * b[i*bs]
		}
	case opDiv:
		for i := range d {
			d[i] = a[i*as] / b[i*bs]
		}
	case opNeg:
		for i := range d {
			d[i] = -a[i*as]
		}
	case opSqrt:
		for i := range d {
			d[i] = T(math.Sqrt(float64(a[i*as])))
		}
	case opWhereEq:
		for i := range d {
			if v := e[i*es]; a[i*as] == b[i*bs] {
				d[i] = c[i*cs]
			} else {
				d[i] = v
			}
		}
	case opWhere:
		for i := range d {
			if v := c[i*cs]; a[i*as] != 0 {
				d[i] = b[i*bs]
			} else {
				d[i] = v
			}
		}
	default:
		return false
	}
	return true
}

// Inline returns the formulas as OpenCL C for one place: declarations of constants, and then the
// expressions of the results, made of their names. leaf names inputs, ints and indices, as values
// of the vector types.
func (p *Program) Inline(t Types, leaf func(l Leaf, index int) string) (statements, results []string) {
	return p.opencl(t, func(o op, index int) string {
		switch o {
		case opOperand:
			return leaf(OfInput, index)
		case opScalar:
			return leaf(OfParam, index)
		case opInt:
			return leaf(OfInt, index)
		}
		return leaf(OfIndex, index)
	})
}

// Factors returns a and b of a product a·b, nil if x is none.
func (x *Expr) Factors() (a, b *Expr) {
	if x.op != opMul {
		return nil, nil
	}
	return x.args[0], x.args[1]
}

// Each calls f with every formula that xs are made of, arguments before what is made of them, each
// once.
func Each(f func(e *Expr), xs ...*Expr) {
	for _, e := range sorted(xs) {
		f(e)
	}
}

// Substitute returns formulas with others in the place of some of their parts: where with returns
// one, what it is made of is not looked at.
func Substitute(with func(e *Expr) *Expr, xs ...*Expr) []*Expr {
	as := map[*Expr]*Expr{}
	var visit func(e *Expr) *Expr
	visit = func(e *Expr) *Expr {
		if v := as[e]; v != nil {
			return v
		}
		v := with(e)
		if v == nil {
			v = e
			if len(e.args) > 0 {
				of := *e
				of.args = make([]*Expr, len(e.args))
				same := true
				for i, a := range e.args {
					of.args[i] = visit(a)
					same = same && of.args[i] == a
				}
				if !same {
					v = &of
				}
			}
		}
		as[e] = v
		return v
	}
	out := make([]*Expr, len(xs))
	for i, x := range xs {
		out[i] = visit(x)
	}
	return out
}

// Leaf says which leaf x is, and its index; None of a primitive.
func (x *Expr) Leaf() (l Leaf, index int) {
	switch x.op {
	case opOperand:
		return OfInput, x.index
	case opScalar:
		return OfParam, x.index
	case opInt:
		return OfInt, x.index
	case opIndex:
		return OfIndex, x.index
	case opConst:
		return OfConst, 0
	}
	return None, 0
}

// Share returns formulas in which equal parts are one: the same pointer.
func Share(xs ...*Expr) []*Expr {
	t := newTable()
	out := make([]*Expr, len(xs))
	for i, x := range xs {
		out[i] = t.share(x)
	}
	return out
}

// Costly reports whether the primitive that x is takes longer than moving an element: an
// exponential, a logarithm.
func (x *Expr) Costly() bool {
	info := &primitives[x.op]
	return info.value != nil && info.ulp > 0 && x.op != opSqrt || info.depends != ""
}
