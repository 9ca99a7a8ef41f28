package kernels

import (
	"math"

	"github.com/clgrad/clgrad/internal/convert"
)

// Tolerance is how far a device's result may lie from its host kernel's. A result passes if it is within
// ULP units in the last place, or within Rel·ε·s, where ε is the spacing of floats at 1 and s the
// largest magnitude that Scale finds (the largest result if Scale is nil). NaN matches NaN only, an
// infinity only itself, and results below the least normal number match each other: devices may
// flush them. The zero value demands equal results.
type Tolerance struct {
	ULP   int
	Rel   float64
	Scale func(args []Arg) float64 // over the inputs, as host memory: see [MaxAbs]
	// Bound, if it is not nil, is asked for elements that are not within ULP, in place of Rel: it
	// returns, from the arguments before the launch, as host memory, how far element i of a
	// parameter that the kernel writes may lie from the host kernel's.
	Bound func(float DType, args []Arg) func(param, i int) float64
}

// ULP allows n units in the last place: what the OpenCL 1.2 specification, section 7.4, grants.
func ULP(n int) Tolerance { return Tolerance{ULP: n} }

// ULPDistance counts the representable values of type t from a to b; math.MaxInt64 if there are
// more, or either is NaN.
func ULPDistance(t DType, a, b float64) int64 {
	if a == b {
		return 0
	}
	if math.IsNaN(a) || math.IsNaN(b) {
		return math.MaxInt64
	}
	x, y := ordered(t, a), ordered(t, b)
	return int64(min(uint64(max(x, y))-uint64(min(x, y)), math.MaxInt64)) // those of opposite signs may be farther apart
}

// ordered maps a value to an integer so that neighbouring values have neighbouring integers.
func ordered(t DType, v float64) int64 {
	var bits, negativeZero int64
	if t.Integer() {
		return int64(v)
	}
	switch t {
	case Float16:
		bits, negativeZero = int64(int16(convert.ToFloat16(v))), math.MinInt16
	case BFloat16:
		bits, negativeZero = int64(int16(convert.ToBFloat16(v))), math.MinInt16
	case Float32:
		bits, negativeZero = int64(int32(math.Float32bits(float32(v)))), math.MinInt32
	default:
		bits, negativeZero = int64(math.Float64bits(v)), math.MinInt64
	}
	if bits < 0 { // the larger, the lower is the number
		return negativeZero - bits
	}
	return bits
}

// Epsilon returns the spacing of floats of type t at 1, and the least normal float.
func (t DType) Epsilon() (eps, least float64) {
	switch t {
	case Float64:
		return 0x1p-52, 0x1p-1022
	case Float16:
		return 0x1p-10, 0x1p-14
	case BFloat16:
		return 0x1p-7, 0x1p-126
	}
	return 0x1p-23, 0x1p-126
}

// Limit returns v, or the greatest or the least float of type t where v is beyond; NaN stays.
func (t DType) Limit(v float64) float64 {
	most := math.MaxFloat64
	switch t {
	case Float32:
		most = math.MaxFloat32
	case Float16:
		most = 65504
	case BFloat16:
		most = 0x1.fep127
	}
	return min(max(v, -most), most)
}

// Accepts reports whether got matches want for elements of type t; scale is that of the launch.
// Integers match if they are equal.
func (tol Tolerance) Accepts(t DType, got, want, scale float64) bool {
	if got == want || math.IsNaN(got) && math.IsNaN(want) {
		return true
	}
	if t.Integer() || math.IsNaN(got) || math.IsNaN(want) || math.IsInf(got, 0) || math.IsInf(want, 0) {
		return false
	}
	eps, least := t.Epsilon()
	if math.Abs(got) < least && math.Abs(want) < least {
		return tol.ULP > 0 || tol.Rel > 0
	}
	return ULPDistance(t, got, want) <= int64(tol.ULP) || math.Abs(got-want) <= tol.Rel*eps*scale
}

// MaxAbs returns the largest finite magnitude among the floats of argument i, for [Tolerance].Scale;
// 0 if there is none.
func MaxAbs(args []Arg, i int) float64 {
	a := args[i]
	m := a.Buf.(*HostBuffer)
	largest := 0.0
	for j := range a.N {
		if v := math.Abs(m.At(a.Off + j)); v > largest && !math.IsInf(v, 0) {
			largest = v
		}
	}
	return largest
}
