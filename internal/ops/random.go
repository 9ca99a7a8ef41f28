package ops

import (
	"math"
	"math/bits"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/operation"
	"github.com/clgrad/clgrad/kernels/selftest"
)

// Random fills. A number depends on the seed, the call and its index alone: not on the device.
var (
	// Uniform is uniform in [low, high): Y, n, seed_lo, seed_hi, call, low, high.
	Uniform = tried(&kernels.Kernel{Name: "k_uniform", File: "random.cl", Grid: perFour,
		Params:    append(streamParams("Y", kernels.Out), floatArg("low"), floatArg("high")),
		Host:      kernels.HostKernel{F32: uniformHost[float32], F64: uniformHost[float64]},
		Semantics: randomSemantics(operation.UniformFloats), Tol: kernels.ULP(1)}, func(ops []kernels.Operand) bool {
		selftest.SetNumbers(ops[5:], -2, 5)
		return true
	})
	// Normal is normal with mean and sd: Y, n, seed_lo, seed_hi, call, mean, sd.
	Normal = tried(&kernels.Kernel{Name: "k_normal", File: "random.cl", Grid: perFour,
		Params:    append(streamParams("Y", kernels.Out), floatArg("mean"), floatArg("sd")),
		Host:      kernels.HostKernel{F32: normalHost[float32], F64: normalHost[float64]},
		Semantics: randomSemantics(operation.NormalFloats), Tol: kernels.Tolerance{ULP: 16, Rel: 4}},
		func(ops []kernels.Operand) bool {
			selftest.SetNumbers(ops[5:], 1, 2)
			return true
		})
	// RandomInts is uniform in [0, bound): Y, n, seed_lo, seed_hi, call, bound.
	RandomInts = &kernels.Kernel{Name: "k_random_ints", File: "random.cl", Grid: perFour,
		Params:    append(streamParams("Y", kernels.OutInts), intArg("bound")),
		Host:      kernels.HostKernel{F32: randomIntsHost[float32], F64: randomIntsHost[float64]},
		Semantics: randomSemantics(operation.UniformInts)}
)

func streamParams(out string, mode kernels.Mode) []kernels.Param {
	return []kernels.Param{{Name: out, Mode: mode}, intArg("n"), intArg("seed_lo"), intArg("seed_hi"), intArg("call")}
}

// perFour launches one work-item per four elements of the first argument.
func perFour(a []kernels.Arg, l kernels.Target) kernels.Grid {
	return kernels.Grid1D(intmath.CeilDiv(a[0].N, 4), l)
}

// Seed splits a seed into the two int arguments that random kernels take.
func Seed(seed uint64) (lo, hi kernels.Arg) {
	return kernels.BitsArg(uint32(seed)), kernels.BitsArg(uint32(seed >> 32))
}

// words returns the four words of index i in the stream whose arguments start at index first.
func words[T kernels.Float](c kernels.HostArgs[T], first, i int) [4]uint32 {
	return expr.Philox([4]uint32{uint32(i), uint32(c.Int(first + 2))}, [2]uint32{uint32(c.Int(first)), uint32(c.Int(first + 1))})
}

// unit returns 24 bits of a word as a float in [0, 1).
func unit(word uint32) float64 { return float64(word>>8) * 0x1p-24 }

func uniformHost[T kernels.Float](c kernels.HostArgs[T]) {
	y, low, high := c.Floats(0), c.Float(5), c.Float(6)
	span := float64(high - low)
	for i := range y {
		y[i] = T(math.FMA(unit(words(c, 2, i/4)[i%4]), span, float64(low)))
		if y[i] == high && low != high { // rounded up
			y[i] = nextTo(high, low)
		}
	}
}

// nextTo returns the float next to x on its way to the other.
func nextTo[T kernels.Float](x, other T) T {
	if kernels.DTypeOf[T]() == kernels.Float32 {
		return T(math.Nextafter32(float32(x), float32(other)))
	}
	return T(math.Nextafter(float64(x), float64(other)))
}

func normalHost[T kernels.Float](c kernels.HostArgs[T]) {
	y, mean, sd := c.Floats(0), float64(c.Float(5)), float64(c.Float(6))
	for i := range y {
		w := words(c, 2, i/4)
		pair := w[i%4/2*2:]
		r := sd * math.Sqrt(-2*math.Log(1-unit(pair[0])))
		if math.IsInf(float64(T(r)), 0) { // as on a device, though its product with the cosine might be none
			r = float64(T(r))
		}
		sin, cos := math.Sincos(2 * math.Pi * unit(pair[1]))
		if i%2 == 0 {
			y[i] = T(mean + r*cos)
		} else {
			y[i] = T(mean + r*sin)
		}
	}
}

func randomIntsHost[T kernels.Float](c kernels.HostArgs[T]) {
	y, bound := c.Ints(0), uint32(c.Int(5))
	for i := range y {
		hi, _ := bits.Mul32(words(c, 2, i/4)[i%4], bound)
		y[i] = int32(hi)
	}
}
