//go:build ignore

package table

// Further functions, element by element. Whole numbers stay integers of integers. Activations that
// end in a limit of 0 are exact there: they have no difference of numbers that are nearly equal.

// Sin returns sin x, of radians; for sin(ω·x) see [Tensor.Sine].
//
// Gradient: cos(x)·g.
//
//op:torch torch.sin
//op:elementwise
func (x T) Sin() T

// Cos returns cos x, of radians.
//
// Gradient: −sin(x)·g.
//
//op:torch torch.cos
//op:elementwise
func (x T) Cos() T

// Tan returns tan x, of radians.
//
// Gradient: (1 + tan²x)·g.
//
//op:torch torch.tan
//op:elementwise
//op:autocast float32
func (x T) Tan() T

// Asin returns arcsin x, NaN beyond [−1, 1].
//
// Gradient: g/√(1 − x²), infinite at −1 and 1.
//
//op:torch torch.asin
//op:elementwise
//op:autocast float32
func (x T) Asin() T

// Acos returns arccos x, NaN beyond [−1, 1].
//
// Gradient: −g/√(1 − x²), infinite at −1 and 1.
//
//op:torch torch.acos
//op:elementwise
//op:autocast float32
func (x T) Acos() T

// Atan returns arctan x.
//
// Gradient: g/(1 + x²).
//
//op:torch torch.atan
//op:elementwise
func (x T) Atan() T

// Sinh returns sinh x.
//
// Gradient: cosh(x)·g.
//
//op:torch torch.sinh
//op:elementwise
//op:autocast float32
func (x T) Sinh() T

// Cosh returns cosh x.
//
// Gradient: sinh(x)·g.
//
//op:torch torch.cosh
//op:elementwise
//op:autocast float32
func (x T) Cosh() T

// Asinh returns arsinh x.
//
// Gradient: g/√(1 + x²).
//
//op:torch torch.asinh
//op:elementwise
func (x T) Asinh() T

// Acosh returns arcosh x, NaN below 1.
//
// Gradient: g/√(x² − 1), as PyTorch's: infinite at 1 and −1, NaN between them, and a number below −1,
// where there is no value.
//
//op:torch torch.acosh
//op:elementwise
func (x T) Acosh() T

// Atanh returns artanh x, infinite at −1 and 1, NaN beyond.
//
// Gradient: g/(1 − x²).
//
//op:torch torch.atanh
//op:elementwise
func (x T) Atanh() T

// Exp2 returns 2ˣ.
//
// Gradient: 2ˣ·ln 2·g.
//
//op:torch torch.exp2
//op:elementwise
func (x T) Exp2() T

// Expm1 returns eˣ − 1, exact near 0.
//
// Gradient: eˣ·g.
//
//op:torch torch.expm1
//op:elementwise
//op:autocast float32
func (x T) Expm1() T

// Log2 returns the logarithm of x to base 2, −Inf at 0 and NaN below.
//
// Gradient: g/(x·ln 2).
//
//op:torch torch.log2
//op:elementwise
//op:autocast float32
func (x T) Log2() T

// Log10 returns the logarithm of x to base 10, −Inf at 0 and NaN below.
//
// Gradient: g/(x·ln 10).
//
//op:torch torch.log10
//op:elementwise
//op:autocast float32
func (x T) Log10() T

// Log1p returns ln(1 + x), exact near 0, −Inf at −1 and NaN below.
//
// Gradient: g/(1 + x).
//
//op:torch torch.log1p
//op:elementwise
//op:autocast float32
func (x T) Log1p() T

// Rsqrt returns 1/√x, Inf at 0 and NaN below.
//
// Gradient: −x^(−3/2)/2·g.
//
//op:torch torch.rsqrt
//op:elementwise
//op:autocast float32
func (x T) Rsqrt() T

// Reciprocal returns 1/x, infinite at 0.
//
// Gradient: −g/x².
//
//op:torch torch.reciprocal
//op:elementwise
//op:autocast float32
func (x T) Reciprocal() T

// Erf returns the error function, 2/√π times the integral of exp(−u²) over u from 0 to x.
//
// Gradient: 2/√π·exp(−x²)·g.
//
//op:torch torch.erf
//op:elementwise
func (x T) Erf() T

// Erfc returns 1 − erf x, exact where that is small.
//
// Gradient: −2/√π·exp(−x²)·g.
//
//op:torch torch.erfc
//op:elementwise
func (x T) Erfc() T

// ErfInv returns the inverse of the error function, infinite at −1 and 1 and NaN beyond.
//
// Gradient: √π/2·exp(y²)·g of the result y.
//
// Source: Wichura, "Algorithm AS 241", Applied Statistics 37, 1988.
//
//op:torch torch.erfinv
//op:elementwise
//op:autocast float32
func (x T) ErfInv() T

// Floor returns the next whole number that is not above x.
//
// Gradient: 0.
//
//op:torch torch.floor
//op:elementwise
func (x T) Floor() T

// Ceil returns the next whole number that is not below x.
//
// Gradient: 0.
//
//op:torch torch.ceil
//op:elementwise
func (x T) Ceil() T

// Trunc returns the whole part of x: the next whole number towards 0.
//
// Gradient: 0.
//
//op:torch torch.trunc
//op:elementwise
func (x T) Trunc() T

// Round returns the nearest whole number, the even one of two.
//
// Gradient: 0.
//
//op:torch torch.round
//op:elementwise
func (x T) Round() T

// Frac returns x less its whole part, with the sign of x; NaN of infinities.
//
// Gradient: g.
//
//op:torch torch.frac
//op:elementwise
func (x T) Frac() T

// NanToNum returns x with other numbers in place of NaN, Inf and −Inf. Numbers beyond those of the
// operand's type become the greatest and the least of them, so that NanToNum(0, math.Inf(1),
// math.Inf(-1)) is that of NumPy and PyTorch.
//
// Gradient: g, 0 where there is another number.
//
//op:torch torch.nan_to_num
func (x T) NanToNum(nan, posInf, negInf float64) T

// GELU returns x·Φ(x), with the distribution Φ of the normal distribution.
//
// Gradient: (Φ(x) + x·φ(x))·g.
//
// Source: Hendrycks, Gimpel, "Gaussian Error Linear Units", 2016, arXiv 1606.08415.
//
//op:torch torch.nn.functional.gelu
//op:elementwise
func (x T) GELU() T

// GELUTanh returns x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2, which is nearly GELU.
//
// Gradient: the derivative times g.
//
// Source: Hendrycks, Gimpel, "Gaussian Error Linear Units", 2016, arXiv 1606.08415.
//
//op:torch torch.nn.functional.gelu(approximate="tanh")
//op:elementwise
func (x T) GELUTanh() T

// SiLU returns x/(1 + e⁻ˣ), also known as Swish.
//
// Gradient: s·(1 + x·(1 − s))·g with s = 1/(1 + e⁻ˣ).
//
// Source: Elfwing, Uchibe, Doya, "Sigmoid-weighted linear units", 2017, arXiv 1702.03118.
//
//op:torch torch.nn.functional.silu
//op:elementwise
func (x T) SiLU() T

// ELU returns x above 0, else alpha·(eˣ − 1).
//
// Gradient: g above 0, else alpha·eˣ·g; so at 0.
//
// Source: Clevert, Unterthiner, Hochreiter, 2015, arXiv 1511.07289.
//
//op:torch torch.nn.functional.elu
//op:elementwise
func (x T) ELU(alpha float64) T

// SELU returns 1.0507 times ELU(1.6733), with the constants of the source: Klambauer et al.,
// "Self-Normalizing Neural Networks", 2017, arXiv 1706.02515.
//
// Gradient: that of [Tensor.ELU], times 1.0507.
//
//op:torch torch.nn.functional.selu
//op:elementwise
func (x T) SELU() T

// CELU returns x above 0, else alpha·(exp(x/alpha) − 1).
//
// Gradient: g above 0, else exp(x/alpha)·g; g at 0.
//
// Source: Barron, 2017, arXiv 1704.07483.
//
//op:torch torch.nn.functional.celu
//op:elementwise
func (x T) CELU(alpha float64) T

// Softsign returns x/(1 + |x|), NaN of infinities.
//
// Gradient: g/(1 + |x|)².
//
//op:torch torch.nn.functional.softsign
//op:elementwise
func (x T) Softsign() T

// Mish returns x·tanh(ln(1 + eˣ)).
//
// Gradient: the derivative times g.
//
// Source: Misra, "Mish: A Self Regularized Non-Monotonic Activation Function", 2019, arXiv
// 1908.08681.
//
//op:torch torch.nn.functional.mish
//op:elementwise
func (x T) Mish() T

// Hardswish returns x·[Tensor.Hardsigmoid].
//
// Gradient: 0 below −3, g above 3, else (x/3 + ½)·g; so at −3 and 3.
//
// Source: Howard et al., "Searching for MobileNetV3", 2019, arXiv 1905.02244.
//
//op:torch torch.nn.functional.hardswish
//op:elementwise
func (x T) Hardswish() T

// Hardsigmoid returns x/6 + ½ limited to [0, 1].
//
// Gradient: g/6 inside, 0 at the limits and at NaN.
//
//op:torch torch.nn.functional.hardsigmoid
//op:elementwise
func (x T) Hardsigmoid() T

// Hardtanh returns x limited to [low, high], as [Tensor.Clamp] does it.
//
// Gradient: g inside and at NaN; 0 beyond and, unlike that of [Tensor.Clamp], at the limits.
//
//op:torch torch.nn.functional.hardtanh
//op:elementwise
func (x T) Hardtanh(low, high float64) T

// ReLU6 returns x limited to [0, 6]; NaN stays.
//
// Gradient: g inside and at NaN, 0 at the limits.
//
//op:torch torch.nn.functional.relu6
//op:elementwise
func (x T) ReLU6() T

// Hardshrink returns x, and 0 where |x| ≤ lambda: PyTorch has ½.
//
// Gradient: g, and 0 where |x| ≤ lambda.
//
//op:torch torch.nn.functional.hardshrink
//op:elementwise
func (x T) Hardshrink(lambda float64) T

// Softshrink returns x nearer to 0 by lambda, and 0 where |x| ≤ lambda: PyTorch has ½.
//
// Gradient: g, and 0 where |x| ≤ lambda.
//
//op:torch torch.nn.functional.softshrink
//op:elementwise
func (x T) Softshrink(lambda float64) T

// Lgamma returns ln |Γ(x)|, +Inf at 0, −1, −2, …. Error: a few units in the last place of 1 and of the
// result; near 1 and 2, where the result is 0, it is not relative.
//
// Gradient: [Tensor.Digamma] times g.
//
//op:torch torch.lgamma
//op:elementwise
//op:autocast float32
func (x T) Lgamma() T

// Digamma returns ψ(x) = Γ′(x)/Γ(x), −Inf at 0, +Inf at −0, and NaN at −1, −2, …. Error: a few units
// in the last place of 4 and of the result.
//
// Gradient: ψ′(x)·g, of which PyTorch has nine digits.
//
//op:torch torch.digamma
//op:elementwise
//op:autocast float32
func (x T) Digamma() T

// Logit returns ln(x/(1 − x)), the inverse of [Tensor.Sigmoid], NaN outside [0, 1]. PyTorch's eps is
// x.Clamp(eps, 1 − eps) before.
//
// Gradient: g/(x·(1 − x)), NaN outside [0, 1].
//
//op:torch torch.logit
//op:elementwise
//op:autocast float32
func (x T) Logit() T

// LogSigmoid returns −ln(1 + e⁻ˣ), without overflow.
//
// Gradient: g/(1 + eˣ).
//
//op:torch torch.nn.functional.logsigmoid
//op:elementwise
func (x T) LogSigmoid() T

// SoftplusBeta returns ln(1 + exp(beta·x))/beta, and x itself where beta·x is above the threshold:
// PyTorch has 1 and 20. There is no overflow without a threshold either, which is math.Inf(1).
//
// Gradient: g/(1 + exp(−beta·x)), g above the threshold.
//
//op:torch torch.nn.functional.softplus
//op:elementwise
//op:autocast float32
func (x T) SoftplusBeta(beta, threshold float64) T

// Atan2 returns the angle of the point with the coordinates y, x: arctan(x/y) in the right
// quadrant, in [−π, π]. It panics with ErrShape unless the shapes broadcast.
//
// Gradients: y/(x² + y²)·g, −x/(x² + y²)·g; NaN at (0, 0).
//
//op:torch torch.atan2
//op:elementwise
func (x T) Atan2(y T) T

// Hypot returns √(x² + y²), without overflow. It panics with ErrShape unless the shapes broadcast.
//
// Gradients: x/z·g, y/z·g of the result z; NaN at (0, 0).
//
//op:torch torch.hypot
//op:elementwise
func (x T) Hypot(y T) T

// PowTensor returns xʸ, NaN for finite x < 0 unless y is whole; 1 for y = 0; of infinities what C's
// pow has. Of integers it is an integer, the whole part of xʸ for y < 0, modulo 2 to the power of the
// type's bits. For one exponent see [Tensor.Pow]. It panics with ErrShape unless the shapes broadcast.
//
// Gradients: y·xʸ⁻¹·g, 0 for y = 0; xʸ·ln(x)·g, NaN for x < 0, and 0 for x = 0 unless y < 0.
//
//op:torch torch.pow
//op:elementwise
//op:autocast float32
func (x T) PowTensor(y T) T

// Copysign returns |x| with the sign of y, of −0 too. It panics with ErrShape unless the shapes
// broadcast.
//
// Gradients: g by the signs of x and y, 0 for x = 0; 0.
//
//op:torch torch.copysign
//op:elementwise
func (x T) Copysign(y T) T

// Heaviside returns 0 for x < 0, 1 for x > 0 and y for x = 0; NaN stays. It panics with ErrShape
// unless the shapes broadcast.
//
// Gradients: 0; g where x = 0.
//
//op:torch torch.heaviside
//op:elementwise
func (x T) Heaviside(y T) T

// Fmod returns what is left of x/y rounded towards 0: x − y·trunc(x/y), with the sign of x. Of y =
// 0 it is NaN or, of integers, 0. It panics with ErrShape unless the shapes broadcast.
//
// Gradients: g, −trunc(x/y)·g.
//
//op:torch torch.fmod
//op:elementwise
func (x T) Fmod(y T) T

// Remainder returns what is left of x/y rounded down: x − y·⌊x/y⌋, with the sign of y. Of y = 0 it
// is NaN or, of integers, 0. It panics with ErrShape unless the shapes broadcast.
//
// Gradients: g, −⌊x/y⌋·g.
//
//op:torch torch.remainder
//op:elementwise
func (x T) Remainder(y T) T

// FloorDivide returns ⌊x/y⌋. Of y = 0 it is x/y or, of integers, 0. In float32 quotients beyond 2²¹
// may be off by a few units of the last place. It panics with ErrShape unless the shapes broadcast.
//
// Gradients: 0, 0.
//
//op:torch torch.floor_divide
//op:elementwise
func (x T) FloorDivide(y T) T

// TruncDivide returns x/y rounded towards 0. Of y = 0 it is x/y or, of integers, 0. Its errors are those
// of [Tensor.FloorDivide]. It panics with ErrShape unless the shapes broadcast.
//
// Gradients: 0, 0.
//
//op:torch torch.div(rounding_mode="trunc")
//op:elementwise
func (x T) TruncDivide(y T) T

// LogAddExp returns ln(eˣ + eʸ), without overflow. It panics with ErrShape unless the shapes
// broadcast.
//
// Gradients: g/(1 + eʸ⁻ˣ), g/(1 + eˣ⁻ʸ); NaN where both are the same infinity.
//
//op:torch torch.logaddexp
//op:elementwise
//op:autocast float32
func (x T) LogAddExp(y T) T

// Xlogy returns x·ln y, 0 where x = 0 unless y is NaN. It panics with ErrShape unless the shapes
// broadcast.
//
// Gradients: ln(y)·g, 0 where x = 0 and y ≤ 0; x/y·g.
//
//op:torch torch.xlogy
//op:elementwise
//op:autocast float32
func (x T) Xlogy(y T) T

// PReLU returns x above 0, else w·x. PyTorch's weight of a number for each channel has axes of 1 here
// for the axes after: [channels, 1, 1] for images. It panics with ErrShape unless the shapes broadcast.
//
// Gradients: g above 0, else w·g; 0 above 0, else x·g.
//
// Source: He, Zhang, Ren, Sun, "Delving Deep into Rectifiers", 2015, arXiv 1502.01852.
//
//op:torch torch.nn.functional.prelu
//op:elementwise
func (x T) PReLU(w T) T

// Lerp returns x + weight·(y − x), which is x and y for weights of 0 and 1. It panics with ErrShape
// unless the shapes broadcast.
//
// Gradients: (1 − weight)·g, weight·g.
//
//op:torch torch.lerp
//op:elementwise
func (x T) Lerp(y T, weight float64) T

// LerpTensor returns x + weight·(y − x), which is x and y for weights of 0 and 1. [Tensor.Lerp] is
// that of one weight. It panics with ErrShape unless the shapes broadcast.
//
// Gradients: (1 − weight)·g, weight·g, (y − x)·g.
//
//op:torch torch.lerp
//op:elementwise
func (x T) LerpTensor(y, weight T) T

// ClampTensor returns x limited to [low, high], element by element; a NaN wins. Where low > high,
// the result is high, as in PyTorch. It panics with ErrShape unless the shapes broadcast.
// [Tensor.Clamp] has numbers as limits.
//
// Gradients: g to x inside and at the limits, else to the limit that it is beyond, or to high where
// low > high; none at NaN.
//
//op:torch torch.clamp
//op:elementwise
func (x T) ClampTensor(low, high T) T
