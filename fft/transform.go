package fft

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// transform returns scale times the transforms of complex numbers x [..., 2] along an axis from the
// front. sign is that of the exponent.
func transform(op string, x *autograd.Node, axis, sign int, scale float64) *autograd.Node {
	v := x.ValueFor(op)
	shape := v.Shape()
	outer, n, inner := size(shape[:axis]), shape[axis], size(shape[axis+1:len(shape)-1])
	from := v.Contiguous()
	flat := from.Reshape(v.Len())
	from.Free()
	y := numbers(flat, outer, n, inner, sign, scale)
	defer y.Free()
	result := autograd.NewOp(op, y.Reshape(shape...), []*autograd.Node{x}, func(g *autograd.Node, in *autograd.Grads) {
		in.AccumulateNode(0, transform(op, g, axis, -sign, scale))
	})
	if trace.On() {
		trace.Record("FourierTransform", []any{x, axis, sign, scale}, result)
	}
	return result
}

func size(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

// numbers transforms the contiguous x [outer, n, inner, 2] along n, and frees it.
func numbers(x *tensor.Tensor, outer, n, inner, sign int, scale float64) *tensor.Tensor {
	if x.Len() == 0 {
		return x
	}
	if largestFactor(n) > mostPrime {
		return convolved(x, outer, n, inner, sign, scale)
	}
	for rest := n; ; {
		part := partOf(rest)
		m := rest / part
		by := 1.0
		if m == 1 {
			by = scale
		}
		x = pass(x, outer, part, m, inner, sign, by)
		if rest, inner = m, inner*part; rest == 1 {
			return x
		}
	}
}

// pass does one launch of k_fft on x, and frees it.
func pass(x *tensor.Tensor, outer, n, m, inner, sign int, scale float64) *tensor.Tensor {
	d, typ := x.Device(), x.Type()
	roots := tensor.NewOf(d, typ, rootsOf(n, sign))
	turns, fine := roots.View(), 1
	if m > 1 {
		var list []float64
		turns.Free()
		list, fine = turnsOf(n*m, sign)
		turns = tensor.NewOf(d, typ, list)
	}
	y := tensor.EmptyOf(d, typ, x.Len())
	tensor.Launch(d, lines, x.Arg(), y.Arg(), roots.Arg(), turns.Arg(), kernels.IntArg(n), kernels.IntArg(m), kernels.IntArg(inner),
		kernels.IntArg(outer*m*inner), kernels.IntArg(fine), kernels.IntArg(sign), kernels.FloatArg(scale))
	for _, t := range []*tensor.Tensor{x, roots, turns} {
		t.Free()
	}
	return y
}

// largestFactor returns the largest prime factor of n, or 1.
func largestFactor(n int) int {
	largest := 1
	for f := 2; f*f <= n; f++ {
		for ; n%f == 0; n /= f {
			largest = f
		}
	}
	return max(largest, n)
}

// partOf returns the factor of n that the next launch transforms: of those that it can, about as large
// as the launches that follow need for theirs.
func partOf(n int) int {
	if n <= most {
		return n
	}
	launches := math.Ceil(math.Log(float64(n)) / math.Log(most))
	least := int(math.Pow(float64(n), 1/launches) + 0.5)
	part := 1
	for f := most; f > 1 && (part == 1 || f >= least); f-- {
		if n%f == 0 {
			part = f
		}
	}
	return part
}

// convolved transforms x as numbers does, for any n: 2jk = j² + k² − (k−j)² makes it a convolution
// with e^(−sign·πi·j²/n), which transforms of a length with small factors compute.
//
// Source: Bluestein, "A linear filtering approach to the computation of discrete Fourier transform",
// 1970.
func convolved(x *tensor.Tensor, outer, n, inner, sign int, scale float64) *tensor.Tensor {
	length := 2*n - 1
	for largestFactor(length) > 5 {
		length++
	}
	chirp, kernel := make([]float64, 2*n), make([]float64, 2*length)
	for j := range n {
		re, im := root(int(int64(j)*int64(j)%int64(2*n)), 2*n, sign)
		chirp[2*j], chirp[2*j+1] = re, im
		for _, at := range []int{j, (length - j) % length} {
			kernel[2*at], kernel[2*at+1] = re, -im
		}
	}
	d, typ := x.Device(), x.Type()
	turns := tensor.NewOf(d, typ, chirp)
	defer turns.Free()
	spectrum := numbers(tensor.NewOf(d, typ, kernel), 1, length, 1, 1, 1)
	defer spectrum.Free()
	weighed := func(x, w *tensor.Tensor, n, length int, scale float64) *tensor.Tensor {
		y := tensor.EmptyOf(d, typ, 2*outer*length*inner)
		tensor.Launch(d, weigh, x.Arg(), w.Arg(), y.Arg(), kernels.IntArg(n), kernels.IntArg(length), kernels.IntArg(inner),
			kernels.IntArg(outer*length*inner), kernels.FloatArg(scale))
		x.Free()
		return y
	}
	x = numbers(weighed(x, turns, n, length, 1), outer, length, inner, 1, 1)
	x = numbers(weighed(x, spectrum, length, length, 1/float64(length)), outer, length, inner, -1, 1)
	return weighed(x, turns, length, n, scale)
}

// complexAxis returns the axis of complex numbers x [..., 2] from the front. It panics unless x is of
// pairs of float32 or float64, and has it.
func complexAxis(op string, x *autograd.Node, axis int) int {
	mustFloat(op, x)
	shape := x.Shape()
	rank := len(shape) - 1
	if rank < 1 || shape[rank] != 2 {
		misuse(op, tensor.ErrShape, "complex numbers are pairs on the last axis: [..., n, 2]", x)
	}
	return axisOf(op, x, axis, rank)
}

// axisOf returns the axis of the first rank ones of x from the front.
func axisOf(op string, x *autograd.Node, axis, rank int) int {
	if axis < -rank || axis >= rank {
		misuse(op, tensor.ErrAxis, fmt.Sprintf("there is no axis %d of %d", axis, rank), x)
	}
	if axis < 0 {
		axis += rank
	}
	return axis
}

func mustFloat(op string, x *autograd.Node) {
	if typ := x.ValueFor(op).Type(); typ != tensor.Float32 && typ != tensor.Float64 {
		misuse(op, tensor.ErrType, fmt.Sprintf("the operand is of type %v: convert it with To(tensor.Float32)", typ), x)
	}
}

// resized returns x with n elements along an axis: those beyond left out, those missing 0.
func resized(op string, x *autograd.Node, axis, n int) *autograd.Node {
	if n < 1 {
		misuse(op, tensor.ErrShape, fmt.Sprintf("a transform has 1 number or more, not %d", n), x)
	}
	if n == x.Shape()[axis] {
		return x
	}
	widths := make([][2]int, x.Value().Rank()-axis)
	widths[0][1] = n - x.Shape()[axis]
	return x.Pad(widths)
}

// misuse panics with a *tensor.Error about an operand.
func misuse(op string, kind error, detail string, x *autograd.Node) {
	panic(&tensor.Error{Pkg: "fft", Op: op, Kind: kind, Detail: detail, Shapes: [][]int{slices.Clone(x.Shape())}})
}
