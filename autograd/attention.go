package autograd

import (
	"slices"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/plumbing"
	"github.com/clgrad/clgrad/tensor"
)

// ScaledDotProductAttention returns the means of the values v […, s, e] that the queries x […, l, d] give the keys k […, s, d],
//
//	y = softmax(scale·x·kᵀ + mask)·v
//
// of shape […, l, e]; the leading axes broadcast. mask broadcasts to […, l, s], or is nil: where one of Uint8 is 0, and where one
// of reals is −∞, a query does not attend to a key; else what is real is added. A query that attends to no key is 0. It panics as
// [tensor.Tensor.ScaledDotProductAttention] does. Gradients, with p the softmax and d = p·(g·vᵀ − Σ p·g·vᵀ): scale·d·k of x,
// scale·dᵀ·x of k, pᵀ·g of v, and d of a mask of reals. Source: Vaswani et al., "Attention Is All You Need", 2017.
func (x *Node) ScaledDotProductAttention(k, v, mask *Node, options ...tensor.AttentionOptions) *Node {
	const op = "ScaledDotProductAttention"
	xv, kv, vv := x.use(op), k.use(op), v.use(op)
	inputs, saved := []*Node{x, k, v}, []*tensor.Tensor{xv, kv, vv}
	var mv *tensor.Tensor
	if mask != nil {
		mv = mask.use(op)
		inputs, saved = append(inputs, mask), append(saved, mv)
	}
	y, p := plumbing.Attention(xv, kv, vv, mv, options)
	n := Apply(op, y, inputs, func(g *Node, in *Grads) {
		scale, bias, causal, live := plumbing.Attends(xv, kv, vv, mv, options)
		if in.Recorded() {
			p := x.MulScalar(scale).MatMul(k.matrixT())
			if bias != nil {
				b := Const(bias)
				if mv.Type() == tensor.Real {
					b = Map(ops.Unmasked, nil, mask, Const(live))
				}
				p = p.Add(b)
			}
			if causal != nil {
				p = p.Add(Const(causal))
			}
			if p = p.Softmax(-1); live != nil {
				p = p.Mul(Const(live))
			}
			d := g.MatMul(v.matrixT())
			d = p.Mul(d.Sub(p.Mul(d).Sum(-1, tensor.Keepdims)))
			in.GiveNode(0, d.MatMul(k).MulScalar(scale))
			in.GiveNode(1, d.matrixT().MatMul(x).MulScalar(scale))
			in.GiveNode(2, p.matrixT().MatMul(g))
			if mask != nil {
				in.GiveNode(3, d)
			}
			return
		}
		for _, t := range []*tensor.Tensor{bias, causal, live} {
			if t != nil {
				t.Free()
			}
		}
		if in.Need(2) {
			in.Give(2, product(p, true, g.value, false))
		}
		up := product(g.value, false, vv, true)
		if !slices.Equal(up.Shape(), p.Shape()) { // values have axes that queries and keys have not
			sum := up.SumTo(p.Shape()...)
			up.Free()
			up = sum
		}
		d := plumbing.SoftmaxGrad(p, up, -1, false)
		up.Free()
		if mask != nil {
			in.Share(3, d)
		}
		scaled := d.MulScalar(scale)
		d.Free()
		if in.Need(0) {
			in.Give(0, product(scaled, false, kv, false))
		}
		if in.Need(1) {
			in.Give(1, product(scaled, true, xv, false))
		}
		scaled.Free()
	}, saved...)
	if n.scratch = []*tensor.Tensor{p}; n.backward == nil {
		n.freeScratch()
	}
	return n
}

// product is that of two matrices, or batches of them, transposed if asked.
func product(a *tensor.Tensor, ta bool, b *tensor.Tensor, tb bool) *tensor.Tensor {
	if ta {
		a = a.Transpose(lastSwapped(a.Rank())...)
		defer a.Free()
	}
	if tb {
		b = b.Transpose(lastSwapped(b.Rank())...)
		defer b.Free()
	}
	return a.MatMul(b)
}

// matrixT returns x with the last two axes in each other's place.
func (x *Node) matrixT() *Node { return x.Transpose(lastSwapped(x.Value().Rank())...) }

// lastSwapped returns the axes with the last two in each other's place.
func lastSwapped(rank int) []int {
	axes := make([]int, rank)
	for i := range axes {
		axes[i] = i
	}
	axes[rank-1], axes[rank-2] = rank-2, rank-1
	return axes
}
