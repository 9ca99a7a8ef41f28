package refexec

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
)

// window calls f for each position of the window of output q: as indices, which f must not keep, and counted through
// the axes. It returns what a sum of them is divided by.
func window(s *operation.PoolSpec, q []int, f func(p []int, at int)) (divisor float64) {
	first, taps, step, divisor := make([]int, len(q)), make([]int, len(q)), slices.Clone(s.Dilation), 1.0
	for a := range q {
		first[a], taps[a] = q[a]*s.Stride[a]-s.Pad[a], s.Kernel[a]
		if s.Adaptive {
			first[a], step[a] = q[a]*s.Size[a]/s.OutSize[a], 1
			taps[a] = ((q[a]+1)*s.Size[a]+s.OutSize[a]-1)/s.OutSize[a] - first[a]
		}
		from, end := max(first[a], 0), s.Size[a]
		if s.CountPadding {
			from, end = first[a], s.Size[a]+s.Pad[a]
		}
		divisor *= float64(min(first[a]+taps[a], end) - from)
	}
	if s.Divisor != 0 {
		divisor = float64(s.Divisor)
	}
	p := make([]int, len(q))
	each(taps, func(tap []int) {
		at := 0
		for a := range p {
			if p[a] = first[a] + tap[a]*step[a]; p[a] < 0 || p[a] >= s.Size[a] {
				return
			}
			at = at*s.Size[a] + p[a]
		}
		f(p, at)
	})
	return divisor
}

func (m *machine[T]) pool(op *operation.Pool) {
	each(op.Outputs(), func(q []int) {
		y, place := 0.0, -1
		var total sum
		divisor := window(&op.PoolSpec, q[1:], func(p []int, at int) {
			v := m.load(op.X, slices.Insert(slices.Clone(p), 0, q[0])...)
			if total.add(v); place < 0 || v > y || v != v {
				y, place = v, at
			}
		})
		if op.Function == fn.Add {
			y = total.value() / divisor
		} else if place < 0 {
			m.fail("the window of %v has no position", q)
		}
		m.store(op.Y, float64(T(y)), q...)
		if op.Index.Strides != nil {
			m.store(op.Index, float64(place), q...)
		}
	})
}

func (m *machine[T]) poolGrad(op *operation.PoolGrad) {
	dims := op.Inputs()
	d, size := make([]sum, elements(dims)), elements(op.Size)
	each(op.Outputs(), func(q []int) {
		g, image := m.load(op.G, q...), d[q[0]*size:][:size]
		if op.Function == fn.Max {
			image[int(m.load(op.Index, q...))].add(g)
			return
		}
		divisor := window(&op.PoolSpec, q[1:], func([]int, int) {})
		window(&op.PoolSpec, q[1:], func(_ []int, at int) { image[at].add(g / divisor) })
	})
	values := make([]float64, len(d))
	for i := range d {
		values[i] = d[i].value()
	}
	m.storeAll(op.D, dims, values)
}

// pooled checks a specification, and the views of positions of inputs and of outputs.
func (c *checker) pooled(s *operation.PoolSpec, index kernels.View, views ...kernels.View) {
	c.windows(&s.Windows)
	c.positive(s.Outer, s.Divisor)
	for _, v := range views {
		c.floats("a view", v, 1+len(s.Size))
	}
	c.optional("Index", index, 1+len(s.Size))
	if s.Function != fn.Max && s.Function != fn.Add {
		c.fail("its function is not Max or Add")
	}
}
