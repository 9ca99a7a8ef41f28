package autograd

import "github.com/clgrad/clgrad/kernels/fn"

// Functions between layers. Those that end in a limit of 0 are exact there: they have no difference
// of numbers that are nearly equal.

// GELU returns x·Φ(x), with the distribution Φ of the normal distribution. Gradient: (Φ(x) +
// x·φ(x))·g. Source: Hendrycks, Gimpel, "Gaussian Error Linear Units", 2016, arXiv 1606.08415.
func (x *Node) GELU() *Node { return elementwise("GELU", fn.GELU, nil, x) }

// GELUTanh returns x·(1 + tanh(√(2/π)·(x + 0.044715·x³)))/2, which is nearly GELU. Gradient: the
// derivative times g. Source: Hendrycks, Gimpel, "Gaussian Error Linear Units", 2016, arXiv
// 1606.08415.
func (x *Node) GELUTanh() *Node { return elementwise("GELUTanh", fn.GELUTanh, nil, x) }

// SiLU returns x/(1 + e⁻ˣ), also known as Swish. Gradient: s·(1 + x·(1 − s))·g with s = 1/(1 +
// e⁻ˣ). Source: Elfwing, Uchibe, Doya, "Sigmoid-weighted linear units", 2017, arXiv 1702.03118.
func (x *Node) SiLU() *Node { return elementwise("SiLU", fn.SiLU, nil, x) }

// Mish returns x·tanh(ln(1 + eˣ)). Gradient: the derivative times g. Source: Misra, "Mish: A Self
// Regularized Non-Monotonic Activation Function", 2019, arXiv 1908.08681.
func (x *Node) Mish() *Node { return elementwise("Mish", fn.Mish, nil, x) }

// ELU returns x above 0, else alpha·(eˣ − 1). Gradient: g above 0, else alpha·eˣ·g; so at 0.
// Source: Clevert, Unterthiner, Hochreiter, 2015, arXiv 1511.07289.
func (x *Node) ELU(alpha float64) *Node { return elementwise("ELU", fn.ELU, []float64{alpha}, x) }

// SELU returns 1.0507 times ELU(1.6733), with the constants of the source: Klambauer et al.,
// "Self-Normalizing Neural Networks", 2017, arXiv 1706.02515. Gradient: that of ELU, times 1.0507.
func (x *Node) SELU() *Node { return elementwise("SELU", fn.SELU, nil, x) }

// CELU returns x above 0, else alpha·(exp(x/alpha) − 1). Gradient: g above 0, else exp(x/alpha)·g;
// g at 0. Source: Barron, 2017, arXiv 1704.07483.
func (x *Node) CELU(alpha float64) *Node {
	return elementwise("CELU", fn.CELU, []float64{alpha}, x)
}

// Softsign returns x/(1 + |x|), NaN of infinities. Gradient: g/(1 + |x|)².
func (x *Node) Softsign() *Node { return elementwise("Softsign", fn.Softsign, nil, x) }

// Hardswish returns x·[Node.Hardsigmoid]. Gradient: 0 below −3, g above 3, else (x/3 + ½)·g; so at
// −3 and 3. Source: Howard et al., "Searching for MobileNetV3", 2019, arXiv 1905.02244.
func (x *Node) Hardswish() *Node { return elementwise("Hardswish", fn.Hardswish, nil, x) }

// Hardsigmoid returns x/6 + ½ limited to [0, 1]. Gradient: g/6 inside, 0 at the limits and at NaN.
func (x *Node) Hardsigmoid() *Node { return elementwise("Hardsigmoid", fn.Hardsigmoid, nil, x) }

// Hardtanh returns x limited to [low, high], as [Node.Clamp] does it. Gradient: g inside and at
// NaN; 0 beyond and, unlike that of Clamp, at the limits.
func (x *Node) Hardtanh(low, high float64) *Node {
	return elementwise("Hardtanh", fn.Hardtanh, []float64{low, high}, x)
}

// ReLU6 returns x limited to [0, 6]; NaN stays. Gradient: g inside and at NaN, 0 at the limits.
func (x *Node) ReLU6() *Node { return elementwise("ReLU6", fn.ReLU6, nil, x) }

// LogSigmoid returns −ln(1 + e⁻ˣ), without overflow. Gradient: g/(1 + eˣ).
func (x *Node) LogSigmoid() *Node { return elementwise("LogSigmoid", fn.LogSigmoid, nil, x) }

// SoftplusBeta returns ln(1 + exp(beta·x))/beta, and x itself where beta·x is above the threshold:
// PyTorch has 1 and 20. There is no overflow without a threshold either, which is math.Inf(1).
// Gradient: g/(1 + exp(−beta·x)), g above the threshold.
func (x *Node) SoftplusBeta(beta, threshold float64) *Node {
	return elementwise("SoftplusBeta", fn.SoftplusBeta, []float64{beta, threshold}, x)
}
