package fused

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
	"slices"
)

// semantics says what a launch of a map computes: see kernels.Kernel.
func (m *mapSpec) semantics(args []kernels.Arg) []kernels.Op {
	l := mapLoopsOf(m, args)
	op := &operation.Map{Codegen: true, Type: m.typ.Widened(), Dims: slices.Clone(l.dims[:l.rank]),
		Operands: make([]kernels.View, m.operandCount)}
	view := func(t int) kernels.View { return kernels.ViewOf(args, t, 0, slices.Clone(l.strides[t][:l.rank])...) }
	for t, operand := range m.uses {
		if m.l.Steps[t] != Indexed {
			op.Operands[operand] = view(t)
			continue
		}
		if op.Elements == nil {
			op.Elements = make([]int, m.operandCount)
		}
		op.Operands[operand], op.Elements[operand] = kernels.ViewOf(args, t, 0, 1), int(args[m.stridesAt(t)].Int)
	}
	scalars := make([]operation.Scalar, len(m.f.Scalars))
	for i, s := range m.scalars {
		scalars[s] = operation.ArgScalar(m.scalarsAt() + i)
	}
	for y, f := range m.j.Functions {
		op.Results = append(op.Results, operation.Result{Function: f, Scalars: scalars, View: view(len(m.uses) + y)})
	}
	return []kernels.Op{op}
}
