package ops

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/kernels"
)

// caseList gathers the cases of a kernel.
type caseList []kernels.Case

func (l *caseList) add(build func(o operands), format string, a ...any) {
	*l = append(*l, kernels.Case{Name: fmt.Sprintf(format, a...), Build: func(o *kernels.Operands) { build(operands{o}) }})
}

// casesBySize is kernels.CasesBySize for elements of any type.
func casesBySize(build func(o operands, n int)) func(few bool) []kernels.Case {
	return kernels.CasesBySize(func(o *kernels.Operands, n int) { build(operands{o}, n) })
}

// setCases gives k, and its forms for other elements than floats, their cases.
func setCases(k *kernels.Kernel, cases func(t kernels.DType, few bool) []kernels.Case) {
	for _, t := range caseTypes {
		if form := k.Of(t); form != nil {
			form.Cases = func(few bool) []kernels.Case { return cases(t, few) }
		}
	}
}

// caseTypes are the types of elements of which kernels have forms.
var caseTypes = [...]kernels.DType{kernels.Float32, kernels.Int32, kernels.Uint8, kernels.Uint16, kernels.Int64}

func init() {
	setCases(Fill, func(t kernels.DType, few bool) []kernels.Case {
		if t == kernels.Float32 {
			return casesBySize(func(o operands, n int) { o.Out(n).Int(n).Float(1.25) })(few)
		}
		return append(casesBySize(func(o operands, n int) { o.undefined(t, n).num(n, 0x1234567) })(few),
			casesBySize(func(o operands, n int) { o.undefined(t, n).num(n, -1) })(few)...)
	})
	setCases(Zero, func(t kernels.DType, few bool) []kernels.Case {
		return casesBySize(func(o operands, n int) { o.undefined(t, n).num(n) })(few)
	})
	setCases(GatherRows, gatherRowsCases)
	NarrowFloats.Cases = casesBySize(func(o operands, n int) {
		o.some(kernels.Float32, n)
		o.Elements(kernels.Float32, n, func(int) float64 { return math.NaN() })
		o.num(n)
	})
	WidenFloats.Cases = casesBySize(func(o operands, n int) {
		o.Elements(kernels.Float32, n, func(int) float64 { return math.Ldexp(2*o.Rand.Float64()-1, o.Rand.IntN(50)-16) })
		o.undefined(kernels.Float32, n).num(n)
	})
	for typ, pair := range map[kernels.DType][2]*kernels.Kernel{kernels.Int32: {FloatBits, FloatFromBits}, kernels.Int64: {DoubleBits, DoubleFromBits}} {
		pair[0].Cases = casesBySize(func(o operands, n int) { o.some(kernels.Float32, n).undefined(typ, n).num(n) })
		pair[1].Cases = casesBySize(func(o operands, n int) {
			o.elements(typ, n, func(int) float64 { return float64(o.Rand.Int32()) }).undefined(kernels.Float32, n).num(n)
		})
	}
	Sum.Cases = func(few bool) []kernels.Case {
		cases := caseList(casesBySize(func(o operands, n int) { o.In(n, -1, 1).Out(1).Int(n, max(n, 1)).Float(0.5) })(few))
		cases.add(func(o operands) { o.In(1000, -1, 1).Out(4).Int(1000, 257).Float(1) }, "4 chunks")
		return cases
	}
	Uniform.Cases = casesBySize(func(o operands, n int) { o.Out(n).Int(n, 12345, -7, 3).Float(-2, 5) })
	Normal.Cases = casesBySize(func(o operands, n int) { o.Out(n).Int(n, 12345, -7, 3).Float(1, 2) })
	RandomInts.Cases = casesBySize(func(o operands, n int) { o.ints(n, func(int) int { return -1 }).num(n, 12345, -7, 3, 1000003) })
	SGD.Cases = func(few bool) (cases []kernels.Case) {
		for nesterov := range 2 {
			for decays := range 2 {
				cases = append(cases, casesBySize(func(o operands, n int) {
					o.In(n, -1, 1).In(n, -1, 1).In(n, -1, 1).Int(n).Float(0.01, 0.9, 0.1*float64(decays)).Int(nesterov, decays)
				})(few)...)
			}
			cases = append(cases, casesBySize(func(o operands, n int) { // without momentum what was there says nothing
				strange := []float64{math.Inf(1), math.NaN(), math.Inf(-1), 1e-40}
				o.In(n, -1, 1).In(n, -1, 1).Floats(n, func(i int) float64 { return strange[i%4] }).Int(n).Float(0.01, 0, 0.1).Int(nesterov, 1)
			})(few)...)
		}
		return cases
	}
	AdamW.Cases = casesBySize(func(o operands, n int) {
		o.In(n, -1, 1).In(n, -1, 1).In(n, -1, 1).In(n, 0, 1).Int(n).Float(1e-3, 0.9, 0.1, 0.99, 0.01, 0.02, 1.5, 1e-8)
	})
	ReducePartials.Cases = casesBySize(func(o operands, n int) { o.In(3*n, -1, 1).In(1, 0.5, 2).Out(n).Int(n, 3) })
	AdamWPartials.Cases = func(few bool) []kernels.Case {
		cases := caseList(casesBySize(func(o operands, n int) {
			o.In(n, -1, 1).In(11*n, -1, 1).In(1, 0.5, 2).In(n, -1, 1).In(n, 0, 1).In(0, 0, 1).Out(0).Int(n, 11, 0).Float(0, 1e-3, 0.9, 0.1, 0.99, 0.01, 0.02, 1.5, 1e-8)
		})(few))
		for _, losses := range []int{1, 7, 300} {
			cases.add(func(o operands) {
				o.In(45, -1, 1).In(2*45, -1, 1).In(1, 0.5, 2).In(45, -1, 1).In(45, 0, 1).In(losses, 0, 1).Out(1).Int(45, 2, losses).Float(0.25, 1e-3, 0.9, 0.1, 0.99, 0.01, 0.02, 1.5, 1e-8)
			}, "%d losses", losses)
		}
		return cases
	}
	FMAChains.Cases = casesBySize(func(o operands, n int) { o.Out(n).Int(n, 20).Float(0.999, 0.5) })
}

func gatherRowsCases(t kernels.DType, _ bool) []kernels.Case {
	var cases caseList
	for _, s := range [][2]int{{1, 1}, {3, 5}, {17, 3}, {5, 33}, {64, 64}, {130, 67}} {
		r, c := s[0], s[1]
		cases.add(func(o operands) {
			if t == kernels.Float32 {
				o.In(r*c, -1, 1).Ints(9, func(int) int { return o.Rand.IntN(r) }).Out(9*c).Int(9, c, r)
			} else {
				o.some(t, r*c).ints(9, func(int) int { return o.Rand.IntN(r+2) - 1 }).undefined(t, 9*c).num(9, c, r)
			}
		}, "%dx%d", r, c)
	}
	if t == kernels.Float32 {
		cases.add(func(o operands) { // indices that are no row's
			o.In(6, -1, 1).Ints(5, func(i int) int { return []int{-1, 0, 1, 2, 1 << 30}[i] }).Out(15).Int(5, 3, 2)
		}, "outside")
	}
	return cases
}

func extremeGradCases(s rowSizes) []kernels.Case {
	var cases caseList
	for _, b := range s.lines {
		cases.add(func(o operands) {
			line := func(i int) int { return i/(b[1]*b[2])*b[2] + i%b[2] }
			o.Floats(b[0]*b[1]*b[2], func(i int) float64 { return float64(o.Rand.IntN(4) + line(i)%7) }) // maxima differ
			x := o.Args[0]
			o.Floats(b[0]*b[2], func(l int) float64 {
				m := math.Inf(-1)
				for i := range x.N {
					if line(i) == l {
						m = max(m, x.At(i))
					}
				}
				return m
			}).In(b[0]*b[2], -1, 1).Out(b[0]*b[1]*b[2]).Int(b[0], b[1], b[2])
		}, "%v", b)
		cases.add(func(o operands) {
			o.In(b[0]*b[1]*b[2], -1, 1).Kinks().Floats(b[0]*b[2], func(int) float64 { return math.NaN() }).Start(math.Inf(1))
			o.In(b[0]*b[2], -1, 1).Out(b[0]*b[1]*b[2]).Int(b[0], b[1], b[2])
		}, "%v with NaN", b)
	}
	return cases
}

// operands has more to make operands of.
type operands struct{ *kernels.Operands }

// elements adds n elements of a type, of which Float32 stands for the device's float type.
func (o operands) elements(t kernels.DType, n int, f func(i int) float64) operands {
	if t == kernels.Float32 {
		o.Floats(n, f)
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
