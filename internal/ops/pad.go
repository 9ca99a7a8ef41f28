package ops

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/x448/float16"
)

// PadAxes is the number of axes of [Pad].
const PadAxes = 4

// PadMode says what stands for an index of an axis that is none.
type PadMode int

// The modes. Of an axis of PadMirrored the elements change their order, and there is nothing outside.
const (
	PadValue PadMode = iota
	PadReflect
	PadNearest
	PadCircular
	PadMirrored
)

// PadAxis is one axis of [Pad]: from N elements it makes M, of which the first comes Before those.
type PadAxis struct {
	M, N, Before int
	Mode         PadMode
}

// Pad makes Y [m0, m1, m2, m3] of X [n0, n1, n2, n3], of elements of any type: index i of an axis comes from i − before, as its
// mode says: X, Y, value, and m, n, before, mode of each axis. Of other elements than reals, the value is an int: of
// float16, its bits.
var Pad = kernels.Typed(&kernels.Kernel{Name: "k_pad", File: "pad.cl",
	Grid: func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
		return kernels.Plane(int(a[15].Int), int(a[3].Int)*int(a[7].Int)*int(a[11].Int), l)
	},
	Params: append([]kernels.Param{in("X"), out("Y"), realArg("value")}, padParams()...),
	Twin:   kernels.Twin{F32: padTwin[float32](padReal), F64: padTwin[float64](padReal)}}, "pad.cl", "k_pad_int",
	kernels.ElementTwin(padTwin(padInt[int32])), kernels.ElementTwin(padTwin(padInt[uint8])), kernels.ElementTwin(padTwin(padInt[float16.Float16])))

func padParams() (list []kernels.Param) {
	for _, axis := range []string{"0", "1", "2", "3"} {
		for _, name := range []string{"m", "n", "before", "mode"} {
			list = append(list, intArg(name+axis))
		}
	}
	return list
}

func padReal[T kernels.Real](c kernels.Call[T]) T { return c.Real(2) }

func padInt[T int32 | uint8 | float16.Float16](c kernels.Call[T]) T { return T(c.Int(2)) }

func padTwin[T kernels.Element](value func(kernels.Call[T]) T) func(kernels.Call[T]) {
	return func(c kernels.Call[T]) {
		x, y, v := c.Reals(0), c.Reals(1), value(c)
		var axes [PadAxes]PadAxis
		for a := range axes {
			at := 3 + 4*a
			axes[a] = PadAxis{c.Int(at), c.Int(at + 1), c.Int(at + 2), PadMode(c.Int(at + 3))}
		}
		last := axes[3]
		c.Parallel(axes[0].M*axes[1].M*axes[2].M, last.M, func(lo, hi int) {
			for row := lo; row < hi; row++ {
				to := y[row*last.M : (row+1)*last.M]
				from, inside, rest := 0, true, row
				at := [3]int{}
				for a := 2; a >= 0; a-- {
					at[a] = rest % axes[a].M
					rest /= axes[a].M
				}
				for a, i := range at {
					j := axes[a].source(i)
					from = from*axes[a].N + j
					inside = inside && j >= 0
				}
				for i := range to {
					to[i] = v
					if j := last.source(i); inside && j >= 0 {
						to[i] = x[from*last.N+j]
					}
				}
			}
		})
	}
}

// source returns which index i of the result comes from, −1 if from none.
func (p PadAxis) source(i int) int {
	i -= p.Before
	switch inside := i >= 0 && i < p.N; {
	case inside && p.Mode == PadMirrored:
		return p.N - 1 - i
	case inside:
		return i
	case p.Mode == PadReflect && i < 0:
		return -i
	case p.Mode == PadReflect:
		return 2*(p.N-1) - i
	case p.Mode == PadNearest:
		return min(max(i, 0), p.N-1)
	case p.Mode == PadCircular && i < 0:
		return i + p.N
	case p.Mode == PadCircular:
		return i - p.N
	}
	return -1
}
