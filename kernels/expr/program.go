package expr

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/clgrad/clgrad/internal/vec"
)

// Program is formulas as a list of steps, each of which computes one value from earlier ones. What
// occurs twice is computed once.
type Program struct {
	plan
	joined func() *plan // with vector loops in the place of several steps; nil if there are none
}

// plan is steps in their order.
type plan struct {
	steps     []step
	results   []int  // the steps whose values are the formulas'
	registers [2]int // numbers and ints that are kept at one time, at most: see slot
}

// step is a primitive of the values of earlier steps.
type step struct {
	op       op
	args     [4]int
	index    int          // of an operand or scalar, or an axis
	value    float64      // of a constant
	whole    bool         // it is an int
	asFloat  bool         // of an index: it is read as a number only, and not kept as an int
	register int          // where the value is kept, until its last use: slots are few, and stay in the processor's cache
	loop     vec.Function // of opLoop

	uniform bool // it is made of scalars and constants
	once    bool // it is uniform and computed from numbers: for many blocks at once
}

// Compile returns the program of formulas, which have the same operands and scalars.
func Compile(results ...*Expr) *Program {
	type key struct {
		op    op
		args  [4]int
		index int
		bits  uint64
		whole bool
	}
	results = expand(results)
	p := &Program{}
	order := sorted(results)
	at, same := make(map[*Expr]int, len(order)), make(map[key]int, len(order))
	p.steps = make([]step, 0, len(order))
	for _, e := range order {
		s := step{op: e.op, index: e.index, value: e.value, whole: e.whole}
		args := e.args
		if e.op == opWhere && !e.whole {
			if joined, ok := whereOf[args[0].op]; ok {
				s.op = joined
				args = []*Expr{args[0].args[0], args[0].args[1], args[1], args[2]}
			}
		}
		for i, a := range args {
			s.args[i] = at[a]
		}
		k := key{s.op, s.args, s.index, math.Float64bits(s.value), s.whole}
		i, ok := same[k]
		if !ok {
			i = len(p.steps)
			same[k] = i
			p.steps = append(p.steps, s)
		}
		at[e] = i
	}
	for _, x := range results {
		p.results = append(p.results, at[x])
	}
	p.settle()
	p.joined = sync.OnceValue(p.join) // programs that are only compared never need it
	return p
}

// whereOf is the primitive that compares and chooses, by that which compares.
var whereOf = map[op]op{opLt: opWhereLt, opLe: opWhereLe, opEq: opWhereEq}

// settle leaves the steps that results need, and says where their values are kept.
func (p *plan) settle() {
	p.drop()
	p.findUniform()
	p.place()
	p.readAsFloat()
}

// readAsFloat finds the indices that are read as numbers only.
func (p *plan) readAsFloat() {
	for i := range p.steps {
		p.steps[i].asFloat = p.steps[i].op == opIndex
	}
	for i := range p.steps {
		for _, a := range p.steps[i].operands() {
			p.steps[a].asFloat = p.steps[a].asFloat && p.steps[i].op == opFloat
		}
	}
}

// operands returns the steps whose values s takes.
func (s *step) operands() []int { return s.args[:len(primitives[s.op].takes)] }

// drop removes the steps that no result needs: comparisons that became part of a choice.
func (p *plan) drop() {
	needed := make([]bool, len(p.steps))
	for _, r := range p.results {
		needed[r] = true
	}
	for i := len(p.steps) - 1; i >= 0; i-- {
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
	for k, r := range p.results {
		p.results[k] = to[r]
	}
	p.steps = kept
}

// place gives every step the slot of a value that nobody reads any more, or a new one. Numbers keep
// theirs: they are filled in once for many blocks; and so do results, where there are several.
func (p *plan) place() {
	last := make([]int, len(p.steps))
	for i := range p.steps {
		last[i] = len(p.steps)
		for _, a := range p.steps[i].operands() {
			last[a] = i
		}
	}
	if len(p.results) > 1 {
		for _, r := range p.results {
			last[r] = len(p.steps)
		}
	}
	var free [2][]int
	for i := range p.steps {
		s := &p.steps[i]
		kind := s.kind()
		if n := len(free[kind]); s.number() || n == 0 {
			s.register = p.registers[kind]
			p.registers[kind]++
		} else {
			s.register = free[kind][n-1]
			free[kind] = free[kind][:n-1]
		}
		for k, a := range s.operands() { // now, for the value must not lie where an argument does
			if from := &p.steps[a]; last[a] == i && !contains(s.args[:k], a) && !from.number() {
				free[from.kind()] = append(free[from.kind()], from.register)
			}
		}
	}
}

// kind is 1 for an int.
func (s *step) kind() int {
	if s.whole {
		return 1
	}
	return 0
}

// number reports whether the value is kept as one number, which is the same for all elements.
func (s *step) number() bool { return s.given() || s.once }

// given reports whether the step is a scalar or a constant.
func (s *step) given() bool { return s.op == opConst || s.op == opScalar || s.op == opInt }

// findUniform finds the steps that are made of scalars and constants.
func (p *plan) findUniform() {
	for i := range p.steps {
		s := &p.steps[i]
		args := s.operands()
		s.uniform, s.once = s.given() || len(args) > 0 && s.op != opAt, !s.given() && !s.whole
		for _, a := range args {
			s.uniform = s.uniform && p.steps[a].uniform
			s.once = s.once && !p.steps[a].whole && p.steps[a].number()
		}
		s.once = s.once && s.uniform
	}
}

func contains(list []int, v int) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

// Exact reports whether every step is rounded as IEEE 754 says, or not at all: then all devices
// compute the same.
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

// Prelude is what OpenCL C functions of programs need before them, once.
const Prelude = NoContraction + Macros

// NoContraction keeps compilers from joining a·b + c, in a file or, at its beginning, in a block.
const NoContraction = "#pragma OPENCL FP_CONTRACT OFF\n"

// Macros are those that the functions use: NUM(x) is a number of the device's floats, and AT(p, i) element i of p_n.
const Macros = `#ifdef REAL_IS_DOUBLE
#define NUM(x) x
#else
#define NUM(x) x##f
#endif
#define CONVERT(T, x) CONVERT_TO(T, x)
#define CONVERT_TO(T, x) convert_##T(x)
#define AT(p, i) ((uint)(i) < (uint)p##_n ? p[i] : 0)
`

// Types names the types of OpenCL C that a program computes in: Vector, of Width elements, which
// are of type Scalar: int, long or ulong if it is Whole.
type Types struct {
	Vector, Scalar string
	Width          int
	Whole          bool
}

// Function returns the formulas as a static function in OpenCL C. Its parameters are the operands,
// the scalars and the indices along axes that occur, named x0 …, s0 … and i0 … by their places in
// the given lists of them, and then, if there are several formulas, y0 …, where their values are
// put: of one it is what the function returns. An operand that is read by index is a pointer to its
// elements x0, and their number x0_n.
func (p *Program) Function(name string, t Types, operands, scalars []int, axes ...int) string {
	ints := "int" + width(t.Width)
	var params []string
	for i, x := range operands {
		if p.has(opAt, x) {
			params = append(params, fmt.Sprintf("global const ELEM *x%d, int x%d_n", i, i))
		} else {
			params = append(params, fmt.Sprintf("%s x%d", t.Vector, i))
		}
	}
	for _, i := range scalars {
		typ := t.Scalar
		if p.has(opInt, i) {
			typ = "int"
		}
		params = append(params, fmt.Sprintf("%s s%d", typ, i))
	}
	for i := range axes {
		params = append(params, fmt.Sprintf("%s i%d", ints, i))
	}
	returns, several := t.Vector, len(p.results) > 1
	if several {
		returns = "void"
		for i := range p.results {
			params = append(params, fmt.Sprintf("%s *y%d", t.Vector, i))
		}
	}
	if len(params) == 0 {
		params = []string{"void"}
	}
	statements, results := p.opencl(t, func(o op, i int) string {
		switch o {
		case opScalar:
			return fmt.Sprintf("(%s)s%d", t.Vector, i)
		case opInt:
			return fmt.Sprintf("(%s)s%d", ints, i)
		case opIndex:
			return fmt.Sprintf("i%d", slices.Index(axes, i))
		}
		return fmt.Sprintf("x%d", slices.Index(operands, i))
	})
	var text strings.Builder
	fmt.Fprintf(&text, "static %s %s(%s) {\n", returns, name, strings.Join(params, ", "))
	for _, line := range statements {
		fmt.Fprintf(&text, "    %s\n", line)
	}
	for i, r := range results {
		if several {
			fmt.Fprintf(&text, "    *y%d = %s;\n", i, r)
		} else {
			fmt.Fprintf(&text, "    return %s;\n", r)
		}
	}
	text.WriteString("}\n")
	return text.String()
}

// has reports whether a leaf occurs.
func (p *Program) has(o op, index int) bool {
	return slices.ContainsFunc(p.steps, func(s step) bool { return s.op == o && s.index == index })
}

// width is the end of the name of a type of so many elements.
func width(n int) string {
	if n > 1 {
		return strconv.Itoa(n)
	}
	return ""
}

// longCondition is how long the text of a condition is at most, if it stands wherever it is used.
// Conditions of conditions would double with each step.
const longCondition = 200

// opencl returns the formulas as declarations of constants, and the names or numbers of the
// results. leaf names the leaves, as values of their vector types, and operands that are read by
// index.
func (p *Program) opencl(t Types, leaf func(o op, index int) string) (statements, results []string) {
	names := make([]string, len(p.steps))
	ints := "int" + width(t.Width)
	for i, s := range p.steps {
		info := &primitives[s.op]
		typ, unsigned, lastBit := t.Vector, "u"+ints, "31"
		switch {
		case s.whole:
			typ = ints
		case t.Scalar == "long" || t.Scalar == "ulong":
			unsigned, lastBit = "ulong"+width(t.Width), "63"
		}
		switch s.op {
		case opOperand, opScalar, opInt, opIndex:
			names[i] = leaf(s.op, s.index)
			continue
		case opConst:
			names[i] = fmt.Sprintf("(%s)%s", typ, number(s.value, t.Whole || s.whole))
			continue
		}
		form := info.c
		if (t.Whole || s.whole) && info.ints != "" {
			form = info.ints
		}
		with := func(lane string) string {
			var swap []string
			if s.op == opAt {
				swap = []string{"$X", leaf(s.op, s.index)}
			}
			for k := range info.takes {
				arg := names[s.args[k]]
				if lane != "" {
					arg = "(" + arg + ")" + lane
				}
				swap = append(swap, "$"+strconv.Itoa(k), arg)
			}
			return strings.NewReplacer(append(swap, "$T", typ, "$U", unsigned, "$B", lastBit)...).Replace(form)
		}
		text := with("")
		if info.lanes && t.Width > 1 {
			lanes := make([]string, t.Width)
			for i := range lanes {
				lanes[i] = with(fmt.Sprintf(".s%x", i))
			}
			text = fmt.Sprintf("(%s)(%s)", typ, strings.Join(lanes, ", "))
		}
		if info.condition { // vectors have another type of condition for each type: it has no name
			names[i] = "(" + text + ")"
			if len(text) <= longCondition {
				continue
			}
			typ, text, names[i] = t.Vector, fmt.Sprintf("%s ? (%s)1 : (%s)0", names[i], t.Vector, t.Vector), fmt.Sprintf("(v%d != (%s)0)", i, t.Vector)
			statements = append(statements, fmt.Sprintf("const %s v%d = %s;", typ, i, text))
			continue
		}
		names[i] = fmt.Sprintf("v%d", i)
		statements = append(statements, fmt.Sprintf("const %s %s = %s;", typ, names[i], text))
	}
	for _, r := range p.results {
		results = append(results, names[r])
	}
	return statements, results
}

func number(v float64, whole bool) string {
	switch {
	case whole:
		return fmt.Sprintf("(%d)", int64(v))
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
