package kernels

import "slices"

// describe says what a launch of a map computes: see Kernel.Describe.
func (m *mapSpec) describe(args []Arg) []Operation {
	l := mapLoopsOf(m, Call[float32]{args})
	view := func(t int) View { return ViewOf(args, t, 0, slices.Clone(l.strides[t][:l.rank])...) }
	op := &Map{Dims: slices.Clone(l.dims[:l.rank]), Operands: make([]View, len(m.f.operands))}
	for t, operand := range m.uses {
		op.Operands[operand] = view(t)
	}
	y := Result{Function: m.f, Scalars: make([]Scalar, len(m.f.Scalars)), View: view(len(m.uses))}
	for i, s := range m.scalars {
		y.Scalars[s] = Passed(m.scalarsAt() + i)
	}
	op.Results = []Result{y}
	return []Operation{op}
}
