package catalog

import (
	"github.com/clgrad/clgrad/fft"
)

// transforms are those of Fourier.
var transforms = family{"fft", []operation{
	{"fft.FFT", transformCases(fft.FFT)},
	{"fft.IFFT", transformCases(fft.IFFT)},
	{"fft.RFFT", transformCases(fft.RFFT)},
	{"fft.IRFFT", transformCases(fft.IRFFT)},
	{"fft.FFT2", cases{
		"odd":     unary(func(x *node) *node { return fft.FFT2(x) }),
		"sizes":   unary(func(x *node) *node { return fft.FFT2(x, fft.ManyOptions{Sizes: []int{3, 7}, Norm: fft.Ortho}) }),
		"special": unary(func(x *node) *node { return fft.FFT2(x) }),
	}},
	{"fft.FFTN", cases{
		"odd": unary(func(x *node) *node { return fft.FFTN(x, nil) }),
		"axes": unary(func(x *node) *node {
			return fft.FFTN(x, []int{-1, 0}, fft.ManyOptions{Sizes: []int{4, 5}, Norm: fft.Forward})
		}),
		"special": unary(func(x *node) *node { return fft.FFTN(x, nil) }),
	}},
	{"fft.FFTShift", shiftCases(fft.FFTShift)},
	{"fft.IFFTShift", shiftCases(fft.IFFTShift)},
	{"fft.STFT", cases{
		"odd": unary(func(x *node) *node { return fft.STFT(x, 8) }),
		"window": binary(func(x, w *node) *node {
			return fft.STFT(x, 9, fft.STFTOptions{Hop: 4, Window: w, Normalized: true, ZeroPadding: true})
		}),
		"two-sided": binary(func(x, w *node) *node {
			return fft.STFT(x, 8, fft.STFTOptions{Hop: 3, Window: w, NotCentered: true, TwoSided: true})
		}),
		"special": unary(func(x *node) *node { return fft.STFT(x, 4) }),
	}},
	{"fft.ISTFT", cases{
		"odd": unary(func(x *node) *node { return fft.ISTFT(x, 8) }),
		"window": binary(func(x, w *node) *node {
			return fft.ISTFT(x, 9, fft.STFTOptions{Hop: 4, Window: w, Normalized: true, Length: 20})
		}),
		"two-sided": binary(func(x, w *node) *node {
			return fft.ISTFT(x, 8, fft.STFTOptions{Hop: 3, Window: w, NotCentered: true, TwoSided: true})
		}),
		"special": unary(func(x *node) *node { return fft.ISTFT(x, 4) }),
	}},
}}

// transformCases are those of a transform along an axis.
func transformCases(f func(x *node, axis int, o ...fft.Options) *node) cases {
	c := under(unary(func(x *node) *node { return f(x, -1) }),
		"one", "two", "even", "odd", "prime", "factors", "no batch", "special")
	c["axis"] = unary(func(x *node) *node { return f(x, 0, fft.Options{Norm: fft.Ortho}) })
	c["less"] = unary(func(x *node) *node { return f(x, 1, fft.Options{N: 5, Norm: fft.Forward}) })
	c["more"] = unary(func(x *node) *node { return f(x, -1, fft.Options{N: 12}) })
	return c
}

func shiftCases(f func(x *node, axes ...int) *node) cases {
	return cases{
		"odd":     unary(func(x *node) *node { return f(x) }),
		"axis":    unary(func(x *node) *node { return f(x, -1) }),
		"special": unary(func(x *node) *node { return f(x, 0) }),
	}
}
