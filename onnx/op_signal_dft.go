package onnx

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/fft"
	"github.com/clgrad/clgrad/tensor"
)

// transform returns the discrete Fourier transform of length n along the axis before the last of x […, m, 1 or 2], of
// which what is beyond n is left out and what is missing is 0. One-sided, it returns n/2 + 1 numbers, or reads so many
// if it is inverse, whose result [.., n, 1] is real. It is computed in float32, or float64 if x is of it.
func transform(c *Call, x *autograd.Node, n int, inverse, onesided bool) *autograd.Node {
	parts := x.Shape()[x.Rank()-1]
	if parts != 1 && parts != 2 {
		c.Fail("the last axis of %v is a real and an imaginary part", x.Shape())
	}
	typ := x.Type()
	if typ != tensor.Float64 {
		x = like(x, tensor.Float32)
	}
	if parts == 1 {
		x = x.Pad([][2]int{{0, 1}})
	}
	o := fft.Options{N: n}
	switch {
	case inverse && onesided:
		x = fft.IRFFT(x, -1, o).Unsqueeze(-1)
	case inverse:
		x = fft.IFFT(x, -1, o)
	case onesided:
		x = fft.FFT(x, -1, o).Slice(-2, 0, n/2+1)
	default:
		x = fft.FFT(x, -1, o)
	}
	return like(x, typ)
}
