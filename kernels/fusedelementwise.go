package kernels

import (
	"fmt"
	"sync"

	"github.com/clgrad/clgrad/kernels/expr"
)

// FusedElementwise is one or more element-wise functions of the same operands and scalars, computed in
// one launch: sin(x) and cos(x), say. Common subexpressions are computed once. Operand and scalar i are
// the same in all functions. The functions may also read the index of an element, expr.Index, and
// operands by index, expr.Load. Package tensor applies them with MapInto. It must not be
// changed after its first use.
type FusedElementwise struct {
	Name      string      // of the kernel and of errors: letters, digits and _
	Functions []*Function // 1 to MapResults, each of which has values of all scalars

	once     sync.Once
	err      error
	operands []bool // whether each occurs
	gathers  []bool // by index
	scalars  []bool
	ints     []bool // those that are ints
	axes     []int  // whose indices occur
	integers bool
	program  *expr.Program
	kernels  any // see Keep
	keep     sync.Once
}

// prepare works out what the formulas say, once.
func (j *FusedElementwise) prepare() {
	j.once.Do(func() {
		j.err = j.problem()
		if j.err != nil {
			return
		}
		var formulas []*expr.Expr
		var axes []bool
		j.integers = true
		for _, f := range j.Functions {
			formulas = append(formulas, f.number())
			j.operands, j.gathers = either(j.operands, f.operands), either(j.gathers, f.Value.Gathers())
			j.scalars, j.ints = either(j.scalars, f.scalars), either(j.ints, f.Value.Ints())
			axes = either(axes, f.Value.Axes())
			j.integers = j.integers && f.Integers
		}
		for a, is := range axes {
			if is {
				j.axes = append(j.axes, a)
			}
		}
		j.program = expr.Compile(formulas...)
		j.err = j.misread()
	})
}

// problem returns what is wrong with the declaration, or nil.
func (j *FusedElementwise) problem() error {
	if n := len(j.Functions); n < 1 || n > MapResults {
		return fmt.Errorf("%q fuses %d functions: there are 1 to %d", j.Name, n, MapResults)
	}
	for _, f := range j.Functions {
		if f == nil {
			return fmt.Errorf("%q fuses a function that is nil", j.Name)
		}
		if err := f.Err(); err != nil {
			return err
		}
		if len(j.Functions) > 1 && (f.Condition() || f.Masks > 0) {
			return fmt.Errorf("%q fuses %q, which gives or takes masks: they have a type of their own", j.Name, f.Name)
		}
		if first := j.Functions[0]; len(f.Scalars) != len(first.Scalars) {
			return fmt.Errorf("%q fuses %q of %d scalars and %q of %d: set Scalars of all to values of all", j.Name,
				first.Name, len(first.Scalars), f.Name, len(f.Scalars))
		}
	}
	return nil
}

// misread returns an operand or scalar that is read in two ways, as an error, or nil.
func (j *FusedElementwise) misread() error {
	if n := count(j.operands); n > MapOperands {
		return fmt.Errorf("%q reads %d tensors, and a kernel %d at most", j.Name, n, MapOperands)
	}
	var direct, floatScalars []bool
	for _, f := range j.Functions {
		direct, floatScalars = either(direct, f.Value.Direct()), either(floatScalars, f.Value.Floats())
	}
	for i := range j.operands {
		if at(direct, i) && at(j.gathers, i) {
			return fmt.Errorf("%q reads operand %d both by index and element by element", j.Name, i)
		}
	}
	for i := range j.scalars {
		if at(floatScalars, i) && at(j.ints, i) {
			return fmt.Errorf("%q reads scalar %d both as a float and as an int: make a float of expr.IntParam(%d) with Float", j.Name, i, i)
		}
	}
	return nil
}

// either returns which of two lists have each.
func either(a, b []bool) []bool {
	all := make([]bool, max(len(a), len(b)))
	for i := range all {
		all[i] = at(a, i) || at(b, i)
	}
	return all
}

// count returns how many of a list are there.
func count(list []bool) (n int) {
	for _, is := range list {
		if is {
			n++
		}
	}
	return n
}

func at(list []bool, i int) bool { return i < len(list) && list[i] }

// Err returns what is wrong with the declaration of j, or nil.
func (j *FusedElementwise) Err() error { j.prepare(); return j.err }

// Operands returns how many operands j takes.
func (j *FusedElementwise) Operands() int { j.prepare(); return len(j.operands) }

// Uses reports whether operand i occurs: one that does not is nil where j is applied.
func (j *FusedElementwise) Uses(i int) bool { j.prepare(); return at(j.operands, i) }

// Gathers reports whether operand i is read by index.
func (j *FusedElementwise) Gathers(i int) bool { j.prepare(); return at(j.gathers, i) }

// UsesScalar reports whether scalar i occurs.
func (j *FusedElementwise) UsesScalar(i int) bool { j.prepare(); return at(j.scalars, i) }

// IntScalar reports whether scalar i is an int whatever the operands are.
func (j *FusedElementwise) IntScalar(i int) bool { j.prepare(); return at(j.ints, i) }

// Rank returns how many axes a result has at least: those whose indices occur. Axes of such a map
// stay apart.
func (j *FusedElementwise) Rank() int {
	j.prepare()
	if n := len(j.axes); n > 0 {
		return j.axes[n-1] + 1
	}
	return 0
}

// Integers reports whether j is of integers where its operands are: all of its functions are.
func (j *FusedElementwise) Integers() bool { j.prepare(); return j.integers }

// Axes returns the axes whose indices occur, in their order.
func (j *FusedElementwise) Axes() []int { j.prepare(); return j.axes }

// Program returns the formulas of the functions, compiled.
func (j *FusedElementwise) Program() *expr.Program { j.prepare(); return j.program }

// Entry returns the name of the kernels' entry point: that of j, as C has it.
func (j *FusedElementwise) Entry() string { return entry(j.Name) }

// Keep returns what a package that makes kernels of j keeps with it: what first returned at the first call.
func (j *FusedElementwise) Keep(first func() any) any {
	j.keep.Do(func() { j.kernels = first() })
	return j.kernels
}
