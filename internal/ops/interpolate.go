package ops

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// InterpolateShape is the numbers of an interpolation over 1, 2 or 3 axes, of X [Outer, Size…] to Y [Outer, OutSize…]. With fewer
// axes, the first have size 1. Along an axis, output q lies at ⌊q·Size/OutSize⌋ of the input; if it is Linear, at
// (q + ½)·Size/OutSize − ½, or with Align at q·(Size − 1)/(OutSize − 1).
type InterpolateShape struct {
	Outer         int
	Size, OutSize [3]int
	Linear, Align bool
}

var interpolateNames = []string{"outer", "iz", "iy", "ix", "oz", "oy", "ox", "linear", "align"}

// Args appends the numbers of the shape to the arguments of a launch.
func (s *InterpolateShape) Args(args []kernels.Arg) []kernels.Arg {
	args = append(args, kernels.I(s.Outer))
	for _, v := range [...]*[3]int{&s.Size, &s.OutSize} {
		args = append(args, kernels.I(v[0]), kernels.I(v[1]), kernels.I(v[2]))
	}
	return append(args, kernels.Flag(s.Linear), kernels.Flag(s.Align))
}

func interpolateShapeOf(number func(i int) int) *InterpolateShape {
	return &InterpolateShape{number(0), [3]int{number(1), number(2), number(3)}, [3]int{number(4), number(5), number(6)}, number(7) != 0, number(8) != 0}
}

// Interpolate is Y from X: X, Y, and the numbers of the shape. InterpolateGrad is the gradient of X from that of Y: G, D, and
// the numbers.
var (
	Interpolate     = newInterpolate("k_interpolate", in("X"), out("Y"), false, kernels.Twin{F32: interpolateTwin[float32], F64: interpolateTwin[float64]})
	InterpolateGrad = newInterpolate("k_interpolate_grad", in("G"), out("D"), true, kernels.Twin{F32: interpolateGradTwin[float32], F64: interpolateGradTwin[float64]})
)

func newInterpolate(name string, from, to kernels.Param, gradient bool, twin kernels.Twin) *kernels.Kernel {
	k := &kernels.Kernel{Name: name, File: "interpolate.cl", Params: []kernels.Param{from, to}, Twin: twin}
	for _, number := range interpolateNames {
		k.Params = append(k.Params, intArg(number))
	}
	shape := func(a []kernels.Arg) *InterpolateShape {
		return interpolateShapeOf(func(i int) int { return int(a[2+i].Int) })
	}
	k.Grid = func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
		s := shape(a)
		size := s.OutSize
		if gradient {
			size = s.Size
		}
		return kernels.Plane(size[2], s.Outer*size[0]*size[1], l)
	}
	k.Tol = kernels.Tolerance{ULP: 4, Rel: 8, Scale: func(a []kernels.Arg) float64 {
		s, terms := shape(a), 1
		for i := range s.Size {
			if gradient {
				terms *= 2 * (intmath.CeilDiv(s.OutSize[i], s.Size[i]) + 1)
			}
		}
		return float64(terms) * kernels.MaxAbs(a, 0)
	}}
	elements := func(s *InterpolateShape) (read, written int) {
		if gradient {
			return s.Outer * volume(s.OutSize), s.Outer * volume(s.Size)
		}
		return s.Outer * volume(s.Size), s.Outer * volume(s.OutSize)
	}
	k.Cases = func(few bool) []kernels.Case {
		var cases []kernels.Case
		for i, sizes := range [][2][3]int{{{1, 3, 5}, {1, 7, 4}}, {{2, 3, 4}, {3, 1, 9}}, {{1, 1, 1}, {1, 1, 6}}, {{1, 9, 11}, {1, 5, 40}}} {
			if few && i > 2 {
				continue
			}
			for _, mode := range [][2]bool{{false, false}, {true, false}, {true, true}} {
				s := &InterpolateShape{2, sizes[0], sizes[1], mode[0], mode[1]}
				cases = append(cases, kernels.Case{Name: fmt.Sprintf("%+v", *s), Build: func(o *kernels.Operands) {
					read, written := elements(s)
					o.In(read, -1, 1).Out(written)
					o.Args = s.Args(o.Args)
				}})
			}
		}
		return cases
	}
	k.Trial = func(like []kernels.Arg) []kernels.Operand {
		if like == nil {
			return nil
		}
		s := shape(like)
		s.Outer = min(s.Outer, kernels.TrialElements/4/max(volume(s.Size)+volume(s.OutSize), 1))
		if s.Outer == 0 {
			return nil
		}
		read, written := elements(s)
		ops := []kernels.Operand{kernels.Draw(read, -1, 1), kernels.Output(written)}
		for _, a := range like[2:] {
			ops = append(ops, kernels.Number(float64(a.Int)))
		}
		ops[2].Number = float64(s.Outer)
		return ops
	}
	return k
}

// between returns the inputs of output q along an axis: i, and the one behind it with weight w.
func (s *InterpolateShape) between(axis, q int) (i, next int, w float64) {
	in, out := int64(s.Size[axis]), int64(s.OutSize[axis])
	at, unit := int64(q)*in, out
	switch {
	case !s.Linear:
		i = int(at / unit)
		return i, i, 0
	case s.Align:
		at, unit = int64(q)*(in-1), max(out-1, 1)
	default:
		at, unit = max((2*int64(q)+1)*in-out, 0), 2*out
	}
	i = int(min(at/unit, in-1))
	return i, min(i+1, int(in)-1), float64(at-int64(i)*unit) / float64(unit)
}

// line is between of every output of an axis.
type line[T kernels.Real] struct {
	i, next []int
	w       []T
}

func lineOf[T kernels.Real](s *InterpolateShape, axis int) line[T] {
	n := s.OutSize[axis]
	l := line[T]{make([]int, n), make([]int, n), make([]T, n)}
	for q := range n {
		i, next, w := s.between(axis, q)
		l.i[q], l.next[q], l.w[q] = i, next, T(w)
	}
	return l
}

func interpolateTwin[T kernels.Real](c kernels.Call[T]) {
	x, y, s := c.Reals(0), c.Reals(1), interpolateShapeOf(func(i int) int { return c.Int(2 + i) })
	lz, ly, lx := lineOf[T](s, 0), lineOf[T](s, 1), lineOf[T](s, 2)
	oy, ox, ix := s.OutSize[1], s.OutSize[2], s.Size[2]
	c.Parallel(len(y)/ox, 16*ox, func(lo, hi int) {
		for row := lo; row < hi; row++ {
			b, a := row%oy, row/oy%s.OutSize[0]
			in := x[row/oy/s.OutSize[0]*volume(s.Size):]
			at := func(z, y int) []T { return in[(z*s.Size[1]+y)*ix:][:ix] }
			p, q := at(lz.i[a], ly.i[b]), at(lz.i[a], ly.next[b])
			r, t := at(lz.next[a], ly.i[b]), at(lz.next[a], ly.next[b])
			out := y[row*ox:][:ox]
			for c := range out {
				i, n, w := lx.i[c], lx.next[c], lx.w[c]
				if !s.Linear {
					out[c] = p[i]
					continue
				}
				first := mixed(ly.w[b], mixed(w, p[i], p[n]), mixed(w, q[i], q[n]))
				out[c] = mixed(lz.w[a], first, mixed(ly.w[b], mixed(w, r[i], r[n]), mixed(w, t[i], t[n])))
			}
		}
	})
}

// mixed returns what lies between u and v. What has weight 0 is not read: it may be infinite.
func mixed[T kernels.Real](w, u, v T) T {
	if w == 0 {
		return u
	}
	return (1-w)*u + w*v
}

// interpolateGradTwin adds what each output reads to its inputs, an image at a time.
func interpolateGradTwin[T kernels.Real](c kernels.Call[T]) {
	g, d, s := c.Reals(0), c.Reals(1), interpolateShapeOf(func(i int) int { return c.Int(2 + i) })
	lz, ly, lx := lineOf[T](s, 0), lineOf[T](s, 1), lineOf[T](s, 2)
	size, outSize := volume(s.Size), volume(s.OutSize)
	c.Parallel(s.Outer, 16*(size+outSize), func(lo, hi int) {
		clear(d[lo*size : hi*size])
		for k := lo * outSize; k < hi*outSize; k++ {
			q := k % outSize
			a, b, e := q/(s.OutSize[1]*s.OutSize[2]), q/s.OutSize[2]%s.OutSize[1], q%s.OutSize[2]
			image := d[k/outSize*size:][:size]
			add := func(z, y, x int, w T) {
				if w != 0 {
					image[(z*s.Size[1]+y)*s.Size[2]+x] += w * g[k]
				}
			}
			wz, wy, wx := lz.w[a], ly.w[b], lx.w[e]
			for i := range 8 {
				z, y, x, w := lz.i[a], ly.i[b], lx.i[e], T(1)
				for _, t := range [...]struct {
					bit  int
					at   *int
					next int
					w    T
				}{{4, &z, lz.next[a], wz}, {2, &y, ly.next[b], wy}, {1, &x, lx.next[e], wx}} {
					if i&t.bit == 0 {
						w *= 1 - t.w
					} else {
						*t.at = t.next
						w *= t.w
					}
				}
				add(z, y, x, w)
			}
		}
	})
}

// Interpolated is the most positions of an axis that kernels can interpolate.
const Interpolated = math.MaxInt32 / 4
