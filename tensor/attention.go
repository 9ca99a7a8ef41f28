package tensor

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// AttentionOptions say what takes part in an attention. The zero value: all keys, with the usual scale.
type AttentionOptions struct {
	Causal bool    // query i attends to the keys up to i alone
	Scale  float64 // of the products of queries and keys; 0 is 1/√d
}

// ScaledDotProductAttention returns the means of the values v […, s, e] that the queries t […, l, d] give the keys k […, s, d],
//
//	y = softmax(scale·t·kᵀ + mask)·v
//
// of shape […, l, e]; the leading axes broadcast. mask broadcasts to […, l, s], or is nil: where one of Uint8 is 0, and where one
// of reals is −∞, a query does not attend to a key; else what is real is added. A query that attends to no key is 0, as in
// PyTorch from 2.5 on. It panics with ErrShape, with ErrType for a mask of another type, and with ErrValue for a scale that is no
// finite number, and more than one Options. Source: Vaswani et al., "Attention Is All You Need", 2017.
func (t *Tensor) ScaledDotProductAttention(k, v, mask *Tensor, options ...AttentionOptions) *Tensor {
	y, p := t.attention(k, v, mask, options)
	p.Free()
	return y
}

// Attention is that of package plumbing.
func (*base) Attention(q, k, v, mask *Tensor, options []AttentionOptions) (y, p *Tensor) {
	return q.attention(k, v, mask, options)
}

// Attends is that of package plumbing.
func (*base) Attends(q, k, v, mask *Tensor, options []AttentionOptions) (scale float64, bias, causal, live *Tensor) {
	return q.attends(k, v, mask, options)
}

// attention returns the shares that the keys have of each query, too.
func (t *Tensor) attention(k, v, mask *Tensor, options []AttentionOptions) (y, p *Tensor) {
	scale, bias, causal, live := t.attends(k, v, mask, options)
	q, kt := t.MulScalar(scale), k.matrixT()
	s := q.MatMul(kt)
	q.Free()
	kt.Free()
	for _, b := range []*Tensor{bias, causal} {
		if b != nil {
			sum := s.Add(b)
			s.Free()
			b.Free()
			s = sum
		}
	}
	p = s.Softmax(-1)
	s.Free()
	if live != nil {
		p.MapInPlace(kernels.Mul, nil, live)
		live.Free()
	}
	return p.MatMul(v), p
}

// matrixT returns a view with the last two axes in each other's place.
func (t *Tensor) matrixT() *Tensor {
	axes := sequence(0, t.Rank())
	n := len(axes)
	axes[n-1], axes[n-2] = n-2, n-1
	return t.Transpose(axes...)
}

// attends returns the scale of an attention, and what is added to its products: that of a mask, and that of what is causal,
// which are nil without. live is 0 for queries that attend to no key, to which nothing is added, and else 1; nil if there are none.
func (t *Tensor) attends(k, v, mask *Tensor, options []AttentionOptions) (scale float64, bias, causal, live *Tensor) {
	const op = "ScaledDotProductAttention"
	d := check(op, t, k, v)
	var o AttentionOptions
	if len(options) > 1 {
		misuse(op, ErrValue, "more than one Options", t, k, v)
	} else if len(options) == 1 {
		o = options[0]
	}
	for _, x := range []*Tensor{t, k, v} {
		if x.Rank() < 2 {
			misuse(op, ErrShape, "the last two axes of each are positions and features", t, k, v)
		}
	}
	l, s := t.shape[t.Rank()-2], k.shape[k.Rank()-2]
	if t.shape[t.Rank()-1] != k.shape[k.Rank()-1] || s != v.shape[v.Rank()-2] {
		misuse(op, ErrShape, "queries have the features of keys, and there is a value for each key", t, k, v)
	}
	batch, ok := Broadcast(t.shape[:t.Rank()-2], k.shape[:k.Rank()-2])
	if ok {
		batch, ok = Broadcast(batch, v.shape[:v.Rank()-2])
	}
	if !ok {
		misuse(op, ErrShape, "the axes before the last two do not broadcast", t, k, v)
	}
	if scale = o.Scale; scale == 0 {
		scale = 1 / math.Sqrt(float64(max(1, t.shape[t.Rank()-1])))
	}
	if math.IsNaN(scale) || math.IsInf(scale, 0) {
		misuse(op, ErrValue, fmt.Sprintf("the scale is %v", scale), t, k, v)
	}
	if mask != nil {
		check(op, t, mask)
		if whole := append(batch, l, s); !broadcastsTo(mask.shape, whole) {
			misuse(op, ErrShape, fmt.Sprintf("the mask does not broadcast to %v", whole), t, k, v, mask)
		}
		if mask.typ != Uint8 && mask.typ != Real {
			misuse(op, ErrType, fmt.Sprintf("a mask is of Uint8 or Real, not %v: convert it with To", mask.typ), mask)
		}
	}
	if l == 0 || s == 0 {
		return scale, nil, nil, nil
	}
	if o.Causal {
		causal = alloc(op, d, []int{l, s})
		MapInto(ops.CausalBias, nil, []*Tensor{causal})
	}
	if mask == nil {
		return scale, nil, causal, nil
	}
	bias = mask.View()
	if mask.typ == Uint8 {
		bias = Map(ops.MaskAsBias, nil, mask)
	}
	all := bias.View()
	if causal != nil {
		all = bias.Add(causal)
	}
	if all.Rank() == 0 {
		all = all.Reshape(1)
	}
	most := all.Max(-1, Keepdims)
	live = Map(ops.Attending, nil, most)
	most.Free()
	all.Free()
	for _, b := range []**Tensor{&bias, &causal} {
		if *b != nil {
			clean := Map(ops.Unmasked, nil, *b, live)
			(*b).Free()
			*b = clean
		}
	}
	return scale, bias, causal, live
}
