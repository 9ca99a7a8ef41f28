package tensor

import (
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// storedTile returns the tile of a batch of products of operands of 16 bits that are read as they
// lie, where the device does that: one with the FMA is none. a and b are the first matrices.
func storedTile(a, b *Tensor, batch []batchAxis) ops.GemmTile {
	if !a.typ.Half() || a.typ != b.typ {
		return ops.GemmTile{}
	}
	lda, ta, okA := layout(a)
	ldb, tb, okB := layout(b)
	apart := a.off | b.off | lda | ldb
	n := 1
	for _, x := range batch {
		apart |= x.a | x.b
		n *= x.n
	}
	if !okA || !okB || apart%ops.StoredAlign != 0 {
		return ops.GemmTile{}
	}
	d := a.Device()
	form, target := ops.FormOf(ta, tb), matrixTarget(d)
	if t := ops.StoredTileFor(factorsOf(a, b), form, n, a.shape[0], b.shape[1], a.shape[1], target); hasUnits(d, t.Inner) {
		return t
	}
	return ops.GemmTile{}
}

// storesNarrow reports whether the launch of a product in a tile stores it in 16 bits itself. In a
// recording that is left to the rewrites, which then store what is made of it.
func storesNarrow(d Device, tile ops.GemmTile, batch, m, n, k int) bool {
	return tile.Inner != ops.FMA && ops.GemmBatchSlice(tile, batch, m, n, k, matrixTarget(d)) >= k &&
		(recordings.Load() == 0 || d.core().listener(d, "a product") == nil)
}

// storedBatchTo is batchTo of operands of 16 bits, where products can read them in place and, if it is
// not one product, in 16 bits. It reports whether it did it.
func storedBatchTo(c, a, b *Tensor, factors Precision, accumulate bool) bool {
	va, okA := inPlace(a)
	defer va.Free()
	vb, okB := inPlace(b)
	defer vb.Free()
	if !okA || !okB {
		return false
	}
	ma, mb, axes := matricesOf(c, va, vb)
	defer ma.Free()
	defer mb.Free()
	if inner := axes[max(0, len(axes)-3):]; len(inner) > 0 {
		tile, batch := storedTile(ma, mb, inner), 1
		for _, x := range inner {
			batch *= x.n
		}
		for _, x := range axes {
			if x.a%ops.StoredAlign != 0 || x.b%ops.StoredAlign != 0 {
				return false
			}
		}
		m, n, k := ma.shape[0], mb.shape[1], ma.shape[1]
		if tile.Inner == ops.FMA || c.typ.Half() && !storesNarrow(c.Device(), tile, batch, m, n, k) {
			return false
		}
	}
	batchesTo(c, ma, mb, axes, factors, accumulate)
	return true
}

// productType returns the type that a product of a and b is stored in: that of two operands of 16
// bits, else that in which it is computed.
func productType(a, b *Tensor) Type {
	if a.typ.Half() && a.typ == b.typ {
		return a.typ
	}
	return floats(a, b)
}

// throughFloat32 computes what is stored in c, of a type of 16 bits, in float32, and rounds it.
func throughFloat32(c *Tensor, compute func(wide *Tensor)) {
	wide := alloc("MatMul", c.Device(), Float32, c.shape)
	defer wide.Free()
	compute(wide)
	copyTo(c, wide)
}

// launchStored launches a product of operands of 16 bits, with the arguments of one that stores
// float32 but for its scratch, to c, of a type of 16 bits or Float32.
func launchStored(kernel *kernels.Kernel, c *Tensor, list *argList, args []kernels.Arg, maps *Tensor) {
	args = append(args, maps.arg())
	if c.typ.Half() {
		layout := fused.AccessPattern{Rank: 1, Types: [fused.MapTensors]kernels.DType{1: c.typ},
			Aligned: c.Len()%fused.MapVector == 0 && c.off%fused.MapVector == 0}
		kernel = fused.FuseEpilogue(kernel, fused.Epilogue{Of: fn.Identity.Alone(), Layout: layout})
		args = append(args, c.arg(), kernels.IntArg(c.Len()))
	}
	list.launch(c.Device(), kernel, args)
}

// storedScratch returns the scratch of a launch, and what stands for memory of float32 that is not
// read or not written.
func storedScratch(d Device, groups int) (maps *Tensor, unused kernels.Arg) {
	maps = alloc("MatMul", d, Float32, []int{ops.MapsLen(groups)})
	unused = maps.arg()
	unused.N = 0
	return maps, unused
}
