// Code generated from internal/operations/table/functions.go by "make generate". DO NOT EDIT.

package tensor

import "github.com/clgrad/clgrad/kernels/fn"

// Neg returns −x.
func (x *Tensor) Neg() *Tensor { return elementwise("Neg", fn.Neg, nil, x) }

// Abs returns |x|; NaN stays.
func (x *Tensor) Abs() *Tensor { return elementwise("Abs", fn.Abs, nil, x) }

// Sign returns −1, 0 or 1 with the sign of x; NaN stays.
func (x *Tensor) Sign() *Tensor { return elementwise("Sign", fn.Sign, nil, x) }

// Sqrt returns √x, NaN below 0.
func (x *Tensor) Sqrt() *Tensor { return elementwise("Sqrt", fn.Sqrt, nil, x) }

// Exp returns eˣ.
func (x *Tensor) Exp() *Tensor { return elementwise("Exp", fn.Exp, nil, x) }

// Log returns the natural logarithm of x, −Inf at 0 and NaN below.
func (x *Tensor) Log() *Tensor { return elementwise("Log", fn.Log, nil, x) }

// Square returns x².
func (x *Tensor) Square() *Tensor { return elementwise("Square", fn.Square, nil, x) }

// ReLU returns max(x, 0); NaN stays.
func (x *Tensor) ReLU() *Tensor { return elementwise("ReLU", fn.ReLU, nil, x) }

// LeakyReLU returns x where x > 0, else slope·x.
//
// Source: Maas, Hannun, Ng, "Rectifier Nonlinearities Improve Neural Network Acoustic Models",
// 2013.
func (x *Tensor) LeakyReLU(slope float64) *Tensor {
	return elementwise("LeakyReLU", fn.LeakyReLU, []float64{slope}, x)
}

// Sine returns sin(ω·x), the activation of SIREN; Sine(1) is the sine.
//
// Source: Sitzmann et al., "Implicit Neural Representations with Periodic Activation Functions",
// NeurIPS 2020.
func (x *Tensor) Sine(omega float64) *Tensor {
	return elementwise("Sine", fn.Sine, []float64{omega}, x)
}

// Tanh returns tanh(x).
func (x *Tensor) Tanh() *Tensor { return elementwise("Tanh", fn.Tanh, nil, x) }

// Sigmoid returns s = 1/(1 + e⁻ˣ).
func (x *Tensor) Sigmoid() *Tensor { return elementwise("Sigmoid", fn.Sigmoid, nil, x) }

// Softplus returns log(1 + eˣ), the smooth ReLU, without overflow.
//
// Source: Dugas, Bengio, Bélisle, Nadeau, Garcia, "Incorporating Second-Order Functional
// Knowledge", NIPS 2000, eq. 2.
func (x *Tensor) Softplus() *Tensor { return elementwise("Softplus", fn.Softplus, nil, x) }

// Pow returns xᵖ, as C's pow: where p is not whole, NaN for finite x < 0, and for −Inf Inf, or 0 if
// p < 0; for p = 0 it is 1 everywhere. (For p = ½ PyTorch takes the square root, NaN at −Inf.) Of
// integers and a whole p ≥ 0 it is an integer, as [Tensor.PowTensor] has it.
func (x *Tensor) Pow(p float64) *Tensor { return elementwise("Pow", fn.Pow, []float64{p}, x) }

// Clamp returns x limited to [low, high]; NaN stays. Where low > high, as in NumPy, every other
// element becomes high.
func (x *Tensor) Clamp(low, high float64) *Tensor {
	return elementwise("Clamp", fn.Clamp, []float64{low, high}, x)
}

// AddScalar returns x + a.
func (x *Tensor) AddScalar(a float64) *Tensor {
	return elementwise("AddScalar", fn.AddScalar, []float64{a}, x)
}

// SubScalar returns x − a.
func (x *Tensor) SubScalar(a float64) *Tensor {
	return elementwise("SubScalar", fn.SubScalar, []float64{a}, x)
}

// MulScalar returns x·a.
func (x *Tensor) MulScalar(a float64) *Tensor {
	return elementwise("MulScalar", fn.MulScalar, []float64{a}, x)
}

// DivScalar returns x/a.
func (x *Tensor) DivScalar(a float64) *Tensor {
	return elementwise("DivScalar", fn.DivScalar, []float64{a}, x)
}

// RSubScalar returns a − x.
func (x *Tensor) RSubScalar(a float64) *Tensor {
	return elementwise("RSubScalar", fn.RSubScalar, []float64{a}, x)
}

// RDivScalar returns a/x.
func (x *Tensor) RDivScalar(a float64) *Tensor {
	return elementwise("RDivScalar", fn.RDivScalar, []float64{a}, x)
}

// MaxScalar returns max(x, a); NaN stays.
func (x *Tensor) MaxScalar(a float64) *Tensor {
	return elementwise("MaxScalar", fn.MaxScalar, []float64{a}, x)
}

// MinScalar returns min(x, a); NaN stays.
func (x *Tensor) MinScalar(a float64) *Tensor {
	return elementwise("MinScalar", fn.MinScalar, []float64{a}, x)
}

// Add returns x + y. It panics with ErrShape unless the shapes broadcast.
func (x *Tensor) Add(y *Tensor) *Tensor { return elementwise("Add", fn.Add, nil, x, y) }

// Sub returns x − y. It panics with ErrShape unless the shapes broadcast.
func (x *Tensor) Sub(y *Tensor) *Tensor { return elementwise("Sub", fn.Sub, nil, x, y) }

// Mul returns x·y, element by element. It panics with ErrShape unless the shapes broadcast.
func (x *Tensor) Mul(y *Tensor) *Tensor { return elementwise("Mul", fn.Mul, nil, x, y) }

// Div returns x/y. It panics with ErrShape unless the shapes broadcast.
func (x *Tensor) Div(y *Tensor) *Tensor { return elementwise("Div", fn.Div, nil, x, y) }

// Maximum returns the greater of x and y; a NaN wins. It panics with ErrShape unless the shapes
// broadcast.
func (x *Tensor) Maximum(y *Tensor) *Tensor { return elementwise("Maximum", fn.Max, nil, x, y) }

// Minimum returns the lesser of x and y; a NaN wins. It panics with ErrShape unless the shapes
// broadcast.
func (x *Tensor) Minimum(y *Tensor) *Tensor { return elementwise("Minimum", fn.Min, nil, x, y) }
