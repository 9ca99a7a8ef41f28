package ops

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// LinearGrad returns the kernel of the gradient of a layer Y = f(Z), Z = X·W + b, before its matrix
// products: D = f'(Z)·G, and the sums of the columns of D over runs of its rows. d is a gradient of
// f: a function of Z, Y and G. Arguments: those of Z, Y and G [rows, cols] that occur in d, D
// [rows, cols], P [⌈rows/run⌉, cols], rows, cols, run, and the scalars that occur in d.
func LinearGrad(d *kernels.Function) *kernels.Kernel {
	return fused.KernelFor(d, fused.Variant{Kernel: "linear_grad"}, func() *kernels.Kernel { return newLinearGrad(d) })
}

// linearGrad is the gradient of a layer while its kernel is made.
type linearGrad struct {
	derivative *inner
	ins        int // how many of Z, Y and G there are: where D is
}

// Where the arguments are that come after the operands of d.
func (g *linearGrad) rows() int    { return g.ins + 2 }
func (g *linearGrad) cols() int    { return g.ins + 3 }
func (g *linearGrad) run() int     { return g.ins + 4 }
func (g *linearGrad) scalars() int { return g.ins + 5 }

func newLinearGrad(d *kernels.Function) *kernels.Kernel {
	fn := newInner(d)
	g := &linearGrad{fn, len(fn.uses)}
	var params []kernels.Param
	var inputs, one, sixteen []string
	for _, i := range fn.uses {
		name := [...]string{"Z", "Y", "G"}[i]
		params = append(params, in(name))
		inputs = append(inputs, "IN("+name+"), ")
		one = append(one, fmt.Sprintf("%s[%s_off + (at)]", name, name))
		sixteen = append(sixteen, fmt.Sprintf("vload16(0, %s + %s_off + (at))", name, name))
	}
	params = append(append(params, out("D"), out("P"), intArg("rows"), intArg("cols"), intArg("run")), fn.params()...)
	macros := []string{"SLOPE_INPUTS " + strings.Join(inputs, ""), "SLOPE_PARAMS " + fn.each(", REAL s%d"),
		fmt.Sprintf("SLOPE(at) f1(%s%s)", strings.Join(one, ", "), fn.each(", s%d"))}
	wide := fmt.Sprintf("SLOPE16(at) f16(%s%s)", strings.Join(sixteen, ", "), fn.each(", s%d"))
	name := strings.TrimPrefix(d.Entry(), "k_")
	return &kernels.Kernel{Name: "k_linear_grad", File: "linear_cpu_" + name + ".cl", GPU: "linear_gpu_" + name + ".cl", Params: params,
		Text: fn.source("linear_cpu", []int{1, 16}, append(slices.Clip(macros), wide)...), GPUText: fn.source("linear_gpu", []int{1}, macros...),
		Grid: func(a []kernels.Arg, l kernels.Target) kernels.Grid {
			cols, runs := int(a[g.cols()].Int), intmath.CeilDiv(int(a[g.rows()].Int), int(a[g.run()].Int))
			if l.CPU {
				return kernels.Groups(intmath.CeilDiv(cols, 16), runs)
			}
			return kernels.Grid2D(cols, runs, l)
		},
		Host:  kernels.HostKernel{F32: linearGradHost[float32](g), F64: linearGradHost[float64](g)},
		Tol:   kernels.Tolerance{ULP: 4, Bound: g.bound},
		Cases: g.cases, Semantics: g.semantics, Fusions: fused.Fusions{Split: g.parts},
		SelfTest: func(like []kernels.Arg) []kernels.Operand { return g.selfTest(params, like) },
	}
}

// parts are the function of every element, and the sums of columns. There are none of a costly
// function: tiles of a product are few, and take longer over it than a launch of its own that fills
// the device. What is not costly has the same bits in vectors.
func (g *linearGrad) parts(a []kernels.Arg, l kernels.Target) []fused.Launch {
	if !g.derivative.program.Simple() {
		return nil
	}
	d, cols := a[g.ins], int(a[g.cols()].Int)
	layout := fused.AccessPattern{Rank: 1, Aligned: !l.CPU}
	for _, t := range a[:g.ins+1] {
		layout.Aligned = layout.Aligned && t.Off%fused.MapVector == 0
	}
	args := append(slices.Clone(a[:g.ins+1]), kernels.IntArg(int(a[g.rows()].Int)*cols))
	return []fused.Launch{
		{Kernel: fused.Map(g.derivative.f.Alone(), kernels.Float32, layout), Args: append(args, a[g.scalars():]...)},
		{Kernel: ColumnSums, Args: []kernels.Arg{d, a[g.ins+1], a[g.rows()], a[g.cols()], a[g.run()]}},
	}
}

// LinearGradRun chooses the length of the runs: short enough that they fill the device, and that
// their running sums are exact to sumRun roundings.
func LinearGradRun(rows int, l kernels.Target) int {
	runs := 8 * l.Units
	if l.CPU {
		runs = 2 * l.Units
	}
	return min(sumRun, max(16, intmath.CeilDiv(rows, runs)))
}

func linearGradHost[T kernels.Float](g *linearGrad) func(kernels.HostArgs[T]) {
	functions := blocksPool[T](g.derivative)
	return func(c kernels.HostArgs[T]) {
		d, p, rows, cols, run := c.Floats(g.ins), c.Floats(g.ins+1), c.Int(g.rows()), c.Int(g.cols()), c.Int(g.run())
		loops := loopsOf(c)
		c.Parallel(intmath.CeilDiv(rows, run), run*cols, func(lo, hi int) {
			b := functions.Get().(*blocks[T])
			defer functions.Put(b)
			b.scalars(c, g.scalars())
			for z := lo; z < hi; z++ {
				from, to := z*run*cols, min(rows, (z+1)*run)*cols
				var operands [3][]T
				for i := range g.ins {
					operands[i] = c.Floats(i)[from:to]
				}
				b.run(d[from:to], operands[:g.ins]...)
				addRows(loops, p[z*cols:(z+1)*cols], d[from:to])
			}
		})
	}
}

// bound is, of a share, that of the elements that it is the sum of, and of adding them.
func (g *linearGrad) bound(float kernels.DType, args []kernels.Arg) func(param, i int) float64 {
	eps, _ := float.Epsilon()
	rows, cols, run := int(args[g.rows()].Int), int(args[g.cols()].Int), int(args[g.run()].Int)
	element := func(i int) (value, bound float64) {
		return g.derivative.bound(float, args, g.scalars(), func(operand int) (value, off float64) {
			return args[slices.Index(g.derivative.uses, operand)].At(i), 0
		})
	}
	return func(param, i int) float64 {
		if param == g.ins {
			_, bound := element(i)
			return bound
		}
		z, c := i/cols, i%cols
		total, size := 0.0, 0.0
		for r := z * run; r < min(rows, (z+1)*run); r++ {
			value, bound := element(r*cols + c)
			total += bound
			size += math.Abs(value)
		}
		return total + 2*float64(run)*eps*size
	}
}

// cases are the launches that test the gradient of a layer, around the vectors of its columns.
func (g *linearGrad) cases(few bool) []kernels.Case {
	var cases []kernels.Case
	for i, s := range [][2]int{{1, 1}, {3, 5}, {17, 3}, {5, 33}, {64, 64}, {130, 67}, {65, 16}, {70, 40}} {
		rows, cols, run := s[0], s[1], 1+3*i
		if few && rows*cols > 3000 {
			continue
		}
		cases = append(cases, kernels.Case{Name: fmt.Sprintf("%dx%d in runs of %d", rows, cols, run), Build: func(o *kernels.Operands) {
			for _, operand := range g.derivative.uses {
				low, high := g.domain(operand)
				o.In(rows*cols, low, high)
			}
			o.Out(rows*cols).Out(intmath.CeilDiv(rows, run)*cols).Int(rows, cols, run).Float(g.derivative.values()...)
		}})
	}
	return cases
}

// domain returns where an operand is drawn: Z where its function is, Y with both signs.
func (g *linearGrad) domain(operand int) (low, high float64) {
	if operand == 1 {
		return -1, 1
	}
	d := g.derivative.f.Domains[operand]
	return d[0], d[1]
}

func (g *linearGrad) selfTest(params []kernels.Param, like []kernels.Arg) []kernels.Operand {
	ops := selftest.OperandsLike(params, like)
	for k, operand := range g.derivative.uses {
		if ops != nil {
			ops[k].Lo, ops[k].Hi = g.domain(operand)
		}
	}
	return ops
}
