package ops

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// InterpolateShape is the numbers of an interpolation over 1, 2 or 3 axes, of X [Outer, Size…] to Y
// [Outer, OutSize…]. With fewer axes, the first have size 1. Along an axis, output q lies at
// ⌊q·Size/OutSize⌋ of the input; if it is Linear, at (q + ½)·Size/OutSize − ½, or with Align at
// q·(Size − 1)/(OutSize − 1).
type InterpolateShape struct {
	Outer         int
	Size, OutSize [3]int
	Linear, Align bool
}

var interpolateNames = []string{"outer", "iz", "iy", "ix", "oz", "oy", "ox", "linear", "align"}

// Args appends the numbers of the shape to the arguments of a launch.
func (s *InterpolateShape) Args(args []kernels.Arg) []kernels.Arg {
	args = append(args, kernels.IntArg(s.Outer))
	for _, v := range [...]*[3]int{&s.Size, &s.OutSize} {
		args = append(args, kernels.IntArg(v[0]), kernels.IntArg(v[1]), kernels.IntArg(v[2]))
	}
	return append(args, kernels.FlagArg(s.Linear), kernels.FlagArg(s.Align))
}

func interpolateShapeOf(number func(i int) int) *InterpolateShape {
	return &InterpolateShape{number(0), [3]int{number(1), number(2), number(3)}, [3]int{number(4), number(5), number(6)}, number(7) != 0, number(8) != 0}
}

// Interpolate is Y from X: X, Y, and the numbers of the shape. InterpolateGrad is the gradient of X
// from that of Y: G, D, and the numbers.
var (
	Interpolate = newInterpolate("k_interpolate", in("X"), out("Y"), false,
		kernels.HostKernel{F32: interpolateHost[float32], F64: interpolateHost[float64]})
	InterpolateGrad = newInterpolate("k_interpolate_grad", in("G"), out("D"), true,
		kernels.HostKernel{F32: interpolateGradHost[float32], F64: interpolateGradHost[float64]})
)

func newInterpolate(name string, from, to kernels.Param, gradient bool, host kernels.HostKernel) *kernels.Kernel {
	k := &kernels.Kernel{Name: name, File: "interpolate_cpu.cl", GPU: "interpolate_gpu.cl",
		Params: []kernels.Param{from, to}, Host: host, Semantics: interpolateSemantics(gradient)}
	for _, number := range interpolateNames {
		k.Params = append(k.Params, intArg(number))
	}
	shape := func(a []kernels.Arg) *InterpolateShape {
		return interpolateShapeOf(func(i int) int { return int(a[2+i].Int) })
	}
	elements := func(s *InterpolateShape) (read, written int) {
		if gradient {
			return s.Outer * volume(s.OutSize), s.Outer * volume(s.Size)
		}
		return s.Outer * volume(s.Size), s.Outer * volume(s.OutSize)
	}
	k.Grid = func(a []kernels.Arg, l kernels.Target) kernels.Grid {
		s := shape(a)
		size := s.OutSize
		if gradient {
			size = s.Size
		}
		rows := s.Outer * size[0] * size[1]
		if !l.CPU {
			return kernels.Grid2D(size[2], rows, l)
		}
		read, written := elements(s)
		return cpuLines(rows, 4*intmath.CeilDiv(read, max(written, 1)), size[2], l)
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
	k.Cases = func(few bool) []kernels.Case {
		var cases []kernels.Case
		for i, sizes := range [][2][3]int{{{1, 3, 5}, {1, 7, 4}}, {{2, 3, 4}, {3, 1, 9}}, {{1, 1, 2}, {1, 1, 600}}, {{1, 1, 1}, {1, 1, 6}}, {{1, 9, 11}, {1, 5, 40}},
			{{1, 2, 700}, {1, 3, 300}}, {{1, 2, 40}, {1, 2, 1300}}, {{1, 1, 2000}, {1, 1, 3}}} {
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
	k.SelfTest = func(like []kernels.Arg) []kernels.Operand {
		if like == nil {
			return nil
		}
		s := shape(like)
		s.Outer = min(s.Outer, selftest.Elements/4/max(volume(s.Size)+volume(s.OutSize), 1))
		if s.Outer == 0 {
			return nil
		}
		read, written := elements(s)
		ops := []kernels.Operand{selftest.Uniform(read, -1, 1), selftest.Output(written)}
		for _, a := range like[2:] {
			ops = append(ops, selftest.Number(float64(a.Int)))
		}
		ops[2].Number = float64(s.Outer)
		return ops
	}
	return k
}

// interpolateSemantics: X, Y, or G, D, and the numbers of the shape.
func interpolateSemantics(gradient bool) func(args) operations {
	return func(in args) operations {
		s := interpolateShapeOf(func(i int) int { return int(in[2+i].Int) })
		first := firstAxis(func(a int) bool { return s.Size[a] == 1 && s.OutSize[a] == 1 })
		spec := operation.InterpolateSpec{Outer: s.Outer, Size: s.Size[first:], OutSize: s.OutSize[first:], Linear: s.Linear,
			AlignCorners: s.Align}
		x, y := rowMajor(spec.Inputs()), rowMajor(spec.Outputs())
		if gradient {
			return operations{&operation.InterpolateGrad{InterpolateSpec: spec, G: view(in, 0, 0, y...),
				D: view(in, 1, 0, x...)}}
		}
		return operations{&operation.Interpolate{InterpolateSpec: spec, X: view(in, 0, 0, x...), Y: view(in, 1, 0, y...)}}
	}
}

// Interpolated is the most positions of an axis that kernels can interpolate.
const Interpolated = math.MaxInt32 / 4
