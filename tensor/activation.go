package tensor

import "github.com/clgrad/clgrad/kernels/fn"

// Functions between layers. Those that end in a limit of 0 are exact there: they have no difference
// of numbers that are nearly equal.

// GELU returns t·Φ(t), with the distribution Φ of the normal distribution. Source: Hendrycks,
// Gimpel, "Gaussian Error Linear Units", 2016, arXiv 1606.08415.
func (t *Tensor) GELU() *Tensor { return elementwise("GELU", fn.GELU, nil, t) }

// GELUTanh returns t·(1 + tanh(√(2/π)·(t + 0.044715·t³)))/2, which is nearly GELU. Source:
// Hendrycks, Gimpel, "Gaussian Error Linear Units", 2016, arXiv 1606.08415.
func (t *Tensor) GELUTanh() *Tensor { return elementwise("GELUTanh", fn.GELUTanh, nil, t) }

// SiLU returns t/(1 + e⁻ᵗ), also known as Swish. Source: Elfwing, Uchibe, Doya, "Sigmoid-weighted
// linear units", 2017, arXiv 1702.03118.
func (t *Tensor) SiLU() *Tensor { return elementwise("SiLU", fn.SiLU, nil, t) }

// Mish returns t·tanh(ln(1 + eᵗ)). Source: Misra, "Mish: A Self Regularized Non-Monotonic
// Activation Function", 2019, arXiv 1908.08681.
func (t *Tensor) Mish() *Tensor { return elementwise("Mish", fn.Mish, nil, t) }

// ELU returns t above 0, else alpha·(eᵗ − 1). Source: Clevert, Unterthiner, Hochreiter, 2015, arXiv
// 1511.07289.
func (t *Tensor) ELU(alpha float64) *Tensor {
	return elementwise("ELU", fn.ELU, []float64{alpha}, t)
}

// SELU returns 1.0507 times ELU(1.6733), with the constants of the source: Klambauer et al.,
// "Self-Normalizing Neural Networks", 2017, arXiv 1706.02515.
func (t *Tensor) SELU() *Tensor { return elementwise("SELU", fn.SELU, nil, t) }

// CELU returns t above 0, else alpha·(exp(t/alpha) − 1). Source: Barron, 2017, arXiv 1704.07483.
func (t *Tensor) CELU(alpha float64) *Tensor {
	return elementwise("CELU", fn.CELU, []float64{alpha}, t)
}

// Softsign returns t/(1 + |t|), NaN of infinities.
func (t *Tensor) Softsign() *Tensor { return elementwise("Softsign", fn.Softsign, nil, t) }

// Hardswish returns t·[Tensor.Hardsigmoid]. Source: Howard et al., "Searching for MobileNetV3",
// 2019, arXiv 1905.02244.
func (t *Tensor) Hardswish() *Tensor { return elementwise("Hardswish", fn.Hardswish, nil, t) }

// Hardsigmoid returns t/6 + ½ limited to [0, 1].
func (t *Tensor) Hardsigmoid() *Tensor {
	return elementwise("Hardsigmoid", fn.Hardsigmoid, nil, t)
}

// Hardtanh returns t limited to [low, high], as [Tensor.Clamp] does it.
func (t *Tensor) Hardtanh(low, high float64) *Tensor {
	return elementwise("Hardtanh", fn.Hardtanh, []float64{low, high}, t)
}

// ReLU6 returns t limited to [0, 6]; NaN stays.
func (t *Tensor) ReLU6() *Tensor { return elementwise("ReLU6", fn.ReLU6, nil, t) }

// LogSigmoid returns −ln(1 + e⁻ᵗ), without overflow.
func (t *Tensor) LogSigmoid() *Tensor { return elementwise("LogSigmoid", fn.LogSigmoid, nil, t) }

// SoftplusBeta returns ln(1 + exp(beta·t))/beta, and t itself where beta·t is above the threshold:
// PyTorch has 1 and 20. There is no overflow without a threshold either, which is math.Inf(1).
func (t *Tensor) SoftplusBeta(beta, threshold float64) *Tensor {
	return elementwise("SoftplusBeta", fn.SoftplusBeta, []float64{beta, threshold}, t)
}
