// Code generated from internal/operations/table/elements.go by "make generate". DO NOT EDIT.

package autograd

import (
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/kernels/fn"
)

// Sin returns sin x, of radians; for sin(ω·x) see [Node.Sine].
//
// Gradient: cos(x)·g.
func (x *Node) Sin() *Node { return elementwise("Sin", fn.Sin, nil, x) }

// Cos returns cos x, of radians.
//
// Gradient: −sin(x)·g.
func (x *Node) Cos() *Node { return elementwise("Cos", fn.Cos, nil, x) }

// Tan returns tan x, of radians.
//
// Gradient: (1 + tan²x)·g.
func (x *Node) Tan() *Node {
	x = castFloat32(x)
	return elementwise("Tan", fn.Tan, nil, x)
}

// Asin returns arcsin x, NaN beyond [−1, 1].
//
// Gradient: g/√(1 − x²), infinite at −1 and 1.
func (x *Node) Asin() *Node {
	x = castFloat32(x)
	return elementwise("Asin", fn.Asin, nil, x)
}

// Acos returns arccos x, NaN beyond [−1, 1].
//
// Gradient: −g/√(1 − x²), infinite at −1 and 1.
func (x *Node) Acos() *Node {
	x = castFloat32(x)
	return elementwise("Acos", fn.Acos, nil, x)
}

// Atan returns arctan x.
//
// Gradient: g/(1 + x²).
func (x *Node) Atan() *Node { return elementwise("Atan", fn.Atan, nil, x) }

// Sinh returns sinh x.
//
// Gradient: cosh(x)·g.
func (x *Node) Sinh() *Node {
	x = castFloat32(x)
	return elementwise("Sinh", fn.Sinh, nil, x)
}

// Cosh returns cosh x.
//
// Gradient: sinh(x)·g.
func (x *Node) Cosh() *Node {
	x = castFloat32(x)
	return elementwise("Cosh", fn.Cosh, nil, x)
}

// Asinh returns arsinh x.
//
// Gradient: g/√(1 + x²).
func (x *Node) Asinh() *Node { return elementwise("Asinh", fn.Asinh, nil, x) }

// Acosh returns arcosh x, NaN below 1.
//
// Gradient: g/√(x² − 1), as PyTorch's: infinite at 1 and −1, NaN between them, and a number below
// −1, where there is no value.
func (x *Node) Acosh() *Node { return elementwise("Acosh", fn.Acosh, nil, x) }

// Atanh returns artanh x, infinite at −1 and 1, NaN beyond.
//
// Gradient: g/(1 − x²).
func (x *Node) Atanh() *Node { return elementwise("Atanh", fn.Atanh, nil, x) }

// Exp2 returns 2ˣ.
//
// Gradient: 2ˣ·ln 2·g.
func (x *Node) Exp2() *Node { return elementwise("Exp2", fn.Exp2, nil, x) }

// Expm1 returns eˣ − 1, exact near 0.
//
// Gradient: eˣ·g.
func (x *Node) Expm1() *Node {
	x = castFloat32(x)
	return elementwise("Expm1", fn.Expm1, nil, x)
}

// Log2 returns the logarithm of x to base 2, −Inf at 0 and NaN below.
//
// Gradient: g/(x·ln 2).
func (x *Node) Log2() *Node {
	x = castFloat32(x)
	return elementwise("Log2", fn.Log2, nil, x)
}

// Log10 returns the logarithm of x to base 10, −Inf at 0 and NaN below.
//
// Gradient: g/(x·ln 10).
func (x *Node) Log10() *Node {
	x = castFloat32(x)
	return elementwise("Log10", fn.Log10, nil, x)
}

// Log1p returns ln(1 + x), exact near 0, −Inf at −1 and NaN below.
//
// Gradient: g/(1 + x).
func (x *Node) Log1p() *Node {
	x = castFloat32(x)
	return elementwise("Log1p", fn.Log1p, nil, x)
}

// Rsqrt returns 1/√x, Inf at 0 and NaN below.
//
// Gradient: −x^(−3/2)/2·g.
func (x *Node) Rsqrt() *Node {
	x = castFloat32(x)
	return elementwise("Rsqrt", fn.Rsqrt, nil, x)
}

// Reciprocal returns 1/x, infinite at 0.
//
// Gradient: −g/x².
func (x *Node) Reciprocal() *Node {
	x = castFloat32(x)
	return elementwise("Reciprocal", fn.Reciprocal, nil, x)
}

// Erf returns the error function, 2/√π times the integral of exp(−u²) over u from 0 to x.
//
// Gradient: 2/√π·exp(−x²)·g.
func (x *Node) Erf() *Node { return elementwise("Erf", fn.Erf, nil, x) }

// Erfc returns 1 − erf x, exact where that is small.
//
// Gradient: −2/√π·exp(−x²)·g.
func (x *Node) Erfc() *Node { return elementwise("Erfc", fn.Erfc, nil, x) }

// ErfInv returns the inverse of the error function, infinite at −1 and 1 and NaN beyond.
//
// Gradient: √π/2·exp(y²)·g of the result y.
//
// Source: Wichura, "Algorithm AS 241", Applied Statistics 37, 1988.
func (x *Node) ErfInv() *Node {
	x = castFloat32(x)
	return elementwise("ErfInv", fn.ErfInv, nil, x)
}

// Floor returns the next whole number that is not above x.
//
// Gradient: 0.
func (x *Node) Floor() *Node { return elementwise("Floor", fn.Floor, nil, x) }

// Ceil returns the next whole number that is not below x.
//
// Gradient: 0.
func (x *Node) Ceil() *Node { return elementwise("Ceil", fn.Ceil, nil, x) }

// Trunc returns the whole part of x: the next whole number towards 0.
//
// Gradient: 0.
func (x *Node) Trunc() *Node { return elementwise("Trunc", fn.Trunc, nil, x) }

// Round returns the nearest whole number, the even one of two.
//
// Gradient: 0.
func (x *Node) Round() *Node { return elementwise("Round", fn.Round, nil, x) }

// Frac returns x less its whole part, with the sign of x; NaN of infinities.
//
// Gradient: g.
func (x *Node) Frac() *Node { return elementwise("Frac", fn.Frac, nil, x) }

// NanToNum returns x with other numbers in place of NaN, Inf and −Inf. Numbers beyond those of the
// operand's type become the greatest and the least of them, so that NanToNum(0, math.Inf(1),
// math.Inf(-1)) is that of NumPy and PyTorch.
//
// Gradient: g, 0 where there is another number.
func (x *Node) NanToNum(nan, posInf, negInf float64) *Node {
	y := lowered(x.nanToNum(nan, posInf, negInf), x)
	if trace.On() {
		trace.Record("NanToNum", []any{x, nan, posInf, negInf}, y)
	}
	return y
}

// GELU returns x·Φ(x), with the distribution Φ of the normal distribution.
//
// Gradient: (Φ(x) + x·φ(x))·g.
//
// Source: Hendrycks, Gimpel, "Gaussian Error Linear Units", 2016, arXiv 1606.08415.
func (x *Node) GELU() *Node { return elementwise("GELU", fn.GELU, nil, x) }

// GELUTanh returns x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2, which is nearly GELU.
//
// Gradient: the derivative times g.
//
// Source: Hendrycks, Gimpel, "Gaussian Error Linear Units", 2016, arXiv 1606.08415.
func (x *Node) GELUTanh() *Node { return elementwise("GELUTanh", fn.GELUTanh, nil, x) }

// SiLU returns x/(1 + e⁻ˣ), also known as Swish.
//
// Gradient: s·(1 + x·(1 − s))·g with s = 1/(1 + e⁻ˣ).
//
// Source: Elfwing, Uchibe, Doya, "Sigmoid-weighted linear units", 2017, arXiv 1702.03118.
func (x *Node) SiLU() *Node { return elementwise("SiLU", fn.SiLU, nil, x) }

// ELU returns x above 0, else alpha·(eˣ − 1).
//
// Gradient: g above 0, else alpha·eˣ·g; so at 0.
//
// Source: Clevert, Unterthiner, Hochreiter, 2015, arXiv 1511.07289.
func (x *Node) ELU(alpha float64) *Node { return elementwise("ELU", fn.ELU, []float64{alpha}, x) }

// SELU returns 1.0507 times ELU(1.6733), with the constants of the source: Klambauer et al.,
// "Self-Normalizing Neural Networks", 2017, arXiv 1706.02515.
//
// Gradient: that of [Node.ELU], times 1.0507.
func (x *Node) SELU() *Node { return elementwise("SELU", fn.SELU, nil, x) }

// CELU returns x above 0, else alpha·(exp(x/alpha) − 1).
//
// Gradient: g above 0, else exp(x/alpha)·g; g at 0.
//
// Source: Barron, 2017, arXiv 1704.07483.
func (x *Node) CELU(alpha float64) *Node {
	return elementwise("CELU", fn.CELU, []float64{alpha}, x)
}

// Softsign returns x/(1 + |x|), NaN of infinities.
//
// Gradient: g/(1 + |x|)².
func (x *Node) Softsign() *Node { return elementwise("Softsign", fn.Softsign, nil, x) }

// Mish returns x·tanh(ln(1 + eˣ)).
//
// Gradient: the derivative times g.
//
// Source: Misra, "Mish: A Self Regularized Non-Monotonic Activation Function", 2019, arXiv
// 1908.08681.
func (x *Node) Mish() *Node { return elementwise("Mish", fn.Mish, nil, x) }

// Hardswish returns x·[Node.Hardsigmoid].
//
// Gradient: 0 below −3, g above 3, else (x/3 + ½)·g; so at −3 and 3.
//
// Source: Howard et al., "Searching for MobileNetV3", 2019, arXiv 1905.02244.
func (x *Node) Hardswish() *Node { return elementwise("Hardswish", fn.Hardswish, nil, x) }

// Hardsigmoid returns x/6 + ½ limited to [0, 1].
//
// Gradient: g/6 inside, 0 at the limits and at NaN.
func (x *Node) Hardsigmoid() *Node { return elementwise("Hardsigmoid", fn.Hardsigmoid, nil, x) }

// Hardtanh returns x limited to [low, high], as [Node.Clamp] does it.
//
// Gradient: g inside and at NaN; 0 beyond and, unlike that of [Node.Clamp], at the limits.
func (x *Node) Hardtanh(low, high float64) *Node {
	return elementwise("Hardtanh", fn.Hardtanh, []float64{low, high}, x)
}

// ReLU6 returns x limited to [0, 6]; NaN stays.
//
// Gradient: g inside and at NaN, 0 at the limits.
func (x *Node) ReLU6() *Node { return elementwise("ReLU6", fn.ReLU6, nil, x) }

// Hardshrink returns x, and 0 where |x| ≤ lambda: PyTorch has ½.
//
// Gradient: g, and 0 where |x| ≤ lambda.
func (x *Node) Hardshrink(lambda float64) *Node {
	return elementwise("Hardshrink", fn.Hardshrink, []float64{lambda}, x)
}

// Softshrink returns x nearer to 0 by lambda, and 0 where |x| ≤ lambda: PyTorch has ½.
//
// Gradient: g, and 0 where |x| ≤ lambda.
func (x *Node) Softshrink(lambda float64) *Node {
	return elementwise("Softshrink", fn.Softshrink, []float64{lambda}, x)
}

// Lgamma returns ln |Γ(x)|, +Inf at 0, −1, −2, …. Error: a few units in the last place of 1 and of
// the result; near 1 and 2, where the result is 0, it is not relative.
//
// Gradient: [Node.Digamma] times g.
func (x *Node) Lgamma() *Node {
	x = castFloat32(x)
	return elementwise("Lgamma", fn.Lgamma, nil, x)
}

// Digamma returns ψ(x) = Γ′(x)/Γ(x), −Inf at 0, +Inf at −0, and NaN at −1, −2, …. Error: a few
// units in the last place of 4 and of the result.
//
// Gradient: ψ′(x)·g, of which PyTorch has nine digits.
func (x *Node) Digamma() *Node {
	x = castFloat32(x)
	return elementwise("Digamma", fn.Digamma, nil, x)
}

// Logit returns ln(x/(1 − x)), the inverse of [Node.Sigmoid], NaN outside [0, 1]. PyTorch's eps is
// x.Clamp(eps, 1 − eps) before.
//
// Gradient: g/(x·(1 − x)), NaN outside [0, 1].
func (x *Node) Logit() *Node {
	x = castFloat32(x)
	return elementwise("Logit", fn.Logit, nil, x)
}

// LogSigmoid returns −ln(1 + e⁻ˣ), without overflow.
//
// Gradient: g/(1 + eˣ).
func (x *Node) LogSigmoid() *Node { return elementwise("LogSigmoid", fn.LogSigmoid, nil, x) }

// SoftplusBeta returns ln(1 + exp(beta·x))/beta, and x itself where beta·x is above the threshold:
// PyTorch has 1 and 20. There is no overflow without a threshold either, which is math.Inf(1).
//
// Gradient: g/(1 + exp(−beta·x)), g above the threshold.
func (x *Node) SoftplusBeta(beta, threshold float64) *Node {
	x = castFloat32(x)
	return elementwise("SoftplusBeta", fn.SoftplusBeta, []float64{beta, threshold}, x)
}

// Atan2 returns the angle of the point with the coordinates y, x: arctan(x/y) in the right
// quadrant, in [−π, π]. It panics with tensor.ErrShape unless the shapes broadcast.
//
// Gradients: y/(x² + y²)·g, −x/(x² + y²)·g; NaN at (0, 0).
func (x *Node) Atan2(y *Node) *Node { return elementwise("Atan2", fn.Atan2, nil, x, y) }

// Hypot returns √(x² + y²), without overflow. It panics with tensor.ErrShape unless the shapes
// broadcast.
//
// Gradients: x/z·g, y/z·g of the result z; NaN at (0, 0).
func (x *Node) Hypot(y *Node) *Node { return elementwise("Hypot", fn.Hypot, nil, x, y) }

// PowTensor returns xʸ, NaN for finite x < 0 unless y is whole; 1 for y = 0; of infinities what C's
// pow has. Of integers it is an integer, the whole part of xʸ for y < 0, modulo 2 to the power of
// the type's bits. For one exponent see [Node.Pow]. It panics with tensor.ErrShape unless the
// shapes broadcast.
//
// Gradients: y·xʸ⁻¹·g, 0 for y = 0; xʸ·ln(x)·g, NaN for x < 0, and 0 for x = 0 unless y < 0.
func (x *Node) PowTensor(y *Node) *Node {
	x, y = castFloat32(x), castFloat32(y)
	return elementwise("PowTensor", fn.PowTensor, nil, x, y)
}

// Copysign returns |x| with the sign of y, of −0 too. It panics with tensor.ErrShape unless the
// shapes broadcast.
//
// Gradients: g by the signs of x and y, 0 for x = 0; 0.
func (x *Node) Copysign(y *Node) *Node { return elementwise("Copysign", fn.Copysign, nil, x, y) }

// Heaviside returns 0 for x < 0, 1 for x > 0 and y for x = 0; NaN stays. It panics with
// tensor.ErrShape unless the shapes broadcast.
//
// Gradients: 0; g where x = 0.
func (x *Node) Heaviside(y *Node) *Node { return elementwise("Heaviside", fn.Heaviside, nil, x, y) }

// Fmod returns what is left of x/y rounded towards 0: x − y·trunc(x/y), with the sign of x. Of y =
// 0 it is NaN or, of integers, 0. It panics with tensor.ErrShape unless the shapes broadcast.
//
// Gradients: g, −trunc(x/y)·g.
func (x *Node) Fmod(y *Node) *Node { return elementwise("Fmod", fn.Fmod, nil, x, y) }

// Remainder returns what is left of x/y rounded down: x − y·⌊x/y⌋, with the sign of y. Of y = 0 it
// is NaN or, of integers, 0. It panics with tensor.ErrShape unless the shapes broadcast.
//
// Gradients: g, −⌊x/y⌋·g.
func (x *Node) Remainder(y *Node) *Node { return elementwise("Remainder", fn.Remainder, nil, x, y) }

// FloorDivide returns ⌊x/y⌋. Of y = 0 it is x/y or, of integers, 0. In float32 quotients beyond 2²¹
// may be off by a few units of the last place. It panics with tensor.ErrShape unless the shapes
// broadcast.
//
// Gradients: 0, 0.
func (x *Node) FloorDivide(y *Node) *Node {
	return elementwise("FloorDivide", fn.FloorDivide, nil, x, y)
}

// TruncDivide returns x/y rounded towards 0. Of y = 0 it is x/y or, of integers, 0. Its errors are
// those of [Node.FloorDivide]. It panics with tensor.ErrShape unless the shapes broadcast.
//
// Gradients: 0, 0.
func (x *Node) TruncDivide(y *Node) *Node {
	return elementwise("TruncDivide", fn.TruncDivide, nil, x, y)
}

// LogAddExp returns ln(eˣ + eʸ), without overflow. It panics with tensor.ErrShape unless the shapes
// broadcast.
//
// Gradients: g/(1 + eʸ⁻ˣ), g/(1 + eˣ⁻ʸ); NaN where both are the same infinity.
func (x *Node) LogAddExp(y *Node) *Node {
	x, y = castFloat32(x), castFloat32(y)
	return elementwise("LogAddExp", fn.LogAddExp, nil, x, y)
}

// Xlogy returns x·ln y, 0 where x = 0 unless y is NaN. It panics with tensor.ErrShape unless the
// shapes broadcast.
//
// Gradients: ln(y)·g, 0 where x = 0 and y ≤ 0; x/y·g.
func (x *Node) Xlogy(y *Node) *Node {
	x, y = castFloat32(x), castFloat32(y)
	return elementwise("Xlogy", fn.Xlogy, nil, x, y)
}

// PReLU returns x above 0, else w·x. PyTorch's weight of a number for each channel has axes of 1
// here for the axes after: [channels, 1, 1] for images. It panics with tensor.ErrShape unless the
// shapes broadcast.
//
// Gradients: g above 0, else w·g; 0 above 0, else x·g.
//
// Source: He, Zhang, Ren, Sun, "Delving Deep into Rectifiers", 2015, arXiv 1502.01852.
func (x *Node) PReLU(w *Node) *Node { return elementwise("PReLU", fn.PReLU, nil, x, w) }

// Lerp returns x + weight·(y − x), which is x and y for weights of 0 and 1. It panics with
// tensor.ErrShape unless the shapes broadcast.
//
// Gradients: (1 − weight)·g, weight·g.
func (x *Node) Lerp(y *Node, weight float64) *Node {
	return elementwise("Lerp", fn.Lerp, []float64{weight}, x, y)
}

// LerpTensor returns x + weight·(y − x), which is x and y for weights of 0 and 1. [Node.Lerp] is
// that of one weight. It panics with tensor.ErrShape unless the shapes broadcast.
//
// Gradients: (1 − weight)·g, weight·g, (y − x)·g.
func (x *Node) LerpTensor(y, weight *Node) *Node {
	return elementwise("LerpTensor", fn.LerpTensor, nil, x, y, weight)
}

// ClampTensor returns x limited to [low, high], element by element; a NaN wins. Where low > high,
// the result is high, as in PyTorch. It panics with tensor.ErrShape unless the shapes broadcast.
// [Node.Clamp] has numbers as limits.
//
// Gradients: g to x inside and at the limits, else to the limit that it is beyond, or to high where
// low > high; none at NaN.
func (x *Node) ClampTensor(low, high *Node) *Node {
	return elementwise("ClampTensor", fn.ClampTensor, nil, x, low, high)
}
