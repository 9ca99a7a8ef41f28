package autograd

import "github.com/clgrad/clgrad/kernels/fn"

// Add returns x + y. It panics with tensor.ErrShape unless the shapes broadcast. Gradients: g, g.
func (x *Node) Add(y *Node) *Node { return elementwise("Add", fn.Add, nil, x, y) }

// Sub returns x − y. It panics with tensor.ErrShape unless the shapes broadcast. Gradients: g, −g.
func (x *Node) Sub(y *Node) *Node { return elementwise("Sub", fn.Sub, nil, x, y) }

// Mul returns x·y, element by element. It panics with tensor.ErrShape unless the shapes broadcast.
// Gradients: y·g, x·g.
func (x *Node) Mul(y *Node) *Node { return elementwise("Mul", fn.Mul, nil, x, y) }

// Div returns x/y. It panics with tensor.ErrShape unless the shapes broadcast. Gradients: g/y,
// −x/y/y·g.
func (x *Node) Div(y *Node) *Node { return elementwise("Div", fn.Div, nil, x, y) }

// Minimum returns the lesser of x and y; a NaN wins. It panics with tensor.ErrShape unless the
// shapes broadcast. Gradient: g to the lesser, halves at ties; with a NaN, g to both, so that it is
// not lost on the way back.
func (x *Node) Minimum(y *Node) *Node { return elementwise("Minimum", fn.Min, nil, x, y) }

// Maximum returns the greater of x and y; a NaN wins. It panics with tensor.ErrShape unless the
// shapes broadcast. Gradient: g to the greater, halves at ties; with a NaN, g to both.
func (x *Node) Maximum(y *Node) *Node { return elementwise("Maximum", fn.Max, nil, x, y) }

// Atan2 returns the angle of the point with the coordinates y, x: arctan(x/y) in the right
// quadrant, in [−π, π]. It panics with tensor.ErrShape unless the shapes broadcast. Gradients:
// y/(x² + y²)·g, −x/(x² + y²)·g; NaN at (0, 0).
func (x *Node) Atan2(y *Node) *Node { return elementwise("Atan2", fn.Atan2, nil, x, y) }

// Hypot returns √(x² + y²), without overflow. It panics with tensor.ErrShape unless the shapes
// broadcast. Gradients: x/z·g, y/z·g of the result z; NaN at (0, 0).
func (x *Node) Hypot(y *Node) *Node { return elementwise("Hypot", fn.Hypot, nil, x, y) }

// PowTensor returns xʸ, NaN for finite x < 0 unless y is whole; 1 for y = 0; of infinities what C's
// pow has. For one exponent see [Node.Pow]. It panics with tensor.ErrShape unless the shapes
// broadcast. Gradients: y·xʸ⁻¹·g, 0 for y = 0; xʸ·ln(x)·g, NaN for x < 0, and 0 for x = 0 unless
// y < 0.
func (x *Node) PowTensor(y *Node) *Node {
	return elementwise("PowTensor", fn.PowTensor, nil, x, y)
}

// Copysign returns |x| with the sign of y, of −0 too. It panics with tensor.ErrShape unless the
// shapes broadcast. Gradients: g by the signs of x and y, 0 for x = 0; 0.
func (x *Node) Copysign(y *Node) *Node { return elementwise("Copysign", fn.Copysign, nil, x, y) }

// Heaviside returns 0 for x < 0, 1 for x > 0 and y for x = 0; NaN stays. It panics with
// tensor.ErrShape unless the shapes broadcast. Gradients: 0; g where x = 0.
func (x *Node) Heaviside(y *Node) *Node {
	return elementwise("Heaviside", fn.Heaviside, nil, x, y)
}

// Fmod returns what is left of x/y rounded towards 0: x − y·trunc(x/y), with the sign of x. Of y =
// 0 it is NaN or, of integers, 0. It panics with tensor.ErrShape unless the shapes broadcast.
// Gradients: g, −trunc(x/y)·g.
func (x *Node) Fmod(y *Node) *Node { return elementwise("Fmod", fn.Fmod, nil, x, y) }

// Remainder returns what is left of x/y rounded down: x − y·⌊x/y⌋, with the sign of y. Of y = 0 it
// is NaN or, of integers, 0. It panics with tensor.ErrShape unless the shapes broadcast. Gradients:
// g, −⌊x/y⌋·g.
func (x *Node) Remainder(y *Node) *Node {
	return elementwise("Remainder", fn.Remainder, nil, x, y)
}

// FloorDivide returns ⌊x/y⌋. Of y = 0 it is x/y or, of integers, 0. In float32 quotients beyond 2²¹
// may be off by a few units of the last place. It panics with tensor.ErrShape unless the shapes
// broadcast. Gradients: 0, 0.
func (x *Node) FloorDivide(y *Node) *Node {
	return elementwise("FloorDivide", fn.FloorDivide, nil, x, y)
}

// Lerp returns x + weight·(y − x), which is x and y for weights of 0 and 1. It panics with
// tensor.ErrShape unless the shapes broadcast. Gradients: (1 − weight)·g, weight·g.
func (x *Node) Lerp(y *Node, weight float64) *Node {
	return elementwise("Lerp", fn.Lerp, []float64{weight}, x, y)
}

// LerpTensor returns x + weight·(y − x), which is x and y for weights of 0 and 1. [Node.Lerp] is
// that of one weight. It panics with tensor.ErrShape unless the shapes broadcast. Gradients: (1 −
// weight)·g, weight·g, (y − x)·g.
func (x *Node) LerpTensor(y, weight *Node) *Node {
	return elementwise("LerpTensor", fn.LerpTensor, nil, x, y, weight)
}
