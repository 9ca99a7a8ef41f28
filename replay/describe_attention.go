package replay

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
)

// attention returns an attention or one of its gradients in words: "scaled-dot-product-attention q %0[2,3,5,8] k
// %1[2,3,7,8] v %2[2,3,7,8] causal".
func (d *described) attention(op kernels.Op) string {
	text := func(name string, a *operation.AttentionSpec) string {
		shape := func(rows, features int) string {
			return fmt.Sprintf("[%d,%d,%d,%d]", a.Outer, a.Heads, rows, features)
		}
		text := fmt.Sprintf("%s q %s%s k %s%s v %s%s", name, d.read(a.Q), shape(a.L, a.Features), d.read(a.K),
			shape(a.S, a.Features), d.read(a.V), shape(a.S, a.Values))
		if a.Causal {
			text += " causal"
		}
		if a.Biased {
			text += " mask " + d.read(a.Bias)
		}
		return text
	}
	switch op := op.(type) {
	case *operation.Attention:
		return text("scaled-dot-product-attention", &op.AttentionSpec)
	case *operation.AttentionGradQuery:
		return text("scaled-dot-product-attention-grad-q", &op.AttentionSpec) + " of " + d.read(op.G)
	case *operation.AttentionGradKeyValue:
		return text("scaled-dot-product-attention-grad-kv", &op.AttentionSpec) + " of " + d.read(op.G)
	}
	return ""
}
