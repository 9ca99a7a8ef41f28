package onnx

import (
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(Operator{Domain: microsoft, Name: "GatherBlockQuantized", Attributes: "bits block_size gather_axis quantize_axis",
		Run: gatherBlockQuantized, Shape: gatherBlockShape})
}

// gatherBlockQuantized is Gather of a table whose blocks of positions along an axis have a scale and a zero point each:
// only what is gathered becomes floats. Uint8 with fewer bits has several numbers in a byte, along the last axis.
func gatherBlockQuantized(c *Call) []*Value {
	table, scale := c.Node(0), c.Node(2)
	rank, block, bits := table.Rank(), c.Int("block_size", 128), c.Int("bits", 4)
	from, axis := c.axis(c.Int("gather_axis", 0), rank), c.axis(c.Int("quantize_axis", 1), rank)
	if block < 16 || block&(block-1) != 0 || from == axis {
		c.Fail("block_size is %d, gather_axis %d and quantize_axis %d", block, from, axis)
	}
	zero := c.NodeOr(3)
	if table.Type() == tensor.Uint8 {
		if bits != 2 && bits != 4 && bits != 8 {
			c.Unsupported("weights of %d bits", bits)
		}
		if bits < 8 && axis != rank-1 {
			c.Unsupported("packed numbers that are not quantized along the last axis")
		}
		w := nBits{bits: bits}
		unpacked := func(x *autograd.Node, most int) *autograd.Node {
			shape := slices.Clone(x.Shape())
			if bits < 8 && most > 0 {
				last := shape[rank-1]
				shape[rank-1] = min(most, last*8/bits)
				x = autograd.Const(w.unpack(x.Value(), x.Len()/last, shape[rank-1]).Reshape(shape...))
			}
			return x
		}
		if table.Len() > 0 {
			table = unpacked(table, table.Shape()[rank-1]*8/bits)
		}
		if zero != nil && zero.Len() > 0 {
			zero = unpacked(zero, scale.Shape()[scale.Rank()-1])
		} else if zero == nil {
			zero = autograd.Const(tensor.FullOf(c.Device(), tensor.Uint8, float64(int(1)<<(bits-1)), scale.Shape()...))
		}
	}
	shape := slices.Clone(table.Shape())
	n := shape[axis]
	shape[axis] = (n + block - 1) / block
	for _, blocks := range []*autograd.Node{scale, zero} {
		if blocks != nil && !slices.Equal(blocks.Shape(), shape) {
			c.Fail("scales or zero points are %v of a table %v in blocks of %d along axis %d", blocks.Shape(), table.Shape(), block, axis)
		}
	}
	index := make([]*tensor.Tensor, from+1)
	index[from] = c.Tensor(1)
	if axis > from { // where the indices have put it
		axis += index[from].Rank() - 1
	}
	gathered := func(x *autograd.Node) *autograd.Node { return like(x.Index(index...), tensor.Float32) }
	each := func(x *autograd.Node) *autograd.Node {
		return gathered(x).RepeatInterleave(block, axis).Slice(axis, 0, n)
	}
	y := gathered(table)
	if zero != nil {
		y = y.Sub(each(zero))
	}
	return Out(like(y.Mul(each(scale)), scale.Type()))
}

func gatherBlockShape(c *ShapeCall) []Known {
	dims, index := c.Dims(0), c.Dims(1)
	if len(dims) == 0 || index == nil {
		return []Known{{Type: c.Type(2)}}
	}
	if bits := c.Int("bits", 4); c.Type(0) == "uint8" && bits > 0 && bits <= 8 {
		dims[len(dims)-1] = dims[len(dims)-1].Mul(NewDim(8 / bits))
	}
	axis := c.axis(c.Int("gather_axis", 0), len(dims))
	return []Known{{Type: c.Type(2), Dims: dimsAlong(dims[:axis], index, dims[axis+1:])}}
}
