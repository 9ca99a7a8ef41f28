package ops

import (
	"slices"
	"strings"
	"sync"

	"github.com/clgrad/clgrad/internal/lower"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/ir"
)

// SumOf returns the form of Sum for terms and sums of some types, SumAxisOf that of SumAxis: floats of 16 bits
// are read and written as they lie, and computed in float32. SumAxis does not add to sums of 16 bits.
func SumOf(x, y kernels.DType) *kernels.Kernel     { return sumForms.of(Sum, x, y) }
func SumAxisOf(x, y kernels.DType) *kernels.Kernel { return sumForms.of(SumAxis, x, y) }

// sumForms has the forms that were made, by sumForm.
var sumForms sumTable

type sumTable struct{ sync.Map }

type sumForm struct {
	k    *kernels.Kernel
	x, y kernels.DType
}

func (t *sumTable) of(k *kernels.Kernel, x, y kernels.DType) *kernels.Kernel {
	if !x.Half() && !y.Half() {
		return k
	}
	key := sumForm{k, x, y}
	if made, ok := t.Load(key); ok {
		return made.(*kernels.Kernel)
	}
	made, _ := t.LoadOrStore(key, key.kernel())
	return made.(*kernels.Kernel)
}

// kernel returns the form. Several of its launches are one; nothing else is joined with it.
func (f sumForm) kernel() *kernels.Kernel {
	form, types := *f.k, []kernels.DType{f.x, f.y}
	form.Terms, form.Stores, form.Rows = nil, nil, nil
	form.Params = slices.Clone(f.k.Params)
	var defines []string
	for i, t := range types {
		if t.Half() {
			form.Params[i].Mode = []kernels.Mode{kernels.In, kernels.Out}[i].Of(t)
			defines = append(defines, []string{"-DX_HALF=", "-DY_HALF="}[i]+t.String())
		}
	}
	form.Defines = strings.Join(defines, " ")
	if eps, _ := f.y.Epsilon(); f.y.Half() {
		single, _ := kernels.Float32.Epsilon()
		form.Tol.ULP, form.Tol.Rel = 1, form.Tol.Rel*single/eps
	}
	form.Cases = func(few bool) (cases []kernels.Case) {
		for _, c := range f.k.Cases(few) {
			cases = append(cases, f.toSums(c.Of(types)))
		}
		return cases
	}
	run := f.chunks
	if f.k == SumAxis {
		b := ir.NewRows("sum_axis") // whose arguments begin as those of SumAxis
		b.Result("Y", b.Sum(b.Input("X", ir.Outer, ir.N, ir.Inner), ir.N))
		run = lower.Halves(b.Program(), types, f.k.Twin.F32)
	}
	form.Twin = kernels.Twin{F32: run}
	return &form
}

// toSums returns a case of SumAxis that does not add to sums of 16 bits.
func (f sumForm) toSums(c kernels.Case) kernels.Case {
	if f.k == Sum || !f.y.Half() {
		return c
	}
	return kernels.Case{Name: c.Name, Build: func(o *kernels.Operands) {
		c.Build(o)
		o.Args[6] = kernels.FlagArg(false)
	}}
}

// chunks is the Go code of Sum: chunks are widened one after the other.
func (f sumForm) chunks(c kernels.Call[float32]) {
	x, p, n, chunk := c.Args()[0], c.Args()[1], c.Int(2), c.Int(3)
	c.Parallel(p.N, chunk, func(lo, hi int) {
		terms, sums := make([]float32, min(n, chunk)), make([]float32, hi-lo)
		for g := lo; g < hi; g++ {
			some := terms[:max(0, min(n-g*chunk, chunk))]
			lower.Widen(c, some, x, g*chunk)
			part := []kernels.Arg{kernels.BufferArg(kernels.HostBufferOf(some), 0, len(some)),
				kernels.BufferArg(kernels.HostBufferOf(sums), g-lo, 1), kernels.IntArg(len(some)), kernels.IntArg(chunk), c.Args()[4]}
			f.k.Twin.F32(c.With(part, true))
		}
		lower.Narrow(c, sums, p, lo)
	})
}
