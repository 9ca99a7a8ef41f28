package refexec

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
)

// position returns the element i and the f of output q along an axis: of a fraction whose terms are whole.
func position(s *operation.InterpolateSpec, axis, q int) (i int, f float64) {
	size, out := s.Size[axis], s.OutSize[axis]
	over, under := q*size/out, 1
	switch {
	case s.Linear && s.AlignCorners:
		over, under = q*(size-1), max(out-1, 1)
	case s.Linear:
		over, under = max(0, min((2*q+1)*size-out, 2*out*(size-1))), 2*out
	}
	return over / under, float64(over%under) / float64(under)
}

// weighed calls f for the elements p of output q whose weight w is not 0. It must not keep p.
func weighed(s *operation.InterpolateSpec, q []int, f func(p []int, w float64)) {
	p, two := make([]int, len(q)), slices.Repeat([]int{2}, len(q))
	each(two, func(behind []int) {
		w := 1.0
		for a := range p {
			i, part := position(s, a, q[a])
			if p[a] = i + behind[a]; behind[a] == 0 {
				part = 1 - part
			}
			w *= part
		}
		if w != 0 {
			f(p, w)
		}
	})
}

func (m *machine[T]) interpolate(op *operation.Interpolate) {
	each(op.Outputs(), func(q []int) {
		var y sum
		weighed(&op.InterpolateSpec, q[1:], func(p []int, w float64) {
			y.add(w * m.load(op.X, slices.Insert(slices.Clone(p), 0, q[0])...))
		})
		m.store(op.Y, float64(T(y.value())), q...)
	})
}

func (m *machine[T]) interpolateGrad(op *operation.InterpolateGrad) {
	dims := op.Inputs()
	d := make([]float64, elements(dims))
	each(op.Outputs(), func(q []int) {
		g := m.load(op.G, q...)
		weighed(&op.InterpolateSpec, q[1:], func(p []int, w float64) {
			at := q[0]
			for a := range p {
				at = at*op.Size[a] + p[a]
			}
			d[at] += w * g
		})
	})
	m.storeAll(op.D, dims, d)
}

// interpolated checks a specification, and the views of positions of inputs and of outputs.
func (c *checker) interpolated(s *operation.InterpolateSpec, views ...kernels.View) {
	c.positive(s.Outer)
	c.positive(s.Size...)
	if c.positive(s.OutSize...); len(s.Size) != len(s.OutSize) {
		c.fail("there are sizes of %d axes and of %d", len(s.Size), len(s.OutSize))
	}
	for _, v := range views {
		c.floats("a view", v, 1+len(s.Size))
	}
}
