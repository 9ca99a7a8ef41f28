package ops

import (
	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/ir"
)

// rowBound returns how far element i of a result may be off. exact returns the arguments after a run
// in double precision, eps is the spacing at 1, least the least normal number.
type rowBound func(exact func() []kernels.Arg, eps, least float64, args []kernels.Arg) func(param, i int) float64

// rowKernel is the kernel of a row program with a tolerance, of which bound is the Bound.
func rowKernel(program func() *ir.Program, forms []laneForm, tol kernels.Tolerance, bound rowBound, cases func(s rowSizes) []kernels.Case) *RowKernel {
	r := &RowKernel{forms: forms, cases: cases}
	r.build = func() *kernels.Kernel {
		p := program()
		k, functions, local := lower.Rows(p)
		at := lower.Sizes(p)
		k.Grid, k.Tol, k.Describe = lines(at), tol, describeRows(p)
		if bound != nil {
			k.Tol.Bound = func(real kernels.DType, args []kernels.Arg) func(param, i int) float64 {
				eps, least := real.Epsilon()
				return bound(exactly(k.Twin, args), eps, least, args)
			}
		}
		k.Rows = byRows(p.Name, local, func(a []kernels.Arg) (rows, run int, of []kernels.Cut) {
			if n := int(a[at+1].Int); n > 0 && a[at+2].Int == 1 && (!p.Parts || int(a[at+3].Int) >= n) {
				of = lower.Cuts(p, n)
			}
			return int(a[at].Int), 0, of
		})
		k.Rows.Text = functions
		r.lines = func(a []kernels.Arg) int {
			lines := int(a[at].Int)
			if p.Parts {
				lines *= lower.Parts(int(a[at+1].Int), int(a[at+3].Int))
			}
			return lines
		}
		return tried(k, func([]kernels.Operand) bool { return true })
	}
	return r
}

// with returns r with what change does to its kernel.
func (r *RowKernel) with(change func(k *kernels.Kernel)) *RowKernel {
	build := r.build
	r.build = func() *kernels.Kernel {
		k := build()
		change(k)
		return k
	}
	return r
}
