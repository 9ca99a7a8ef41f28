package autograd

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// unary records y = f(x) with the gradient f'(x)·g of the kernel table.
func unary(f *kernels.Unary, x *Node, a, b float64) *Node {
	xv := x.use(f.Name)
	y := xv.Unary(f, a, b)
	var saved []*tensor.Tensor
	sx, sy := (*tensor.Tensor)(nil), (*tensor.Tensor)(nil)
	if f.UsesX {
		sx = xv
		saved = append(saved, sx)
	}
	if f.UsesY {
		sy = y
		saved = append(saved, sy)
	}
	return Apply(f.Name, y, []*Node{x}, func(g *tensor.Tensor, in *Grads) {
		in.Give(0, tensor.UnaryGrad(f, sx, sy, g, a, b))
	}, saved...)
}

// Neg returns −x. Gradient: −g.
func (x *Node) Neg() *Node { return unary(kernels.Neg, x, 0, 0) }

// Abs returns |x|. Gradient: sign(x)·g; 0 at 0 and NaN at NaN, whatever g is.
func (x *Node) Abs() *Node { return unary(kernels.Abs, x, 0, 0) }

// Sign returns −1, 0 or 1 with the sign of x; NaN stays. Gradient: 0 everywhere, whatever g is.
func (x *Node) Sign() *Node { return unary(kernels.Sign, x, 0, 0) }

// Sqrt returns √x, NaN below 0. Gradient: g/(2√x).
func (x *Node) Sqrt() *Node { return unary(kernels.Sqrt, x, 0, 0) }

// Exp returns eˣ. Gradient: eˣ·g.
func (x *Node) Exp() *Node { return unary(kernels.Exp, x, 0, 0) }

// Log returns the natural logarithm, −Inf at 0 and NaN below. Gradient: g/x.
func (x *Node) Log() *Node { return unary(kernels.Log, x, 0, 0) }

// Square returns x². Gradient: 2x·g.
func (x *Node) Square() *Node { return unary(kernels.Square, x, 0, 0) }

// ReLU returns max(x, 0). Gradient: g where x > 0, else 0.
func (x *Node) ReLU() *Node { return unary(kernels.ReLU, x, 0, 0) }

// LeakyReLU returns x where x > 0, else slope·x. Gradient: g or slope·g; slope·g at 0. Source: Maas,
// Hannun, Ng, "Rectifier Nonlinearities Improve Neural Network Acoustic Models", 2013.
func (x *Node) LeakyReLU(slope float64) *Node { return unary(kernels.LeakyReLU, x, slope, 0) }

// Sine returns sin(ω·x), the activation of SIREN; Sine(1) is the sine. Gradient: ω·cos(ω·x)·g. Source:
// Sitzmann et al., "Implicit Neural Representations with Periodic Activation Functions", NeurIPS 2020.
func (x *Node) Sine(omega float64) *Node { return unary(kernels.Sine, x, omega, 0) }

// Tanh returns tanh(x). Gradient: (1 − tanh²x)·g.
func (x *Node) Tanh() *Node { return unary(kernels.Tanh, x, 0, 0) }

// Sigmoid returns s = 1/(1 + e⁻ˣ). Gradient: s(1 − s)·g.
func (x *Node) Sigmoid() *Node { return unary(kernels.Sigmoid, x, 0, 0) }

// Softplus returns log(1 + eˣ), the smooth ReLU, without overflow. Gradient: g/(1 + e⁻ˣ). Source: Dugas,
// Bengio, Bélisle, Nadeau, Garcia, "Incorporating Second-Order Functional Knowledge", NIPS 2000, eq. 2.
func (x *Node) Softplus() *Node { return unary(kernels.Softplus, x, 0, 0) }

// Pow returns xᵖ, NaN for x < 0 unless p is whole. Gradient: p·xᵖ⁻¹·g; for p = 0, which gives 1
// everywhere, 0 everywhere.
func (x *Node) Pow(p float64) *Node { return unary(kernels.Pow, x, p, 0) }

// Clamp returns x limited to [low, high]; NaN stays. Where low > high, as in NumPy, every other element becomes
// high. Gradient: g inside, at the limits and at NaN, else 0.
func (x *Node) Clamp(low, high float64) *Node { return unary(kernels.Clamp, x, low, high) }

// AddScalar returns x + a. Gradient: g.
func (x *Node) AddScalar(a float64) *Node { return unary(kernels.AddScalar, x, a, 0) }

// SubScalar returns x − a. Gradient: g.
func (x *Node) SubScalar(a float64) *Node { return unary(kernels.SubScalar, x, a, 0) }

// MulScalar returns x·a. Gradient: a·g.
func (x *Node) MulScalar(a float64) *Node { return unary(kernels.MulScalar, x, a, 0) }

// DivScalar returns x/a. Gradient: g/a.
func (x *Node) DivScalar(a float64) *Node { return unary(kernels.DivScalar, x, a, 0) }

// MaxScalar returns max(x, a); NaN stays. Gradient: g where x ≥ a, else 0.
func (x *Node) MaxScalar(a float64) *Node { return unary(kernels.MaxScalar, x, a, 0) }

// MinScalar returns min(x, a); NaN stays. Gradient: g where x ≤ a, else 0.
func (x *Node) MinScalar(a float64) *Node { return unary(kernels.MinScalar, x, a, 0) }

// RSubScalar returns a − x. Gradient: −g.
func (x *Node) RSubScalar(a float64) *Node { return unary(kernels.RSubScalar, x, a, 0) }

// RDivScalar returns a/x. Gradient: −a/x²·g.
func (x *Node) RDivScalar(a float64) *Node { return unary(kernels.RDivScalar, x, a, 0) }
