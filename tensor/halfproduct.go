package tensor

import (
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// Products of 16 bits on CPUs: their kernels widen operands as they pack them, and round what they store.

// readsHalves reports whether a product that is computed for a result of typ reads operands of which some are of 16
// bits as they lie. Those that are have one type, and the others are of float32.
func readsHalves(typ Type, a, b *Tensor) bool {
	half := a.typ
	if !half.Half() {
		half = b.typ
	}
	kept := func(t Type) bool { return t == half || t == Float32 }
	return half.Half() && kept(a.typ) && kept(b.typ) && typ != Float64 && matrixTarget(a.Device()).CPU
}

// storesHalves reports whether the launches of a product of a and b, or of a batch of them, also round what they store
// in c, of 16 bits: those whose sums are not in shares.
func storesHalves(c, a, b *Tensor) bool {
	m, k, n := a.shape[a.Rank()-2], a.shape[a.Rank()-1], b.shape[b.Rank()-1]
	return k > 0 && readsHalves(c.typ, a, b) &&
		ops.GemmSlice(ops.GemmTile{}, m, n, k, c.Device().Target()) >= k
}

// unread returns what stands for memory that a product does not read: no element of an operand, of one of 16 bits if
// there is one, so that there are fewer forms of kernels.
func unread(operands ...*Tensor) kernels.Arg {
	arg := operands[0].bufferArg()
	for _, t := range operands[1:] {
		if t.typ.Half() {
			arg = t.bufferArg()
		}
	}
	arg.N = 0
	return arg
}
