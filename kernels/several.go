package kernels

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/clgrad/clgrad/internal/intmath"
)

// Together says how several launches of a kernel become one, in which each has its own work-groups: those of one place in
// the third dimension.
type Together struct {
	// Function is the function of the kernel's files that does the work of a work-item. It has the parameters of the
	// kernel, does nothing in work-groups beyond the launch's own grid, and does not ask how large the grid is.
	Function string
	// Local is how many reals of local memory a work-group of a device that is no CPU has, as an expression of C: the
	// function's last parameter. "": none.
	Local string
	// Items says that work-groups of a CPU have several work-items, too.
	Items bool
}

// SeveralMost is the most launches of a kernel that are one, severalArgs how many arguments of OpenCL they have at most:
// memory has an offset, too.
const (
	SeveralMost = 8
	severalArgs = 128
)

// MostTogether returns how many launches of k are one at most; 1 if they are not.
func (k *Kernel) MostTogether() int {
	if k.Together == nil {
		return 1
	}
	args := len(k.Params)
	for _, p := range k.Params {
		if p.Mode.Buffer() {
			args++
		}
	}
	return max(1, min(SeveralMost, severalArgs/args))
}

// severals are the kernels of [Kernel.Several].
var severals struct {
	sync.Mutex
	of map[severalKey]*Kernel
}

type severalKey struct {
	k *Kernel
	n int
}

// Several returns the kernel of n launches of k, nil if k has no Together or n is not 2 to MostTogether. Its arguments are
// theirs, one launch's after the other's. No launch may read or write what another writes, and the work-groups of all
// must have one size: then each computes the bits of a launch of its own.
func (k *Kernel) Several(n int) *Kernel {
	if n < 2 || n > k.MostTogether() {
		return nil
	}
	severals.Lock()
	defer severals.Unlock()
	key := severalKey{k, n}
	s := severals.of[key]
	if s == nil {
		s = k.several(n)
		if severals.of == nil {
			severals.of = map[severalKey]*Kernel{}
		}
		severals.of[key] = s
	}
	return s
}

func (k *Kernel) several(n int) *Kernel {
	m := len(k.Params)
	part := func(args []Arg, i int) []Arg { return args[i*m : (i+1)*m] }
	s := &Kernel{Name: fmt.Sprintf("%s_%d", k.Name, n), Text: k.severalText(n, true), GPUText: k.severalText(n, false), Defines: k.Defines, Tol: k.Tol}
	s.File = s.Name + ".cl"
	s.GPU = s.Name + ".gpu.cl"
	for i := range n {
		for _, p := range k.Params {
			s.Params = append(s.Params, Param{fmt.Sprintf("%s_%d", p.Name, i), p.Mode})
		}
	}
	s.Grid = func(args []Arg, l Limits) Grid {
		g := k.Grid(part(args, 0), l)
		g.Dims, g.Global[2], g.Local[2] = 3, n, 1
		for d := range 2 {
			g.Global[d], g.Local[d] = max(g.Global[d], 1), max(g.Local[d], 1)
		}
		for i := 1; i < n; i++ {
			of := k.Grid(part(args, i), l)
			for d := range of.Dims {
				groups := intmath.CeilDiv(of.Global[d], of.Local[d])
				g.Global[d] = max(g.Global[d], groups*g.Local[d])
			}
		}
		return g
	}
	s.Twin = Twin{
		F32: func(c Call[float32]) {
			for i := range n {
				k.Twin.F32(Call[float32]{part(c.args, i), c.vectors})
			}
		},
		F64: func(c Call[float64]) {
			for i := range n {
				k.Twin.F64(Call[float64]{part(c.args, i), c.vectors})
			}
		},
	}
	if scale := k.Tol.Scale; scale != nil {
		s.Tol.Scale = func(args []Arg) float64 {
			most := 0.0
			for i := range n {
				most = max(most, scale(part(args, i)))
			}
			return most
		}
	}
	s.Trial = func(like []Arg) []Operand {
		if k.Trial == nil || like == nil {
			return LikeLaunch(s.Params, like)
		}
		var ops []Operand
		for i := range n {
			of := k.Trial(part(like, i))
			if of == nil {
				return nil
			}
			ops = append(ops, of...)
		}
		return ops
	}
	return s
}

// severalText is the OpenCL C of n launches: a work-group finds the arguments of its own.
func (k *Kernel) severalText(n int, cpu bool) string {
	depends, own := k.ownText(Limits{CPU: cpu})
	var params, args []string
	for i := range n {
		for _, p := range k.Params {
			name := fmt.Sprintf("%s_%d", p.Name, i)
			params = append(params, p.Mode.declared(name))
		}
	}
	choose := func(suffix string) string {
		var list []string
		for i := range n - 1 {
			list = append(list, fmt.Sprintf("of == %d ? %s", i, fmt.Sprintf(suffix, i)))
		}
		return strings.Join(list, " : ") + " : " + fmt.Sprintf(suffix, n-1)
	}
	for _, p := range k.Params {
		args = append(args, choose(p.Name+"_%d"))
		if p.Mode.Buffer() {
			args = append(args, choose(p.Name+"_%d_off"))
		}
	}
	var s strings.Builder
	fmt.Fprintf(&s, "// @depends: %s\n", strings.Join(depends, ", "))
	fmt.Fprintf(&s, "// %d launches of %s, each in a place of the third dimension: see kernels/several.go.\n%s", n, k.Name, own)
	group := ""
	if cpu && !k.Together.Items {
		group = "__attribute__((reqd_work_group_size(1, 1, 1)))\n"
	}
	fmt.Fprintf(&s, "kernel %svoid %s_%d(%s) {\n    const int of = get_group_id(2);\n", group, k.Name, n, strings.Join(params, ", "))
	if !cpu && k.Together.Local != "" {
		fmt.Fprintf(&s, "    local REAL t[%s];\n", k.Together.Local)
		args = append(slices.Clone(args), "t")
	}
	fmt.Fprintf(&s, "    %s(%s);\n}\n", k.Together.Function, strings.Join(args, ",\n        "))
	return s.String()
}
