package fused

import (
	"fmt"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
	"maps"
	"slices"
	"strings"
	"sync"
	"weak"
)

// BatchSpec says how several launches of a kernel become one, in which each has its own work-groups.
// By a Function, those are the work-groups of one place in the third dimension; by GroupRanges, they
// are numbered, one launch's after the other's.
type BatchSpec struct {
	// Function is the function of the kernel's files that does the work of a work-item. It has the
	// parameters of the kernel, does nothing in work-groups beyond the launch's own grid, and does
	// not ask how large the grid is.
	Function string
	// Text returns OpenCL C with the Function, for CPUs or other devices, where the kernel's own text
	// has no such function: [FuseHorizontal] takes none of these. Nil: it has.
	Text func(cpu bool) string
	// Local is how many floats of local memory a work-group of a device that is no CPU has, as an
	// expression of C: the function's last parameter. "": none.
	Local string
	// Items says that work-groups of a CPU have several work-items, too.
	Items bool
	// GroupRanges serves [Batch] on devices that are no CPU. Nil: the Function does.
	// Without a Function there is none on a CPU, and none for [FuseHorizontal].
	GroupRanges *GroupRanges
}

// Horizontal reports whether [FuseHorizontal] takes a kernel that says so: the Function is in its own text.
func (b *BatchSpec) Horizontal() bool { return b != nil && b.Function != "" && b.Text == nil }

// GroupRanges says how launches become one by ranges of work-groups: launch 0 has groups 0 to 7, launch
// 1 groups 8 to 11. The kernel's file has these macros, whose defaults serve one launch:
//
//	OWN_PARAMS      the parameters of the entry point
//	GROUP_PROLOGUE  statements at its beginning, by which a work-group finds what it does
type GroupRanges struct {
	Items  int    // work-items of a work-group
	Define string // a line that the file has to have before it, as in EpilogueSpec; "": none
	// Place is GROUP_PROLOGUE of work-group `block` of a launch, from 0 on. The work-groups have one
	// dimension. Parameters have their names, and so have Ints.
	Place string
	Ints  []string                   // further ints that a launch has among others
	Of    func(g kernels.Grid) []int // Ints of a launch with a grid
}

// ints are how many further ints a launch has among others: the work-groups up to its last, and
// Ints.
func (b *GroupRanges) ints() int { return 1 + len(b.Ints) }

// batchLimit is the most launches of a batch, argBytesLimit the most bytes of their arguments: every
// device takes so many.
const (
	batchLimit    = 16
	argBytesLimit = 1024
)

// MaxBatch returns the most launches of k that [Batch] makes one on a device; 1 if there is no batch.
func MaxBatch(k *kernels.Kernel, l kernels.Target) int {
	if Of(k).Batch == nil || Of(k).Batch.Function == "" && l.CPU {
		return 1
	}
	size := argBytes(k)
	if b := Of(k).Batch.GroupRanges; b != nil {
		size += 4 * b.ints()
	}
	return max(1, min(batchLimit, argBytesLimit/size))
}

// argBytes returns how large the arguments of a launch are at most.
func argBytes(k *kernels.Kernel) int {
	size := 0
	for _, p := range k.Params {
		switch {
		case p.Mode.Buffer():
			size += 12 // a pointer and an offset
		case p.Mode == kernels.IntParam:
			size += 4
		default:
			size += 8
		}
	}
	return size
}

// batches holds the kernels of [Batch] that are in use.
var batches struct {
	sync.Mutex
	of map[batchKey]weak.Pointer[kernels.Kernel]
}

type batchKey struct {
	k weak.Pointer[kernels.Kernel]
	n int
}

// keptBatches is the number of batches from which on those out of use are dropped.
const keptBatches = 512

// Batch returns the kernel of n launches of k, with the arguments of [BatchArgs]; nil if k has no
// [BatchSpec] or n is not 2 to MaxBatch. No launch may read or write what another writes, and without
// GroupRanges the work-groups of all must have one size: then each computes the bits of a launch of
// its own.
func Batch(k *kernels.Kernel, n int) *kernels.Kernel {
	if n < 2 || n > MaxBatch(k, anyGPU) {
		return nil
	}
	batches.Lock()
	defer batches.Unlock()
	key := batchKey{weak.Make(k), n}
	if s := batches.of[key].Value(); s != nil {
		return s
	}
	s := newBatch(k, n)
	if batches.of == nil {
		batches.of = map[batchKey]weak.Pointer[kernels.Kernel]{}
	}
	if len(batches.of) >= keptBatches {
		maps.DeleteFunc(batches.of, func(_ batchKey, p weak.Pointer[kernels.Kernel]) bool { return p.Value() == nil })
	}
	batches.of[key] = weak.Make(s)
	return s
}

// BatchArgs returns the arguments of the launch that does several of k on a device: theirs, one
// launch's after the other's, and with GroupRanges how many work-groups there are up to the last
// of each, and its Ints.
func BatchArgs(k *kernels.Kernel, l kernels.Target, launches ...[]kernels.Arg) []kernels.Arg {
	all := slices.Concat(launches...)
	b := Of(k).Batch.GroupRanges
	if b == nil {
		return all
	}
	past := 0
	for _, args := range launches {
		g := k.Grid(args, l)
		n := g.Groups()
		past += n[0] * n[1] * n[2]
		all = append(all, kernels.IntArg(past))
		if b.Of != nil {
			for _, v := range b.Of(g) {
				all = append(all, kernels.IntArg(v))
			}
		}
	}
	return all
}

// anyGPU are limits of which tests and trials, which serve all devices, make grids.
var anyGPU = kernels.Target{Units: 100, MaxGroup: 1024, LocalMem: 32 << 10}

func newBatch(k *kernels.Kernel, n int) *kernels.Kernel {
	m := len(k.Params)
	part := func(args []kernels.Arg, i int) []kernels.Arg { return args[i*m : (i+1)*m] }
	s := &kernels.Kernel{Name: fmt.Sprintf("%s_%d", k.Name, n), Defines: k.Defines, Tol: k.Tol, Moves: k.Moves}
	for i := range n {
		for _, p := range k.Params {
			s.Params = append(s.Params, kernels.Param{Name: fmt.Sprintf("%s_%d", p.Name, i), Mode: p.Mode})
		}
	}
	ranges := Of(k).Batch.GroupRanges
	if ranges != nil {
		for i := range n {
			for _, name := range append([]string{"past"}, ranges.Ints...) {
				s.Params = append(s.Params, kernels.Param{Name: fmt.Sprintf("%s_%d", name, i), Mode: kernels.IntParam})
			}
		}
		s.GPUText = groupRangesText(k, s.Name, n)
	} else {
		s.GPUText = batchText(k, n, false)
	}
	if Of(k).Batch.Function != "" {
		s.Text, s.File, s.GPU = batchText(k, n, true), s.Name+".cl", s.Name+".gpu.cl"
	} else {
		s.Text, s.GPUText, s.File = s.GPUText, "", fmt.Sprintf("%s_%d.cl", strings.TrimSuffix(k.Source(anyGPU), ".cl"), n)
		s.Cases, s.Semantics = batchCases(k, n), batchSemantics(k, n)
	}
	s.Grid = func(args []kernels.Arg, l kernels.Target) kernels.Grid {
		if ranges != nil && (!l.CPU || Of(k).Batch.Function == "") {
			past := int(args[n*m+(n-1)*ranges.ints()].Int)
			return kernels.Grid{Dims: 1, Global: [3]int{past * ranges.Items}, Local: [3]int{ranges.Items}}
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
	s.Host = kernels.HostKernel{
		F32: func(c kernels.HostArgs[float32]) {
			for i := range n {
				k.Host.F32(c.With(part(c.Args(), i), false))
			}
		},
		F64: func(c kernels.HostArgs[float64]) {
			for i := range n {
				k.Host.F64(c.With(part(c.Args(), i), false))
			}
		},
	}.Calling(k)
	if scale := k.Tol.Scale; scale != nil {
		s.Tol.Scale = func(args []kernels.Arg) float64 {
			most := 0.0
			for i := range n {
				most = max(most, scale(part(args, i)))
			}
			return most
		}
	}
	if bound := k.Tol.Bound; bound != nil {
		s.Tol.Bound = func(t kernels.DType, args []kernels.Arg) func(param, i int) float64 {
			of := make([]func(param, i int) float64, n)
			for i := range of {
				of[i] = bound(t, part(args, i))
			}
			return func(p, i int) float64 { return of[p/m](p%m, i) }
		}
	}
	s.SelfTest = func(like []kernels.Arg) []kernels.Operand {
		if k.SelfTest == nil || like == nil {
			return selftest.OperandsLike(s.Params, like)
		}
		var ops []kernels.Operand
		var launches [][]kernels.Arg
		for i := range n {
			of := selfTestOperands(k, part(like, i), i*m)
			if of == nil {
				return nil
			}
			ops = append(ops, of...)
			launches = append(launches, gridArgs(k, of))
		}
		for _, a := range BatchArgs(k, anyGPU, launches...)[len(ops):] {
			ops = append(ops, selftest.Number(float64(a.Int)))
		}
		return ops
	}
	return s
}

// sized returns the arguments of a launch with operands, as far as the grid depends on them:
// without memory.
func gridArgs(k *kernels.Kernel, ops []kernels.Operand) []kernels.Arg {
	args := make([]kernels.Arg, len(ops))
	for i, p := range k.Params {
		switch p.Mode {
		case kernels.IntParam:
			args[i] = kernels.IntArg(int(ops[i].Number))
		case kernels.FloatParam:
			args[i] = kernels.FloatArg(ops[i].Number)
		default:
			args[i] = kernels.BufferArg(nil, 0, ops[i].N)
		}
	}
	return args
}

// batchCases returns test cases for a batch of n: n consecutive cases of k, and the same case n
// times.
func batchCases(k *kernels.Kernel, n int) func(few bool) []kernels.Case {
	return func(few bool) []kernels.Case {
		of := k.Cases(few)
		var cases []kernels.Case
		for at := 0; at < len(of); at += n {
			for _, step := range []int{1, 0} {
				name := of[at].Name
				if step == 1 {
					name += " and others"
				}
				cases = append(cases, kernels.Case{Name: name, Build: func(o *kernels.Operands) {
					var launches [][]kernels.Arg
					for i := range n {
						from := len(o.Args)
						of[(at+i*step)%len(of)].Build(o)
						launches = append(launches, o.Args[from:])
					}
					o.Args = BatchArgs(k, anyGPU, launches...)
				}})
			}
		}
		return cases
	}
}

// batchSemantics returns the operations of n launches of k, one launch's after the other's.
func batchSemantics(k *kernels.Kernel, n int) func(args []kernels.Arg) []kernels.Op {
	if k.Semantics == nil {
		return nil
	}
	m := len(k.Params)
	return func(args []kernels.Arg) []kernels.Op {
		var all []kernels.Op
		for i := range n {
			for _, op := range k.Semantics(args[i*m : (i+1)*m]) {
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

// batchParams returns the parameters of n launches in OpenCL C.
func batchParams(k *kernels.Kernel, n int) []string {
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

// groupRangesText is the OpenCL C of n launches by GroupRanges: macros before the kernel's own file.
func groupRangesText(k *kernels.Kernel, name string, n int) string {
	b := Of(k).Batch.GroupRanges
	params := batchParams(k, n)
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
	fmt.Fprintf(&t, "// %d launches of %s, whose work-groups are one launch's after the other's: "+
		"see internal/fused/batch.go.\n", n, k.Name)
	if b.Define != "" {
		fmt.Fprintf(&t, "#define %s\n", b.Define)
	}
	fmt.Fprintf(&t, "#define %s %s\n#define OWN_PARAMS %s\n", k.Name, name, strings.Join(params, ", "))
	fmt.Fprintf(&t, "#define GROUP_PROLOGUE \\\n    const int group = get_group_id(0), of = %s; \\\n",
		strings.Join(of, " + "))
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
		case p.Mode == kernels.IntParam:
			chosen("const int ", p.Name, "")
		case p.Mode == kernels.FloatParam:
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

// batchText is the OpenCL C of n launches: a work-group finds the arguments of its own.
func batchText(k *kernels.Kernel, n int, cpu bool) string {
	text := k.TextOn(kernels.Target{CPU: cpu})
	if Of(k).Batch.Text != nil {
		text = Of(k).Batch.Text(cpu)
	}
	depends, own := splitText(k, text, kernels.Target{CPU: cpu})
	params := batchParams(k, n)
	if b := Of(k).Batch.GroupRanges; b != nil { // which are for other devices
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
	fmt.Fprintf(&s, "// %d launches of %s, each in a place of the third dimension: see internal/fused/batch.go.\n%s",
		n, k.Name, own)
	group := ""
	if cpu && !Of(k).Batch.Items {
		group = "__attribute__((reqd_work_group_size(1, 1, 1)))\n"
	}
	fmt.Fprintf(&s, "kernel %svoid %s_%d(%s) {\n    const int of = get_group_id(2);\n", group, k.Name, n, strings.Join(params, ", "))
	if !cpu && Of(k).Batch.Local != "" {
		fmt.Fprintf(&s, "    local REAL t[%s];\n", Of(k).Batch.Local)
		args = append(args, "t")
	}
	fmt.Fprintf(&s, "    %s(%s);\n}\n", Of(k).Batch.Function, strings.Join(args, ",\n        "))
	return s.String()
}
