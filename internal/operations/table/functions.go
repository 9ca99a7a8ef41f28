//go:build ignore

package table

// Functions of one and of two tensors, element by element. They read any view, the shapes broadcast
// by NumPy's rule, and the result is contiguous and shares nothing with the operands.

// Neg returns −x.
//
// Gradient: −g.
//
//op:torch torch.neg
//op:elementwise
func (x T) Neg() T

// Abs returns |x|; NaN stays.
//
// Gradient: sign(x)·g; 0 at 0 and NaN at NaN, whatever g is.
//
//op:torch torch.abs
//op:elementwise
func (x T) Abs() T

// Sign returns −1, 0 or 1 with the sign of x; NaN stays.
//
// Gradient: 0 everywhere, whatever g is.
//
//op:torch torch.sign
//op:elementwise
func (x T) Sign() T

// Sqrt returns √x, NaN below 0.
//
// Gradient: g/(2√x).
//
//op:torch torch.sqrt
//op:elementwise
func (x T) Sqrt() T

// Exp returns eˣ.
//
// Gradient: eˣ·g.
//
//op:torch torch.exp
//op:elementwise
//op:autocast float32
func (x T) Exp() T

// Log returns the natural logarithm of x, −Inf at 0 and NaN below.
//
// Gradient: g/x.
//
//op:torch torch.log
//op:elementwise
//op:autocast float32
func (x T) Log() T

// Square returns x².
//
// Gradient: 2x·g.
//
//op:torch torch.square
//op:elementwise
//op:autocast float32
func (x T) Square() T

// ReLU returns max(x, 0); NaN stays.
//
// Gradient: g where x > 0, else 0.
//
//op:torch torch.relu
//op:elementwise
func (x T) ReLU() T

// LeakyReLU returns x where x > 0, else slope·x.
//
// Gradient: g or slope·g; slope·g at 0.
//
// Source: Maas, Hannun, Ng, "Rectifier Nonlinearities Improve Neural Network Acoustic Models",
// 2013.
//
//op:torch torch.nn.functional.leaky_relu
//op:elementwise
func (x T) LeakyReLU(slope float64) T

// Sine returns sin(ω·x), the activation of SIREN; Sine(1) is the sine.
//
// Gradient: ω·cos(ω·x)·g.
//
// Source: Sitzmann et al., "Implicit Neural Representations with Periodic Activation Functions",
// NeurIPS 2020.
//
//op:elementwise
func (x T) Sine(omega float64) T

// Tanh returns tanh(x).
//
// Gradient: (1 − tanh²x)·g.
//
//op:torch torch.tanh
//op:elementwise
func (x T) Tanh() T

// Sigmoid returns s = 1/(1 + e⁻ˣ).
//
// Gradient: s(1 − s)·g.
//
//op:torch torch.sigmoid
//op:elementwise
func (x T) Sigmoid() T

// Softplus returns log(1 + eˣ), the smooth ReLU, without overflow.
//
// Gradient: g/(1 + e⁻ˣ).
//
// Source: Dugas, Bengio, Bélisle, Nadeau, Garcia, "Incorporating Second-Order Functional
// Knowledge", NIPS 2000, eq. 2.
//
//op:torch torch.nn.functional.softplus
//op:elementwise
//op:autocast float32
func (x T) Softplus() T

// Pow returns xᵖ, as C's pow: where p is not whole, NaN for finite x < 0, and for −Inf Inf, or 0 if
// p < 0; for p = 0 it is 1 everywhere. (For p = ½ PyTorch takes the square root, NaN at −Inf.) Of
// integers and a whole p ≥ 0 it is an integer, as [Tensor.PowTensor] has it.
//
// Gradient: p·xᵖ⁻¹·g; for p = 0, 0 everywhere.
//
//op:torch torch.pow
//op:elementwise
//op:autocast float32
func (x T) Pow(p float64) T

// Clamp returns x limited to [low, high]; NaN stays. Where low > high, as in NumPy, every other
// element becomes high.
//
// Gradient: g inside and at NaN; 0 beyond the limits and at them, as in PyTorch from 2.15 on.
//
//op:torch torch.clamp
//op:elementwise
func (x T) Clamp(low, high float64) T

// AddScalar returns x + a.
//
// Gradient: g.
//
//op:torch torch.add
//op:elementwise
func (x T) AddScalar(a float64) T

// SubScalar returns x − a.
//
// Gradient: g.
//
//op:torch torch.sub
//op:elementwise
func (x T) SubScalar(a float64) T

// MulScalar returns x·a.
//
// Gradient: a·g.
//
//op:torch torch.mul
//op:elementwise
func (x T) MulScalar(a float64) T

// DivScalar returns x/a.
//
// Gradient: g/a.
//
//op:torch torch.div
//op:elementwise
func (x T) DivScalar(a float64) T

// RSubScalar returns a − x.
//
// Gradient: −g.
//
//op:torch torch.rsub
//op:elementwise
func (x T) RSubScalar(a float64) T

// RDivScalar returns a/x.
//
// Gradient: −a/x²·g.
//
//op:torch torch.reciprocal, times a number
//op:elementwise
//op:autocast float32
func (x T) RDivScalar(a float64) T

// MaxScalar returns max(x, a); NaN stays.
//
// Gradient: g where x > a and at NaN, else 0.
//
//op:torch torch.clamp(min)
//op:elementwise
func (x T) MaxScalar(a float64) T

// MinScalar returns min(x, a); NaN stays.
//
// Gradient: g where x < a and at NaN, else 0.
//
//op:torch torch.clamp(max)
//op:elementwise
func (x T) MinScalar(a float64) T

// Add returns x + y. It panics with ErrShape unless the shapes broadcast.
//
// Gradients: g, g.
//
//op:torch torch.add
//op:elementwise
func (x T) Add(y T) T

// Sub returns x − y. It panics with ErrShape unless the shapes broadcast.
//
// Gradients: g, −g.
//
//op:torch torch.sub
//op:elementwise
func (x T) Sub(y T) T

// Mul returns x·y, element by element. It panics with ErrShape unless the shapes broadcast.
//
// Gradients: y·g, x·g.
//
//op:torch torch.mul
//op:elementwise
func (x T) Mul(y T) T

// Div returns x/y. It panics with ErrShape unless the shapes broadcast.
//
// Gradients: g/y, −x/y/y·g.
//
//op:torch torch.div
//op:elementwise
func (x T) Div(y T) T

// Maximum returns the greater of x and y; a NaN wins. It panics with ErrShape unless the shapes
// broadcast.
//
// Gradient: g to the greater, halves at ties; with a NaN, g to both.
//
//op:torch torch.maximum
//op:elementwise Max(x, y)
func (x T) Maximum(y T) T

// Minimum returns the lesser of x and y; a NaN wins. It panics with ErrShape unless the shapes
// broadcast.
//
// Gradient: g to the lesser, halves at ties; with a NaN, g to both, so that it is not lost on the
// way back.
//
//op:torch torch.minimum
//op:elementwise Min(x, y)
func (x T) Minimum(y T) T
