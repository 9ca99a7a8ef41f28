package ops

import (
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// What the kernels of this package say of their launches, as package kernels has the words for it.
// Arguments are named by their numbers, which stand where the kernel is declared.

type (
	args       = []kernels.Arg
	operations = []kernels.Op
)

var (
	view     = kernels.ViewOf
	passed   = operation.ArgScalar
	constant = operation.ConstScalar
	tried    = selftest.With
)

// temporary returns a view of floats in temporary i.
func temporary(i int, strides ...int) kernels.View {
	return kernels.View{Arg: operation.Temp(i), Strides: strides}
}

// mapped is a Map of one result.
func mapped(f *kernels.Function, scalars []operation.Scalar, dims []int, y kernels.View,
	operands ...kernels.View) kernels.Op {
	return &operation.Map{Dims: dims, Operands: operands,
		Results: []operation.Result{{Function: f, Scalars: scalars, View: y}}}
}

// The formulas of kernels that have no function of package kernels.
var (
	x, w, v, u = expr.Input(0), expr.Input(1), expr.Input(2), expr.Input(3)
	a          = expr.Param(0)
	zero, one  = expr.Const(0), expr.Const(1)

	given   = &kernels.Function{Name: "given", Value: a, Integers: true, Scalars: []float64{1}}
	nothing = &kernels.Function{Name: "zero", Value: zero, Integers: true}
)

// fillSemantics: Y, n, value.
func fillSemantics(in args) operations {
	return operations{mapped(given, []operation.Scalar{passed(2)}, []int{int(in[1].Int)}, view(in, 0, 0, 1))}
}

// zeroSemantics: Y, n.
func zeroSemantics(in args) operations {
	return operations{mapped(nothing, nil, []int{int(in[1].Int)}, view(in, 0, 0, 1))}
}

// randomSemantics returns the description of a fill: Y, n, seed_lo, seed_hi, call, and its numbers.
func randomSemantics(of operation.Distribution) func(args) operations {
	return func(in args) operations {
		r := &operation.Random{Distribution: of, N: int(in[1].Int), Seed: [2]operation.Scalar{passed(2), passed(3)},
			Call: passed(4),
			A:    passed(5), B: constant(0), Y: view(in, 0, 0, 1)}
		if len(in) > 6 {
			r.B = passed(6)
		}
		return operations{r}
	}
}

// sumSemantics: X, P, n, chunk, scale.
func sumSemantics(in args) operations {
	shares := in[1].N
	return operations{
		&operation.Reduction{Function: fn.Add, Outer: 1, Len: int(in[2].Int), Inner: 1, Shares: shares, Chunk: int(in[3].Int),
			X: view(in, 0, 0, 0, 1, 0), Y: temporary(0, 0, 1, 0)},
		mapped(fn.MulScalar, []operation.Scalar{passed(4)}, []int{shares}, view(in, 1, 0, 1), temporary(0, 1)),
	}
}

// fold returns the reduction of the middle axis of argument 0, [outer, n, inner], to y.
func fold(f *kernels.Function, in args, outer, n, inner int, y kernels.View) *operation.Reduction {
	return &operation.Reduction{Function: f, Outer: outer, Len: n, Inner: inner, Shares: 1, Chunk: n,
		X: view(in, 0, 0, n*inner, inner, 1), Y: y}
}

// sumAxisSemantics: X, Y, outer, len, inner, scale, accumulate.
func sumAxisSemantics(in args) operations {
	outer, n, inner := int(in[2].Int), int(in[3].Int), int(in[4].Int)
	dims, scale := []int{outer * inner}, []operation.Scalar{passed(5)}
	y, sum := view(in, 1, 0, 1), temporary(0, 1)
	list := operations{fold(fn.Add, in, outer, n, inner, temporary(0, inner, 0, 1))}
	if in[6].Int == 0 {
		return append(list, mapped(fn.MulScalar, scale, dims, y, sum))
	}
	return append(list, mapped(fn.MulScalar, scale, dims, sum, sum), mapped(fn.Add, nil, dims, y, y, sum))
}

// semantics says what a product does.
func (p *product) semantics(in args) operations {
	num := func(i int) int { return int(in[i].Int) }
	m, n, k, lda, ldb, ldc, slice := num(gemmM), num(gemmN), num(gemmK), num(gemmLDA), num(gemmLDB), num(gemmLDC), num(gemmSlice)
	sum := &operation.MatMul{M: m, N: n, K: k, Slice: slice, Precision: p.tile.Inner.Precision(),
		A: view(in, gemmA, 0, lda, 1), B: view(in, gemmB, 0, ldb, 1), C: view(in, gemmC, 0, m*ldc, ldc, 1)}
	if p.form.TransposesA() {
		sum.A = view(in, gemmA, 0, 1, lda)
	}
	if p.form.TransposesB() {
		sum.B = view(in, gemmB, 0, 1, ldb)
	}
	if intmath.CeilDiv(k, slice) > 1 { // shares have no epilogue
		return p.withScratch(operations{sum}, in)
	}
	c := view(in, gemmC, 0, ldc, 1)
	maps := func(value kernels.View) (list operations) {
		if p.epilogue == nil || num(gemmEpilogue) == EpilogueNone {
			return nil
		}
		if num(gemmEpilogue) == EpilogueApplyAndKeep {
			list = append(list, mapped(fn.Identity, nil, []int{m, n}, view(in, gemmZ, 0, ldc, 1), value))
		}
		return append(list, mapped(p.epilogue.f, p.epilogue.passed(gemmScalars), []int{m, n}, value, value))
	}
	return p.withScratch(productOperations(in, sum, c, num(gemmAccumulate) != 0, num(gemmBiased) != 0, maps), in)
}

// productOperations describes a product and what its kernel does with the sum: the old elements of C and the bias
// that are added, and maps of that. Of C of 16 bits, only the last of these rounds: what is before is in temporary 0,
// as it lies in C.
func productOperations(in args, sum *operation.MatMul, c kernels.View, accumulate, biased bool,
	maps func(value kernels.View) operations) operations {
	dims, stored, value := append(slices.Clone(sum.Batch), sum.M, sum.N), sum.C, c
	half := c.Type.Half()
	if half {
		value = temporary(0, c.Strides...)
	}
	if half || accumulate {
		sum.C = temporary(0, stored.Strides...)
	}
	list := operations{sum}
	if accumulate {
		list = append(list, mapped(fn.Add, nil, dims, value, c, temporary(0, c.Strides...)))
	}
	if biased {
		bias := view(in, gemmBias, 0, append(make([]int, len(dims)-1), 1)...)
		list = append(list, mapped(fn.Add, nil, dims, value, value, bias))
	}
	list = append(list, maps(value)...)
	switch last := list[len(list)-1].(type) {
	case *operation.MatMul:
		last.C = stored
	case *operation.Map:
		last.Results[0].View = c
	}
	return list
}

// withScratch adds what a product of operands as they are stored leaves in its scratch: zeros.
func (p *product) withScratch(list operations, in args) operations {
	if p.maps == 0 {
		return list
	}
	return append(list, mapped(nothing, nil, []int{in[p.maps].N}, view(in, p.maps, 0, 1)))
}

// passed returns the scalars of a function, where those that occur are the arguments from one on.
func (fn *inner) passed(from int) []operation.Scalar {
	list := make([]operation.Scalar, len(fn.f.Scalars))
	for i := range list {
		list[i] = constant(0)
	}
	for k, i := range fn.scalars {
		list[i] = passed(from + k)
	}
	return list
}

// semantics says what the gradient of a layer does.
func (g *linearGrad) semantics(in args) operations {
	rows, cols, run := int(in[g.rows()].Int), int(in[g.cols()].Int), int(in[g.run()].Int)
	var operands [3]kernels.View
	for k, i := range g.derivative.uses {
		operands[i] = view(in, k, 0, 1)
	}
	return operations{mapped(g.derivative.f, g.derivative.passed(g.scalars()), []int{rows * cols}, view(in, g.ins, 0, 1), operands[:]...),
		columnSums(rows, cols, run, view(in, g.ins, 0, 0, cols, 1), view(in, g.ins+1, 0, 0, cols, 1))}
}
