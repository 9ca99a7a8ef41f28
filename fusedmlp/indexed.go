package fusedmlp

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// indexedForm is the form of a kernel that reads its inputs in a table: see [TableIndexed].
type indexedForm struct {
	kernel *kernels.Kernel
	parts  int
}

// TableIndexed returns the form of a fused step's kernel ([Step.Loss]) for inputs that consist of
// parts of which few differ, such as the encodings of the columns and the rows of a picture. In the
// place of X [n, inputs] it reads int32 [n, parts]: at which element of a table each part begins, of
// inputs/parts elements. The table is an argument more, the last. It computes what the kernel does of
// the rows. Nil: there is none; steps on matrix units have one.
func TableIndexed(k *kernels.Kernel) (form *kernels.Kernel, parts int) {
	f, _ := k.Fusions.(indexedForm)
	return f.kernel, f.parts
}

// indexed returns the form of k whose inputs lie in a table, in parts of width elements. Its cases and
// its trial are those of k.
func indexed(k *kernels.Kernel, width int) *kernels.Kernel {
	form := *k
	form.Name, form.Defines = k.Name+"_lookup", k.Defines+" -DLOOKUP"
	form.Fusions, form.Params = nil, append(slices.Clone(k.Params), in("TABLE"))
	form.Params[0].Mode = kernels.InInts
	form.Host = kernels.HostKernel{F32: indexedHost(k.Host.F32, width)}
	form.Tol.Scale = func(args []kernels.Arg) float64 {
		own := slices.Clone(args[:len(k.Params)])
		own[0] = args[len(k.Params)]
		return k.Tol.Scale(own)
	}
	form.Cases = func(few bool) []kernels.Case {
		var cases []kernels.Case
		for _, c := range k.Cases(few) {
			cases = append(cases, kernels.Case{Name: c.Name, Build: func(o *kernels.Operands) {
				c.Build(o)
				at := len(o.Args) - len(k.Params)
				rows := o.Args[at]
				n := rows.N / width
				o.Ints(n, func(e int) int { return (n - 1 - e) * width }) // the table has the parts the other way round
				o.Args[at] = o.Args[len(o.Args)-1]
				o.Args = o.Args[:len(o.Args)-1]
				o.Floats(rows.N, func(e int) float64 { return rows.At((n-1-e/width)*width + e%width) })
			}})
		}
		return cases
	}
	form.SelfTest = func(like []kernels.Arg) []kernels.Operand {
		if like == nil {
			return nil
		}
		own := slices.Clone(like[:len(k.Params)])
		own[0].N *= width
		ops := k.SelfTest(own)
		if ops == nil {
			return nil
		}
		const entries = 64
		ops[0] = selftest.Computed(ops[0].N/width, func(_ []kernels.Arg, e int) float64 {
			return float64(e * 7 % entries * width)
		})
		return append(ops, selftest.Uniform(entries*width, -1, 1))
	}
	return &form
}

// indexedHost is a host kernel whose argument 0 is looked up in the last.
func indexedHost(host func(kernels.HostArgs[float32]), width int) func(kernels.HostArgs[float32]) {
	return func(c kernels.HostArgs[float32]) {
		last := len(c.Args()) - 1
		at, table := c.Ints(0), c.Floats(last)
		rows := make([]float32, len(at)*width)
		for e, from := range at {
			copy(rows[e*width:(e+1)*width], table[from:])
		}
		args := slices.Clone(c.Args()[:last])
		args[0] = kernels.BufferArg(kernels.HostBufferOf(rows), 0, len(rows))
		host(c.With(args, false))
	}
}
