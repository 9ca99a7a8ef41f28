package ops

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
	"github.com/clgrad/clgrad/kernels/ir"
	"github.com/clgrad/clgrad/kernels/operation"
)

// The bits of the form of a cross-entropy: see defs.EntropyForm.
const (
	EntropyWeights = 1 << iota
	EntropyLogits
	EntropySmoothing
	EntropyEach // of a gradient alone
)

func entropyForm(form int) defs.EntropyForm {
	return defs.EntropyForm{Weights: form&EntropyWeights != 0, Logits: form&EntropyLogits != 0, Smoothing: form&EntropySmoothing != 0, Each: form&EntropyEach != 0}
}

// The kernels of package defs' cross-entropies, by form.
//
// CrossEntropies: X, T, then W if there are weights, LOSS, COUNTED, MOST, LOGSUM, SLOPE, outer, len,
// inner, ignore, and smoothing if there is any.
//
// CrossEntropyGrads: X of logits, T, W, then of logits MOST, LOGSUM and SLOPE, G, D, and the numbers
// of the loss.
var (
	CrossEntropies = func() (all [EntropyEach]*RowKernel) {
		for form := range all {
			program := func() *ir.Program { return defs.CrossEntropy(entropyForm(form)) }
			all[form] = rowKernel(program, lanesForOne, func(s rowSizes) []kernels.Case { return crossEntropyCases(s, form, false) }).
				with(func(k *kernels.Kernel) { k.SelfTest, k.Semantics = smallOnly, crossEntropySemantics(form) })
		}
		return all
	}()
	CrossEntropyGrads = func() (all [2 * EntropyEach]*RowKernel) {
		for form := range all {
			program := func() *ir.Program { return defs.CrossEntropyGrad(entropyForm(form)) }
			all[form] = rowKernel(program, lanesForTwo, func(s rowSizes) []kernels.Case { return crossEntropyCases(s, form, true) }).
				with(func(k *kernels.Kernel) { k.SelfTest, k.Semantics = smallOnly, crossEntropyGradSemantics(form) })
		}
		return all
	}()
)

// entropyAt is where the arguments of a form are.
type entropyAt struct{ labels, results, kept, g, sizes int }

func entropyArgs(form int, gradient bool) entropyAt {
	at := entropyAt{labels: 1, results: 2 + form&EntropyWeights}
	if gradient && form&EntropyLogits == 0 {
		at.labels, at.results = 0, at.results-1
	}
	if !gradient {
		at.sizes = at.results + 5
		return at
	}
	at.kept, at.g = at.results, at.results
	if form&EntropyLogits != 0 {
		at.g += 3
	}
	at.results = at.g + 1
	at.sizes = at.results + 1
	return at
}

func crossEntropySemantics(form int) func(args) operations {
	at := entropyArgs(form, false)
	return func(in args) operations {
		l := crossEntropySpec(in, form, at)
		part := func(i int) kernels.View { return view(in, at.results+i, 0, l.Inner, 1) }
		return operations{&operation.CrossEntropy{CrossEntropySpec: l, Loss: part(0), Counted: part(1), Most: part(2),
			LogSum: part(3), Slope: part(4)}}
	}
}

func crossEntropyGradSemantics(form int) func(args) operations {
	at := entropyArgs(form, true)
	return func(in args) operations {
		l, each := crossEntropySpec(in, form, at), form/EntropyEach&1
		op := &operation.CrossEntropyGrad{CrossEntropySpec: l, G: view(in, at.g, 0, l.Inner*each, each),
			D: view(in, at.results, 0, l.Len*l.Inner, l.Inner, 1)}
		if l.Logits {
			part := func(i int) kernels.View { return view(in, at.kept+i, 0, l.Inner, 1) }
			op.Most, op.LogSum, op.Slope = part(0), part(1), part(2)
		}
		return operations{op}
	}
}

func crossEntropySpec(in args, form int, at entropyAt) operation.CrossEntropySpec {
	outer, n, inner := int(in[at.sizes].Int), int(in[at.sizes+1].Int), int(in[at.sizes+2].Int)
	l := operation.CrossEntropySpec{Outer: outer, Len: n, Inner: inner, Logits: form&EntropyLogits != 0,
		Weighted: form&EntropyWeights != 0,
		Ignore:   int(in[at.sizes+3].Int), Smoothing: constant(0), Labels: view(in, at.labels, 0, inner, 1)}
	if at.labels > 0 {
		l.X = view(in, 0, 0, n*inner, inner, 1)
	}
	if l.Weighted {
		l.Weights = view(in, at.labels+1, 0, 1)
	}
	if form&EntropySmoothing != 0 {
		l.Smoothing = passed(at.sizes + 4)
	}
	return l
}
