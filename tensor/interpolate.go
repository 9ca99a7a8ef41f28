package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/compose"
	"github.com/clgrad/clgrad/internal/ops"
)

// InterpolateOptions are those of [Tensor.Interpolate]. Linear, Cubic, Area and Exact exclude each other; without any the
// nearest input is taken.
type InterpolateOptions struct {
	Linear       bool // between neighbours, along each axis
	Cubic        bool // between two neighbours on each side, along each axis
	Area         bool // the mean of the inputs that an output covers: that of AdaptiveAvgPool
	Exact        bool // the nearest input, by the middle of an output: PyTorch's nearest-exact
	AlignCorners bool // with Linear and Cubic: whether the first and last outputs are the first and last inputs
}

// composed reports whether an interpolation of t is made of other operations: kernels have the nearest input and Linear,
// of floats.
func (o InterpolateOptions) composed(t *Tensor) bool {
	return o.Cubic || o.Area || o.Exact || t.typ.Integer() && (!o.Linear || t.typ == Uint8)
}

func (t *Tensor) interpolate(size []int, options ...InterpolateOptions) *Tensor {
	const op = "Interpolate"
	check(op, t)
	if o := only(op, options); o.composed(t) {
		interpolation(op, t, size, options) // which panics
		return composed(op, func() *Tensor {
			taps := compose.TapsOf(o.Cubic, o.Linear, o.Exact, o.AlignCorners)
			switch {
			case o.Area:
				return t.AdaptiveAvgPool(size)
			case t.typ == Uint8 && (o.Linear || o.Cubic):
				return t.resampledBytes(size, taps)
			}
			x := t
			if o.Cubic {
				x = t.as(floats(t)).Tensor
			}
			return compose.Resample(x, size, taps, func(x *Tensor, axis int, index []int64, weights []float64) *Tensor {
				y := x.IndexSelect(axis, New(x.Device(), index))
				if weights == nil {
					return y
				}
				along := slices.Repeat([]int{1}, x.Rank()-axis)
				along[0] = len(weights)
				return y.Mul(NewOf(x.Device(), x.typ, weights, along...))
			})
		}, t)
	}
	return interpolation(op, t, size, options).run(op, t, false)
}

// resampledBytes has along its last axes as many positions as size says, by weights of 16 bits: as PyTorch and Pillow
// have it, bytes are rounded along each axis, the last one first.
func (t *Tensor) resampledBytes(size []int, taps compose.Taps) *Tensor {
	x := t
	for i, n := range slices.Backward(size) {
		a := t.Rank() - len(size) + i
		index, weights := taps(t.shape[a], n)
		whole, shift := compose.InBytes(index, weights)
		along := slices.Repeat([]int{1}, t.Rank()-a)
		along[0] = n
		wide := x.To(Int32)
		y := FullOf(t.Device(), Int32, float64(int(1)<<shift/2))
		for k := range index {
			y = y.Add(wide.IndexSelect(a, New(t.Device(), index[k])).Mul(New(t.Device(), whole[k], along...)))
		}
		x = y.BitwiseRightShift(FullOf(t.Device(), Int32, float64(shift))).Clamp(0, 255).To(Uint8)
	}
	return x
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
	if o.AlignCorners && !o.Linear && !o.Cubic {
		panic(&Error{Op: op, Kind: ErrValue, Detail: "AlignCorners goes with Linear and Cubic: the nearest input has no corners"})
	}
	several := 0
	for _, set := range []bool{o.Linear, o.Cubic, o.Area, o.Exact} {
		if set {
			several++
		}
	}
	if several > 1 {
		panic(&Error{Op: op, Kind: ErrValue, Detail: "Linear, Cubic, Area and Exact exclude each other"})
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
	y := alloc(op, d, t.rowType(floats(t)), shape)
	if y.Len() == 0 {
		return y
	}
	x := t.dense(y.typ)
	defer x.release()
	list := d.core().list()
	list.launchTyped(d, k, s.Args(append(list.args, x.arg(), y.arg())))
	return y
}

func (api) Interpolate(op string, t *Tensor, size []int, options []InterpolateOptions) (run, grad func(t *Tensor) *Tensor) {
	check(op, t)
	s := interpolation(op, t, size, options)
	return func(t *Tensor) *Tensor { return s.run(op, t, false) }, func(g *Tensor) *Tensor { return s.run(op+" gradient", g, true) }
}
