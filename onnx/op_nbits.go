package onnx

import (
	"errors"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(Operator{Domain: microsoft, Name: "MatMulNBits",
		Attributes: "K N accuracy_level bits block_size weight_prepacked", Run: matMulNBits, Shape: matMulNBitsShape})
}

// nBits is a matrix [n, k] of integers of so many bits, of which each block of a row has a scale and a zero point.
type nBits struct{ k, n, bits, block, blocks int }

// nBitsOf reads the attributes.
func nBitsOf(c *Call) nBits {
	w := nBits{k: c.Int("K", 0), n: c.Int("N", 0), bits: c.Int("bits", 4), block: c.Int("block_size", 0)}
	if c.Int("weight_prepacked", 0) != 0 {
		c.Unsupported("weight_prepacked")
	}
	if w.bits != 2 && w.bits != 4 && w.bits != 8 {
		c.Unsupported("weights of %d bits", w.bits)
	}
	if w.k < 1 || w.n < 1 || w.block < 16 || w.block&(w.block-1) != 0 {
		c.Fail("K is %d, N %d and block_size %d", w.k, w.n, w.block)
	}
	w.blocks = (w.k-1)/w.block + 1
	return w
}

// unpack returns numbers of w's bits that lie in bytes [rows, bytes], the first in the low bits, as Uint8 [rows, most].
func (w nBits) unpack(x *tensor.Tensor, rows, most int) *tensor.Tensor {
	per := 8 / w.bits
	x = x.Reshape(rows, -1)
	parts := make([]*autograd.Node, per)
	for i := range parts {
		part := autograd.Const(x)
		if i > 0 {
			part = part.BitwiseRightShift(autograd.Const(tensor.FullOf(x.Device(), tensor.Uint8, float64(i*w.bits), 1)))
		}
		if i < per-1 {
			part = part.BitwiseAnd(autograd.Const(tensor.FullOf(x.Device(), tensor.Uint8, float64(int(1)<<w.bits-1), 1)))
		}
		parts[i] = part
	}
	all := autograd.Stack(2, parts...).Reshape(rows, x.Shape()[1]*per)
	return all.Value().Slice(1, 0, most)
}

// numbers returns the integers [n, k] of the matrix as Uint8, and the scales and zero points [n, blocks].
func (w nBits) numbers(c *Call) (q, scale, zero *tensor.Tensor) {
	b, scale := c.Tensor(1), c.Tensor(2)
	if b.Type() != tensor.Uint8 || b.Len() != w.n*w.blocks*w.block*w.bits/8 || scale.Len() != w.n*w.blocks {
		c.Fail("weights %v and scales %v of K %d, N %d, %d bits and blocks of %d", c.Value(1), c.Value(2), w.k, w.n,
			w.bits, w.block)
	}
	if !c.Has(3) {
		zero = tensor.FullOf(b.Device(), tensor.Uint8, float64(int(1)<<(w.bits-1)), w.n, w.blocks)
	} else {
		zero = c.Tensor(3)
		switch bytes := (w.blocks*w.bits + 7) / 8; {
		case zero.Type() == tensor.Uint8 && zero.Len() == w.n*bytes:
			zero = w.unpack(zero, w.n, w.blocks)
		case zero.Type() == tensor.Uint8 || zero.Len() != w.n*w.blocks:
			c.Fail("zero points %v of K %d, N %d, %d bits and blocks of %d", c.Value(3), w.k, w.n, w.bits, w.block)
		}
	}
	q = w.unpack(b, w.n*w.blocks, w.block).Reshape(w.n, w.blocks*w.block).Slice(1, 0, w.k)
	return q, scale.Reshape(w.n, w.blocks), zero.Reshape(w.n, w.blocks)
}

// floats returns the matrix [n, k] in float32.
func (w nBits) floats(c *Call) *tensor.Tensor {
	q, scale, zero := w.numbers(c)
	each := func(t *tensor.Tensor) *tensor.Tensor {
		return t.To(tensor.Float32).RepeatInterleave(w.block, 1).Slice(1, 0, w.k)
	}
	return q.To(tensor.Float32).Sub(each(zero)).Mul(each(scale))
}

// packed returns the matrix [k, n] in integers, or nil where there are no products of such blocks.
func (w nBits) packed(c *Call) *tensor.QuantizedTensor {
	group := w.block
	if w.blocks == 1 {
		group = 0
	}
	if group%32 != 0 {
		return nil
	}
	q, scale, zero := w.numbers(c)
	if w.bits < 8 {
		q = q.To(tensor.Uint4)
	}
	m, err := tensor.NewQuantized(q.T(), scale.T(), zero.T(), group)
	if errors.Is(err, tensor.ErrValue) { // scales that are no numbers
		return nil
	}
	if err != nil {
		panic(deviceError{err})
	}
	return m
}

// matMulNBits is a·Wᵀ + bias. Weights that are constants are packed in the first run.
func matMulNBits(c *Call) []*Value {
	if c.Has(4) && !sortedGroups(c) {
		c.Unsupported("g_idx")
	}
	w, a := nBitsOf(c), c.Node(0)
	if a.Rank() < 1 || a.Shape()[a.Rank()-1] != w.k {
		c.Fail("an input %v of weights [%d, %d]", a.Shape(), w.n, w.k)
	}
	var y *autograd.Node
	if slices.Contains(c.Shape(1), 0) { // weights that are left out
		shape := slices.Clone(a.Shape())
		shape[len(shape)-1] = w.n
		y = autograd.Const(tensor.ZerosOf(c.Device(), a.Type(), shape...))
	} else if m := c.quantizedOnce(func() *tensor.QuantizedTensor { return w.packed(c) }, [3]int{1, 2, 3}); m != nil {
		y = autograd.MatMulQuantized(a, m)
	} else {
		y = like(a.MatMul(autograd.Const(w.floats(c).T())), a.Type())
	}
	if bias := c.NodeOr(5); bias != nil {
		y = y.Add(bias)
	}
	return Out(y)
}

// sortedGroups reports whether g_idx says that the blocks follow each other, as without it.
func sortedGroups(c *Call) bool {
	block := max(c.Int("block_size", 0), 1)
	for i, g := range c.Ints(4) {
		if g != i/block {
			return false
		}
	}
	return true
}

func matMulNBitsShape(c *ShapeCall) []Known {
	dims := c.Dims(0)
	if len(dims) > 0 {
		dims[len(dims)-1] = NewDim(c.Int("N", 0))
	}
	return []Known{{Type: c.Type(0), Dims: dims}}
}
