package replay

import (
	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
)

// sumPass makes a map of a sum of few terms whose result maps and launches by rows read, such as
// that of the shares of a product: see fused.Fusions. Those may then add the terms up where
// they read them.
//
// It is refused where
//   - anything else reads the result, or it is there after the run
//   - with what a map reads beside it, there are more than 8 operands
//   - the sum is added to what is there, or multiplied by a number.
var sumPass = rewrite{"sum-to-elementwise", "makes maps of sums of few terms that maps and launches by rows read",
	sumsToElementwise}

func sumsToElementwise(r *rewriter) {
	for i, n := range r.nodes {
		if n == nil || n.m != nil || n.once || fused.Of(n.kernel).AsElementwise == nil || n.why == dynamicSize ||
			n.kernel.Grid(n.args, r.target).Empty() {
			continue
		}
		op := fused.Of(n.kernel).AsElementwise(n.args, r.target)
		if op == nil {
			continue
		}
		m, why := mappingOf(n.kernel, n.args, []kernels.Op{op})
		if why == nil {
			why = m.problem()
		}
		found := false
		for k := range n.writes {
			w := &n.writes[k]
			if r.liveOut(w, i) {
				why = staysBehind
			}
			for _, j := range r.readers(w, i) {
				c := r.nodes[j]
				found = true
				switch {
				case c.m == nil && (c.why == dynamicSize || fused.RowTilingOf(c.kernel, c.args, r.target) == nil):
					why = because(ReasonUsed, "%s reads its result, and is no map and not by rows", r.name(c))
				case c.m != nil && len(op.Operands)+len(c.m.operands)-1 > kernels.MapOperands:
					why = because(ReasonLimit, "%s would read more tensors than a map does", r.name(c))
				}
			}
		}
		if !found {
			continue
		}
		if why == nil {
			why = r.kernelBudget(m)
		}
		if why != nil {
			r.refused(why, "%s: refused", r.name(n))
			continue
		}
		r.did("%s: a map of %d operands", r.name(n), len(m.operands))
		r.absorb(i, n, n, m)
	}
}
