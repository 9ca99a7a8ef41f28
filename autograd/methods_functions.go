// Code generated from internal/operations/table/functions.go by "make generate". DO NOT EDIT.

package autograd

import "github.com/clgrad/clgrad/kernels/fn"

// Neg returns −x.
//
// Gradient: −g.
func (x *Node) Neg() *Node { return elementwise("Neg", fn.Neg, nil, x) }

// Abs returns |x|; NaN stays.
//
// Gradient: sign(x)·g; 0 at 0 and NaN at NaN, whatever g is.
func (x *Node) Abs() *Node { return elementwise("Abs", fn.Abs, nil, x) }

// Sign returns −1, 0 or 1 with the sign of x; NaN stays.
//
// Gradient: 0 everywhere, whatever g is.
func (x *Node) Sign() *Node { return elementwise("Sign", fn.Sign, nil, x) }

// Sqrt returns √x, NaN below 0.
//
// Gradient: g/(2√x).
func (x *Node) Sqrt() *Node { return elementwise("Sqrt", fn.Sqrt, nil, x) }

// Exp returns eˣ.
//
// Gradient: eˣ·g.
func (x *Node) Exp() *Node {
	x = castFloat32(x)
	return elementwise("Exp", fn.Exp, nil, x)
}

// Log returns the natural logarithm of x, −Inf at 0 and NaN below.
//
// Gradient: g/x.
func (x *Node) Log() *Node {
	x = castFloat32(x)
	return elementwise("Log", fn.Log, nil, x)
}

// Square returns x².
//
// Gradient: 2x·g.
func (x *Node) Square() *Node {
	x = castFloat32(x)
	return elementwise("Square", fn.Square, nil, x)
}

// ReLU returns max(x, 0); NaN stays.
//
// Gradient: g where x > 0, else 0.
func (x *Node) ReLU() *Node { return elementwise("ReLU", fn.ReLU, nil, x) }

// LeakyReLU returns x where x > 0, else slope·x.
//
// Gradient: g or slope·g; slope·g at 0.
//
// Source: Maas, Hannun, Ng, "Rectifier Nonlinearities Improve Neural Network Acoustic Models",
// 2013.
func (x *Node) LeakyReLU(slope float64) *Node {
	return elementwise("LeakyReLU", fn.LeakyReLU, []float64{slope}, x)
}

// Sine returns sin(ω·x), the activation of SIREN; Sine(1) is the sine.
//
// Gradient: ω·cos(ω·x)·g.
//
// Source: Sitzmann et al., "Implicit Neural Representations with Periodic Activation Functions",
// NeurIPS 2020.
func (x *Node) Sine(omega float64) *Node {
	return elementwise("Sine", fn.Sine, []float64{omega}, x)
}

// Tanh returns tanh(x).
//
// Gradient: (1 − tanh²x)·g.
func (x *Node) Tanh() *Node { return elementwise("Tanh", fn.Tanh, nil, x) }

// Sigmoid returns s = 1/(1 + e⁻ˣ).
//
// Gradient: s(1 − s)·g.
func (x *Node) Sigmoid() *Node { return elementwise("Sigmoid", fn.Sigmoid, nil, x) }

// Softplus returns log(1 + eˣ), the smooth ReLU, without overflow.
//
// Gradient: g/(1 + e⁻ˣ).
//
// Source: Dugas, Bengio, Bélisle, Nadeau, Garcia, "Incorporating Second-Order Functional
// Knowledge", NIPS 2000, eq. 2.
func (x *Node) Softplus() *Node {
	x = castFloat32(x)
	return elementwise("Softplus", fn.Softplus, nil, x)
}

// Pow returns xᵖ, as C's pow: where p is not whole, NaN for finite x < 0, and for −Inf Inf, or 0 if
// p < 0; for p = 0 it is 1 everywhere. (For p = ½ PyTorch takes the square root, NaN at −Inf.) Of
// integers and a whole p ≥ 0 it is an integer, as [Node.PowTensor] has it.
//
// Gradient: p·xᵖ⁻¹·g; for p = 0, 0 everywhere.
func (x *Node) Pow(p float64) *Node {
	x = castFloat32(x)
	return elementwise("Pow", fn.Pow, []float64{p}, x)
}

// Clamp returns x limited to [low, high]; NaN stays. Where low > high, as in NumPy, every other
// element becomes high.
//
// Gradient: g inside and at NaN; 0 beyond the limits and at them, as in PyTorch from 2.15 on.
func (x *Node) Clamp(low, high float64) *Node {
	return elementwise("Clamp", fn.Clamp, []float64{low, high}, x)
}

// AddScalar returns x + a.
//
// Gradient: g.
func (x *Node) AddScalar(a float64) *Node {
	return elementwise("AddScalar", fn.AddScalar, []float64{a}, x)
}

// SubScalar returns x − a.
//
// Gradient: g.
func (x *Node) SubScalar(a float64) *Node {
	return elementwise("SubScalar", fn.SubScalar, []float64{a}, x)
}

// MulScalar returns x·a.
//
// Gradient: a·g.
func (x *Node) MulScalar(a float64) *Node {
	return elementwise("MulScalar", fn.MulScalar, []float64{a}, x)
}

// DivScalar returns x/a.
//
// Gradient: g/a.
func (x *Node) DivScalar(a float64) *Node {
	return elementwise("DivScalar", fn.DivScalar, []float64{a}, x)
}

// RSubScalar returns a − x.
//
// Gradient: −g.
func (x *Node) RSubScalar(a float64) *Node {
	return elementwise("RSubScalar", fn.RSubScalar, []float64{a}, x)
}

// RDivScalar returns a/x.
//
// Gradient: −a/x²·g.
func (x *Node) RDivScalar(a float64) *Node {
	x = castFloat32(x)
	return elementwise("RDivScalar", fn.RDivScalar, []float64{a}, x)
}

// MaxScalar returns max(x, a); NaN stays.
//
// Gradient: g where x > a and at NaN, else 0.
func (x *Node) MaxScalar(a float64) *Node {
	return elementwise("MaxScalar", fn.MaxScalar, []float64{a}, x)
}

// MinScalar returns min(x, a); NaN stays.
//
// Gradient: g where x < a and at NaN, else 0.
func (x *Node) MinScalar(a float64) *Node {
	return elementwise("MinScalar", fn.MinScalar, []float64{a}, x)
}

// Add returns x + y. It panics with tensor.ErrShape unless the shapes broadcast.
//
// Gradients: g, g.
func (x *Node) Add(y *Node) *Node { return elementwise("Add", fn.Add, nil, x, y) }

// Sub returns x − y. It panics with tensor.ErrShape unless the shapes broadcast.
//
// Gradients: g, −g.
func (x *Node) Sub(y *Node) *Node { return elementwise("Sub", fn.Sub, nil, x, y) }

// Mul returns x·y, element by element. It panics with tensor.ErrShape unless the shapes broadcast.
//
// Gradients: y·g, x·g.
func (x *Node) Mul(y *Node) *Node { return elementwise("Mul", fn.Mul, nil, x, y) }

// Div returns x/y. It panics with tensor.ErrShape unless the shapes broadcast.
//
// Gradients: g/y, −x/y/y·g.
func (x *Node) Div(y *Node) *Node { return elementwise("Div", fn.Div, nil, x, y) }

// Maximum returns the greater of x and y; a NaN wins. It panics with tensor.ErrShape unless the
// shapes broadcast.
//
// Gradient: g to the greater, halves at ties; with a NaN, g to both.
func (x *Node) Maximum(y *Node) *Node { return elementwise("Maximum", fn.Max, nil, x, y) }

// Minimum returns the lesser of x and y; a NaN wins. It panics with tensor.ErrShape unless the
// shapes broadcast.
//
// Gradient: g to the lesser, halves at ties; with a NaN, g to both, so that it is not lost on the
// way back.
func (x *Node) Minimum(y *Node) *Node { return elementwise("Minimum", fn.Min, nil, x, y) }
