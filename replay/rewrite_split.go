package replay

import (
	"slices"

	"github.com/clgrad/clgrad/internal/fused"
)

// splitPass takes a launch apart that makes two things: the gradient of a layer's function, and
// the sums of its columns. The gradient is a map, and is computed where the product before it
// stores the operand, as epilogue does it. The sums become a launch of their own, which
// batch-launches may join with those of other layers. See fused.Fusions.
//
// It is refused where
//   - a map of the product would be: see epiloguePass
//   - another launch reads the product's result, which would be stored beside the gradient
//   - what the gradient reads is written after the product
//   - the function is costly.
var splitPass = rewrite{"split", "computes gradients of layers' functions where products store what they read, and their sums alone", splitLaunches}

func splitLaunches(r *rewriter) {
	for j, c := range r.nodes {
		if c == nil || c.once || c.m != nil {
			continue
		}
		if m, rest := r.split(c); m != nil {
			r.nodes[j] = m
			if !r.tryEpilogue(j, m.m, rest) {
				r.nodes[j] = c
			}
		}
	}
}

// split returns what does the two parts of a launch: see fused.Fusions. m is nil if it has
// none.
func (r *rewriter) split(c *node) (m, rest *node) {
	if fused.Of(c.kernel).Split == nil || !c.described {
		return nil, nil
	}
	parts := fused.Of(c.kernel).Split(c.args, r.target)
	if parts == nil {
		r.refused(because(ReasonCost, "its function is costly"), "%s: refused", r.name(c))
		return nil, nil
	}
	var nodes []*node
	for _, p := range parts {
		n := &node{kernel: p.Kernel, args: p.Args, from: slices.Clone(c.from), names: slices.Clone(c.names)}
		r.analyze(n)
		nodes = append(nodes, n)
	}
	if nodes[0].m == nil {
		return nil, nil
	}
	return nodes[0], nodes[1]
}
