package expr

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Program is a formula as a list of steps, each of which computes one value from earlier ones. What occurs twice is
// computed once.
type Program struct {
	steps  []step
	result int // the step whose value is the formula's
	slots  int // values that are kept at one time, at most: see slot
}

// step is a primitive of the values of earlier steps.
type step struct {
	op    op
	args  [4]int
	index int     // of an operand or scalar
	value float64 // of a constant
	slot  int     // where the value is kept, until its last use: slots are few, and stay in the processor's cache
}

// Compile returns the program of a formula.
func Compile(x *Expr) *Program {
	type key struct {
		op    op
		args  [4]int
		index int
		bits  uint64
	}
	p := &Program{}
	at, same := map[*Expr]int{}, map[key]int{}
	for _, e := range x.sorted() {
		s := step{op: e.op, index: e.index, value: e.value}
		args := e.args
		if e.op == opWhere {
			if joined, ok := map[op]op{opLt: opWhereLt, opLe: opWhereLe, opEq: opWhereEq}[args[0].op]; ok {
				s.op = joined
				args = []*Expr{args[0].args[0], args[0].args[1], args[1], args[2]}
			}
		}
		for i, a := range args {
			s.args[i] = at[a]
		}
		k := key{s.op, s.args, s.index, math.Float64bits(s.value)}
		i, ok := same[k]
		if !ok {
			i = len(p.steps)
			same[k] = i
			p.steps = append(p.steps, s)
		}
		at[e] = i
	}
	p.result = at[x]
	p.drop()
	p.place()
	return p
}

// operands returns the steps whose values s takes.
func (s *step) operands() []int { return s.args[:len(primitives[s.op].takes)] }

// drop removes the steps that the result does not need: comparisons that became part of a choice.
func (p *Program) drop() {
	needed := make([]bool, len(p.steps))
	needed[p.result] = true
	for i := p.result; i >= 0; i-- {
		if needed[i] {
			for _, a := range p.steps[i].operands() {
				needed[a] = true
			}
		}
	}
	to := make([]int, len(p.steps))
	kept := p.steps[:0]
	for i, s := range p.steps {
		if !needed[i] {
			continue
		}
		for k, a := range s.operands() {
			s.args[k] = to[a]
		}
		to[i] = len(kept)
		kept = append(kept, s)
	}
	p.steps, p.result = kept, to[p.result]
}

// place gives every step the slot of a value that nobody reads any more, or a new one. Numbers keep theirs: they are
// filled in once for many blocks.
func (p *Program) place() {
	last := make([]int, len(p.steps))
	for i := range p.steps {
		last[i] = len(p.steps)
		for _, a := range p.steps[i].operands() {
			last[a] = i
		}
	}
	var free []int
	for i := range p.steps {
		s := &p.steps[i]
		if s.number() || len(free) == 0 {
			s.slot = p.slots
			p.slots++
		} else {
			s.slot = free[len(free)-1]
			free = free[:len(free)-1]
		}
		for k, a := range s.operands() { // now, for the value must not lie where an argument does
			if last[a] == i && !contains(s.args[:k], a) && !p.steps[a].number() {
				free = append(free, p.steps[a].slot)
			}
		}
	}
}

// number reports whether the value is the same for all elements.
func (s *step) number() bool { return s.op == opConst || s.op == opScalar }

func contains(list []int, v int) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

// Exact reports whether every step is rounded as IEEE 754 says, or not at all: then all devices compute the same.
func (p *Program) Exact() bool {
	for i := range p.steps {
		if primitives[p.steps[i].op].ulp > 0 {
			return false
		}
	}
	return true
}

// Depends returns the .cl files that the OpenCL form needs.
func (p *Program) Depends() []string {
	var files []string
	seen := map[string]bool{"": true}
	for _, s := range p.steps {
		if f := primitives[s.op].depends; !seen[f] {
			seen[f] = true
			files = append(files, f)
		}
	}
	return files
}

// Prelude is what OpenCL C functions of programs need before them, once: compilers must not join a·b + c, and NUM(x) is a
// number of the device's reals.
const Prelude = `#pragma OPENCL FP_CONTRACT OFF
#ifdef REAL_IS_DOUBLE
#define NUM(x) x
#else
#define NUM(x) x##f
#endif
`

// Types names the types of OpenCL C that a program computes in: Vector, of Width elements, which are of type Scalar. Of
// ints (Whole), Unsigned is the unsigned Vector.
type Types struct {
	Vector, Scalar, Unsigned string
	Width                    int
	Whole                    bool
}

// Function returns the formula as a static function in OpenCL C. Its parameters are the operands and then the scalars
// that occur, named x0 … and s0 … by their places in the given lists of them.
func (p *Program) Function(name string, t Types, operands, scalars []int) string {
	var params []string
	for i := range operands {
		params = append(params, fmt.Sprintf("%s x%d", t.Vector, i))
	}
	for _, i := range scalars {
		params = append(params, fmt.Sprintf("%s s%d", t.Scalar, i))
	}
	if len(params) == 0 {
		params = []string{"void"}
	}
	statements, result := p.opencl(t, func(i int) string { return fmt.Sprintf("x%d", slices.Index(operands, i)) },
		func(i int) string { return fmt.Sprintf("(%s)s%d", t.Vector, i) })
	var text strings.Builder
	fmt.Fprintf(&text, "static %s %s(%s) {\n", t.Vector, name, strings.Join(params, ", "))
	for _, line := range statements {
		fmt.Fprintf(&text, "    %s\n", line)
	}
	fmt.Fprintf(&text, "    return %s;\n}\n", result)
	return text.String()
}

// opencl returns the formula as declarations of constants, and the name or number of the result. operand and scalar name
// the leaves, as values of the vector type.
func (p *Program) opencl(t Types, operand, scalar func(i int) string) (statements []string, result string) {
	names := make([]string, len(p.steps))
	for i, s := range p.steps {
		info := &primitives[s.op]
		switch s.op {
		case opOperand:
			names[i] = operand(s.index)
			continue
		case opScalar:
			names[i] = scalar(s.index)
			continue
		case opConst:
			names[i] = fmt.Sprintf("(%s)%s", t.Vector, number(s.value, t.Whole))
			continue
		}
		form := info.c
		if t.Whole && info.ints != "" {
			form = info.ints
		}
		with := func(lane string) string {
			var swap []string
			for k := range info.takes {
				arg := names[s.args[k]]
				if lane != "" {
					arg = "(" + arg + ")" + lane
				}
				swap = append(swap, "$"+strconv.Itoa(k), arg)
			}
			return strings.NewReplacer(append(swap, "$T", t.Vector, "$U", t.Unsigned)...).Replace(form)
		}
		text := with("")
		if info.lanes && t.Width > 1 {
			lanes := make([]string, t.Width)
			for i := range lanes {
				lanes[i] = with(fmt.Sprintf(".s%x", i))
			}
			text = fmt.Sprintf("(%s)(%s)", t.Vector, strings.Join(lanes, ", "))
		}
		if info.condition { // vectors have another type of condition for each type: it has no name
			names[i] = "(" + text + ")"
			continue
		}
		names[i] = fmt.Sprintf("v%d", i)
		statements = append(statements, fmt.Sprintf("const %s %s = %s;", t.Vector, names[i], text))
	}
	return statements, names[p.result]
}

func number(v float64, whole bool) string {
	switch {
	case whole:
		return fmt.Sprintf("(%d)", int32(v))
	case math.IsNaN(v):
		return "NAN"
	case math.IsInf(v, 1):
		return "INFINITY"
	case math.IsInf(v, -1):
		return "(-INFINITY)"
	}
	text := strconv.FormatFloat(math.Abs(v), 'x', -1, 64)
	if math.Signbit(v) {
		return "(-NUM(" + text + "))"
	}
	return "NUM(" + text + ")"
}
