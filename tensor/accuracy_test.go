package tensor_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestAccuracy holds functions that CPUs compute with polynomials to double precision, in units in
// the last place, as their files state it: of float32s from the whole range, with denormals,
// infinities, NaN and zeros of both signs, and, of functions of two operands, of each with another.
func TestAccuracy(t *testing.T) {
	functions := []struct {
		f    *kernels.Function
		ulps float64
		one  func(x *tensor.Tensor) *tensor.Tensor
		two  func(x, y *tensor.Tensor) *tensor.Tensor
	}{
		{fn.Expm1, 2, (*tensor.Tensor).Expm1, nil}, {fn.Log2, 2, (*tensor.Tensor).Log2, nil},
		{fn.Log1p, 2, (*tensor.Tensor).Log1p, nil}, {fn.Tan, 4, (*tensor.Tensor).Tan, nil},
		{fn.Asin, 2, (*tensor.Tensor).Asin, nil}, {fn.Acos, 2, (*tensor.Tensor).Acos, nil},
		{fn.Atan, 2, (*tensor.Tensor).Atan, nil}, {fn.Sinh, 2, (*tensor.Tensor).Sinh, nil},
		{fn.Cosh, 2, (*tensor.Tensor).Cosh, nil}, {fn.Tanh, 3, (*tensor.Tensor).Tanh, nil},
		{fn.Asinh, 3, (*tensor.Tensor).Asinh, nil}, {fn.Acosh, 3, (*tensor.Tensor).Acosh, nil},
		{fn.Atanh, 3, (*tensor.Tensor).Atanh, nil}, {fn.Erf, 3, (*tensor.Tensor).Erf, nil},
		{fn.Floor, 0, (*tensor.Tensor).Floor, nil}, {fn.Ceil, 0, (*tensor.Tensor).Ceil, nil},
		{fn.Trunc, 0, (*tensor.Tensor).Trunc, nil}, {fn.Round, 0, (*tensor.Tensor).Round, nil},
		{fn.Atan2, 2, nil, (*tensor.Tensor).Atan2}, {fn.Hypot, 1, nil, (*tensor.Tensor).Hypot},
	}
	const n = 1<<16 + 1
	x, y := make([]float32, n), make([]float32, n)
	for i := range x {
		x[i] = math.Float32frombits(uint32(i) * 65521)
		if i%3 == 0 { // half of all bit patterns are below 2⁻⁶⁴ or above 2⁶⁴
			x[i] = float32(i-n/2) / 2048
		}
	}
	inf := float32(math.Inf(1))
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -0.5, inf, -inf, float32(math.NaN()), 0x1p-149, -0x1p-149, 0x1p-126,
		math.MaxFloat32, -math.MaxFloat32, 8191.9995, 8192, -8192, 1e5, 3e38, 88.72284, 0.9486833, 0.55, 0x1p-25, 0x1p13}
	for i := range special {
		for j := range special { // each with each, in other places of a vector
			x[100+i*len(special)+j], y[100+i*len(special)+j] = special[i], special[j]
		}
	}
	for i := range y {
		if i < 100 || i >= 100+len(special)*len(special) {
			y[i] = x[(i*7+3)%n]
		}
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		if !d.Target().CPU {
			t.Skip("the device's own functions are within the bounds of OpenCL")
		}
		a, b := devtest.New(d, x, n), devtest.New(d, y, n)
		for _, c := range functions {
			var result *tensor.Tensor
			operands := []float64{0}
			if c.one != nil {
				result = c.one(a)
			} else {
				result, operands = c.two(a, b), []float64{0, 0}
			}
			got, err := result.Float32s()
			if err != nil {
				t.Fatal(err)
			}
			for i, v := range got {
				operands[0] = float64(x[i])
				if len(operands) > 1 {
					operands[1] = float64(y[i])
				}
				want := c.f.At(nil, operands...)
				if off := ulpsOff(v, want); off > c.ulps {
					t.Errorf("%s of %v is %v, want %v: off by %.2f ULP", c.f.Name, operands, v, want, off)
					break
				}
			}
		}
	})
}

// ulpsOff returns how far a float32 is from a number, in units in the last place of that. A zero of
// another sign, NaN for a number and a number for NaN are infinitely far off.
func ulpsOff(got float32, want float64) float64 {
	v, nearest := float64(got), float32(want)
	switch {
	case v != v && want != want:
		return 0
	case v == float64(nearest) && (v != 0 || math.Signbit(v) == math.Signbit(want)):
		return 0
	case v != v || want != want || v == float64(nearest):
		return math.Inf(1)
	case math.IsInf(v, 0) || math.IsInf(float64(nearest), 0):
		if math.Abs(want) > 3.40282e38 && math.Abs(want) < 3.40283e38 && math.Signbit(v) == math.Signbit(want) {
			return 1 // of which one is the largest number
		}
		return math.Inf(1)
	}
	_, e := math.Frexp(want)
	return math.Abs(v-want) / max(math.Ldexp(1, e-24), 0x1p-149)
}
