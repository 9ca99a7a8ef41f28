package tensor

import "github.com/clgrad/clgrad/kernels/fn"

// The functions of one tensor, element by element. They have the names and values of those of
// autograd.Node, read any view, and return a contiguous tensor of the shape of t that shares
// nothing with it.

// Neg returns −t.
func (t *Tensor) Neg() *Tensor { return elementwise("Neg", fn.Neg, nil, t) }

// Abs returns |t|; NaN stays.
func (t *Tensor) Abs() *Tensor { return elementwise("Abs", fn.Abs, nil, t) }

// Sign returns −1, 0 or 1 with the sign of t; NaN stays.
func (t *Tensor) Sign() *Tensor { return elementwise("Sign", fn.Sign, nil, t) }

// Sqrt returns √t, NaN below 0.
func (t *Tensor) Sqrt() *Tensor { return elementwise("Sqrt", fn.Sqrt, nil, t) }

// Exp returns eᵗ.
func (t *Tensor) Exp() *Tensor { return elementwise("Exp", fn.Exp, nil, t) }

// Log returns the natural logarithm of t, −Inf at 0 and NaN below.
func (t *Tensor) Log() *Tensor { return elementwise("Log", fn.Log, nil, t) }

// Square returns t².
func (t *Tensor) Square() *Tensor { return elementwise("Square", fn.Square, nil, t) }

// ReLU returns max(t, 0); NaN stays.
func (t *Tensor) ReLU() *Tensor { return elementwise("ReLU", fn.ReLU, nil, t) }

// LeakyReLU returns t where t > 0, else slope·t. Source: Maas, Hannun, Ng, "Rectifier
// Nonlinearities Improve Neural Network Acoustic Models", 2013.
func (t *Tensor) LeakyReLU(slope float64) *Tensor {
	return elementwise("LeakyReLU", fn.LeakyReLU, []float64{slope}, t)
}

// Sine returns sin(ω·t); Sine(1) is the sine.
func (t *Tensor) Sine(omega float64) *Tensor {
	return elementwise("Sine", fn.Sine, []float64{omega}, t)
}

// Tanh returns tanh(t).
func (t *Tensor) Tanh() *Tensor { return elementwise("Tanh", fn.Tanh, nil, t) }

// Sigmoid returns 1/(1 + e⁻ᵗ).
func (t *Tensor) Sigmoid() *Tensor { return elementwise("Sigmoid", fn.Sigmoid, nil, t) }

// Softplus returns log(1 + eᵗ), without overflow. Source: Dugas, Bengio, Bélisle, Nadeau, Garcia,
// "Incorporating Second-Order Functional Knowledge", NIPS 2000, eq. 2.
func (t *Tensor) Softplus() *Tensor { return elementwise("Softplus", fn.Softplus, nil, t) }

// Pow returns tᵖ, as C's pow: where p is not whole, NaN for finite t < 0, and for −Inf Inf, or 0 if
// p < 0; for p = 0 it is 1 everywhere.
func (t *Tensor) Pow(p float64) *Tensor { return elementwise("Pow", fn.Pow, []float64{p}, t) }

// Clamp returns t limited to [low, high]; NaN stays. Where low > high, as in NumPy, every other
// element becomes high.
func (t *Tensor) Clamp(low, high float64) *Tensor {
	return elementwise("Clamp", fn.Clamp, []float64{low, high}, t)
}

// AddScalar returns t + a.
func (t *Tensor) AddScalar(a float64) *Tensor {
	return elementwise("AddScalar", fn.AddScalar, []float64{a}, t)
}

// SubScalar returns t − a.
func (t *Tensor) SubScalar(a float64) *Tensor {
	return elementwise("SubScalar", fn.SubScalar, []float64{a}, t)
}

// MulScalar returns t·a.
func (t *Tensor) MulScalar(a float64) *Tensor {
	return elementwise("MulScalar", fn.MulScalar, []float64{a}, t)
}

// DivScalar returns t/a.
func (t *Tensor) DivScalar(a float64) *Tensor {
	return elementwise("DivScalar", fn.DivScalar, []float64{a}, t)
}

// MaxScalar returns the greater of t and a; a NaN in t stays.
func (t *Tensor) MaxScalar(a float64) *Tensor {
	return elementwise("MaxScalar", fn.MaxScalar, []float64{a}, t)
}

// MinScalar returns the lesser of t and a; a NaN in t stays.
func (t *Tensor) MinScalar(a float64) *Tensor {
	return elementwise("MinScalar", fn.MinScalar, []float64{a}, t)
}

// RSubScalar returns a − t.
func (t *Tensor) RSubScalar(a float64) *Tensor {
	return elementwise("RSubScalar", fn.RSubScalar, []float64{a}, t)
}

// RDivScalar returns a/t.
func (t *Tensor) RDivScalar(a float64) *Tensor {
	return elementwise("RDivScalar", fn.RDivScalar, []float64{a}, t)
}
