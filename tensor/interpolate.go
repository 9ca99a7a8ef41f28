package tensor

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/ops"
)

// InterpolateOptions are those of [Tensor.Interpolate].
type InterpolateOptions struct {
	Linear       bool // between neighbours, along each axis; else the nearest input is taken
	AlignCorners bool // with Linear: whether the first and last outputs are the first and last inputs
}

func (t *Tensor) interpolate(size []int, options ...InterpolateOptions) *Tensor {
	const op = "Interpolate"
	check(op, t)
	return interpolation(op, t, size, options).run(op, t, false)
}

// interpolated is the numbers of an interpolation, and the shapes of its operand and result.
type interpolated struct {
	ops.InterpolateShape
	in, out []int
}

func interpolation(op string, t *Tensor, size []int, options []InterpolateOptions) *interpolated {
	o, axes := only(op, options), len(size)
	s := &interpolated{in: t.shape}
	s.out, s.Outer, s.Size = lastAxes(op, t, axes, "size")
	if o.AlignCorners && !o.Linear {
		panic(&Error{Op: op, Kind: ErrValue, Detail: "AlignCorners goes with Linear: the nearest input has no corners"})
	}
	s.OutSize, s.Linear, s.Align = perAxis(op, "the size", size, axes, 1, 1), o.Linear, o.AlignCorners
	for a := 3 - axes; a < 3; a++ {
		if s.Size[a] == 0 || s.Size[a] > ops.Interpolated {
			misuse(op, ErrShape, fmt.Sprintf("axis %d has 1 to %d positions", t.Rank()-3+a, ops.Interpolated), t)
		}
	}
	s.out = append(s.out, s.OutSize[3-axes:]...)
	return s
}

// run returns the interpolation of t, or if gradient the gradient of the operand for that of the
// result.
func (s *interpolated) run(op string, t *Tensor, gradient bool) *Tensor {
	d, shape, k := t.Device(), s.out, ops.Interpolate
	if gradient {
		shape, k = s.in, ops.InterpolateGrad
	}
	y := alloc(op, d, floats(t), shape)
	if y.Len() == 0 {
		return y
	}
	x := t.dense(y.typ)
	defer x.release()
	list := d.core().list()
	list.launch(d, k, s.Args(append(list.args, x.arg(), y.arg())))
	return y
}

func (api) Interpolate(op string, t *Tensor, size []int, options []InterpolateOptions) (run, grad func(t *Tensor) *Tensor) {
	check(op, t)
	s := interpolation(op, t, size, options)
	return func(t *Tensor) *Tensor { return s.run(op, t, false) }, func(g *Tensor) *Tensor { return s.run(op+" gradient", g, true) }
}
