package ops

import (
	"fmt"
	"strings"
	"sync"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
)

// inner is an element-wise function that a kernel computes on its way. In OpenCL C it stands in a
// text before the kernel's file, which calls it by macros; in Go it is computed over blocks.
type inner struct {
	f             *kernels.Function
	program       *expr.Program
	uses, scalars []int // the operands and the scalars that occur
}

func newInner(f *kernels.Function) *inner {
	fn := &inner{f: f, program: expr.Compile(f.Value)}
	for i := range f.Operands() {
		if f.Uses(i) {
			fn.uses = append(fn.uses, i)
		}
	}
	for i := range f.Scalars {
		if f.UsesScalar(i) {
			fn.scalars = append(fn.scalars, i)
		}
	}
	return fn
}

// source returns the OpenCL C of the function for vectors of some widths, f1, f4 …, with macros,
// before a file.
func (fn *inner) source(then string, widths []int, macros ...string) string {
	var s strings.Builder
	fmt.Fprintf(&s, "// @depends: %s\n// @then: %s\n// %s, within %s.cl.\n\n%s\n", strings.Join(append([]string{"common"}, fn.program.Depends()...), ", "),
		then, fn.f.Name, then, expr.Prelude)
	for _, w := range widths {
		t := expr.Types{Vector: "REAL", Scalar: "REAL", Width: w}
		if w > 1 {
			t.Vector += fmt.Sprint(w)
		}
		fmt.Fprintf(&s, "%s\n", fn.program.Function(fmt.Sprintf("f%d", w), t, fn.uses, fn.scalars))
	}
	for _, m := range macros {
		fmt.Fprintf(&s, "#define %s\n", m)
	}
	return s.String()
}

// each returns a text for every scalar that occurs, in which %d is its number.
func (fn *inner) each(form string) string {
	var s strings.Builder
	for _, i := range fn.scalars {
		fmt.Fprintf(&s, form, i)
	}
	return s.String()
}

// params returns the parameters of the scalars.
func (fn *inner) params() []kernels.Param {
	var ps []kernels.Param
	for _, i := range fn.scalars {
		ps = append(ps, floatArg(fmt.Sprintf("s%d", i)))
	}
	return ps
}

// values returns the scalars that tests take.
func (fn *inner) values() []float64 {
	var vs []float64
	for _, i := range fn.scalars {
		vs = append(vs, fn.f.Scalars[i])
	}
	return vs
}

// bound returns the value of the function of operands, with their errors, and how far from it a
// device may be, where the scalars are the arguments from one on.
func (fn *inner) bound(float kernels.DType, args []kernels.Arg, scalars int, operand func(i int) (value, off float64)) (value, bound float64) {
	eps, least := float.Epsilon()
	at := map[int]float64{}
	for k, i := range fn.scalars {
		at[i] = args[scalars+k].Float
	}
	return fn.program.Bound(operand, func(i int) float64 { return at[i] }, eps, least)
}

// blocks computes an inner function in Go, for one goroutine at a time.
type blocks[T kernels.Float] struct {
	fn       *inner
	eval     *expr.Eval[T]
	operands [][]T
}

// blocksPool holds what launches leave to each other.
func blocksPool[T kernels.Float](fn *inner) *sync.Pool {
	return &sync.Pool{New: func() any { return &blocks[T]{fn, expr.NewEval[T](fn.program), make([][]T, fn.f.Operands())} }}
}

// scalars takes those of a call, which are its arguments from one on, and whether it may use
// vectors.
func (b *blocks[T]) scalars(c kernels.HostArgs[T], from int) {
	b.eval.Vectors(c.Vectors())
	b.eval.Scalars(func(i int) T {
		for k, s := range b.fn.scalars {
			if s == i {
				return c.Float(from + k)
			}
		}
		return 0
	})
}

// run computes as many elements as out has, from operands in the order in which they occur. out may
// be one of them.
func (b *blocks[T]) run(out []T, operands ...[]T) {
	for lo := 0; lo < len(out); lo += expr.Block {
		hi := min(lo+expr.Block, len(out))
		for k, i := range b.fn.uses {
			b.operands[i] = operands[k][lo:hi]
		}
		b.eval.Run(out[lo:hi], b.operands)
	}
}

// epilogues returns kernels of products and of gradients of layers with functions of all kinds:
// exact or not, with scalars and without, of a gradient that reads the operand or the value.
func epilogues(tile GemmTile) []*kernels.Kernel {
	all := []*kernels.Kernel{Gemm(NT, tile, fn.Tanh), Gemm(TN, tile, fn.Softplus)}
	for _, f := range []*kernels.Function{fn.Clamp, fn.Tanh, fn.Softplus, fn.ReLU, fn.LeakyReLU, fn.Sigmoid, fn.Sine, fn.RDivScalar} {
		all = append(all, Gemm(NN, tile, f), LinearGrad(f.CheapestGradient(f.Scalars)))
	}
	return append(all, LinearGrad(fn.LeakyReLU.Gradient(0)))
}
