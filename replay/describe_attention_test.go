package replay_test

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestExplainAttention: attention and its gradients are named in a listing, with their shapes, and with the mask and the
// causality that they have.
func TestExplainAttention(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	full := func(shape ...int) *tensor.Tensor { return tensor.Full(d, 0.5, shape...) }
	q, k, v, mask := full(2, 3, 200, 4), full(2, 3, 300, 4), full(2, 3, 300, 5), full(200, 300)
	shapes := " q input0[2,3,200,4] k input1[2,3,300,4] v input2[2,3,300,5]"
	for _, c := range []struct {
		name string
		step func() []*tensor.Tensor
		want []string
	}{
		{"attention", func() []*tensor.Tensor { return []*tensor.Tensor{q.ScaledDotProductAttention(k, v, nil)} },
			[]string{"%0 = scaled-dot-product-attention" + shapes + "  f32[2,3,200,5] f32[6,200] → output0"}},
		{"causal", func() []*tensor.Tensor {
			return []*tensor.Tensor{q.ScaledDotProductAttention(k, v, nil, tensor.AttentionOptions{Causal: true})}
		}, []string{"%0 = scaled-dot-product-attention" + shapes + " causal  "}},
		{"a mask", func() []*tensor.Tensor { return []*tensor.Tensor{q.ScaledDotProductAttention(k, v, mask)} },
			[]string{"%0 = scaled-dot-product-attention" + shapes + " mask input3  "}},
		{"gradients", func() []*tensor.Tensor {
			x, y, z := autograd.Param(q, "q"), autograd.Param(k, "k"), autograd.Param(v, "v")
			grads, err := autograd.Grad(x.ScaledDotProductAttention(y, z, nil).Sum(), []*autograd.Node{x, y, z})
			if err != nil {
				t.Fatal(err)
			}
			return []*tensor.Tensor{grads[0].Value(), grads[1].Value(), grads[2].Value()}
		}, []string{"scaled-dot-product-attention-grad-q q q[2,3,200,4] k k[2,3,300,4] v v[2,3,300,5] of %1  ",
			"scaled-dot-product-attention-grad-kv q q[2,3,200,4] k k[2,3,300,4] v v[2,3,300,5] of %1  "}},
	} {
		text := explained(t, recordedOn(t, d, c.step))
		run := text[strings.Index(text, "\nrun: "):]
		for _, want := range c.want {
			if !strings.Contains(run, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, text)
			}
		}
	}
}
