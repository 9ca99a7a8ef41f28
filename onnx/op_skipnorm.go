package onnx

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// Norms with what stands before them, of the domain com.microsoft.
func init() {
	for _, domain := range []string{"", microsoft} {
		Register(Operator{Domain: domain, Name: "SimplifiedLayerNormalization", Attributes: "axis epsilon stash_type",
			Run: simplifiedNorm, Shape: simplifiedNormShape})
	}
	Register(
		Operator{Domain: microsoft, Name: "SkipLayerNormalization", Attributes: "epsilon", Shape: skipNormShape, Run: func(c *Call) []*Value {
			sum, eps := skipped(c, 4), c.Float("epsilon", 1e-12)
			out := Out(sum.LayerNorm(-1, c.Node(2), c.NodeOr(3), eps), nil, nil, sum)
			if c.Wants(1) || c.Wants(2) {
				wide := inSingle(sum)
				out[1] = fromNode(wide.Mean(-1, tensor.Keepdims))
				out[2] = fromNode(wide.Var(0, -1, tensor.Keepdims).AddScalar(eps).Rsqrt())
			}
			return out
		}},
		Operator{Domain: microsoft, Name: "SkipSimplifiedLayerNormalization", Attributes: "epsilon", Shape: skipNormShape,
			Run: func(c *Call) []*Value {
				sum, eps := skipped(c, 3), c.Float("epsilon", 1e-12)
				out := Out(sum.RMSNorm(-1, c.Node(2), eps), nil, nil, sum)
				if c.Wants(2) {
					out[2] = fromNode(inSingle(sum).Square().Mean(-1, tensor.Keepdims).AddScalar(eps).Rsqrt())
				}
				return out
			}},
		Operator{Domain: microsoft, Name: "EmbedLayerNormalization", Attributes: "epsilon mask_index_type",
			Run: embedNorm, Shape: embedNormShape},
	)
}

// skipped returns the sum of an input, what skipped a layer, and a bias that may be left out.
func skipped(c *Call, bias int) *autograd.Node {
	x, skip := c.Node(0), c.Node(1)
	if x.Rank() < 1 {
		c.Fail("the input has no axis")
	}
	sum := x.Add(skip.Expand(x.Shape()...))
	if b := c.NodeOr(bias); b != nil {
		sum = sum.Add(b)
	}
	return sum
}

// simplifiedNorm is x/√(mean x² + epsilon)·scale.
func simplifiedNorm(c *Call) []*Value {
	x, scale := c.Node(0), c.Node(1)
	axis, eps := c.axis(c.Int("axis", -1), x.Rank()), c.Float("epsilon", 1e-5)
	y := like(x.RMSNorm(axis, like(scale, x.Type()), eps), scale.Type())
	if !c.Wants(1) {
		return Out(y)
	}
	axes := []int{tensor.Keepdims}
	for a := axis; a < x.Rank(); a++ {
		axes = append(axes, a)
	}
	return Out(y, inSingle(x).Square().Mean(axes...).AddScalar(eps).Rsqrt())
}

// embedNorm is the norm of the sum of embeddings of words, positions and segments.
func embedNorm(c *Call) []*Value {
	ids := c.Tensor(0)
	if ids.Rank() != 2 || c.Node(2).Rank() != 2 || c.Node(3).Rank() != 2 {
		c.Fail("words %v of embeddings %v and positions %v: they have 2 axes", c.Shape(0), c.Shape(2), c.Shape(3))
	}
	batch, length := ids.Shape()[0], ids.Shape()[1]
	sum := c.Node(2).Embedding(ids)
	if c.Has(8) {
		sum = sum.Add(c.Node(3).Embedding(c.Tensor(8)))
	} else {
		sum = sum.Add(c.Node(3).Slice(0, 0, length))
	}
	if c.Has(1) && c.Has(4) {
		sum = sum.Add(c.Node(4).Embedding(c.Tensor(1)))
	}
	y := sum.LayerNorm(-1, c.Node(5), c.Node(6), c.Float("epsilon", 1e-12))
	mask := autograd.Const(tensor.ZerosOf(c.Device(), tensor.Int32, batch))
	if m := c.NodeOr(7); m != nil { // how many words there are
		mask = m.EqScalar(1).Sum(1).To(tensor.Int32)
	}
	return Out(y, mask, sum)
}

// singleOf is the type of inSingle.
func singleOf(typ string) string {
	if typ == "double" || typ == "" {
		return typ
	}
	return "float"
}

func skipNormShape(c *ShapeCall) []Known {
	in := c.In(0)
	each := Known{Type: singleOf(in.Type)}
	if n := len(in.Dims); n > 0 {
		each.Dims = reducedDims(in.Dims, []int{n - 1}, true)
	}
	return []Known{in.as(in.Type), each, each, in.as(in.Type)}
}

func simplifiedNormShape(c *ShapeCall) []Known {
	in := c.In(0)
	each := Known{Type: singleOf(in.Type)}
	if in.Dims != nil {
		each.Dims = reducedDims(in.Dims, upTo(len(in.Dims))[c.axis(c.Int("axis", -1), len(in.Dims)):], true)
	}
	return []Known{in.as(c.Type(1)), each}
}

func embedNormShape(c *ShapeCall) []Known {
	ids, table := c.Dims(0), c.Dims(2)
	if len(ids) != 2 || len(table) != 2 {
		return []Known{ofRank(c.Type(2), 3), ofRank("int32", 1), ofRank(c.Type(2), 3)}
	}
	y := Known{Type: c.Type(2), Dims: append(ids, table[1])}
	return []Known{y, listOfType("int32", ids[0]), y}
}
