package fused

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/cl"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// MaxVertical is the most launches that [FuseVertical] fuses, and maxVerticalArgs the most arguments
// of OpenCL that their kernel has: memory has an offset, too.
const (
	MaxVertical     = 12
	maxVerticalArgs = 128
)

// CanFuseVertical reports whether [FuseVertical] has a kernel of launches: there are not too many, and
// they are built with the same options.
func CanFuseVertical(parts []*kernels.Kernel) bool {
	_, ok := verticalOptions(parts)
	return ok
}

// FuseVertical returns the kernel of launches of kernels with a [RowSpec], whose rows each work-group
// does one after the other; nil if [CanFuseVertical] refuses them.
// The bits are those of launches of their own, since the functions are. What a work-group reads of
// what it wrote is in its cache.
//
// Arguments, in this order:
//   - those of the launches, one's after the other's;
//   - for each launch its count: how many rows it has or, on a device that is no CPU and if it is not
//     Free, how many work-groups of a launch of its own one work-group of the fused launch stands for;
//   - how many rows a work-group of the fused launch has, and how many work-groups there are.
//
// loops says for each launch whether its count of work-groups may be another than 1: only then has the
// text a loop. No work-group may read or write what another writes: see [RowSlice]. If there is one
// work-group, the launches may read and write anything.
//
// first is the arguments of a fused launch, from which the self test takes the sizes of its operands. The kernel is for
// devices like l: all CPUs, or all others.
func FuseVertical(parts []*kernels.Kernel, loops []bool, first []kernels.Arg, l kernels.Target) *kernels.Kernel {
	options, ok := verticalOptions(parts)
	if !ok {
		return nil
	}
	c := &kernels.Kernel{Fusions: Fusions{Kernels: slices.Clone(parts)},
		Defines: strings.Join(append(options, "-DFUNCTIONS"), " ")}
	for i, k := range parts {
		for _, p := range k.Params {
			c.Params = append(c.Params, kernels.Param{Name: fmt.Sprintf("%s_%d", p.Name, i), Mode: p.Mode})
		}
	}
	numbers := len(c.Params)
	for i := range parts {
		c.Params = append(c.Params, kernels.Param{Name: fmt.Sprintf("share_%d", i), Mode: kernels.IntParam})
	}
	c.Params = append(c.Params, kernels.Param{Name: "run", Mode: kernels.IntParam},
		kernels.Param{Name: "groups", Mode: kernels.IntParam})
	text := verticalText(c, loops, l.CPU)
	hash := fnv.New64a()
	hash.Write([]byte(text + c.Defines))
	c.Name = fmt.Sprintf("k_rows_%016x", hash.Sum64())
	c.File, c.Text = c.Name+".cl", strings.Replace(text, "k_rows(", c.Name+"(", 1)
	c.Grid = func(args []kernels.Arg, l kernels.Target) kernels.Grid {
		items := 1
		if !l.CPU {
			items = rowsGroup
		}
		return kernels.Grid{Dims: 1, Global: [3]int{int(args[len(args)-1].Int) * items}, Local: [3]int{items}}
	}
	c.Host = eachHost(c)
	if slices.ContainsFunc(Of(c).Kernels, func(of *kernels.Kernel) bool { return of.Host.F64 == nil }) {
		c.Host.F64 = nil // one computes in float32 alone
	}
	sizes := make([]kernels.Arg, len(first))
	for i, a := range first {
		sizes[i] = kernels.Arg{Kind: a.Kind, Int: a.Int, N: a.N, Float: a.Float}
	}
	c.SelfTest = func(like []kernels.Arg) []kernels.Operand {
		if like == nil {
			like = sizes
		}
		if len(like) != len(c.Params) {
			return nil
		}
		ops := eachOperands(c, like)
		if ops == nil {
			return nil
		}
		for _, a := range like[numbers:] {
			ops = append(ops, selftest.Number(float64(a.Int)))
		}
		return ops
	}
	return c
}

// EachLaunch calls f with each launch that a fused launch with these arguments does, and the place of
// the launch's first argument among them.
func EachLaunch(k *kernels.Kernel, args []kernels.Arg, f func(of *kernels.Kernel, args []kernels.Arg, first int)) {
	at := 0
	for _, p := range Of(k).Kernels {
		f(p, args[at:at+len(p.Params)], at)
		at += len(p.Params)
	}
}

// eachHost is the host kernel of a fused launch: each launch after the other.
func eachHost(k *kernels.Kernel) kernels.HostKernel {
	return kernels.HostKernel{
		F32: func(c kernels.HostArgs[float32]) {
			EachLaunch(k, c.Args(), func(of *kernels.Kernel, args []kernels.Arg, _ int) { of.Host.F32(c.With(args, false)) })
		},
		F64: func(c kernels.HostArgs[float64]) {
			EachLaunch(k, c.Args(), func(of *kernels.Kernel, args []kernels.Arg, _ int) { of.Host.F64(c.With(args, false)) })
		},
	}.Calling(Of(k).Kernels...)
}

// eachOperands returns the operands with which the launches of a fused launch are tried, nil if one of them is not.
func eachOperands(k *kernels.Kernel, like []kernels.Arg) []kernels.Operand {
	var ops []kernels.Operand
	tried := true
	EachLaunch(k, like, func(of *kernels.Kernel, args []kernels.Arg, first int) {
		own := selfTestOperands(of, args, first)
		tried = tried && own != nil
		ops = append(ops, own...)
	})
	if !tried {
		return nil
	}
	return ops
}

// selfTestOperands returns the operands with which a launch is tried whose arguments follow first others.
func selfTestOperands(k *kernels.Kernel, args []kernels.Arg, first int) []kernels.Operand {
	ops := selftest.OperandsLike(k.Params, args)
	if k.SelfTest != nil {
		ops = k.SelfTest(args)
	}
	for i := range ops {
		if from := ops[i].From; from != nil {
			ops[i].From = func(before []kernels.Arg, e int) float64 { return from(before[first:], e) }
		}
	}
	return ops
}

// verticalOptions returns the options that all launches are built with; ok is false if they cannot be
// fused.
func verticalOptions(parts []*kernels.Kernel) (options []string, ok bool) {
	values := map[string]string{}
	files := map[string]string{}
	args := len(parts) + 2
	for _, k := range parts {
		if Of(k).Rows == nil {
			return nil, false
		}
		for _, p := range k.Params {
			if args++; p.Mode.Buffer() {
				args++
			}
		}
		if Of(k).Rows.Text == nil { // another form of the same file has other options
			if before, seen := files[k.File]; seen && before != k.Defines {
				return nil, false
			}
			files[k.File] = k.Defines
		}
		for _, o := range strings.Fields(k.Defines) {
			name, value, _ := strings.Cut(o, "=")
			if before, seen := values[name]; seen && before != value {
				return nil, false
			} else if !seen {
				options = append(options, o)
			}
			values[name] = value
		}
	}
	return options, len(parts) <= MaxVertical && args <= maxVerticalArgs
}

// verticalText returns the OpenCL C of the fused launches, for CPUs or other devices, with the name
// k_rows: it calls the function of each. After each call, all work-items of the work-group see what it
// wrote.
func verticalText(c *kernels.Kernel, loops []bool, cpu bool) string {
	depends := []string{"common"}
	add := func(file string) {
		if !slices.Contains(depends, file) {
			depends = append(depends, file)
		}
	}
	var functions, calls strings.Builder
	local, at := map[string]int{}, 0 // elements of local memory, by type
	for i, k := range Of(c).Kernels {
		function := Of(k).Rows.Function
		if Of(k).Rows.Text != nil {
			prefix := fmt.Sprintf("p%d_", i)
			text := Of(k).Rows.Text(prefix, cpu)
			for _, file := range cl.Named(cl.DependsHeader, text) {
				add(file)
			}
			functions.WriteString(text)
			function = prefix + function
		} else if file := k.GPU; !cpu && file != "" {
			add(strings.TrimSuffix(file, ".cl"))
		} else {
			add(strings.TrimSuffix(k.File, ".cl"))
		}
		var args []string
		for _, p := range c.Params[at : at+len(k.Params)] {
			args = append(args, p.Name)
			if p.Mode.Buffer() {
				args = append(args, p.Name+"_off")
			}
		}
		at += len(k.Params)
		if i > 0 && !cpu {
			calls.WriteString("    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n")
		}
		if cpu || Of(k).Rows.Free {
			fmt.Fprintf(&calls, "    %s(%s, from, min(share_%d, from + run));\n", function, strings.Join(args, ", "), i)
			continue
		}
		place := map[string]int{}
		var memory []string
		for _, m := range Of(k).Rows.Local {
			memory = append(memory, fmt.Sprintf(", t_%s + %d", m.Type, place[m.Type]))
			place[m.Type] += m.N
			local[m.Type] = max(local[m.Type], place[m.Type])
		}
		if loops[i] {
			fmt.Fprintf(&calls, "    for (int g = 0; g < share_%d; g++) {\n        %s(%s, get_group_id(0) * share_%d + g%s);\n        barrier(CLK_LOCAL_MEM_FENCE);\n    }\n",
				i, function, strings.Join(args, ", "), i, strings.Join(memory, ""))
		} else {
			fmt.Fprintf(&calls, "    %s(%s, get_group_id(0)%s);\n", function, strings.Join(args, ", "), strings.Join(memory, ""))
		}
	}
	var params []string
	for _, p := range c.Params {
		params = append(params, p.Mode.Declared(p.Name))
	}
	var s strings.Builder
	fmt.Fprintf(&s, "// @depends: %s\n", strings.Join(depends, ", "))
	fmt.Fprintf(&s, "// Several launches by rows, of which a work-group does its own one after the other: "+
		"see internal/fused/vertical.go.\n")
	s.WriteString(functions.String())
	group := rowsGroup
	if cpu {
		group = 1
	}
	fmt.Fprintf(&s, "kernel __attribute__((reqd_work_group_size(%d, 1, 1)))\nvoid k_rows(%s) {\n", group, strings.Join(params, ", "))
	for _, t := range slices.Sorted(maps.Keys(local)) { // PoCL 3.1 has one of what is cast for all of its threads
		fmt.Fprintf(&s, "    local %s t_%s[%d];\n", t, t, local[t])
	}
	fmt.Fprintf(&s, "    const int from = get_group_id(0) * run;\n%s}\n", calls.String())
	return s.String()
}
