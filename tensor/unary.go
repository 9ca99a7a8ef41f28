package tensor

import "github.com/clgrad/clgrad/kernels"

// The functions of one tensor, element by element. They have the names and values of those of autograd.Node, read
// any view, and return a contiguous tensor of the shape of t that shares nothing with it.

// Neg returns −t.
func (t *Tensor) Neg() *Tensor { return t.Unary(kernels.Neg, 0, 0) }

// Abs returns |t|; NaN stays.
func (t *Tensor) Abs() *Tensor { return t.Unary(kernels.Abs, 0, 0) }

// Sign returns −1, 0 or 1 with the sign of t; NaN stays.
func (t *Tensor) Sign() *Tensor { return t.Unary(kernels.Sign, 0, 0) }

// Sqrt returns √t, NaN below 0.
func (t *Tensor) Sqrt() *Tensor { return t.Unary(kernels.Sqrt, 0, 0) }

// Exp returns eᵗ.
func (t *Tensor) Exp() *Tensor { return t.Unary(kernels.Exp, 0, 0) }

// Log returns the natural logarithm of t, −Inf at 0 and NaN below.
func (t *Tensor) Log() *Tensor { return t.Unary(kernels.Log, 0, 0) }

// Square returns t².
func (t *Tensor) Square() *Tensor { return t.Unary(kernels.Square, 0, 0) }

// ReLU returns max(t, 0); NaN stays.
func (t *Tensor) ReLU() *Tensor { return t.Unary(kernels.ReLU, 0, 0) }

// LeakyReLU returns t where t > 0, else slope·t. Source: Maas, Hannun, Ng, "Rectifier Nonlinearities
// Improve Neural Network Acoustic Models", 2013.
func (t *Tensor) LeakyReLU(slope float64) *Tensor { return t.Unary(kernels.LeakyReLU, slope, 0) }

// Sine returns sin(ω·t); Sine(1) is the sine.
func (t *Tensor) Sine(omega float64) *Tensor { return t.Unary(kernels.Sine, omega, 0) }

// Tanh returns tanh(t).
func (t *Tensor) Tanh() *Tensor { return t.Unary(kernels.Tanh, 0, 0) }

// Sigmoid returns 1/(1 + e⁻ᵗ).
func (t *Tensor) Sigmoid() *Tensor { return t.Unary(kernels.Sigmoid, 0, 0) }

// Softplus returns log(1 + eᵗ), without overflow. Source: Dugas, Bengio, Bélisle, Nadeau, Garcia, "Incorporating
// Second-Order Functional Knowledge", NIPS 2000, eq. 2.
func (t *Tensor) Softplus() *Tensor { return t.Unary(kernels.Softplus, 0, 0) }

// Pow returns tᵖ, NaN for t < 0 unless p is whole; for p = 0 it is 1 everywhere.
func (t *Tensor) Pow(p float64) *Tensor { return t.Unary(kernels.Pow, p, 0) }

// Clamp returns t limited to [low, high]; NaN stays. Where low > high, as in NumPy, every other element becomes
// high.
func (t *Tensor) Clamp(low, high float64) *Tensor { return t.Unary(kernels.Clamp, low, high) }

// AddScalar returns t + a.
func (t *Tensor) AddScalar(a float64) *Tensor { return t.Unary(kernels.AddScalar, a, 0) }

// SubScalar returns t − a.
func (t *Tensor) SubScalar(a float64) *Tensor { return t.Unary(kernels.SubScalar, a, 0) }

// MulScalar returns t·a.
func (t *Tensor) MulScalar(a float64) *Tensor { return t.Unary(kernels.MulScalar, a, 0) }

// DivScalar returns t/a.
func (t *Tensor) DivScalar(a float64) *Tensor { return t.Unary(kernels.DivScalar, a, 0) }

// MaxScalar returns the greater of t and a; a NaN in t stays.
func (t *Tensor) MaxScalar(a float64) *Tensor { return t.Unary(kernels.MaxScalar, a, 0) }

// MinScalar returns the lesser of t and a; a NaN in t stays.
func (t *Tensor) MinScalar(a float64) *Tensor { return t.Unary(kernels.MinScalar, a, 0) }

// RSubScalar returns a − t.
func (t *Tensor) RSubScalar(a float64) *Tensor { return t.Unary(kernels.RSubScalar, a, 0) }

// RDivScalar returns a/t.
func (t *Tensor) RDivScalar(a float64) *Tensor { return t.Unary(kernels.RDivScalar, a, 0) }
