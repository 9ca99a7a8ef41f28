package tensor

import (
	"fmt"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// MatMulIntegerOptions says what the integers of a product stand for.
type MatMulIntegerOptions struct {
	// ZeroA and ZeroB are zero points, which are subtracted: of the type of their operand, and one number, or
	// [m], one for each row of a's matrices, and [n], one for each column of b's. Nil is 0.
	ZeroA, ZeroB *Tensor
}

// MatMulInteger returns the product of integers of 8 bits, as Int32:
//
//	c[…, i, j] = Σ_k (a[…, i, k] − ZeroA[i])·(b[…, k, j] − ZeroB[j])
//
// for a […, m, k] and b […, k, n] of Int8 or Uint8, also one of each, whose leading axes broadcast by NumPy's
// rule. It is exact: sums wrap around in 32 bits, which those of up to 33,025 products never do. Copied are a
// transposed a, matrices of which neither the rows nor the columns are contiguous, and what leading axes repeat,
// unless it is one matrix. It panics with ErrType for other types, with ErrShape, and with ErrValue for two
// options. Source: ONNX, operator MatMulInteger. PyTorch: torch._int_mm.
func MatMulInteger(a, b *Tensor, o ...MatMulIntegerOptions) *Tensor {
	const op = "MatMulInteger"
	zeros := single(op, o)
	d := check(op, a, b)
	mustBeBytes(op, a, b)
	ra, rb := a.Rank(), b.Rank()
	if ra < 2 || rb < 2 || a.shape[ra-1] != b.shape[rb-2] {
		misuse(op, ErrShape, "", a, b)
	}
	lead, ok := Broadcast(a.shape[:ra-2], b.shape[:rb-2])
	if !ok {
		misuse(op, ErrShape, "the axes before the last two do not broadcast", a, b)
	}
	m, k, n := a.shape[ra-2], a.shape[ra-1], b.shape[rb-1]
	za := zeroPointsOf(op, "ZeroA", zeros.ZeroA, a, m)
	defer za.release()
	zb := zeroPointsOf(op, "ZeroB", zeros.ZeroB, b, n)
	defer zb.release()
	c := alloc(op, d, Int32, append(lead[:len(lead):len(lead)], m, n))
	switch {
	case c.Len() == 0:
		return c
	case k == 0:
		c.zero()
		return c
	}
	if size(b.shape[:rb-2]) == 1 && za.count < 2 { // the matrices of a are one below the other
		rows, one := a.Reshape(-1, k), b.Reshape(k, n)
		defer rows.Free()
		defer one.Free()
		integerProduct(c, batchOf(rows, false), batchOf(one, true), size(lead)*m, n, k, za, zb)
		return c
	}
	va, vb := batched(a, lead), batched(b, lead)
	defer va.Free()
	defer vb.Free()
	integerProduct(c, batchOf(va, false), batchOf(vb, true), m, n, k, za, zb)
	return c
}

// mustBeBytes panics with ErrType for operands that are not of Int8 or Uint8.
func mustBeBytes(op string, ts ...*Tensor) {
	for _, t := range ts {
		if t.typ != Int8 && t.typ != Uint8 {
			misuse(op, ErrType, fmt.Sprintf("it takes int8 and uint8, not %v: convert with To(tensor.Int8)", t.typ),
				ts...)
		}
	}
}

// zeroPoints are those of an operand.
type zeroPoints struct {
	contiguousOperand
	count int // none, one, or one for each row or column
	arg   kernels.Arg
}

func (z zeroPoints) release() {
	if z.count > 0 {
		z.contiguousOperand.release()
	}
}

// zeroPointsOf returns those of an operand, of which each row or column has one, or all have one.
func zeroPointsOf(op, name string, z, of *Tensor, n int) zeroPoints {
	if z == nil {
		arg := of.bufferArg() // any buffer, and no element of it: the kernel does not read it
		arg.N = 0
		return zeroPoints{arg: arg}
	}
	check(op, of, z)
	if z.typ != of.typ {
		misuse(op, ErrType, fmt.Sprintf("%s is of %v, and its operand of %v", name, z.typ, of.typ), z, of)
	}
	if z.Rank() > 1 || z.Len() != 1 && z.Len() != n {
		misuse(op, ErrShape, fmt.Sprintf("%s is one number, or [%d]", name, n), z, of)
	}
	c := z.contiguous()
	return zeroPoints{c, z.Len(), c.arg()}
}

// batched returns a view [batch, rows, columns] of matrices whose leading axes broadcast to lead; of one matrix, it is
// [1, rows, columns].
func batched(t *Tensor, lead []int) *Tensor {
	r := t.Rank() - 2
	shape := t.shape[r:]
	if size(t.shape[:r]) == 1 {
		return t.Reshape(1, shape[0], shape[1])
	}
	all := t.Expand(append(lead[:len(lead):len(lead)], shape...)...)
	defer all.Free()
	return all.Reshape(-1, shape[0], shape[1])
}

// byteMatrices is matrices in memory, of which one follows the other after next elements: 0 if there is one.
type byteMatrices struct {
	contiguousOperand
	step, column, next int // between rows, between columns
}

// batchOf returns a matrix, or a batch of them, as an operand. Columns may be contiguous where transposed is
// allowed.
func batchOf(t *Tensor, transposed bool) byteMatrices {
	r := t.Rank() - 2
	ld, swapped, ok := matrixStride(t.shape[r], t.shape[r+1], t.strides[r], t.strides[r+1])
	o := contiguousOperand{t, false}
	if !ok || swapped && !transposed {
		o = contiguousOperand{t.Copy(), true}
		ld, swapped = t.shape[r+1], false
	}
	m := byteMatrices{contiguousOperand: o, step: ld, column: 1}
	if swapped {
		m.step, m.column = 1, ld
	}
	if r == 1 && t.shape[0] > 1 {
		m.next = o.strides[0]
	}
	return m
}

// integerProduct writes products of m rows and n columns to c.
func integerProduct(c *Tensor, a, b byteMatrices, m, n, k int, za, zb zeroPoints) {
	defer a.release()
	defer b.release()
	d := c.Device()
	launch(d, ops.MatMulIntegerOn(d.Target()), a.bufferArg(), b.bufferArg(), za.arg, zb.arg, c.arg(), kernels.IntArg(m),
		kernels.IntArg(n),
		kernels.IntArg(k), kernels.IntArg(a.step), kernels.IntArg(b.step), kernels.IntArg(b.column), kernels.IntArg(a.next),
		kernels.IntArg(b.next), kernels.IntArg(za.count), kernels.IntArg(zb.count), kernels.IntArg(signs(a.Tensor, b.Tensor)))
}
