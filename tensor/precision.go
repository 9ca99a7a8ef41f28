package tensor

import "github.com/clgrad/clgrad/kernels"

// Precision says to what a device may round the factors of matrix products: those of MatMul, of linear layers and of their
// gradients. Sums are in float32 in any case. What it is given for are the matrix units of GPUs; products that no such units compute are
// those of PrecisionFloat32: on devices without them, of float64, small ones, convolutions and attention. For a sum of K products, with u = 2⁻¹¹,
//
//	|c − Σ a·b| ≤ (2u + u² + (K+8)·2⁻²³)·Σ |a·b|
//
// for factors that float16 holds as normal numbers, of size 6·10⁻⁵ to 65504, in PrecisionFloat16. Smaller ones are rounded to multiples of
// 6·10⁻⁸, larger ones become infinite: a loss should be scaled so that its gradients are in that range. With PrecisionTF32
// factors have the range of float32. With PrecisionFloat32 matrix units compute large products from sums of three bfloat16 for each factor, and
//
//	|c − Σ a·b| ≤ (K+8)·2⁻²³·Σ |a·b|
//
// on all devices. Results are the same from run to run on a device, in each precision.
//
// Source: Micikevicius et al., "Mixed Precision Training" (2018).
type Precision = kernels.Precision

// The precisions of matrix products.
const (
	PrecisionFloat32 = kernels.PrecisionFloat32 // factors are not rounded; the default
	PrecisionTF32    = kernels.PrecisionTF32    // to 11 significant bits
	PrecisionFloat16 = kernels.PrecisionFloat16 // to float16
)
