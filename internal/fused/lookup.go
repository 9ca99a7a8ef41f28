package fused

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/trial"
)

// Lookup is a form of a kernel for rows that consist of parts of which few differ. These lie in a
// table, and in the place of reals of one parameter the form takes ints: at which element of the
// table each part of each row begins. A launch that writes those ints writes less, and computes
// what the table holds only once; one that reads by them computes what it would of the rows.
type Lookup struct {
	Param int                          // of the kernel: rows that follow each other
	Parts int                          // of each row, as long as each other
	Rows  func(args []kernels.Arg) int // of a launch of the kernel
	// Kernel has ints at Param and, if it reads them, one parameter more: the table, of reals.
	Kernel *kernels.Kernel
	// Table returns the launch that makes the table for a launch that writes, with the bits that
	// this would write: its kernel, the arguments after the first, which is the table, and how many
	// reals that has. Nil where the form reads.
	Table func(args []kernels.Arg) (k *kernels.Kernel, rest []kernels.Arg, n int)
}

// LookedUp returns the form of k that reads the rows of parameter i by ints: parts of each, of
// width reals. Host, Tol, Cases and Trial are made of those of k. The caller says how its entry
// point becomes one of ints.
func LookedUp(k *kernels.Kernel, i, parts, width int) *kernels.Kernel {
	form := *k
	forms := Of(k)
	forms.Lookup = nil
	form.Fusions, form.Params = forms, append(append([]kernels.Param(nil), k.Params...),
		kernels.Param{Name: "TABLE", Mode: kernels.In})
	form.Params[i].Mode = kernels.InInts
	form.Host = kernels.HostKernel{F32: lookingHost(k.Host.F32, i, width), F64: lookingHost(k.Host.F64, i, width)}.Calling(k)
	if scale := k.Tol.Scale; scale != nil {
		form.Tol.Scale = func(args []kernels.Arg) float64 {
			own := append([]kernels.Arg(nil), args[:len(k.Params)]...)
			own[i] = args[len(k.Params)]
			return scale(own)
		}
	}
	form.Cases = func(few bool) []kernels.Case {
		var cases []kernels.Case
		for _, c := range k.Cases(few) {
			cases = append(cases, kernels.Case{Name: c.Name, Build: func(o *kernels.Operands) {
				c.Build(o)
				at := len(o.Args) - len(k.Params) + i
				rows := o.Args[at]
				n := rows.N / width
				o.Ints(n, func(e int) int { return (n - 1 - e) * width }) // the table has the parts the other way round
				o.Args[at] = o.Args[len(o.Args)-1]
				o.Args = o.Args[:len(o.Args)-1]
				o.Reals(rows.N, func(e int) float64 { return rows.At((n-1-e/width)*width + e%width) })
			}})
		}
		return cases
	}
	form.Trial = func(like []kernels.Arg) []kernels.Operand {
		if like == nil {
			return nil
		}
		own := append([]kernels.Arg(nil), like[:len(k.Params)]...)
		own[i].N *= width
		ops := k.Trial(own)
		if ops == nil {
			return nil
		}
		const entries = 64
		ops[i] = trial.Derived(ops[i].N/width, func(_ []kernels.Arg, e int) float64 {
			return float64(e * 7 % entries * width)
		})
		return append(ops, trial.Draw(entries*width, -1, 1))
	}
	return &form
}

// lookingHost is a host kernel whose rows of argument i are looked up in the last.
func lookingHost[T kernels.Real](host func(kernels.HostArgs[T]), i, width int) func(kernels.HostArgs[T]) {
	if host == nil {
		return nil
	}
	return func(c kernels.HostArgs[T]) {
		at, table := c.Ints(i), c.Reals(len(c.Args())-1)
		rows := make([]T, len(at)*width)
		for e, from := range at {
			copy(rows[e*width:(e+1)*width], table[from:])
		}
		args := append([]kernels.Arg(nil), c.Args()[:len(c.Args())-1]...)
		args[i] = kernels.BufferArg(kernels.HostBufferOf(rows), 0, len(rows))
		host(c.With(args, false))
	}
}
