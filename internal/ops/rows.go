package ops

import (
	"fmt"
	"math/bits"
	"sync"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/ir"
)

// rowsGroup and rowsPer are GROUP and PER of rows_gpu.cl.
const (
	rowsGroup = 256
	rowsPer   = 16
)

// rowsChunk is how many elements a work-item of a CPU computes at least, in rows or columns: PoCL's
// start of a work-group costs as much as some hundred additions.
const rowsChunk = 4096

// lines returns the grid of a kernel of lines along the middle axis of [outer, n, inner], which are
// int arguments at, at+1 and at+2.
func lines(at int) func([]kernels.Arg, kernels.Target) kernels.Grid {
	return func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		return lineGrid(int(a[at].Int), int(a[at+1].Int), int(a[at+2].Int), l)
	}
}

// lineGrid covers lines of n elements: `outer` rows, or where inner is not 1 inner columns beside
// each other, outer times. CPUs have a work-item for runs of rows, or of blocks of sixteen columns.
// GPUs have work-groups of one size, of which each line has some lanes: see rows_gpu.cl.
func lineGrid(outer, n, inner int, l kernels.Target) kernels.Grid {
	if l.CPU {
		units, size := outer, n
		if inner > 1 {
			units, size = outer*intmath.CeilDiv(inner, 16), 16*n
		}
		return kernels.Grid{Dims: 1, Global: [3]int{intmath.CeilDiv(units, max(1, rowsChunk/max(size, 1)))}, Local: [3]int{1}}
	}
	lanes := lanesOf(n)
	if inner > 1 {
		lanes = min(lanes, rowsGroup/8)
	}
	groups := intmath.CeilDiv(outer*inner, rowsGroup/lanes)
	return kernels.Grid{Dims: 1, Global: [3]int{groups * rowsGroup}, Local: [3]int{rowsGroup}}
}

// lanesOf is 1 << lanes_shift of rows_gpu.cl.
func lanesOf(n int) int {
	lanes := 1
	for lanes < rowsGroup && lanes*rowsPer/2 < n {
		lanes *= 2
	}
	return lanes
}

// laneForm is how many lanes a row has in a kernel that is built for rows on GPUs, and how many
// elements each keeps. A row that fits in a warp needs no barrier.
type laneForm struct{ lanes, per int }

// The forms of kernels that keep one row, and of those that keep two, or more: for rows of up to 8,
// 16, 32, … 4096 elements, and for all that are longer.
var (
	lanesForOne = []laneForm{{1, 8}, {2, 8}, {4, 8}, {8, 8}, {16, 8}, {32, 8}, {32, 16}, {32, 32}, {128, 16},
		{256, 16}, {256, 16}}
	lanesForTwo = []laneForm{{1, 8}, {2, 8}, {4, 8}, {8, 8}, {16, 8}, {32, 8}, {64, 8}, {128, 8}, {256, 8},
		{256, 16}, {256, 16}}
)

// RowKernel is a kernel that works on lines, and its forms for rows on GPUs. They are made when they
// are first asked for: a program is not to wait for kernels that it does not launch.
type RowKernel struct {
	program func() *ir.Program
	build   func(r *RowKernel) *kernels.Kernel // of its types
	forms   []laneForm
	types   []kernels.DType           // of the buffers, by argument, if some are of 16 bits: see [RowKernel.Of]
	lines   func(a []kernels.Arg) int // how many lines, or parts of some, there are; nil: the grid does not depend on the lanes
	cases   func(s rowSizes) []kernels.Case

	once   sync.Once
	kernel *kernels.Kernel
	// Form i is for rows of 4<<i + 1 to 8<<i elements. Of longer rows than its own, the last reads
	// elements twice.
	formed []*kernels.Kernel
	typed  sync.Map // *RowKernel by the types of the buffers, of those with some of 16 bits
}

// formOf has the kernel of each form that was made.
var formOf sync.Map

// Kernel returns the kernel for lines of any kind.
func (r *RowKernel) Kernel() *kernels.Kernel {
	r.once.Do(func() {
		k := r.build(r)
		if r.types != nil {
			k.Host, k.Tol.ULP = kernels.HostKernel{F32: lower.Halves(r.program(), r.types, k.Host.F32)}, min(k.Tol.ULP, 1)
		}
		k.Cases = func(few bool) []kernels.Case { return r.cases(newRowSizes(few)) }
		for i, f := range r.forms {
			form := *k
			form.Defines = fmt.Sprintf("-DROW_LANES=%d -DPER=%d", f.lanes, f.per)
			if i < len(r.forms)-1 { // lanes keep the whole row
				form.Defines += " -DROW_FITS"
			}
			form.Fusions = fused.Fusions{Rows: rowsOfForm(fused.Of(k).Rows, f.lanes)}
			form.Cases = func(few bool) []kernels.Case { return r.cases(formSizes(8<<i, few)) }
			if r.lines != nil {
				form.Grid = func(a []kernels.Arg, _ kernels.Target) kernels.Grid {
					groups := intmath.CeilDiv(r.lines(a), rowsGroup/f.lanes)
					return kernels.Grid{Dims: 1, Global: [3]int{groups * rowsGroup}, Local: [3]int{rowsGroup}}
				}
			}
			r.formed = append(r.formed, &form)
			formOf.Store(&form, k)
		}
		r.kernel = k
	})
	return r.kernel
}

// For returns the kernel for lines of n elements: a form, where they are rows on a GPU.
func (r *RowKernel) For(n, inner int, l kernels.Target) *kernels.Kernel {
	k := r.Kernel()
	if l.CPU || inner != 1 {
		return k
	}
	return r.formed[min(bits.Len(uint(max(n-1, 0)/8)), len(r.formed)-1)]
}

// RowForm returns the kernel of which k is a form for rows, nil if it is none.
func RowForm(k *kernels.Kernel) *kernels.Kernel {
	of, _ := formOf.Load(k)
	plain, _ := of.(*kernels.Kernel)
	return plain
}

// rowsOfForm is what a form for GPUs has of the Rows of its kernel.
func rowsOfForm(r *fused.RowSpec, lanes int) *fused.RowSpec {
	form := *r
	form.Of = func(a []kernels.Arg, l kernels.Target) *fused.RowTiling {
		if l.CPU {
			return nil
		}
		of := r.Of(a, kernels.Target{CPU: true})
		if of != nil && of.Run == 0 {
			of.Run = rowsGroup / lanes
		}
		return of
	}
	return &form
}
