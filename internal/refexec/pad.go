package refexec

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
)

// padded sets p to where the element at index i comes from. It reports whether that is any.
func padded(axes []operation.PadAxis, i, p []int) bool {
	for d, a := range axes {
		at := i[d] - a.Before
		if at < 0 || at >= a.Size {
			switch before := at < 0; a.Mode {
			case operation.PadReflect:
				at = -at
				if !before {
					at += 2 * (a.Size - 1)
				}
			case operation.PadReplicate:
				at = min(max(at, 0), a.Size-1)
			case operation.PadCircular:
				if at -= a.Size; before {
					at += 2 * a.Size
				}
			default:
				return false
			}
		}
		p[d] = at
	}
	return true
}

func (m *machine[T]) pad(op *operation.Pad) {
	value, p := op.Value.In(m.args, op.Y.Type), make([]int, len(op.Axes))
	if op.Y.Type.Integer() {
		value = lowBits(int64(value), op.Y.Type)
	}
	each(op.Results(), func(i []int) {
		v := value
		if padded(op.Axes, i, p) {
			v = m.load(op.X, p...)
		}
		m.store(op.Y, v, i...)
	})
}

func (m *machine[T]) padGrad(op *operation.PadGrad) {
	dims, p, outs := op.Results(), make([]int, len(op.Axes)), (&operation.Pad{Axes: op.Axes}).Results()
	d := make([]float64, elements(dims))
	each(outs, func(i []int) {
		g := m.load(op.G, i...)
		if !padded(op.Axes, i, p) {
			return
		}
		at := 0
		for a := range p {
			at = at*dims[a] + p[a]
		}
		d[at] += g
	})
	m.storeAll(op.D, dims, d)
}

// paddings checks axes, and the views of their elements.
func (c *checker) paddings(axes []operation.PadAxis, x, y kernels.View) {
	for _, a := range axes {
		if c.positive(a.Size, a.OutSize); a.Mode > operation.PadCircular {
			c.fail("there is no such mode")
		}
	}
	c.view("X", x, len(axes))
	c.view("Y", y, len(axes), x.Type)
}
