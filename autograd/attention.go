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
	a := attention{xv, kv, vv, mv, options, whole, y, kept}
	n := NewOp(op, y, inputs, func(g *Node, in *Grads) {
		if in.Derive(g, a.of) {
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

// attention is an attention between its value and its gradient.
type attention struct {
	q, k, v, mask *tensor.Tensor
	options       []tensor.AttentionOptions
	whole         bool // it kept the softmax, if products compute it
	y             *tensor.Tensor
	kept          []*tensor.Tensor
}

// of is the attention as operations on Nodes compute it, of its inputs.
func (a *attention) of(inputs []*Node) *Node {
	typ := a.y.Type().Computed()
	p, v := a.softmax(inputs, typ), inputs[2]
	if a.y.Type() != typ {
		return p.MatMul(v).as(a.y.Type())
	}
	return p.ofMatMul(v, a.y.View())
}

// softmax returns the weights of the values.
func (a *attention) softmax(inputs []*Node, typ tensor.Type) *Node {
	q, kt := inputs[0].as(typ), swapped(inputs[1])
	scale, known := tensorapi.Impl.AttentionSoftmax(a.q, a.k, a.v, a.mask, a.options, a.whole, a.kept)
	if known != nil && (a.mask == nil || !inputs[3].needs) {
		products := q.ofMatMul(kt, known.View()) // whose values, scaled or not, nothing reads
		scores := NewOp("mul_scalar", known.View(), []*Node{products}, func(g *Node, in *Grads) {
			in.AccumulateNode(0, g.MulScalar(scale))
		})
		return ofLines(known.View(), "Softmax", ops.Softmax, -1, nil, []*Node{scores}, []*tensor.Tensor{scores.value})
	}
	p := q.MulScalar(scale).MatMul(kt)
	bias, causal, live := tensorapi.Impl.Attends(a.q, a.k, a.v, a.mask, a.options)
	if bias != nil {
		b := Const(bias)
		if a.mask.Type().Float() {
			b = Map(ops.Unmasked, nil, inputs[3].as(typ), Const(live))
		}
		p = p.Add(b)
	}
	if causal != nil {
		p = p.Add(Const(causal))
	}
	if p = p.Softmax(-1); live != nil {
		p = p.Mul(Const(live))
	}
	return p
}
