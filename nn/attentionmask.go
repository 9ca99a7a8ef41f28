package nn

import (
	"fmt"
	"math"
	"sync"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/tensor"
)

// masking is what is put in place of the elements of x […, l, s] whose query does not attend to
// their key, and what is made of the others: x times a scale and, of floats, with the mask added. It
// is one launch, and so is its gradient.
type masking struct {
	causal bool
	add    bool    // the mask, where it is of floats
	scale  float64 // of x
	off    float64 // in place of elements: the least of their type, if it does not hold this
	// first is which key the first query is at, an int that may be a step scalar; nil: 0.
	first *kernels.Arg
}

// softmax returns what each query [..., l, d] takes of each value whose key is one of [..., s, d],
// [..., l, s]: of none where it attends to no key.
func (m masking) softmax(q, k, mask *autograd.Node) *autograd.Node {
	scores := q.MatMul(swapped(k, -2, -1))
	if mask != nil {
		mustMask(mask.ValueFor("MultiHeadAttention"), scores.Shape())
	}
	p := m.node(scores, mask).Softmax(-1)
	if mask == nil { // and every query attends to the first key, if there is one
		return p
	}
	return masking{causal: m.causal, scale: 1}.node(p, mask)
}

// node returns the masked x. mask is of Bool or of floats, or nil.
func (m masking) node(x, mask *autograd.Node) *autograd.Node {
	const op = "attention mask"
	inputs := []*autograd.Node{x}
	var saved []*tensor.Tensor
	var mv *tensor.Tensor
	var fixed *autograd.Node
	if mask != nil {
		mv = mask.ValueFor(op)
		fixed, saved = autograd.Const(mv), append(saved, mv)
		if m.add && mv.Type().Float() {
			inputs = append(inputs, mask)
		}
	}
	return autograd.NewOp(op, m.tensor(x.ValueFor(op), mv), inputs, func(g *autograd.Node, in *autograd.Grads) {
		in.AccumulateNode(0, masking{causal: m.causal, scale: m.scale}.node(g, fixed))
		if len(inputs) > 1 && in.NeedsGrad(1) {
			in.AccumulateNode(1, masking{causal: m.causal, scale: 1}.node(g, fixed))
		}
	}, saved...)
}

func (m masking) tensor(x, mask *tensor.Tensor) *tensor.Tensor {
	key := maskMap{rank: x.Rank(), causal: m.causal, later: m.first != nil}
	if mask != nil {
		key.bits = mask.Type() == tensor.Bool
		key.floats = !key.bits
		key.add = key.floats && m.add
	}
	j, made := maskMaps.Load(key)
	if !made {
		j, _ = maskMaps.LoadOrStore(key, key.joined())
	}
	operands := []*tensor.Tensor{x}
	if mask != nil {
		operands = append(operands, mask)
	}
	y := tensor.EmptyLike(x)
	numbers := []kernels.Arg{kernels.FloatArg(m.scale), kernels.FloatArg(x.Type().Limit(m.off))}
	if m.first != nil {
		numbers = append(numbers, *m.first)
	}
	tensor.MapInto(j.(*kernels.FusedElementwise), numbers, []*tensor.Tensor{y}, operands...)
	return y
}

// mustMask panics with tensor.ErrType and tensor.ErrShape for a mask that
// [autograd.Node.ScaledDotProductAttention] does not take, of scores of a shape.
func mustMask(mask *tensor.Tensor, scores []int) {
	const op = "MultiHeadAttention"
	if typ := mask.Type(); typ != tensor.Bool && !typ.Float() {
		misuse(op, tensor.ErrType, "a mask is of bool or of floats, not %v: convert it with To", typ)
	}
	shape := mask.Shape()
	fits := len(shape) <= len(scores)
	for i := 1; fits && i <= len(shape); i++ {
		n := shape[len(shape)-i]
		fits = n == 1 || n == scores[len(scores)-i]
	}
	if !fits {
		misuse(op, tensor.ErrShape, "the mask is %v: it does not broadcast to %v", shape, scores)
	}
}

// maskMap is what the kernels of maskings differ in.
type maskMap struct {
	rank                      int
	causal, bits, floats, add bool
	later                     bool // the queries begin at another key than the first
}

var maskMaps sync.Map // of maskMap: *kernels.FusedElementwise

func (k maskMap) joined() *kernels.FusedElementwise {
	mask := expr.Input(1)
	value := expr.Input(0).Mul(expr.Param(0))
	if k.add {
		value = value.Add(mask)
	}
	off := func(is *expr.Expr) { value = expr.Where(is, expr.Param(1), value) }
	switch {
	case k.bits:
		off(mask.Eq(expr.Const(0)))
	case k.floats:
		off(mask.Eq(expr.Const(math.Inf(-1))))
	}
	scalars := []float64{0.5, -2}
	if k.causal {
		query := expr.Index(k.rank - 2).Float()
		if k.later {
			query, scalars = query.Add(expr.IntParam(2).Float()), append(scalars, 3)
		}
		off(expr.Index(k.rank - 1).Float().Gt(query))
	}
	f := &kernels.Function{Name: fmt.Sprintf("attention_mask_%d", k.rank), Value: value, Scalars: scalars}
	return &kernels.FusedElementwise{Name: "attention_mask", Functions: []*kernels.Function{f}}
}
