package fft

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

type node = autograd.Node

// transformed returns the transform of complex numbers along the middle axis of x [outer, n, inner], by its definition.
func transformed(x []float64, outer, n, inner, sign int) []float64 {
	cos, sin := make([]float64, n), make([]float64, n)
	for k := range n {
		sin[k], cos[k] = math.Sincos(float64(sign) * 2 * math.Pi * float64(k) / float64(n))
	}
	y := make([]float64, len(x))
	for o := range outer {
		for i := range inner {
			for k := range n {
				var re, im float64
				for j := range n {
					at, e := 2*((o*n+j)*inner+i), j*k%n
					re += x[at]*cos[e] - x[at+1]*sin[e]
					im += x[at]*sin[e] + x[at+1]*cos[e]
				}
				at := 2 * ((o*n+k)*inner + i)
				y[at], y[at+1] = re, im
			}
		}
	}
	return y
}

// TestDefinition: transforms of all kinds of lengths, in one launch and in several, are the sums that define them.
func TestDefinition(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		eps := 0x1p-23
		if d.DefaultType() == tensor.Float64 {
			eps = 0x1p-52
		}
		for _, c := range [][3]int{
			{1, 1, 1}, {1, 2, 3}, {2, 3, 1}, {1, 4, 17}, {3, 5, 2}, {33, 6, 1}, {2, 7, 5}, {1, 8, 1}, {2, 11, 1}, {1, 31, 3}, {2, 37, 2}, {1, 60, 1},
			{1, 97, 1}, {5, 101, 2}, {1, 1024, 2}, {2, 1025, 1}, {1, 1536, 3}, {1, 2048, 1}, {1, 2187, 2}, {1, 2 * 1031, 1}, {1, 3125, 1},
		} {
			outer, n, inner := c[0], c[1], c[2]
			if n > 1100 && !strings.HasPrefix(d.Name(), "cpu") && n != 2048 && n != 2*1031 {
				continue
			}
			tensor.Scope(d, func() {
				x := tensor.NewRNG(1).Uniform(d, -1, 1, outer, n, inner, 2)
				for _, sign := range []int{1, -1} {
					want := transformed(devtest.Float64s(t, x), outer, n, inner, sign)
					f := map[int]func(*node, int, ...Options) *node{-1: FFT, 1: IFFT}[sign]
					got := devtest.Float64s(t, f(autograd.Const(x), 1).Value())
					if sign == 1 {
						for i := range got {
							got[i] *= float64(n)
						}
					}
					var off, size float64
					for i, v := range want {
						off += (got[i] - v) * (got[i] - v)
						size += v * v
					}
					bound := 6 + math.Log2(float64(n))
					if eps < 1e-10 { // the sums of the definition are off by more
						bound += float64(n)
					}
					if e := math.Sqrt(off/size) / eps; !(e < bound) {
						t.Errorf("%v, sign %d: off by %.3g ε", c, sign, e)
					}
				}
			})
		}
	})
}

// TestThreeLaunches: a length that takes three launches is transformed there and back.
func TestThreeLaunches(t *testing.T) {
	d := devtest.CPU(t)
	const n = 1 << 21
	if a, b := partOf(n), partOf(n/partOf(n)); a*b == n {
		t.Fatalf("%d is %d·%d", n, a, b)
	}
	x := make([]float32, 2*n)
	x[2*3] = 1 // its transform is a wave
	spectrum := FFT(autograd.Const(tensor.New(d, x, n, 2)), 0)
	got := devtest.Float64s(t, spectrum.Value())
	for _, k := range []int{0, 1, 1000, n/2 + 7, n - 1} {
		sin, cos := math.Sincos(-2 * math.Pi * 3 * float64(k) / n)
		if math.Abs(got[2*k]-cos) > 1e-6 || math.Abs(got[2*k+1]-sin) > 1e-6 {
			t.Errorf("number %d is %v, want %v, %v", k, got[2*k:][:2], cos, sin)
		}
	}
	back := devtest.Float64s(t, IFFT(spectrum, 0).Value())
	for i, v := range back {
		if math.Abs(v-float64(x[i])) > 1e-6 {
			t.Fatalf("element %d is %v, want %v", i, v, x[i])
		}
	}
}

// TestParts: the factors of launches multiply to the length, and each fits a launch.
func TestParts(t *testing.T) {
	for n := 1; n < 5000; n++ {
		if largestFactor(n) > mostPrime {
			continue
		}
		for rest := n; rest > 1; {
			part := partOf(rest)
			if part < 2 || part > most || rest%part != 0 {
				t.Fatalf("part %d of %d", part, rest)
			}
			rest /= part
		}
	}
	for _, c := range [][2]int{{1, 1}, {2, 2}, {97, 97}, {1 << 20, 2}, {2 * 1031, 1031}, {31 * 31, 31}} {
		if got := largestFactor(c[0]); got != c[1] {
			t.Errorf("largest factor of %d is %d, want %d", c[0], got, c[1])
		}
	}
}

// TestMisuse: what cannot be transformed is refused, with the name of the function and what to do.
func TestMisuse(t *testing.T) {
	d := devtest.CPU(t)
	zeros := func(typ tensor.Type, shape ...int) *node { return autograd.Const(tensor.ZerosOf(d, typ, shape...)) }
	pairs := zeros(tensor.Float32, 3, 4, 2)
	for want, f := range map[string]func(){
		"fft: FFT: shape mismatch [3 4]: complex numbers are pairs on the last axis":        func() { FFT(zeros(tensor.Float32, 3, 4), -1) },
		"fft: FFT: shape mismatch [2]: complex":                                             func() { FFT(zeros(tensor.Float32, 2), 0) },
		"fft: FFT: axis out of range [3 4 2]: there is no axis 2 of 2":                      func() { FFT(pairs, 2) },
		"fft: IFFT: axis out of range [3 4 2]: there is no axis -3":                         func() { IFFT(pairs, -3) },
		"fft: FFT: shape mismatch [0 2]: a transform has 1 number or more, not 0":           func() { FFT(zeros(tensor.Float32, 0, 2), 0) },
		"fft: FFT: shape mismatch [3 4 2]: a transform has 1 number or more, not -1":        func() { FFT(pairs, 0, Options{N: -1}) },
		"fft: IRFFT: shape mismatch [1 2]: a transform has 1 number or more, not 0":         func() { IRFFT(zeros(tensor.Float32, 1, 2), 0) },
		"fft: FFT: bad element type [4 2]: the operand is of type float16: convert it":      func() { FFT(zeros(tensor.Float16, 4, 2), 0) },
		"fft: RFFT: bad element type [4]: the operand is of type int32: convert it with To": func() { RFFT(zeros(tensor.Int32, 4), 0) },
		"fft: FFT: bad value [3 4 2]: Norm is 3":                                            func() { FFT(pairs, 0, Options{Norm: 3}) },
		"fft: FFT: bad value [3 4 2]: more than one fft.Options":                            func() { FFT(pairs, 0, Options{}, Options{}) },
		"fft: FFTN: axis out of range [3 4 2]: axis 0 is there twice":                       func() { FFTN(pairs, []int{0, -2}) },
		"fft: FFTN: shape mismatch [3 4 2]: there are 1 Sizes for 2 axes":                   func() { FFTN(pairs, nil, ManyOptions{Sizes: []int{1}}) },
		"fft: STFT: shape mismatch [3]: the reflection of 4 samples":                        func() { STFT(zeros(tensor.Float32, 3), 8) },
		"fft: STFT: shape mismatch [7]: the signal is shorter than a frame of 8 samples":    func() { STFT(zeros(tensor.Float32, 7), 8, STFTOptions{NotCentered: true}) },
		"fft: STFT: shape mismatch [9]: the window is of one axis, of at most 8 samples":    func() { STFT(zeros(tensor.Float32, 32), 8, STFTOptions{Window: zeros(tensor.Float32, 9)}) },
		"fft: STFT: bad element type [8]: the window is of type float64":                    func() { STFT(zeros(tensor.Float32, 32), 8, STFTOptions{Window: zeros(tensor.Float64, 8)}) },
		"fft: STFT: bad value [32]: frames have 0 samples":                                  func() { STFT(zeros(tensor.Float32, 32), 0) },
		"fft: ISTFT: shape mismatch [4 3 2]: spectra of frames of 8 samples are [..., 5, ":  func() { ISTFT(zeros(tensor.Float32, 4, 3, 2), 8) },
		"fft: ISTFT: shape mismatch [5 0 2]: spectra":                                       func() { ISTFT(zeros(tensor.Float32, 5, 0, 2), 8) },
	} {
		if err := tensor.Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := tensor.Try(func() { FFT(nil, 0) }); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("of no node: %v", err)
	}
}

// TestGradients holds gradients, and theirs, to central differences in float64: the functions are linear, so that
// one step has no error but rounding, and a square makes second gradients.
func TestGradients(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{DefaultType: tensor.Float64})
	for name, f := range map[string]func(x *node) *node{
		"FFT":   func(x *node) *node { return FFT(x, 0) },
		"IFFT":  func(x *node) *node { return IFFT(x, 1, Options{N: 37}) },
		"RFFT":  func(x *node) *node { return RFFT(x, 0, Options{Norm: Ortho}) },
		"IRFFT": func(x *node) *node { return IRFFT(x, 0, Options{N: 7}) },
		"FFTN":  func(x *node) *node { return FFTShift(FFTN(x, nil)) },
		"STFT":  func(x *node) *node { return STFT(x.Flatten(0, -1), 8) },
		"ISTFT": func(x *node) *node { return ISTFT(x, 4+x.Shape()[0]) },
	} {
		shape := []int{5, 4, 2}
		if name == "ISTFT" {
			shape = []int{4, 4, 2}
			f = func(x *node) *node { return ISTFT(x, 6) }
		}
		xs := devtest.Float64s(t, tensor.NewRNG(3).Uniform(d, -1, 1, shape...))
		loss := func(x *node) *node {
			y := f(x)
			w := tensor.NewRNG(5).Uniform(d, -1, 1, y.Shape()...)
			return y.Square().Mul(y).Mul(autograd.Const(w)).Sum()
		}
		second := func(x *node) *node {
			g, err := autograd.Grad(loss(x), []*node{x}, autograd.GradOptions{CreateGraph: true})
			if err != nil {
				t.Fatal(err)
			}
			return g[0].Square().Sum()
		}
		for order, f := range []func(*node) *node{loss, second} {
			x := autograd.Param(tensor.New(d, xs, shape...), "x")
			if err := f(x).Backward(); err != nil {
				t.Fatal(err)
			}
			got := devtest.Float64s(t, x.Grad())
			for i := range xs {
				const h = 1e-5
				at := func(v float64) float64 {
					was := xs[i]
					defer func() { xs[i] = was }()
					xs[i] = v
					return devtest.Float64s(t, f(autograd.Param(tensor.New(d, xs, shape...), "x")).Value())[0]
				}
				want := (at(xs[i]+h) - at(xs[i]-h)) / (2 * h)
				if math.Abs(got[i]-want) > 1e-6*max(1, math.Abs(want), math.Abs(at(xs[i]))) {
					t.Errorf("%s", fmt.Sprintf("%s, order %d, element %d: %v, the difference is %v", name, order+1, i, got[i], want))
				}
			}
		}
	}
}

// TestRealMiddle: the first number and the one in the middle of a transform of real numbers have no imaginary part.
func TestRealMiddle(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, n := range []int{2, 4, 6, 8, 10, 12, 30, 96, 500, 1024} {
			x := tensor.NewRNG(uint64(n)).Normal(d, 0, 1, 3, n)
			y := FFT(autograd.Const(tensor.Stack(-1, x, x.MulScalar(0))), 1).Value()
			im := y.Select(-1, 1)
			for _, at := range []int{0, n / 2} {
				for _, v := range devtest.Float64s(t, im.Select(-1, at)) {
					if v != 0 {
						t.Errorf("%d numbers: number %d has the imaginary part %v", n, at, v)
					}
				}
			}
		}
	})
}
