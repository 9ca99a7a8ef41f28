package autograd

import (
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

func (x *Node) scaledDotProductAttention(k, v, mask *Node, options ...tensor.AttentionOptions) *Node {
	const op = "ScaledDotProductAttention"
	xv, kv, vv := x.use(op), k.use(op), v.use(op)
	inputs, saved := []*Node{x, k, v}, []*tensor.Tensor{xv, kv, vv}
	var mv *tensor.Tensor
	if mask != nil {
		mv = mask.use(op)
		inputs, saved = append(inputs, mask), append(saved, mv)
	}
	whole := mask != nil && mask.needs // the gradient by the mask has the size of the softmax
	graph := (x.needs || k.needs || v.needs) && !noGrad(xv.Device(), op)
	if graph {
		whole = whole || tensorapi.Impl.AttentionKeeps(xv, kv, vv, options)
	}
	y, kept := tensorapi.Impl.Attention(xv, kv, vv, mv, options, graph, whole)
	n := NewOp(op, y, inputs, func(g *Node, in *Grads) {
		if in.Derive(g, func(x []*Node) *Node {
			scale, bias, causal, live := tensorapi.Impl.Attends(xv, kv, vv, mv, options)
			typ := y.Type().Computed()
			p := x[0].as(typ).MulScalar(scale).MatMul(swapped(x[1]))
			if bias != nil {
				b := Const(bias)
				if mv.Type().Float() {
					b = Map(ops.Unmasked, nil, x[3].as(typ), Const(live))
				}
				p = p.Add(b)
			}
			if causal != nil {
				p = p.Add(Const(causal))
			}
			if p = p.Softmax(-1); live != nil {
				p = p.Mul(Const(live))
			}
			return p.MatMul(x[2]).as(y.Type())
		}) {
			return
		}
		wants := [4]bool{}
		for i := range inputs {
			wants[i] = in.NeedsGrad(i)
		}
		dq, dk, dv, dm := tensorapi.Impl.AttentionGrad(xv, kv, vv, mv, options, whole, y, kept, g.value, wants)
		for i, t := range []*tensor.Tensor{dq, dk, dv, dm} {
			switch {
			case t == nil:
			case i < len(inputs):
				in.Accumulate(i, t)
			default:
				t.Free()
			}
		}
	}, append(saved, y)...)
	return n.keeping(kept...)
}
