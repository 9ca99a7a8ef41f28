// Code generated from internal/operations/table/elements.go by "make generate". DO NOT EDIT.

package tensor

import "github.com/clgrad/clgrad/kernels/fn"

// Sin returns sin x, of radians; for sin(ω·x) see [Tensor.Sine].
func (x *Tensor) Sin() *Tensor { return elementwise("Sin", fn.Sin, nil, x) }

// Cos returns cos x, of radians.
func (x *Tensor) Cos() *Tensor { return elementwise("Cos", fn.Cos, nil, x) }

// Tan returns tan x, of radians.
func (x *Tensor) Tan() *Tensor { return elementwise("Tan", fn.Tan, nil, x) }

// Asin returns arcsin x, NaN beyond [−1, 1].
func (x *Tensor) Asin() *Tensor { return elementwise("Asin", fn.Asin, nil, x) }

// Acos returns arccos x, NaN beyond [−1, 1].
func (x *Tensor) Acos() *Tensor { return elementwise("Acos", fn.Acos, nil, x) }

// Atan returns arctan x.
func (x *Tensor) Atan() *Tensor { return elementwise("Atan", fn.Atan, nil, x) }

// Sinh returns sinh x.
func (x *Tensor) Sinh() *Tensor { return elementwise("Sinh", fn.Sinh, nil, x) }

// Cosh returns cosh x.
func (x *Tensor) Cosh() *Tensor { return elementwise("Cosh", fn.Cosh, nil, x) }

// Asinh returns arsinh x.
func (x *Tensor) Asinh() *Tensor { return elementwise("Asinh", fn.Asinh, nil, x) }

// Acosh returns arcosh x, NaN below 1.
func (x *Tensor) Acosh() *Tensor { return elementwise("Acosh", fn.Acosh, nil, x) }

// Atanh returns artanh x, infinite at −1 and 1, NaN beyond.
func (x *Tensor) Atanh() *Tensor { return elementwise("Atanh", fn.Atanh, nil, x) }

// Exp2 returns 2ˣ.
func (x *Tensor) Exp2() *Tensor { return elementwise("Exp2", fn.Exp2, nil, x) }

// Expm1 returns eˣ − 1, exact near 0.
func (x *Tensor) Expm1() *Tensor { return elementwise("Expm1", fn.Expm1, nil, x) }

// Log2 returns the logarithm of x to base 2, −Inf at 0 and NaN below.
func (x *Tensor) Log2() *Tensor { return elementwise("Log2", fn.Log2, nil, x) }

// Log10 returns the logarithm of x to base 10, −Inf at 0 and NaN below.
func (x *Tensor) Log10() *Tensor { return elementwise("Log10", fn.Log10, nil, x) }

// Log1p returns ln(1 + x), exact near 0, −Inf at −1 and NaN below.
func (x *Tensor) Log1p() *Tensor { return elementwise("Log1p", fn.Log1p, nil, x) }

// Rsqrt returns 1/√x, Inf at 0 and NaN below.
func (x *Tensor) Rsqrt() *Tensor { return elementwise("Rsqrt", fn.Rsqrt, nil, x) }

// Reciprocal returns 1/x, infinite at 0.
func (x *Tensor) Reciprocal() *Tensor { return elementwise("Reciprocal", fn.Reciprocal, nil, x) }

// Erf returns the error function, 2/√π times the integral of exp(−u²) over u from 0 to x.
func (x *Tensor) Erf() *Tensor { return elementwise("Erf", fn.Erf, nil, x) }

// Erfc returns 1 − erf x, exact where that is small.
func (x *Tensor) Erfc() *Tensor { return elementwise("Erfc", fn.Erfc, nil, x) }

// ErfInv returns the inverse of the error function, infinite at −1 and 1 and NaN beyond.
//
// Source: Wichura, "Algorithm AS 241", Applied Statistics 37, 1988.
func (x *Tensor) ErfInv() *Tensor { return elementwise("ErfInv", fn.ErfInv, nil, x) }

// Floor returns the next whole number that is not above x.
func (x *Tensor) Floor() *Tensor { return elementwise("Floor", fn.Floor, nil, x) }

// Ceil returns the next whole number that is not below x.
func (x *Tensor) Ceil() *Tensor { return elementwise("Ceil", fn.Ceil, nil, x) }

// Trunc returns the whole part of x: the next whole number towards 0.
func (x *Tensor) Trunc() *Tensor { return elementwise("Trunc", fn.Trunc, nil, x) }

// Round returns the nearest whole number, the even one of two.
func (x *Tensor) Round() *Tensor { return elementwise("Round", fn.Round, nil, x) }

// Frac returns x less its whole part, with the sign of x; NaN of infinities.
func (x *Tensor) Frac() *Tensor { return elementwise("Frac", fn.Frac, nil, x) }

// NanToNum returns x with other numbers in place of NaN, Inf and −Inf. Numbers beyond those of the
// operand's type become the greatest and the least of them, so that NanToNum(0, math.Inf(1),
// math.Inf(-1)) is that of NumPy and PyTorch.
func (x *Tensor) NanToNum(nan, posInf, negInf float64) *Tensor {
	return lowered(x.nanToNum(nan, posInf, negInf), x)
}

// GELU returns x·Φ(x), with the distribution Φ of the normal distribution.
//
// Source: Hendrycks, Gimpel, "Gaussian Error Linear Units", 2016, arXiv 1606.08415.
func (x *Tensor) GELU() *Tensor { return elementwise("GELU", fn.GELU, nil, x) }

// GELUTanh returns x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2, which is nearly GELU.
//
// Source: Hendrycks, Gimpel, "Gaussian Error Linear Units", 2016, arXiv 1606.08415.
func (x *Tensor) GELUTanh() *Tensor { return elementwise("GELUTanh", fn.GELUTanh, nil, x) }

// SiLU returns x/(1 + e⁻ˣ), also known as Swish.
//
// Source: Elfwing, Uchibe, Doya, "Sigmoid-weighted linear units", 2017, arXiv 1702.03118.
func (x *Tensor) SiLU() *Tensor { return elementwise("SiLU", fn.SiLU, nil, x) }

// ELU returns x above 0, else alpha·(eˣ − 1).
//
// Source: Clevert, Unterthiner, Hochreiter, 2015, arXiv 1511.07289.
func (x *Tensor) ELU(alpha float64) *Tensor {
	return elementwise("ELU", fn.ELU, []float64{alpha}, x)
}

// SELU returns 1.0507 times ELU(1.6733), with the constants of the source: Klambauer et al.,
// "Self-Normalizing Neural Networks", 2017, arXiv 1706.02515.
func (x *Tensor) SELU() *Tensor { return elementwise("SELU", fn.SELU, nil, x) }

// CELU returns x above 0, else alpha·(exp(x/alpha) − 1).
//
// Source: Barron, 2017, arXiv 1704.07483.
func (x *Tensor) CELU(alpha float64) *Tensor {
	return elementwise("CELU", fn.CELU, []float64{alpha}, x)
}

// Softsign returns x/(1 + |x|), NaN of infinities.
func (x *Tensor) Softsign() *Tensor { return elementwise("Softsign", fn.Softsign, nil, x) }

// Mish returns x·tanh(ln(1 + eˣ)).
//
// Source: Misra, "Mish: A Self Regularized Non-Monotonic Activation Function", 2019, arXiv
// 1908.08681.
func (x *Tensor) Mish() *Tensor { return elementwise("Mish", fn.Mish, nil, x) }

// Hardswish returns x·[Tensor.Hardsigmoid].
//
// Source: Howard et al., "Searching for MobileNetV3", 2019, arXiv 1905.02244.
func (x *Tensor) Hardswish() *Tensor { return elementwise("Hardswish", fn.Hardswish, nil, x) }

// Hardsigmoid returns x/6 + ½ limited to [0, 1].
func (x *Tensor) Hardsigmoid() *Tensor { return elementwise("Hardsigmoid", fn.Hardsigmoid, nil, x) }

// Hardtanh returns x limited to [low, high], as [Tensor.Clamp] does it.
func (x *Tensor) Hardtanh(low, high float64) *Tensor {
	return elementwise("Hardtanh", fn.Hardtanh, []float64{low, high}, x)
}

// ReLU6 returns x limited to [0, 6]; NaN stays.
func (x *Tensor) ReLU6() *Tensor { return elementwise("ReLU6", fn.ReLU6, nil, x) }

// Hardshrink returns x, and 0 where |x| ≤ lambda: PyTorch has ½.
func (x *Tensor) Hardshrink(lambda float64) *Tensor {
	return elementwise("Hardshrink", fn.Hardshrink, []float64{lambda}, x)
}

// Softshrink returns x nearer to 0 by lambda, and 0 where |x| ≤ lambda: PyTorch has ½.
func (x *Tensor) Softshrink(lambda float64) *Tensor {
	return elementwise("Softshrink", fn.Softshrink, []float64{lambda}, x)
}

// Lgamma returns ln |Γ(x)|, +Inf at 0, −1, −2, …. Error: a few units in the last place of 1 and of
// the result; near 1 and 2, where the result is 0, it is not relative.
func (x *Tensor) Lgamma() *Tensor { return elementwise("Lgamma", fn.Lgamma, nil, x) }

// Digamma returns ψ(x) = Γ′(x)/Γ(x), −Inf at 0, +Inf at −0, and NaN at −1, −2, …. Error: a few
// units in the last place of 4 and of the result.
func (x *Tensor) Digamma() *Tensor { return elementwise("Digamma", fn.Digamma, nil, x) }

// Logit returns ln(x/(1 − x)), the inverse of [Tensor.Sigmoid], NaN outside [0, 1]. PyTorch's eps
// is x.Clamp(eps, 1 − eps) before.
func (x *Tensor) Logit() *Tensor { return elementwise("Logit", fn.Logit, nil, x) }

// LogSigmoid returns −ln(1 + e⁻ˣ), without overflow.
func (x *Tensor) LogSigmoid() *Tensor { return elementwise("LogSigmoid", fn.LogSigmoid, nil, x) }

// SoftplusBeta returns ln(1 + exp(beta·x))/beta, and x itself where beta·x is above the threshold:
// PyTorch has 1 and 20. There is no overflow without a threshold either, which is math.Inf(1).
func (x *Tensor) SoftplusBeta(beta, threshold float64) *Tensor {
	return elementwise("SoftplusBeta", fn.SoftplusBeta, []float64{beta, threshold}, x)
}

// Atan2 returns the angle of the point with the coordinates y, x: arctan(x/y) in the right
// quadrant, in [−π, π]. It panics with ErrShape unless the shapes broadcast.
func (x *Tensor) Atan2(y *Tensor) *Tensor { return elementwise("Atan2", fn.Atan2, nil, x, y) }

// Hypot returns √(x² + y²), without overflow. It panics with ErrShape unless the shapes broadcast.
func (x *Tensor) Hypot(y *Tensor) *Tensor { return elementwise("Hypot", fn.Hypot, nil, x, y) }

// PowTensor returns xʸ, NaN for finite x < 0 unless y is whole; 1 for y = 0; of infinities what C's
// pow has. Of integers it is an integer, the whole part of xʸ for y < 0, modulo 2 to the power of
// the type's bits. For one exponent see [Tensor.Pow]. It panics with ErrShape unless the shapes
// broadcast.
func (x *Tensor) PowTensor(y *Tensor) *Tensor {
	return elementwise("PowTensor", fn.PowTensor, nil, x, y)
}

// Copysign returns |x| with the sign of y, of −0 too. It panics with ErrShape unless the shapes
// broadcast.
func (x *Tensor) Copysign(y *Tensor) *Tensor {
	return elementwise("Copysign", fn.Copysign, nil, x, y)
}

// Heaviside returns 0 for x < 0, 1 for x > 0 and y for x = 0; NaN stays. It panics with ErrShape
// unless the shapes broadcast.
func (x *Tensor) Heaviside(y *Tensor) *Tensor {
	return elementwise("Heaviside", fn.Heaviside, nil, x, y)
}

// Fmod returns what is left of x/y rounded towards 0: x − y·trunc(x/y), with the sign of x. Of y =
// 0 it is NaN or, of integers, 0. It panics with ErrShape unless the shapes broadcast.
func (x *Tensor) Fmod(y *Tensor) *Tensor { return elementwise("Fmod", fn.Fmod, nil, x, y) }

// Remainder returns what is left of x/y rounded down: x − y·⌊x/y⌋, with the sign of y. Of y = 0 it
// is NaN or, of integers, 0. It panics with ErrShape unless the shapes broadcast.
func (x *Tensor) Remainder(y *Tensor) *Tensor {
	return elementwise("Remainder", fn.Remainder, nil, x, y)
}

// FloorDivide returns ⌊x/y⌋. Of y = 0 it is x/y or, of integers, 0. In float32 quotients beyond 2²¹
// may be off by a few units of the last place. It panics with ErrShape unless the shapes broadcast.
func (x *Tensor) FloorDivide(y *Tensor) *Tensor {
	return elementwise("FloorDivide", fn.FloorDivide, nil, x, y)
}

// TruncDivide returns x/y rounded towards 0. Of y = 0 it is x/y or, of integers, 0. Its errors are
// those of [Tensor.FloorDivide]. It panics with ErrShape unless the shapes broadcast.
func (x *Tensor) TruncDivide(y *Tensor) *Tensor {
	return elementwise("TruncDivide", fn.TruncDivide, nil, x, y)
}

// LogAddExp returns ln(eˣ + eʸ), without overflow. It panics with ErrShape unless the shapes
// broadcast.
func (x *Tensor) LogAddExp(y *Tensor) *Tensor {
	return elementwise("LogAddExp", fn.LogAddExp, nil, x, y)
}

// Xlogy returns x·ln y, 0 where x = 0 unless y is NaN. It panics with ErrShape unless the shapes
// broadcast.
func (x *Tensor) Xlogy(y *Tensor) *Tensor { return elementwise("Xlogy", fn.Xlogy, nil, x, y) }

// PReLU returns x above 0, else w·x. PyTorch's weight of a number for each channel has axes of 1
// here for the axes after: [channels, 1, 1] for images. It panics with ErrShape unless the shapes
// broadcast.
//
// Source: He, Zhang, Ren, Sun, "Delving Deep into Rectifiers", 2015, arXiv 1502.01852.
func (x *Tensor) PReLU(w *Tensor) *Tensor { return elementwise("PReLU", fn.PReLU, nil, x, w) }

// Lerp returns x + weight·(y − x), which is x and y for weights of 0 and 1. It panics with ErrShape
// unless the shapes broadcast.
func (x *Tensor) Lerp(y *Tensor, weight float64) *Tensor {
	return elementwise("Lerp", fn.Lerp, []float64{weight}, x, y)
}

// LerpTensor returns x + weight·(y − x), which is x and y for weights of 0 and 1. [Tensor.Lerp] is
// that of one weight. It panics with ErrShape unless the shapes broadcast.
func (x *Tensor) LerpTensor(y, weight *Tensor) *Tensor {
	return elementwise("LerpTensor", fn.LerpTensor, nil, x, y, weight)
}

// ClampTensor returns x limited to [low, high], element by element; a NaN wins. Where low > high,
// the result is high, as in PyTorch. It panics with ErrShape unless the shapes broadcast.
// [Tensor.Clamp] has numbers as limits.
func (x *Tensor) ClampTensor(low, high *Tensor) *Tensor {
	return elementwise("ClampTensor", fn.ClampTensor, nil, x, low, high)
}
