package fft

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Norm says which transform is divided by what, of n numbers.
type Norm uint8

// The norms.
const (
	Backward Norm = iota // the inverse one by n
	Ortho                // both by √n
	Forward              // the other one by n
)

// scale returns the factor of a transform of n numbers.
func (o Norm) scale(op string, x *autograd.Node, n int, inverse bool) float64 {
	switch {
	case o > Forward:
		misuse(op, tensor.ErrValue, fmt.Sprintf("Norm is %d: it is Backward, Ortho or Forward", o), x)
	case o == Ortho:
		return 1 / math.Sqrt(float64(n))
	case (o == Forward) != inverse:
		return 1 / float64(n)
	}
	return 1
}

// Options are the settings of a transform along one axis.
type Options struct {
	// N is how many numbers are transformed: what the operand has beyond is left out, what it lacks
	// is 0. 0: as many as it has. Of IRFFT it is how many it returns, of m numbers 2·(m − 1) if it is 0.
	N    int
	Norm Norm // Backward if nothing is said
}

// optional returns the settings of a call.
func optional[O any](op string, x *autograd.Node, options []O) (o O) {
	if len(options) > 1 {
		misuse(op, tensor.ErrValue, fmt.Sprintf("more than one %T", o), x)
	}
	if len(options) == 1 {
		o = options[0]
	}
	return o
}

// FFT returns the discrete Fourier transform of complex numbers x [..., 2] along an axis: y_k = Σ_j
// x_j·e^(−2πi·jk/n). It panics with tensor.ErrShape unless the last axis of x is of pairs and a number
// is there to transform, with tensor.ErrAxis if there is no such axis, and with tensor.ErrType unless x
// is of float32 or float64.
//
// Gradient: the sum with the other sign of g.
func FFT(x *autograd.Node, axis int, options ...Options) *autograd.Node {
	return one("FFT", x, axis, false, options)
}

// IFFT returns the inverse of [FFT]: y_j = Σ_k x_k·e^(2πi·jk/n)/n. It panics as that does.
//
// Gradient: the sum with the other sign of g, divided by n.
func IFFT(x *autograd.Node, axis int, options ...Options) *autograd.Node {
	return one("IFFT", x, axis, true, options)
}

func one(op string, x *autograd.Node, axis int, inverse bool, options []Options) *autograd.Node {
	o := optional(op, x, options)
	axis = complexAxis(op, x, axis)
	return along(op, x, axis, inverse, o)
}

// along transforms along an axis from the front.
func along(op string, x *autograd.Node, axis int, inverse bool, o Options) *autograd.Node {
	n := x.Shape()[axis]
	if o.N != 0 {
		n = o.N
	}
	sign := -1
	if inverse {
		sign = 1
	}
	x = resized(op, x, axis, n)
	return transform(op, x, axis, sign, o.Norm.scale(op, x, n, inverse))
}

// RFFT returns the first n/2 + 1 numbers [..., n/2 + 1, ..., 2] of the transform of reals x along an axis,
// which counts among all axes of x; the others are their conjugates. It panics as [FFT] does.
//
// Gradient: the real part of the sum with the other sign of g, of which what is not there is 0.
func RFFT(x *autograd.Node, axis int, options ...Options) *autograd.Node {
	const op = "RFFT"
	o := optional(op, x, options)
	mustFloat(op, x)
	axis = axisOf(op, x, axis, x.Value().Rank())
	y := along(op, x.Unsqueeze(-1).Pad([][2]int{{0, 1}}), axis, false, o)
	return y.Slice(axis, 0, y.Shape()[axis]/2+1)
}

// IRFFT returns the n reals whose [RFFT] is x [..., n/2 + 1, ..., 2] along an axis of complex numbers. The
// imaginary parts of the first number, and for an even n of the last, are not read. It panics as [FFT]
// does.
//
// Gradient: the transform of g, divided by n, and doubled for numbers that stand for their conjugates, too.
func IRFFT(x *autograd.Node, axis int, options ...Options) *autograd.Node {
	const op = "IRFFT"
	o := optional(op, x, options)
	axis = complexAxis(op, x, axis)
	if o.N == 0 {
		o.N = 2 * (x.Shape()[axis] - 1)
	}
	if o.N < 1 {
		misuse(op, tensor.ErrShape, fmt.Sprintf("a transform has 1 number or more, not %d", o.N), x)
	}
	half := o.N/2 + 1
	x = resized(op, x, axis, half)
	if last := (o.N + 1) / 2; last > 1 { // the conjugates of numbers 1 to last − 1 follow, from behind
		conjugate := autograd.Const(tensor.NewOf(x.Device(), x.Type(), []float64{1, -1}))
		x = autograd.Concat(axis, x, x.Slice(axis, 1, last).Flip(axis).Mul(conjugate))
	}
	return along(op, x, axis, true, o).Select(-1, 0)
}

// ManyOptions are the settings of a transform along several axes.
type ManyOptions struct {
	Sizes []int // as Options.N for each axis; nil: as many numbers as there are
	Norm  Norm  // Backward if nothing is said
}

// FFT2 returns the transform of complex numbers x [..., h, w, 2] along their last two axes. It panics as
// [FFT] does.
//
// Gradient: the sum with the other sign of g.
func FFT2(x *autograd.Node, options ...ManyOptions) *autograd.Node {
	return many("FFT2", x, []int{-2, -1}, options)
}

// FFTN returns the transform of complex numbers x [..., 2] along axes; all if there are none. It panics
// as [FFT] does, and with tensor.ErrAxis if an axis is there twice.
//
// Gradient: the sum with the other sign of g.
func FFTN(x *autograd.Node, axes []int, options ...ManyOptions) *autograd.Node {
	return many("FFTN", x, axes, options)
}

func many(op string, x *autograd.Node, axes []int, options []ManyOptions) *autograd.Node {
	o := optional(op, x, options)
	axes = axesOf(op, x, axes)
	if o.Sizes != nil && len(o.Sizes) != len(axes) {
		misuse(op, tensor.ErrShape, fmt.Sprintf("there are %d Sizes for %d axes", len(o.Sizes), len(axes)), x)
	}
	for i, axis := range axes {
		single := Options{Norm: o.Norm}
		if o.Sizes != nil {
			single.N = o.Sizes[i]
		}
		x = along(op, x, axis, false, single)
	}
	return x
}

// axesOf returns axes of complex numbers from the front; all if there are none.
func axesOf(op string, x *autograd.Node, axes []int) []int {
	complexAxis(op, x, 0)
	var list []int
	if len(axes) == 0 {
		for axis := range x.Value().Rank() - 1 {
			list = append(list, axis)
		}
	}
	seen := map[int]bool{}
	for _, axis := range axes {
		axis = complexAxis(op, x, axis)
		if seen[axis] {
			misuse(op, tensor.ErrAxis, fmt.Sprintf("axis %d is there twice", axis), x)
		}
		seen[axis] = true
		list = append(list, axis)
	}
	return list
}

// FFTShift moves the number at 0 of complex numbers x [..., 2] to the middle, n/2, along axes; all if
// there are none. Of reals, [autograd.Node.Roll] by n/2 does that. It panics as [FFTN] does.
//
// Gradient: [IFFTShift] of g.
func FFTShift(x *autograd.Node, axes ...int) *autograd.Node {
	for _, axis := range axesOf("FFTShift", x, axes) {
		x = x.Roll(x.Shape()[axis]/2, axis)
	}
	return x
}

// IFFTShift is the inverse of [FFTShift]. It panics as that does.
//
// Gradient: [FFTShift] of g.
func IFFTShift(x *autograd.Node, axes ...int) *autograd.Node {
	for _, axis := range axesOf("IFFTShift", x, axes) {
		x = x.Roll(-(x.Shape()[axis] / 2), axis)
	}
	return x
}
