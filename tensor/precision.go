package tensor

import (
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// Precision says to what a device may round the factors of matrix products: of MatMul and what is
// made of it, such as Einsum, linear and recurrent layers, attention by whole matrices, and their
// gradients. Sums are in float32 in any case. It is for GPUs with matrix units, which the first
// product finds by trying them. Products that no such units compute are those of PrecisionFloat32:
// on other devices, of float64, of matrices with less than 16 rows, columns or steps, and those of
// less than 2²⁰ multiplications. Convolutions and attention in blocks of keys do not round either.
// A fused step of a perceptron that a recording makes one launch does in its hidden layers, and in
// the gradients of their weights and biases, where they are all 32 or all 64 units wide and
// followed by a leaky ReLU, for 32 or 64 inputs, at most four outputs, and enough samples; other
// fused steps do not round. It takes its factors as float16 with a scale for what a layer makes of
// 128 samples, for its gradient and for its weights: two of them for each in PrecisionFloat32, one
// in PrecisionTF32 where the device has instructions for groups of warps. One is within 2⁻¹¹ of the
// factor, or where that is more within 2⁻³⁹ of the largest that it shares the scale with. Of two, a
// product x·y of factors whose largest are X and Y is off by at most
//
//	2⁻²¹·|x·y| + 2⁻⁴⁹·(X·|y| + |x|·Y) + 2⁻⁷⁸·X·Y
//
// Infinities and NaN are those of float32 arithmetic, but where the samples are no multiple of 128,
// and a parameter or what a layer makes of the last sample is infinite: gradients of parameters may
// be NaN then that would be infinite.
//
// For a sum of K products of factors that were rounded, with u = 2⁻¹¹,
//
//	|c − Σ a·b| ≤ (2u + u² + (K+8)·2⁻²³)·Σ |a·b|
//
// In PrecisionFloat16 this holds for factors of size 6·10⁻⁵ to 65504, which float16 has as normal
// numbers. Smaller ones become multiples of 6·10⁻⁸, of which the least become 0, and larger ones
// infinite. Gradients are often that small, those of a mean over a large batch above all:
// optim.LossScaler keeps them in that range. With PrecisionTF32 factors have the range of float32,
// but for those that round up to more than it, which become infinite.
//
// With PrecisionFloat32, matrix units compute large products from three bfloat16 for each factor,
// as they do large convolutions in any precision, and on all devices
//
//	|c − Σ a·b| ≤ (K+8)·2⁻²³·Σ |a·b|
//
// Infinities, NaN and denormals are those of float32 arithmetic.
//
// Operands of 16 bits are multiplied by those alone, whatever the precision of the device, and on
// NVIDIA's devices of capability 9.0 read as they lie where they begin at multiples of 16 bytes, and
// so do their rows: see docs/types.md.
//
// The largest of other products pack their operands first: of 1280 rows, columns and steps on where the
// device has instructions for groups of warps (NVIDIA's of capability 9.0), else of 1536. That
// takes as much memory as they do, half of it in PrecisionFloat16, half as much more in
// PrecisionFloat32. Results are the same from run to run on a device.
//
// Source: Micikevicius et al., "Mixed Precision Training" (2018).
type Precision = kernels.Precision

// The precisions of matrix products.
const (
	PrecisionFloat32 = kernels.PrecisionFloat32 // factors are not rounded; the default
	PrecisionTF32    = kernels.PrecisionTF32    // to 11 significant bits
	PrecisionFloat16 = kernels.PrecisionFloat16 // to float16
)

// factorsOf returns what the factors of a product may be rounded to: those of 16 bits are what they
// are, and else it is the precision of the device.
func factorsOf(a, b *Tensor) Precision {
	switch {
	case a.typ == BFloat16 && b.typ == BFloat16:
		return kernels.PrecisionBFloat16
	case a.typ == Float16 && b.typ == Float16:
		return PrecisionFloat16
	}
	return a.Device().Precision()
}

// matrixTile returns the tile of a product on matrix units, of packed operands or not, where the
// device, whose limits are l, has them and they are worth while; else one with the FMA. Dense operands
// are contiguous in memory.
func matrixTile(d Device, l kernels.Target, factors Precision, typ Type, form ops.GemmForm, dense bool, m, n, k int) ops.GemmTile {
	if l.CPU && !d.core().asUnits {
		return ops.GemmTile{}
	}
	for _, grouped := range []bool{true, false} {
		if t := ops.SwizzledTileFor(factors, grouped, m, n, k, typ, matrixTarget(d)); hasUnits(d, t.Inner) {
			return t
		}
	}
	return batchMatrixTile(d, factors, typ, form, dense, 1, m, n, k)
}

// batchMatrixTile is matrixTile of a batch of products, which packs none.
func batchMatrixTile(d Device, factors Precision, typ Type, form ops.GemmForm, dense bool, batch, m, n, k int) ops.GemmTile {
	if t := ops.WarpGroupTileFor(factors, form, dense, batch, m, n, k, typ, matrixTarget(d)); hasUnits(d, t.Inner) {
		return t
	}
	if t := ops.MatrixTileFor(factors, form, batch, m, n, k, typ, matrixTarget(d)); hasUnits(d, t.Inner) {
		return t
	}
	return ops.GemmTile{}
}

// hasUnits reports whether a device computes an inner product on matrix units, or in a test as they
// would.
func hasUnits(d Device, inner ops.Inner) bool {
	switch c := d.core(); {
	case inner == ops.FMA:
		return false
	case c.asUnits:
		return c.asGroups || !inner.WarpGroups()
	}
	return d.matrixUnits(inner.Probed())
}

// matrixTarget are the limits that tiles for matrix units must fit.
func matrixTarget(d Device) kernels.Target {
	l := d.Target()
	if d.core().asUnits && l.CPU {
		return kernels.Target{Units: l.Units, LocalMem: 48 << 10, MaxGroup: 1024}
	}
	return l
}

func (api) MatrixUnits(d Device) (l kernels.Target, has func(factors kernels.Precision, grouped bool) bool) {
	return matrixTarget(d), func(factors kernels.Precision, grouped bool) bool {
		inner := ops.FP16
		switch {
		case grouped:
			inner |= ops.Swizzled | ops.WarpGroups
		case factors == PrecisionTF32:
			inner = ops.TF32
		}
		return hasUnits(d, inner)
	}
}

func (api) AsMatrixUnits(d Device, grouped bool) {
	d.core().asUnits, d.core().asGroups = true, grouped
}

// pack packs an operand for a tile: its x and k, and how far neighbours along them are apart.
func pack(tile ops.GemmTile, t *Tensor, second bool, x, k, row, step int) (words, flaws *Tensor) {
	d := t.Device()
	kernel, n, m := tile.Packings(x, k, second)
	words, flaws = alloc("MatMul", d, Int32, []int{n}), alloc("MatMul", d, Int32, []int{m})
	launch(d, kernel, t.bufferArg(), words.arg(), flaws.arg(), kernels.IntArg(x), kernels.IntArg(k), kernels.IntArg(row), kernels.IntArg(step))
	return words, flaws
}
