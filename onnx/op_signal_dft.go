package onnx

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// mostDirect is up to which length a transform is a product with one matrix.
const mostDirect = 512

// transform returns the discrete Fourier transform of length n along the axis before the last of x […, m, 1 or 2], of
// which what is beyond n is left out and what is missing is 0. One-sided, it returns n/2 + 1 numbers, or reads so many
// if it is inverse, whose result [.., n, 1] is real. It is computed in float32, or float64 if x is of it.
func transform(c *Call, x *autograd.Node, n int, inverse, onesided bool) *autograd.Node {
	lead, m, parts := x.Shape()[:x.Rank()-2], x.Shape()[x.Rank()-2], x.Shape()[x.Rank()-1]
	if parts != 1 && parts != 2 {
		c.Fail("the last axis of %v is a real and an imaginary part", x.Shape())
	}
	typ := x.Type()
	if typ != tensor.Float64 {
		x = like(x, tensor.Float32)
	}
	in, out, outParts := n, n, 2
	if onesided && inverse {
		in, outParts = n/2+1, 1
	} else if onesided {
		out = n/2 + 1
	}
	if m > in {
		x, m = x.Slice(-2, 0, in), in
	}
	rows := 1
	for _, d := range lead {
		rows *= d
	}
	f := fourier{c: c, typ: x.Type(), sign: -1}
	if inverse {
		f.sign = 1
	}
	var y *autograd.Node
	if n <= mostDirect {
		y = x.Reshape(rows, m*parts).MatMul(f.matrix(n, m, parts, out, outParts))
	} else {
		x = x.Reshape(rows, m, parts)
		if inverse && onesided {
			x = hermitian(x, n)
		}
		x = x.Pad([][2]int{{0, n - x.Shape()[1]}, {0, 2 - x.Shape()[2]}})
		y = f.long(x, n).Slice(1, 0, out).Slice(2, 0, outParts)
		if inverse {
			y = y.DivScalar(float64(n))
		}
	}
	return like(y.Reshape(append(lead[:len(lead):len(lead)], out, outParts)...), typ)
}

// hermitian returns the whole spectrum [b, n, 2] of a real signal, of its first part [b, m, 1 or 2].
func hermitian(x *autograd.Node, n int) *autograd.Node {
	half := n/2 + 1
	x = x.Pad([][2]int{{0, half - x.Shape()[1]}, {0, 2 - x.Shape()[2]}})
	re, im := x.Slice(2, 0, 1), x.Slice(2, 1, 2)
	last := half // the middle of an even length is real, and has no mirror image
	if n%2 == 0 {
		last--
	}
	im = im.Slice(1, 1, last).Pad([][2]int{{1, half - last}, {0, 0}})
	re = autograd.Concat(1, re, re.Slice(1, 1, last).Flip(1))
	im = autograd.Concat(1, im, im.Slice(1, 1, last).Flip(1).Neg())
	return autograd.Concat(2, re, im)
}

// fourier makes the numbers of transforms: roots of unity e^(sign·2πi·k/n).
type fourier struct {
	c    *Call
	typ  tensor.Type
	sign float64
}

// roots returns the n-th roots of unity.
func (f fourier) roots(n int) (cos, sin []float64) {
	cos, sin = make([]float64, n), make([]float64, n)
	for k := range n {
		sin[k], cos[k] = math.Sincos(f.sign * 2 * math.Pi * float64(k) / float64(n))
	}
	return cos, sin
}

// matrix returns the matrix [m·parts, out·outParts] of a transform of length n of m numbers, that of the inverse with
// 1/n. Of one part of the output, the input is half of a Hermitian spectrum.
func (f fourier) matrix(n, m, parts, out, outParts int) *autograd.Node {
	cos, sin := f.roots(n)
	w := make([]float64, m*parts*out*outParts)
	for j := range m {
		factor := 1.0
		if f.sign > 0 {
			factor /= float64(n)
		}
		if outParts == 1 && j > 0 && 2*j != n {
			factor *= 2
		}
		for k := range out {
			at := j * k % n
			re, im := cos[at]*factor, sin[at]*factor
			row := w[j*parts*out*outParts:]
			row[k*outParts] = re
			if outParts == 2 {
				row[k*2+1] = im
			}
			if parts == 2 {
				row = row[out*outParts:]
				row[k*outParts] = -im
				if outParts == 2 {
					row[k*2+1] = re
				}
			}
		}
	}
	return numbers(f.c, w, f.typ, m*parts, out*outParts)
}

// long transforms x [b, n, 2]: an n of factors by the way of Cooley and Tukey, one that has none that is small as a
// convolution, the way of Bluestein.
func (f fourier) long(x *autograd.Node, n int) *autograd.Node {
	b := x.Shape()[0]
	if n <= mostDirect {
		forward := fourier{f.c, f.typ, -1}.matrix(n, n, 2, n, 2) // without the 1/n of an inverse
		if f.sign > 0 {
			x = conjugate(x)
		}
		y := x.Reshape(b, 2*n).MatMul(forward).Reshape(b, n, 2)
		if f.sign > 0 {
			y = conjugate(y)
		}
		return y
	}
	first := 1
	for d := 2; d <= mostDirect && d*d <= n; d++ {
		if n%d == 0 {
			first = d
		}
	}
	if first == 1 {
		return f.chirp(x, n)
	}
	second := n / first
	// Number second·i + j of x is at [i, j], and number k + first·l of the result at [l, k].
	x = x.Reshape(b, first, second, 2).Transpose(0, 2, 1, 3).Reshape(b*second, first, 2)
	x = f.long(x, first).Reshape(b, second, first, 2)
	cos, sin := f.roots(n)
	w := make([]float64, 2*n)
	for j := range second {
		for k := range first {
			w[2*(j*first+k)], w[2*(j*first+k)+1] = cos[j*k], sin[j*k]
		}
	}
	x = complexMul(x, numbers(f.c, w, f.typ, second, first, 2))
	x = f.long(x.Transpose(0, 2, 1, 3).Reshape(b*first, second, 2), second)
	return x.Reshape(b, first, second, 2).Transpose(0, 2, 1, 3).Reshape(b, n, 2)
}

// chirp transforms x [b, n, 2] for any n: 2jk = j² + k² − (k−j)² makes it a convolution with e^(−sign·πi·j²/n), which
// transforms of a power of 2 compute.
func (f fourier) chirp(x *autograd.Node, n int) *autograd.Node {
	size := 1
	for size < 2*n-1 {
		size *= 2
	}
	w, kernel := make([]float64, 2*n), make([]float64, 2*size)
	for j := range n {
		sin, cos := math.Sincos(f.sign * math.Pi * float64(j*j%(2*n)) / float64(n))
		w[2*j], w[2*j+1] = cos, sin
		for _, at := range []int{j, (size - j) % size} {
			kernel[2*at], kernel[2*at+1] = cos, -sin
		}
	}
	forward, back := fourier{f.c, f.typ, -1}, fourier{f.c, f.typ, 1}
	turns := numbers(f.c, w, f.typ, n, 2)
	x = complexMul(x, turns).Pad([][2]int{{0, size - n}, {0, 0}})
	spectrum := forward.long(numbers(f.c, kernel, f.typ, 1, size, 2), size)
	x = back.long(complexMul(forward.long(x, size), spectrum), size).DivScalar(float64(size))
	return complexMul(x.Slice(1, 0, n), turns)
}

// complexMul returns the product of complex numbers, pairs on the last axis.
func complexMul(x, y *autograd.Node) *autograd.Node {
	a, b, c, d := x.Select(-1, 0), x.Select(-1, 1), y.Select(-1, 0), y.Select(-1, 1)
	return autograd.Stack(-1, a.Mul(c).Sub(b.Mul(d)), a.Mul(d).Add(b.Mul(c)))
}

// conjugate returns complex numbers with the sign of the second of each pair changed.
func conjugate(x *autograd.Node) *autograd.Node {
	return autograd.Stack(-1, x.Select(-1, 0), x.Select(-1, 1).Neg())
}
