package ops

import (
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/ir"
)

// rowKernel is the kernel of a row program.
func rowKernel(program func() *ir.Program, forms []laneForm, cases func(s rowSizes) []kernels.Case) *RowKernel {
	r := &RowKernel{program: program, forms: forms, cases: cases}
	r.build = func(r *RowKernel) *kernels.Kernel {
		p := program()
		k, functions, local := lower.Rows(p, r.types...)
		at := lower.LayoutOf(p)
		size := func(a []kernels.Arg, i int) int { return int(a[at.Sizes+i].Int) }
		k.Grid, k.Semantics = lines(at.Sizes), rowSemantics(p, r.types)
		if !lower.Exact(p) {
			k.Tol = kernels.Tolerance{ULP: 4, Bound: lower.Bound(p, additions)}
		}
		if p.Parts {
			k.Grid = func(a []kernels.Arg, l kernels.Target) kernels.Grid {
				return partGrid(size(a, 0), size(a, 1), size(a, 2), int(a[at.Chunk].Int), l)
			}
		}
		if p.Runs() {
			k.Grid = func(a []kernels.Arg, l kernels.Target) kernels.Grid {
				groups := lower.Parts(size(a, 0), int(a[at.Run].Int))
				if l.CPU {
					return kernels.Groups(groups, 1)
				}
				return kernels.Grid{Dims: 1, Global: [3]int{groups * rowsGroup}, Local: [3]int{rowsGroup}}
			}
		}
		// On GPUs rows are those of forms alone, whose lanes are known.
		k.Fusions = fused.Fusions{Rows: &fused.RowSpec{Function: p.Name, Local: local, Text: functions,
			Of: func(a []kernels.Arg, l kernels.Target) *fused.RowTiling {
				rows, n := size(a, 0), size(a, 1)
				if !l.CPU || rows == 0 || n == 0 || size(a, 2) != 1 || p.Parts && int(a[at.Chunk].Int) < n {
					return nil
				}
				of := &fused.RowTiling{Rows: rows, Slices: lower.Cuts(p, n)}
				if p.Runs() {
					of.Run = int(a[at.Run].Int)
				}
				return of
			}}}
		if !p.Runs() {
			r.lines = func(a []kernels.Arg) int {
				lines := size(a, 0)
				if p.Parts {
					lines *= lower.Parts(size(a, 1), int(a[at.Chunk].Int))
				}
				return lines
			}
		}
		return tried(k, func([]kernels.Operand) bool { return true })
	}
	return r
}

// with returns r with what change does to its kernel.
func (r *RowKernel) with(change func(k *kernels.Kernel)) *RowKernel {
	build := r.build
	r.build = func(r *RowKernel) *kernels.Kernel {
		k := build(r)
		change(k)
		return k
	}
	return r
}
