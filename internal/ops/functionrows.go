package ops

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/operation"
)

// together is several functions in one kernel, each of rows of its own: for function j, and c below
// n,
//
//	Y[j·n + c] = fⱼ(X0[j·n + c], X1[j·n + c], …)
//
// No operation launches one. Drivers take a tenth of a second for a kernel: so the formulas of all
// functions can be tried, in vectors and one by one, in the time of a few.
type functionRows struct {
	functions []*kernels.Function
	programs  []*expr.Program
	typ       kernels.DType // Float32 for floats
	operands  []int         // those that a function uses
}

// How many functions are in a kernel, and how many elements of a row a work-item of a CPU computes.
const (
	functionRowsMost  = 8
	functionRowsChunk = 1024
)

// newFunctionRows returns the kernel of functions; conditions give 1 and 0 of the type.
func newFunctionRows(name string, typ kernels.DType, functions []*kernels.Function) *kernels.Kernel {
	t := &functionRows{functions: functions, typ: typ}
	for _, f := range functions {
		value := f.Value
		if f.Condition() {
			value = expr.Where(value, one, zero)
		}
		t.programs = append(t.programs, expr.Compile(value))
		for i := range f.Operands() {
			if f.Uses(i) && !slices.Contains(t.operands, i) {
				t.operands = append(t.operands, i)
			}
		}
	}
	slices.Sort(t.operands)
	k := &kernels.Kernel{Name: name, File: name + ".cl", GPU: name + ".gpu.cl", Text: t.text(name, true), GPUText: t.text(name, false),
		Params: t.params(), Cases: t.cases, Semantics: t.semantics}
	n := t.nAt()
	k.Grid = func(args []kernels.Arg, l kernels.Target) kernels.Grid {
		if l.CPU {
			return kernels.Groups(intmath.CeilDiv(int(args[n].Int), functionRowsChunk), 1)
		}
		return kernels.Grid1D(intmath.CeilDiv(int(args[n].Int), fused.MapVector), l)
	}
	switch typ {
	case kernels.Int32:
		k.Defines = "-DELEM=int"
		k.Host = kernels.ElementHostKernel(functionRowsHost[int32, int32](t))
	default:
		k.Host = kernels.HostKernel{F32: functionRowsHost[float32, float32](t), F64: functionRowsHost[float64, float64](t)}
		k.Tol = kernels.Tolerance{ULP: 1, Bound: t.bound}
	}
	return k
}

func (t *functionRows) nAt() int { return len(t.operands) + 1 }

// scalars calls f with the place of every scalar of function j among the arguments.
func (t *functionRows) scalars(j int, f func(i, at int)) {
	at := t.nAt() + 1
	for k, g := range t.functions[:j+1] {
		for i := range g.Scalars {
			if !g.UsesScalar(i) {
				continue
			}
			if k == j {
				f(i, at)
			}
			at++
		}
	}
}

func (t *functionRows) params() []kernels.Param {
	in, out, number := kernels.In, kernels.Out, kernels.FloatParam
	if t.typ == kernels.Int32 {
		in, out, number = kernels.InInts, kernels.OutInts, kernels.IntParam
	}
	var ps []kernels.Param
	for _, i := range t.operands {
		ps = append(ps, kernels.Param{Name: fmt.Sprintf("X%d", i), Mode: in})
	}
	ps = append(ps, kernels.Param{Name: "Y", Mode: out}, kernels.Param{Name: "n", Mode: kernels.IntParam})
	for j := range t.functions {
		t.scalars(j, func(i, _ int) { ps = append(ps, kernels.Param{Name: fmt.Sprintf("s%d_%d", j, i), Mode: number}) })
	}
	return ps
}

func (t *functionRows) text(name string, cpu bool) string {
	var s strings.Builder
	p := func(format string, a ...any) { fmt.Fprintf(&s, format+"\n", a...) }
	depends := []string{"common"}
	for _, program := range t.programs {
		for _, file := range program.Depends() {
			if !slices.Contains(depends, file) {
				depends = append(depends, file)
			}
		}
	}
	p("// @depends: %s", strings.Join(depends, ", "))
	p("// Functions of rows of their own, element by element: Y[j * n + c] = fj(X0[j * n + c] ...), as internal/ops/functionrows.go has it.")
	s.WriteString(expr.Prelude)
	scalar, width := "REAL", fused.MapVectorCPU
	if t.typ == kernels.Int32 {
		scalar = "int"
	}
	if !cpu {
		width = fused.MapVector
	}
	uses := make([][]int, len(t.functions))
	numbers := make([][]int, len(t.functions))
	for j, f := range t.functions {
		for i := range f.Operands() {
			if f.Uses(i) {
				uses[j] = append(uses[j], i)
			}
		}
		t.scalars(j, func(i, _ int) { numbers[j] = append(numbers[j], i) })
		p("// %d: %s", j, f.Name)
		for _, w := range []int{1, width} {
			types := expr.Types{Vector: scalar, Scalar: scalar, Width: w, Whole: t.typ == kernels.Int32}
			if w > 1 {
				types.Vector += fmt.Sprint(w)
			}
			s.WriteString(t.programs[j].Function(fmt.Sprintf("f%d_%d", j, w), types, uses[j], numbers[j]))
		}
	}
	var params []string
	for i, q := range t.params() {
		switch {
		case i < len(t.operands):
			params = append(params, "IN("+q.Name+")")
		case i == len(t.operands):
			params = append(params, "OUT(Y)")
		case q.Mode == kernels.IntParam:
			params = append(params, "int "+q.Name)
		default:
			params = append(params, "REAL "+q.Name)
		}
	}
	p("kernel void %s(%s) {", name, strings.Join(params, ", "))
	if cpu {
		p("    const int from = get_global_id(0) * %d, to = from + min(n - from, %d);", functionRowsChunk, functionRowsChunk)
	} else {
		p("    const int from = get_global_id(0) * %d, to = from + min(n - from, %d);", width, width)
		p("    if (from >= n) return;")
	}
	for j := range t.functions {
		call := func(w int, load string) string {
			var args []string
			for _, i := range uses[j] {
				args = append(args, fmt.Sprintf(load, i, i, j))
			}
			for _, i := range numbers[j] {
				args = append(args, fmt.Sprintf("s%d_%d", j, i))
			}
			return fmt.Sprintf("f%d_%d(%s)", j, w, strings.Join(args, ", "))
		}
		p("    {\n        int c = from;")
		p("        for (; c <= to - %d; c += %d) vstore%d(%s, 0, Y + Y_off + %d * n + c);", width, width, width,
			call(width, fmt.Sprintf("vload%d(0, X%%d + X%%d_off + %%d * n + c)", width)), j)
		p("        for (; c < to; c++) Y[Y_off + %d * n + c] = %s;\n    }", j, call(1, "X%d[X%d_off + %d * n + c]"))
	}
	p("}")
	return s.String()
}

func functionRowsHost[E interface {
	kernels.Element
	expr.Number
}, T expr.Number](t *functionRows) func(kernels.HostArgs[E]) {
	return func(c kernels.HostArgs[E]) {
		n := c.Int(t.nAt())
		y := any(c.Floats(len(t.operands))).([]T)
		for j, f := range t.functions {
			eval := expr.NewEval[T](t.programs[j])
			at := map[int]int{}
			t.scalars(j, func(i, arg int) { at[i] = arg })
			eval.Scalars(func(i int) T {
				if t.typ == kernels.Int32 {
					return T(c.Int(at[i]))
				}
				return T(c.Float(at[i]))
			})
			for from := 0; from < n; from += expr.Block {
				to := min(n, from+expr.Block)
				operands := make([][]T, f.Operands())
				for k, i := range t.operands {
					if i < len(operands) && f.Uses(i) {
						operands[i] = any(c.Floats(k)).([]T)[j*n+from : j*n+to]
					}
				}
				eval.Run(y[j*n+from:j*n+to], operands)
			}
		}
	}
}

// bound is that of each element from its own operands.
func (t *functionRows) bound(float kernels.DType, args []kernels.Arg) func(param, i int) float64 {
	n := int(args[t.nAt()].Int)
	eps, least := float.Epsilon()
	return func(_, i int) float64 {
		j := i / n
		at := map[int]int{}
		t.scalars(j, func(k, arg int) { at[k] = arg })
		_, bound := t.programs[j].Bound(func(o int) (value, off float64) {
			return args[slices.Index(t.operands, o)].At(i), 0
		}, func(s int) float64 { return args[at[s]].Float }, eps, least)
		return bound
	}
}

// cases are of few lengths: a host kernel and a description go over all functions. One has all pairs of
// special values.
func (t *functionRows) cases(few bool) []kernels.Case {
	lengths := []int{7, 60}
	if !few {
		lengths = []int{0, 1, 7, 257, functionRowsChunk + 5}
	}
	var cases []kernels.Case
	for _, n := range lengths {
		cases = append(cases, kernels.Case{Name: fmt.Sprintf("n=%d", n), Build: func(o *kernels.Operands) { t.operandsOf(o, n, t.drawn(o, n)) }})
	}
	if t.typ == kernels.Float32 {
		n := len(specialValuesOf) * len(specialValuesOf)
		cases = append(cases, kernels.Case{Name: "special values", Build: func(o *kernels.Operands) { t.operandsOf(o, n, t.special) }})
	}
	return cases
}

var specialValuesOf = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 2, -3}

// special is element c of an operand of function j: each pair of special values occurs. A gradient
// has the function's value there, and 1 for its gradient.
func (t *functionRows) special(operand, j, c int) float64 {
	f, n := t.functions[j], len(specialValuesOf)
	at := func(i int) float64 { return specialValuesOf[[]int{c / n, c % n, 3 * c % n}[i]] }
	of := f.Of()
	switch {
	case of == nil || operand < of.Operands():
		return at(operand)
	case operand > of.Operands():
		return 1
	}
	var x []float64
	for i := range of.Operands() {
		x = append(x, at(i))
	}
	return of.At(of.Scalars, x...)
}

// drawn returns elements drawn from the domains of the functions, which begin with values that
// break careless kernels.
func (t *functionRows) drawn(o *kernels.Operands, n int) func(operand, j, c int) float64 {
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1e-42, -1e-42, 3e38}
	seconds := []float64{math.NaN(), math.Inf(1), 0, math.Copysign(0, -1)}
	return func(operand, j, c int) float64 {
		f := t.functions[j]
		if t.typ == kernels.Int32 {
			return whole(operand, c, o.Rand.Uint32())
		}
		domain := f.Domain(operand)
		v := domain[0] + (domain[1]-domain[0])*o.Rand.Float64()
		kinks := len(special)
		switch {
		case f.Condition() && c%2 == 0: // whole numbers, so that some are equal
			v = math.Round(v)
		case operand == 0 && n > 16 && c >= kinks && c < kinks+min(2, len(f.NonDifferentiable)):
			v = f.NonDifferentiable[c-kinks]
		}
		switch {
		case f.IsGradient() && operand == 0 && c < 5: // what is finite stays so in the products of single precision
			v = special[c]
		case f.IsGradient():
		case operand == 0 && c < len(special):
			v = special[c]
		case operand > 0 && n > 16 && c >= 10 && c < 10+len(seconds): // beside other elements of operand 0 than its special ones
			v = seconds[c-10]
		case operand > 0 && n > 16 && (c == 1 || c == 3): // and beside the same
			v = special[c]
		}
		return v
	}
}

// operandsOf are rows of n elements for each function.
func (t *functionRows) operandsOf(o *kernels.Operands, n int, element func(operand, j, c int) float64) {
	for _, operand := range t.operands {
		draw := func(i int) float64 { return element(operand, i/max(n, 1), i%max(n, 1)) }
		if t.typ == kernels.Int32 {
			o.Ints(n*len(t.functions), func(i int) int { return int(draw(i)) })
		} else {
			o.Floats(n*len(t.functions), draw)
		}
	}
	if t.typ == kernels.Int32 {
		o.Ints(n*len(t.functions), func(int) int { return 77 })
	} else {
		o.Out(n * len(t.functions))
	}
	o.Int(n)
	for j, f := range t.functions {
		t.scalars(j, func(i, _ int) {
			if t.typ == kernels.Int32 {
				o.Int(int(math.Ceil(f.Scalars[i])))
			} else {
				o.Float(f.Scalars[i])
			}
		})
	}
}

// whole is element c of an operand of integers: the ends of the range, zeros, and small and large
// numbers.
func whole(operand, c int, random uint32) float64 {
	ends := []int32{math.MinInt32, math.MaxInt32, -1, 0, 1, 31, 32}
	switch {
	case operand == 0 && c < 49:
		return float64(ends[c/7])
	case c < 49:
		return float64(ends[c%7])
	case c%3 == 0:
		return float64(int32(random))
	}
	return float64(int32(random%80) - 40)
}

func (t *functionRows) semantics(args []kernels.Arg) []kernels.Op {
	n := int(args[t.nAt()].Int)
	var list []kernels.Op
	for j, f := range t.functions {
		m := &operation.Map{Dims: []int{n}, Operands: make([]kernels.View, f.Operands())}
		for k, i := range t.operands {
			if i < len(m.Operands) && f.Uses(i) {
				m.Operands[i] = kernels.ViewOf(args, k, j*n, 1)
			}
		}
		r := operation.Result{Function: f, Scalars: make([]operation.Scalar, len(f.Scalars)),
			View: kernels.ViewOf(args, len(t.operands), j*n, 1)}
		t.scalars(j, func(i, at int) { r.Scalars[i] = operation.ArgScalar(at) })
		m.Results = []operation.Result{r}
		list = append(list, m)
	}
	return list
}

// allFunctionRows returns kernels of functions, those of integers among them in int32 too, and of their
// gradients.
func allFunctionRows(functions []*kernels.Function) []*kernels.Kernel {
	values := map[bool][]*kernels.Function{}
	var integers []*kernels.Function
	for _, f := range functions {
		if f.Integers {
			integers = append(integers, f)
		}
		if f.Whole() {
			continue
		}
		values[false] = append(values[false], f)
		for i := range f.Operands() {
			if d := f.Gradient(i); !d.Is(f.Operands()+1) && !d.IsZero() {
				values[true] = append(values[true], d)
			}
		}
	}
	var all []*kernels.Kernel
	add := func(kind string, typ kernels.DType, list []*kernels.Function) {
		i := 0
		for part := range slices.Chunk(list, functionRowsMost) {
			all = append(all, newFunctionRows(fmt.Sprintf("k_%s_%d", kind, i), typ, part))
			i++
		}
	}
	add("functions", kernels.Float32, values[false])
	add("gradients", kernels.Float32, values[true])
	add("integers", kernels.Int32, integers)
	return all
}
