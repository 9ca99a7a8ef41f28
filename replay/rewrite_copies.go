package replay

import (
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// copyPass lets a launch write where its result is copied to, and leaves the copy out: such as
// the gradient of a convolution, which goes to its place among the gradients.
//
// It is refused where
//   - the copy is more than that: a non-contiguous view, a transpose, a conversion
//   - anything else reads or writes what is copied, or it is there after the run
//   - the launch touches the memory that is copied to, or another does before the copy
//   - that begins at no multiple of what a buffer of its own begins at: kernels may rely on it.
var copyPass = rewrite{"copy-elimination", "lets launches write where their results are copied to", eliminateCopies}

func eliminateCopies(r *rewriter) {
	for j, c := range r.nodes {
		if c == nil || c.m == nil || !c.m.copies() {
			continue
		}
		from, to := c.m.operands[0].view, c.m.results[0].view
		i, a := r.maker(j, c)
		if i < 0 || r.nodes[i].once {
			continue
		}
		n := r.nodes[i]
		var why *cause
		arg := n.args[a]
		switch g := c.writes[0]; {
		case arg.Off != from.off || arg.N != intmath.Product(c.m.dims) || arg.Buf.DType() != to.buf.DType():
			why = because(ReasonAccess, "only a part is copied")
		case to.off*to.buf.DType().Size()%align != 0:
			why = because(ReasonAccess, "it is copied to where no buffer begins")
		case slices.ContainsFunc(n.args, func(x kernels.Arg) bool {
			return x.Kind == kernels.ArgBuffer && x.Buf == to.buf && x.Off < g.span.hi && g.span.lo < x.Off+x.N
		}):
			why = because(ReasonAliasing, "it touches the memory that is copied to")
		case r.firstConflict(&g, i+1, j, true, true) >= 0:
			why = because(ReasonDependence, "%s touches the memory that is copied to before",
				r.name(r.nodes[r.firstConflict(&g, i+1, j, true, true)]))
		}
		if why != nil {
			r.refused(why, "%s and %s: refused", r.name(n), r.name(c))
			continue
		}
		r.did("%s: writes where %s copies it to", r.name(n), r.name(c))
		n.args = slices.Clone(n.args)
		n.args[a].Buf, n.args[a].Off = to.buf, to.off
		n.reads, n.writes, n.fills = nil, nil, nil
		r.analyze(n)
		r.mergeSources(n, c)
		r.note(i)
		r.leave(j)
	}
}

// copies reports whether a mapping copies memory to memory as it lies.
func (m *mapping) copies() bool {
	if len(m.results) != 1 || len(m.dims) > 1 || !m.results[0].value.IsOperand(0) {
		return false
	}
	return len(m.dims) == 0 || m.operands[0].strides[0] == 1 && m.results[0].view.strides[0] == 1
}

// maker returns the launch that makes what a copy at j reads, and which argument that is, if
// nothing else touches it; −1 if there is none.
func (r *rewriter) maker(j int, c *node) (i, arg int) {
	buf := c.m.operands[0].buf
	if r.lives(buf) {
		return -1, 0
	}
	i = -1
	alone := true
	r.touch(buf, 0, len(r.nodes), func(k int, n *node) bool {
		switch {
		case k == j:
		case k < j && i < 0 && n.m == nil:
			i = k
		default:
			alone = false
		}
		return alone
	})
	if i < 0 || !alone {
		return -1, 0
	}
	arg = -1
	n := r.nodes[i]
	for a := range n.args {
		if n.args[a].Kind != kernels.ArgBuffer || n.args[a].Buf != buf || n.args[a].N == 0 {
			continue
		}
		if arg >= 0 || !n.kernel.Params[a].Mode.Written() {
			return -1, 0
		}
		arg = a
	}
	if arg < 0 {
		return -1, 0
	}
	return i, arg
}

// written reports whether a node writes to memory.
func (n *node) written(b kernels.Buffer) bool {
	return slices.ContainsFunc(n.writes, func(g region) bool { return g.buf == b })
}
