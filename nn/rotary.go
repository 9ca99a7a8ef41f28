package nn

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/tensor"
)

// RotaryConfig describes rotary position embeddings (RoPE) of queries and keys: at position p, the
// pair i of the features of a head is turned by the angle p·Base^(−2i/Dim). The zero value: none.
// Source: Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021, §3.2.
type RotaryConfig struct {
	Base float64 // such as 10000; 0: no rotation
	Dim  int     // features of a head that are turned, the first ones, an even number; 0: all
	// Interleaved says that pairs are the features 2i and 2i + 1, as in GPT-J and in Meta's files of
	// Llama; else they are i and i + Dim/2, as in Hugging Face's files of Llama.
	Interleaved bool
}

// mustFit panics with tensor.ErrValue for a config that heads of so many features do not have, and
// returns it with Dim.
func (c RotaryConfig) mustFit(op string, features int) RotaryConfig {
	if c.Dim == 0 {
		c.Dim = features
	}
	if c.Base != 0 && !(c.Base >= 1) || math.IsInf(c.Base, 1) { // below 1 angles grow without bound
		misuse(op, tensor.ErrValue, "Rotary.Base is %v: it is finite and 1 or more, and 0 for no rotation", c.Base)
	}
	if c.Base > 0 && (c.Dim < 0 || c.Dim%2 != 0 || c.Dim > features) {
		misuse(op, tensor.ErrValue, "Rotary.Dim is %d, of %d features of a head: it is an even number up to that", c.Dim, features)
	}
	return c
}

// frequencies returns the angles of the pairs at position 1, [dim/2].
func (c RotaryConfig) frequencies(d tensor.Device) *tensor.Tensor {
	f := make([]float64, c.Dim/2)
	for i := range f {
		f[i] = math.Pow(c.Base, -2*float64(i)/float64(c.Dim))
	}
	return tensor.New(d, f).To(d.DefaultType()).Retain()
}

// angles returns the cosines and sines of l positions from first on, an int that may be a step scalar:
// [l, 1, pairs], to turn features […, l, heads, d].
func angles(frequencies *tensor.Tensor, first kernels.Arg, l int) (cos, sin *autograd.Node) {
	d, typ, pairs := frequencies.Device(), frequencies.Type(), frequencies.Len()
	c, s := tensor.EmptyOf(d, typ, l, 1, pairs), tensor.EmptyOf(d, typ, l, 1, pairs)
	tensor.MapInto(rotaryAngles, []kernels.Arg{first}, []*tensor.Tensor{c, s}, frequencies)
	return autograd.Const(c), autograd.Const(s)
}

// rotaryAngles are the cosine and the sine of (i + n)·x, i being the index along the first axis, and
// n an int.
var rotaryAngles = func() *kernels.FusedElementwise {
	angle := expr.Index(0).Float().Add(expr.IntParam(0).Float()).Mul(expr.Input(0))
	return &kernels.FusedElementwise{Name: "rotary_angles", Functions: []*kernels.Function{
		{Name: "rotary_cos", Value: angle.Cos(), Scalars: []float64{3}},
		{Name: "rotary_sin", Value: angle.Sin(), Scalars: []float64{3}},
	}}
}()

// RotaryEmbedding returns x […, d] with pairs of its first features turned by angles whose cosines
// and sines […, n] broadcast to […, n] pairs: a and b become a·cos − b·sin and a·sin + b·cos. The
// pairs are the features i and i + n, or interleaved 2i and 2i + 1. Features from 2n on stay. A
// [MultiHeadAttention] with a [RotaryConfig] does so with queries and keys. It panics with
// tensor.ErrShape for fewer than 2n features, and for angles that do not broadcast.
func RotaryEmbedding(x, cos, sin *autograd.Node, interleaved bool) *autograd.Node {
	const op = "RotaryEmbedding"
	shape, c, s := x.ValueFor(op).Shape(), cos.ValueFor(op).Shape(), sin.ValueFor(op).Shape()
	last := len(shape) - 1
	n := 0
	if len(c) > 0 {
		n = c[len(c)-1]
	}
	if last < 0 || len(s) == 0 || s[len(s)-1] != n || 2*n > shape[last] {
		panic(&tensor.Error{Pkg: "nn", Op: op, Kind: tensor.ErrShape, Shapes: [][]int{shape, c, s},
			Detail: "cosines and sines have an angle for each pair of the first features"})
	}
	part := x
	if 2*n < shape[last] {
		part = x.Slice(last, 0, 2*n)
	}
	lead := shape[:last]
	var a, b *autograd.Node
	if interleaved {
		all := part.Reshape(slices.Concat(lead, []int{n, 2})...)
		a, b = all.Select(last+1, 0), all.Select(last+1, 1)
	} else {
		a, b = part.Slice(last, 0, n), part.Slice(last, n, 2*n)
	}
	y, z := a.Mul(cos).Sub(b.Mul(sin)), a.Mul(sin).Add(b.Mul(cos))
	var turned *autograd.Node
	if interleaved {
		turned = autograd.Stack(last+1, y, z).Reshape(slices.Concat(lead, []int{2 * n})...)
	} else {
		turned = autograd.Concat(last, y, z)
	}
	if turned.Type() != x.Type() {
		turned = turned.To(x.Type())
	}
	if 2*n < shape[last] {
		turned = autograd.Concat(last, turned, x.Slice(last, 2*n, shape[last]))
	}
	return turned
}
