package kernels

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"weak"
)

// Together says how several launches of a kernel become one, in which each has its own work-groups.
// By a Function, those are the work-groups of one place in the third dimension; by Blocks, they are
// numbered, one launch's after the other's.
type Together struct {
	// Function is the function of the kernel's files that does the work of a work-item. It has the
	// parameters of the kernel, does nothing in work-groups beyond the launch's own grid, and does
	// not ask how large the grid is.
	Function string
	// Text returns OpenCL C with the Function, for CPUs or other devices, where the kernel's own text
	// has no such function. Nil: it has.
	Text func(cpu bool) string
	// Local is how many reals of local memory a work-group of a device that is no CPU has, as an
	// expression of C: the function's last parameter. "": none.
	Local string
	// Items says that work-groups of a CPU have several work-items, too.
	Items bool
	// Blocks is what serves [Kernel.Several] on devices that are no CPU. Nil: the Function does.
	// Without a Function there is none on a CPU, and none for [Beside].
	Blocks *Blocks
}

// Blocks says how launches become one whose file has these macros, with what a launch alone makes
// of them as their defaults:
//
//	OWN_PARAMS  the parameters of the entry point
//	PLACE       statements at its beginning, by which a work-group finds what it does
type Blocks struct {
	Items  int    // work-items of a work-group
	Define string // a line that the file has to have before it, as in Stores; "": none
	// Place is PLACE of work-group `block` of a launch, from 0 on. The work-groups have one
	// dimension. Parameters have their names, and so have Ints.
	Place string
	Ints  []string           // further ints that a launch has among others
	Of    func(g Grid) []int // Ints of a launch with a grid
}

// ints are how many further ints a launch has among others: the work-groups up to its last, and
// Ints.
func (b *Blocks) ints() int { return 1 + len(b.Ints) }

// severalMost is the most launches of a kernel that are one, severalBytes how large their arguments
// are at most: every device takes so many.
const (
	severalMost  = 16
	severalBytes = 1024
)

// MostTogether returns how many launches of k are one at most on a device; 1 if they are not.
func (k *Kernel) MostTogether(l Target) int {
	if FormsOf(k).Together == nil || FormsOf(k).Together.Function == "" && l.CPU {
		return 1
	}
	size := k.argBytes()
	if b := FormsOf(k).Together.Blocks; b != nil {
		size += 4 * b.ints()
	}
	return max(1, min(severalMost, severalBytes/size))
}

// argBytes returns how large the arguments of a launch are at most.
func (k *Kernel) argBytes() int {
	size := 0
	for _, p := range k.Params {
		switch {
		case p.Mode.Buffer():
			size += 12 // a pointer and an offset
		case p.Mode == IntParam:
			size += 4
		default:
			size += 8
		}
	}
	return size
}

// severals are the kernels of [Kernel.Several] that somebody uses.
var severals struct {
	sync.Mutex
	of map[severalKey]weak.Pointer[Kernel]
}

type severalKey struct {
	k weak.Pointer[Kernel]
	n int
}

// mostSeverals is how many there are before those that nobody uses any more are left out.
const mostSeverals = 512

// Several returns the kernel of n launches of k, nil if k has no Together or n is not 2 to
// MostTogether. Its arguments are those that [Kernel.SeveralArgs] returns. No launch may read or
// write what another writes, and without Blocks the work-groups of all must have one size: then
// each computes the bits of a launch of its own.
func (k *Kernel) Several(n int) *Kernel {
	if n < 2 || n > k.MostTogether(anyGPU) {
		return nil
	}
	severals.Lock()
	defer severals.Unlock()
	key := severalKey{weak.Make(k), n}
	if s := severals.of[key].Value(); s != nil {
		return s
	}
	s := k.several(n)
	if severals.of == nil {
		severals.of = map[severalKey]weak.Pointer[Kernel]{}
	}
	if len(severals.of) >= mostSeverals {
		maps.DeleteFunc(severals.of, func(_ severalKey, p weak.Pointer[Kernel]) bool { return p.Value() == nil })
	}
	severals.of[key] = weak.Make(s)
	return s
}

// SeveralArgs returns the arguments of the launch that does several of k on a device: theirs, one
// launch's after the other's, and with Blocks how many work-groups there are up to the last of
// each, and its Ints.
func (k *Kernel) SeveralArgs(l Target, launches ...[]Arg) []Arg {
	all := slices.Concat(launches...)
	b := FormsOf(k).Together.Blocks
	if b == nil {
		return all
	}
	past := 0
	for _, args := range launches {
		g := k.Grid(args, l)
		n := g.Groups()
		past += n[0] * n[1] * n[2]
		all = append(all, IntArg(past))
		if b.Of != nil {
			for _, v := range b.Of(g) {
				all = append(all, IntArg(v))
			}
		}
	}
	return all
}

// anyGPU are limits of which tests and trials, which serve all devices, make grids.
var anyGPU = Target{Units: 100, MaxGroup: 1024, LocalMem: 32 << 10}

func (k *Kernel) several(n int) *Kernel {
	m := len(k.Params)
	part := func(args []Arg, i int) []Arg { return args[i*m : (i+1)*m] }
	s := &Kernel{Name: fmt.Sprintf("%s_%d", k.Name, n), Defines: k.Defines, Tol: k.Tol, Moves: k.Moves}
	for i := range n {
		for _, p := range k.Params {
			s.Params = append(s.Params, Param{fmt.Sprintf("%s_%d", p.Name, i), p.Mode})
		}
	}
	blocks := FormsOf(k).Together.Blocks
	if blocks != nil {
		for i := range n {
			for _, name := range append([]string{"past"}, blocks.Ints...) {
				s.Params = append(s.Params, Param{fmt.Sprintf("%s_%d", name, i), IntParam})
			}
		}
		s.GPUText = k.blocksText(s.Name, n)
	} else {
		s.GPUText = k.severalText(n, false)
	}
	if FormsOf(k).Together.Function != "" {
		s.Text, s.File, s.GPU = k.severalText(n, true), s.Name+".cl", s.Name+".gpu.cl"
	} else {
		s.Text, s.GPUText, s.File = s.GPUText, "", fmt.Sprintf("%s_%d.cl", strings.TrimSuffix(k.Source(anyGPU), ".cl"), n)
		s.Cases, s.Describe = k.severalCases(n), k.severalDescribe(n)
	}
	s.Grid = func(args []Arg, l Target) Grid {
		if blocks != nil && (!l.CPU || FormsOf(k).Together.Function == "") {
			past := int(args[n*m+(n-1)*blocks.ints()].Int)
			return Grid{Dims: 1, Global: [3]int{past * blocks.Items}, Local: [3]int{blocks.Items}}
		}
		g := k.Grid(part(args, 0), l)
		g.Dims, g.Global[2], g.Local[2] = 3, n, 1
		for d := range 2 {
			g.Global[d], g.Local[d] = max(g.Global[d], 1), max(g.Local[d], 1)
		}
		for i := 1; i < n; i++ {
			groups := k.Grid(part(args, i), l).Groups()
			for d := range 2 {
				g.Global[d] = max(g.Global[d], groups[d]*g.Local[d])
			}
		}
		return g
	}
	s.Twin = Twin{
		F32: func(c Call[float32]) {
			for i := range n {
				k.Twin.F32(c.With(part(c.Args(), i), false))
			}
		},
		F64: func(c Call[float64]) {
			for i := range n {
				k.Twin.F64(c.With(part(c.Args(), i), false))
			}
		},
	}.Calling(k)
	if scale := k.Tol.Scale; scale != nil {
		s.Tol.Scale = func(args []Arg) float64 {
			most := 0.0
			for i := range n {
				most = max(most, scale(part(args, i)))
			}
			return most
		}
	}
	if bound := k.Tol.Bound; bound != nil {
		s.Tol.Bound = func(t DType, args []Arg) func(param, i int) float64 {
			of := make([]func(param, i int) float64, n)
			for i := range of {
				of[i] = bound(t, part(args, i))
			}
			return func(p, i int) float64 { return of[p/m](p%m, i) }
		}
	}
	s.Trial = func(like []Arg) []Operand {
		if k.Trial == nil || like == nil {
			return LikeLaunch(s.Params, like)
		}
		var ops []Operand
		var launches [][]Arg
		for i := range n {
			of := k.Trial(part(like, i))
			if of == nil {
				return nil
			}
			ops = append(ops, of...)
			launches = append(launches, k.sized(of))
		}
		for _, a := range k.SeveralArgs(anyGPU, launches...)[len(ops):] {
			ops = append(ops, Number(float64(a.Int)))
		}
		return ops
	}
	return s
}

// sized returns the arguments of a launch with operands, as far as the grid depends on them:
// without memory.
func (k *Kernel) sized(ops []Operand) []Arg {
	args := make([]Arg, len(ops))
	for i, p := range k.Params {
		switch p.Mode {
		case IntParam:
			args[i] = IntArg(int(ops[i].Number))
		case FloatParam:
			args[i] = FloatArg(ops[i].Number)
		default:
			args[i] = BufferArg(nil, 0, ops[i].N)
		}
	}
	return args
}

// severalCases are those of k, n beside each other: one after the other, and each with itself.
func (k *Kernel) severalCases(n int) func(few bool) []Case {
	return func(few bool) []Case {
		of := k.Cases(few)
		var cases []Case
		for at := 0; at < len(of); at += n {
			for _, step := range []int{1, 0} {
				name := of[at].Name
				if step == 1 {
					name += " and others"
				}
				cases = append(cases, Case{name, func(o *Operands) {
					var launches [][]Arg
					for i := range n {
						from := len(o.Args)
						of[(at+i*step)%len(of)].Build(o)
						launches = append(launches, o.Args[from:])
					}
					o.Args = k.SeveralArgs(anyGPU, launches...)
				}})
			}
		}
		return cases
	}
}

// severalDescribe says what n launches of k compute, one after the other.
func (k *Kernel) severalDescribe(n int) func(args []Arg) []Operation {
	if k.Describe == nil {
		return nil
	}
	m := len(k.Params)
	return func(args []Arg) []Operation {
		var all []Operation
		for i := range n {
			for _, op := range k.Describe(args[i*m : (i+1)*m]) {
				for _, v := range viewsOf(op) {
					if v.Arg >= 0 {
						v.Arg += i * m
					}
				}
				all = append(all, op)
			}
		}
		return all
	}
}

// severalParams are the parameters of n launches in OpenCL C.
func (k *Kernel) severalParams(n int) []string {
	var params []string
	for i := range n {
		for _, p := range k.Params {
			name := fmt.Sprintf("%s_%d", p.Name, i)
			params = append(params, p.Mode.Declared(name))
		}
	}
	return params
}

// choose is, in OpenCL C, what of a list belongs to the launch `of`.
func choose(list []string) string {
	var s strings.Builder
	last := len(list) - 1
	for i, v := range list[:last] {
		fmt.Fprintf(&s, "of == %d ? %s : ", i, v)
	}
	return s.String() + list[last]
}

// blocksText is the OpenCL C of n launches by Blocks: macros before the kernel's own file.
func (k *Kernel) blocksText(name string, n int) string {
	b := FormsOf(k).Together.Blocks
	params := k.severalParams(n)
	var of []string
	for i := range n {
		for _, name := range append([]string{"past"}, b.Ints...) {
			params = append(params, fmt.Sprintf("int %s_%d", name, i))
		}
		if i < n-1 {
			of = append(of, fmt.Sprintf("(group >= past_%d)", i))
		}
	}
	var t strings.Builder
	fmt.Fprintf(&t, "// @depends: common\n// @then: %s\n", strings.TrimSuffix(k.Source(anyGPU), ".cl"))
	fmt.Fprintf(&t, "// %d launches of %s, whose work-groups are one launch's after the other's: see kernels/several.go.\n", n, k.Name)
	if b.Define != "" {
		fmt.Fprintf(&t, "#define %s\n", b.Define)
	}
	fmt.Fprintf(&t, "#define %s %s\n#define OWN_PARAMS %s\n", k.Name, name, strings.Join(params, ", "))
	fmt.Fprintf(&t, "#define PLACE \\\n    const int group = get_group_id(0), of = %s; \\\n", strings.Join(of, " + "))
	before := make([]string, n)
	for i := range n {
		before[i] = "0"
		if i > 0 {
			before[i] = fmt.Sprintf("past_%d", i-1)
		}
	}
	fmt.Fprintf(&t, "    const int block = group - (%s); \\\n", choose(before))
	chosen := func(typ, name, suffix string) {
		list := make([]string, n)
		for i := range n {
			list[i] = fmt.Sprintf("%s_%d%s", name, i, suffix)
		}
		fmt.Fprintf(&t, "    %s%s%s = %s; \\\n", typ, name, suffix, choose(list))
	}
	for _, p := range k.Params {
		switch {
		case p.Mode == IntParam:
			chosen("const int ", p.Name, "")
		case p.Mode == FloatParam:
			chosen("const REAL ", p.Name, "")
		default:
			constant := "const "
			if p.Mode.Written() {
				constant = ""
			}
			chosen("global "+constant+p.Mode.ElementType("REAL")+" *", p.Name, "")
		}
		if p.Mode.Buffer() {
			chosen("const int ", p.Name, "_off")
		}
	}
	for _, name := range b.Ints {
		chosen("const int ", name, "")
	}
	fmt.Fprintf(&t, "    %s\n", b.Place)
	return t.String()
}

// severalText is the OpenCL C of n launches: a work-group finds the arguments of its own.
func (k *Kernel) severalText(n int, cpu bool) string {
	text := k.TextOn(Target{CPU: cpu})
	if FormsOf(k).Together.Text != nil {
		text = FormsOf(k).Together.Text(cpu)
	}
	depends, own := k.parted(text, Target{CPU: cpu})
	params := k.severalParams(n)
	if b := FormsOf(k).Together.Blocks; b != nil { // which are for other devices
		for i := range n * b.ints() {
			params = append(params, fmt.Sprintf("int other_%d", i))
		}
	}
	var args []string
	chosen := func(form string) {
		list := make([]string, n)
		for i := range n {
			list[i] = fmt.Sprintf(form, i)
		}
		args = append(args, choose(list))
	}
	for _, p := range k.Params {
		chosen(p.Name + "_%d")
		if p.Mode.Buffer() {
			chosen(p.Name + "_%d_off")
		}
	}
	var s strings.Builder
	fmt.Fprintf(&s, "// @depends: %s\n", strings.Join(depends, ", "))
	fmt.Fprintf(&s, "// %d launches of %s, each in a place of the third dimension: see kernels/several.go.\n%s", n, k.Name, own)
	group := ""
	if cpu && !FormsOf(k).Together.Items {
		group = "__attribute__((reqd_work_group_size(1, 1, 1)))\n"
	}
	fmt.Fprintf(&s, "kernel %svoid %s_%d(%s) {\n    const int of = get_group_id(2);\n", group, k.Name, n, strings.Join(params, ", "))
	if !cpu && FormsOf(k).Together.Local != "" {
		fmt.Fprintf(&s, "    local REAL t[%s];\n", FormsOf(k).Together.Local)
		args = append(args, "t")
	}
	fmt.Fprintf(&s, "    %s(%s);\n}\n", FormsOf(k).Together.Function, strings.Join(args, ",\n        "))
	return s.String()
}
