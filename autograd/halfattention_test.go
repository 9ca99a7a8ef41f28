package autograd_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestHalfAttention: attention of 16 bits by products, and its gradients, are those in float32, rounded once. Cases:
// masks of both types and none, views, operands that the batch shares, no keys, and numbers that are not finite.
func TestHalfAttention(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for i, c := range []struct{ batch, l, s, d, e int }{{2, 3, 5, 4, 2}, {3, 33, 17, 16, 8}, {1, 1, 1, 1, 1},
			{2, 20, 0, 4, 4}, {0, 3, 3, 4, 4}, {2, 75, 64, 11, 9}} {
			rng := rand.New(rand.NewPCG(31, uint64(i)))
			draw := func(shape ...int) *tensor.Tensor {
				data := make([]float64, tensor.Full(d, 0, shape...).Len())
				for i := range data {
					data[i] = rng.NormFloat64()
				}
				return devtest.New(d, data, shape...)
			}
			operands := []*tensor.Tensor{draw(c.batch, c.d, c.l).Transpose(0, 2, 1), draw(c.s, c.d), draw(c.batch, c.s, c.e)}
			if i%2 == 1 {
				operands[1] = draw(c.batch, c.s, c.d)
			}
			if i == 5 {
				operands[2] = operands[2].MaskedFill(operands[2].GtScalar(2.5), math.Inf(1))
			}
			added := draw(c.l, c.s)
			for name, mask := range map[string]*tensor.Tensor{"no mask": nil, "bool": added.GtScalar(-0.5), "added": added} {
				for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
					for _, causal := range []bool{false, true} {
						what := fmt.Sprintf("%+v of %v, %s, causal %v", c, typ, name, causal)
						seed := draw(c.batch, c.l, c.e)
						got := attentionGradients(t, operands, mask, seed, typ, typ, causal)
						want := attentionGradients(t, operands, mask, seed, typ, tensor.Float32, causal)
						for k, y := range got {
							if y.Type() != typ {
								t.Errorf("%s: result %d is of %v", what, k, y.Type())
							}
							if v, w := devtest.Float64s(t, y), devtest.Float64s(t, want[k].To(typ)); !sameNumbers(v, w) {
								t.Errorf("%s: result %d is %v, want %v", what, k, v, w)
							}
						}
					}
				}
			}
		}
	})
}

// attentionGradients returns an attention and its gradients by queries, keys and values, all rounded to one type and
// computed in another.
func attentionGradients(t *testing.T, operands []*tensor.Tensor, mask, seed *tensor.Tensor, rounded, typ tensor.Type,
	causal bool) []*tensor.Tensor {
	var params []*node
	for _, x := range operands {
		params = append(params, autograd.Param(x.To(rounded).To(typ), "x"))
	}
	var m *node
	switch {
	case mask == nil:
	case mask.Type() == tensor.Bool:
		m = autograd.Const(mask)
	default:
		m = autograd.Const(mask.To(rounded).To(typ))
	}
	y := params[0].ScaledDotProductAttention(params[1], params[2], m, tensor.AttentionOptions{Causal: causal})
	grads, err := autograd.Grad(y, params, autograd.GradOptions{Seed: autograd.Const(seed.To(rounded).To(typ)),
		AllowUnused: true})
	if err != nil {
		t.Fatal(err)
	}
	all := []*tensor.Tensor{y.Value()}
	for _, g := range grads {
		if g != nil {
			all = append(all, g.Value())
		}
	}
	return all
}
