package kernels

import "slices"

// describe says what a launch of a map computes: see Kernel.Describe.
func (m *mapSpec) describe(args []Arg) []Operation {
	l := mapLoopsOf(m, args)
	op := &Map{Generated: true, Type: m.typ.Widened(), Dims: slices.Clone(l.dims[:l.rank]),
		Operands: make([]View, m.operandCount)}
	view := func(t int) View { return ViewOf(args, t, 0, slices.Clone(l.strides[t][:l.rank])...) }
	for t, operand := range m.uses {
		if m.l.Steps[t] != Indexed {
			op.Operands[operand] = view(t)
			continue
		}
		if op.Elements == nil {
			op.Elements = make([]int, m.operandCount)
		}
		op.Operands[operand], op.Elements[operand] = ViewOf(args, t, 0, 1), int(args[m.stridesAt(t)].Int)
	}
	scalars := make([]Scalar, len(m.f.Scalars))
	for i, s := range m.scalars {
		scalars[s] = Passed(m.scalarsAt() + i)
	}
	for y, f := range m.j.Functions {
		op.Results = append(op.Results, Result{Function: f, Scalars: scalars, View: view(len(m.uses) + y)})
	}
	return []Operation{op}
}
