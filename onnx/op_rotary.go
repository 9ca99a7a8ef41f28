package onnx

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

func init() {
	Register(
		Operator{Name: "RotaryEmbedding", Since: 23, Attributes: "interleaved num_heads rotary_embedding_dim",
			Run: rotaryEmbedding, Shape: sameAs(0)},
	)
}

// rotaryEmbedding turns pairs of features of X by angles whose cosines and sines caches have.
func rotaryEmbedding(c *Call) []*Value {
	x := c.Node(0)
	joined := x.Rank() == 3
	if joined {
		x = splitHeads(c, x, c.Int("num_heads", 0))
	}
	if x.Rank() != 4 {
		c.Fail("X is %v: it has 3 or 4 axes", x.Shape())
	}
	cos, sin := c.Node(1), c.Node(2)
	if ids := c.NodeOr(3); ids != nil {
		cos, sin = cachedRows(c, cos, ids.Value()), cachedRows(c, sin, ids.Value())
	}
	y := rotated(c, x, cos, sin, c.Int("rotary_embedding_dim", 0), c.Bool("interleaved", false))
	if joined {
		y = joinHeads(y)
	}
	return Out(y)
}

// cachedRows returns the rows [b, l, r] of a cache [n, r] that positions [b, l] name.
func cachedRows(c *Call, cache *autograd.Node, ids *tensor.Tensor) *autograd.Node {
	if cache.Rank() != 2 || ids.Rank() != 2 {
		c.Fail("a cache %v of positions %v: both have 2 axes", cache.Shape(), ids.Shape())
	}
	return cache.GatherRows(ids.Reshape(-1)).Reshape(ids.Shape()[0], ids.Shape()[1], cache.Shape()[1])
}

// rotated returns x [b, h, l, d] with pairs of its first dim features turned: y = x·cos − z·sin, and z·cos + x·sin.
// They are the features f and f + dim/2, or interleaved 2f and 2f + 1. dim 0 is all. cos and sin are
// [b or 1, l, dim/2].
func rotated(c *Call, x, cos, sin *autograd.Node, dim int, interleaved bool) *autograd.Node {
	shape := x.Shape()
	features := shape[3]
	if dim == 0 {
		dim = features
	}
	want := []int{shape[0], shape[2], dim / 2}
	for _, t := range []*autograd.Node{cos, sin} {
		s := t.Shape()
		if len(s) != 3 || s[0] != 1 && s[0] != want[0] || s[1] != want[1] || s[2] != want[2] ||
			dim < 0 || dim%2 != 0 || dim > features {
			c.Fail("cosines or sines %v of %d features of %v, want %v of an even number", s, dim, shape, want)
		}
	}
	return nn.RotaryEmbedding(x, cos.Unsqueeze(1), sin.Unsqueeze(1), interleaved)
}
