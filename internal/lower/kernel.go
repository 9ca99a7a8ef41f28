package lower

import (
	"fmt"
	"strings"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/ir"
)

// group is GROUP of rows_gpu.cl: the work-items of a group.
const group = 256

// Rows returns the kernel of a row program. Its arguments are the inputs and the results of p, in
// their order; the ints outer, len and inner; chunk, the length of a part, if lines are cut; run, how
// many lines a run has, if results are sums over these; sets and span if [Sets]; then the numbers
// of p. Grid, Tol, Cases and Semantics are left to the caller, and Host if elements are ints. functions
// returns the OpenCL C of the function p.Name, with a prefix, that computes lines, and local is the
// memory that it takes: see fused.RowSpec. Rows panics if p is no row program.
//
// types are those of the buffers, by argument: Float16 or BFloat16 of floats that are of 16 bits in memory, and
// else Float32; there may be fewer. Host is that of a kernel whose buffers are floats: see [Halves].
func Rows(p *ir.Program, types ...kernels.DType) (
	k *kernels.Kernel, functions func(prefix string, cpu bool) string, local []fused.Local) {
	rows, err := p.Rows()
	if err != nil {
		panic(err)
	}
	l := newPlan(p, types)
	k = &kernels.Kernel{Name: "k_" + p.Name, File: p.Name + l.code() + ".cl", GPU: p.Name + l.code() + ".gpu.cl", Text: l.source(true), GPUText: l.source(false),
		Params: l.params(func(v ir.Value) string { return v.Name })}
	if !p.OfInts() {
		k.Host = kernels.HostKernel{F32: host[float32](l, rows), F64: host[float64](l, rows)}
	}
	for _, t := range l.trees() {
		local = append(local, fused.Local{Type: t.Type, N: 2 * group})
	}
	return k, l.functions, local
}

// Parts returns how many parts of chunk elements a line of n is cut into: one, if it has no element.
func Parts(n, chunk int) int { return max(1, (n+chunk-1)/chunk) }

// Cuts returns how each buffer argument is sliced by rows, for launches with inner = 1.
func Cuts(p *ir.Program, n int) []fused.RowSlice {
	var cuts []fused.RowSlice
	add := func(along ir.Axes) {
		switch along {
		case ir.Element:
			cuts = append(cuts, fused.ConsecutiveRows(n))
		case ir.Line:
			cuts = append(cuts, fused.ConsecutiveRows(1))
		default:
			cuts = append(cuts, fused.Shared)
		}
	}
	for _, v := range p.Values {
		switch {
		case v.Set:
			cuts = append(cuts, fused.Shared)
		case v.Kind == ir.Input:
			add(v.Along)
		}
	}
	for _, r := range p.Results {
		add(r.Along)
	}
	return cuts
}

// params are the parameters of the kernel; numbers have the names that number gives them.
func (l *plan) params(number func(v ir.Value) string) []kernels.Param {
	var list []kernels.Param
	for i, v := range l.p.Values {
		if v.Kind == ir.Input {
			mode := kernels.In.Of(l.memory.values[i])
			if v.Int {
				mode = kernels.InInts
			}
			list = append(list, kernels.Param{Name: v.Name, Mode: mode})
		}
	}
	for k, r := range l.p.Results {
		mode := kernels.Out.Of(l.memory.results[k])
		if r.Int {
			mode = kernels.OutInts
		}
		list = append(list, kernels.Param{Name: r.Name, Mode: mode})
	}
	sizes := []string{"outer", "len", "inner"}
	if l.p.Parts {
		sizes = append(sizes, "chunk")
	}
	if l.p.Runs() {
		sizes = append(sizes, "run")
	}
	if Sets(l.p) {
		sizes = append(sizes, "sets", "span")
	}
	for _, name := range sizes {
		list = append(list, kernels.Param{Name: name, Mode: kernels.IntParam})
	}
	for _, v := range l.p.Values {
		if v.Kind == ir.Number {
			mode := kernels.FloatParam
			if v.Int {
				mode = kernels.IntParam
			}
			list = append(list, kernels.Param{Name: number(v), Mode: mode})
		}
	}
	return list
}

// chunk returns, as expressions of OpenCL C, how many elements a part of a line has at most, and
// how many parts a line has; the line is one part if it is not cut.
func (l *plan) chunk() (elements, parts string) {
	if l.p.Parts {
		return "chunk", "max(1, (len - 1) / chunk + 1)"
	}
	return "len", "1"
}

// functions returns the OpenCL C of the function that computes lines, for a kernel of several
// launches: see fused.RowSpec.
func (l *plan) functions(prefix string, cpu bool) string {
	text, depends := l.gpuText(prefix)
	if cpu {
		text, depends = l.cpuText(prefix)
	}
	return fmt.Sprintf("// @depends: %s\n%s%s", strings.Join(depends, ", "), expr.Prelude, text)
}

// source returns the whole program.
func (l *plan) source(cpu bool) string {
	var s strings.Builder
	text := l.functions("", cpu)
	first, rest, _ := strings.Cut(text, "\n")
	fmt.Fprintf(&s, "%s\n// Made of the definition\n", first)
	for line := range strings.Lines(l.p.String()) {
		fmt.Fprintf(&s, "//   %s", line)
	}
	s.WriteString("\n" + rest)
	_, cuts := l.chunk()
	items, run := "1", fmt.Sprintf("    RANGE(outer * %s * BLOCKS)\n", cuts)
	if l.p.Runs() {
		run = "    const int from = get_group_id(0) * run, to = min(outer, from + run);\n"
	}
	call := "from, to"
	if !cpu {
		items, run, call = "GROUP", "", "get_group_id(0)"
		for _, t := range l.trees() {
			run += fmt.Sprintf("    local %s %s[2 * GROUP];\n", t.Type, t.name)
			call += ", " + t.name
		}
	}
	fmt.Fprintf(&s, "kernel __attribute__((reqd_work_group_size(%s, 1, 1)))\nvoid k_%s(%s) {\n%s    %s(%s, %s);\n}\n", items, l.p.Name, l.parameters(), run, l.p.Name, l.arguments(), call)
	return s.String()
}
