package tensor

import "github.com/clgrad/clgrad/kernels/fn"

// The functions of two tensors, element by element. They have the names and values of those of
// autograd.Node. The shapes broadcast by NumPy's rule; the result is contiguous and shares nothing
// with t and y. All panic with ErrShape where the shapes do not broadcast.

// Add returns t + y. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Add(y *Tensor) *Tensor { return elementwise("Add", fn.Add, nil, t, y) }

// Sub returns t − y. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Sub(y *Tensor) *Tensor { return elementwise("Sub", fn.Sub, nil, t, y) }

// Mul returns t·y, element by element. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Mul(y *Tensor) *Tensor { return elementwise("Mul", fn.Mul, nil, t, y) }

// Div returns t/y. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Div(y *Tensor) *Tensor { return elementwise("Div", fn.Div, nil, t, y) }

// Minimum returns the lesser of t and y; a NaN wins. It panics with ErrShape unless the shapes
// broadcast.
func (t *Tensor) Minimum(y *Tensor) *Tensor { return elementwise("Minimum", fn.Min, nil, t, y) }

// Maximum returns the greater of t and y; a NaN wins. It panics with ErrShape unless the shapes
// broadcast.
func (t *Tensor) Maximum(y *Tensor) *Tensor { return elementwise("Maximum", fn.Max, nil, t, y) }

// Atan2 returns the angle of the point with the coordinates y, t: arctan(t/y) in the right
// quadrant, in [−π, π]. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Atan2(y *Tensor) *Tensor { return elementwise("Atan2", fn.Atan2, nil, t, y) }

// Hypot returns √(t² + y²), without overflow. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Hypot(y *Tensor) *Tensor { return elementwise("Hypot", fn.Hypot, nil, t, y) }

// PowTensor returns tʸ, NaN for finite t < 0 unless y is whole; 1 for y = 0; of infinities what C's
// pow has. For one exponent see [Tensor.Pow]. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) PowTensor(y *Tensor) *Tensor {
	return elementwise("PowTensor", fn.PowTensor, nil, t, y)
}

// Copysign returns |t| with the sign of y, of −0 too. It panics with ErrShape unless the shapes
// broadcast.
func (t *Tensor) Copysign(y *Tensor) *Tensor {
	return elementwise("Copysign", fn.Copysign, nil, t, y)
}

// Heaviside returns 0 for t < 0, 1 for t > 0 and y for t = 0; NaN stays. It panics with ErrShape
// unless the shapes broadcast.
func (t *Tensor) Heaviside(y *Tensor) *Tensor {
	return elementwise("Heaviside", fn.Heaviside, nil, t, y)
}

// Fmod returns what is left of t/y rounded towards 0: t − y·trunc(t/y), with the sign of t. Of y =
// 0 it is NaN or, of integers, 0. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Fmod(y *Tensor) *Tensor { return elementwise("Fmod", fn.Fmod, nil, t, y) }

// Remainder returns what is left of t/y rounded down: t − y·⌊t/y⌋, with the sign of y. Of y = 0 it
// is NaN or, of integers, 0. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Remainder(y *Tensor) *Tensor {
	return elementwise("Remainder", fn.Remainder, nil, t, y)
}

// FloorDivide returns ⌊t/y⌋. Of y = 0 it is t/y or, of integers, 0. In float32 quotients beyond 2²¹
// may be off by a few units of the last place. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) FloorDivide(y *Tensor) *Tensor {
	return elementwise("FloorDivide", fn.FloorDivide, nil, t, y)
}

// Lerp returns t + weight·(y − t), which is t and y for weights of 0 and 1. It panics with ErrShape
// unless the shapes broadcast.
func (t *Tensor) Lerp(y *Tensor, weight float64) *Tensor {
	return elementwise("Lerp", fn.Lerp, []float64{weight}, t, y)
}

// LerpTensor returns t + weight·(y − t), which is t and y for weights of 0 and 1. [Tensor.Lerp] is
// that of one weight. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) LerpTensor(y, weight *Tensor) *Tensor {
	return elementwise("LerpTensor", fn.LerpTensor, nil, t, y, weight)
}
