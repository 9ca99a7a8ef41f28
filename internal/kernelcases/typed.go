package kernelcases

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// typedCases are the launches that test a kernel on other elements than reals: a conversion, or the form of a kernel for
// an element type; none if k is neither.
func typedCases(k *kernels.Kernel, few bool, matrices [][2]int, boxes [][3]int) []kernels.Case {
	var cases []kernels.Case
	add := func(build func(o *kernels.Operands), format string, a ...any) {
		cases = append(cases, kernels.Case{Name: fmt.Sprintf(format, a...), Build: build})
	}
	perLength := func(build func(o *kernels.Operands, n int)) {
		cases = append(cases, kernels.PerLength(build)(few)...)
	}
	perMatrix := func(build func(o *kernels.Operands, r, c int)) {
		for _, s := range matrices {
			add(func(o *kernels.Operands) { build(o, s[0], s[1]) }, "%dx%d", s[0], s[1])
		}
	}
	types := []kernels.DType{kernels.Float32, kernels.Int32, kernels.Uint8, kernels.Float16}
	for _, from := range types {
		for _, to := range types {
			if from != to && k == ops.Convert(from, to) {
				perLength(func(o *kernels.Operands, n int) { operands{o}.some(from, n).undefined(to, n).num(n) })
			}
		}
	}
	for _, t := range types[1:] {
		switch k {
		case ops.Fill.Of(t):
			perLength(func(o *kernels.Operands, n int) { operands{o}.undefined(t, n).num(n, 0x1234567) })
			perLength(func(o *kernels.Operands, n int) { operands{o}.undefined(t, n).num(n, -1) })
		case ops.Zero.Of(t):
			perLength(func(o *kernels.Operands, n int) { operands{o}.undefined(t, n).num(n) })
		case ops.GatherRows.Of(t):
			perMatrix(func(o *kernels.Operands, r, c int) {
				operands{o}.some(t, r*c).ints(9, func(int) int { return o.Rand.IntN(r+2) - 1 }).undefined(t, 9*c).num(9, c, r)
			})
		}
	}
	return cases
}

// operands has more to make operands of.
type operands struct{ *kernels.Operands }

// elements adds n elements of a type, of which Float32 stands for the device's real type.
func (o operands) elements(t kernels.DType, n int, f func(i int) float64) operands {
	if t == kernels.Float32 {
		o.Reals(n, f)
	} else {
		o.Elements(t, n, f)
	}
	return o
}

// some adds n elements of type t of all magnitudes, the ends of their range among them.
func (o operands) some(t kernels.DType, n int) operands {
	if t == kernels.Uint8 {
		return o.elements(t, n, func(int) float64 { return float64(o.Rand.IntN(256)) })
	}
	o.elements(t, n, func(int) float64 { return math.Ldexp(2*o.Rand.Float64()-1, o.Rand.IntN(50)-16) })
	if t == kernels.Int32 {
		o.Start(math.MinInt32, math.MaxInt32, 0, -1, 1, math.MinInt32+1)
		return o
	}
	// Halfway between two float16, at the ends of each type, and denormal: of float16 too.
	o.Start(math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 65504, 65519.996, 65520, -65520, 1+0x1p-11, 1+0x3p-11,
		1+0x1p-11+0x1p-40, 0x1p-24, 0x1p-25, 0x1.002p-25, -0x1p-15, 3e38, 0x1p31, -0x1p31, 2147483520, -0.99, 0.5, 255, 255.5, 256, 254.9, -1, 1e-30)
	return o
}

// undefined adds n elements of type t that must all be written.
func (o operands) undefined(t kernels.DType, n int) operands {
	return o.elements(t, n, func(i int) float64 {
		if t.Integer() {
			return float64(77 + i%100)
		}
		return math.NaN()
	})
}

func (o operands) num(vs ...int) { o.Int(vs...) }

func (o operands) ints(n int, f func(i int) int) operands {
	o.Ints(n, f)
	return o
}
