package replay

import (
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels/expr"
)

// joinPass makes one launch of two maps of as many elements that stores the results of both:
// where the later reads the former's result, or an operand of its, which then is loaded once; and
// where both are small, so that a launch costs more than what it does.
//
// It is refused where
//   - a launch between the two keeps either from going where the other is: it reads or writes what
//     that one writes, or writes what it reads
//   - an element that the later reads is not at the same index of the former's
//   - there would be more than 8 operands or results, or more steps than registers
//   - one writes what the other reads at other indices, or a result is a condition, which has a
//     type of its own
//   - a function of a driver would be computed in vectors in one and alone in the other.
var joinPass = rewrite{"join", "makes one launch of two maps, with the results of both", joinMaps}

const (
	joinFar   = 48      // places that two maps may be apart
	joinSmall = 1 << 16 // elements up to which a launch costs more than memory: larger maps join if they share a tensor
)

func joinMaps(r *rewriter) {
	for j, c := range r.nodes {
		if c == nil || c.m == nil {
			continue
		}
		for i := j - 1; i >= max(0, j-joinFar); i-- {
			p := r.nodes[i]
			if p == nil || p.m == nil || p.once != c.once || intmath.Product(p.m.dims) != intmath.Product(c.m.dims) {
				continue
			}
			at := r.place(i, j)
			if at < 0 {
				if slices.ContainsFunc(c.reads, func(g region) bool { return p.wrote(&g) }) {
					r.refused(betweenThem, "%s and %s: refused", r.name(p), r.name(c))
				}
				continue
			}
			m, why := r.both(p.m, c.m)
			if m == nil {
				if why != nil { // they have something to do with each other
					r.refused(why, "%s and %s: refused", r.name(p), r.name(c))
				}
				continue
			}
			r.did("%s and %s: one launch", r.name(p), r.name(c))
			if at == j {
				r.absorb(j, c, p, m)
				r.leave(i)
				continue
			}
			r.absorb(i, p, c, m)
			r.leave(j)
			break
		}
	}
}

// wrote reports whether a node writes elements of a region.
func (n *node) wrote(g *region) bool {
	return slices.ContainsFunc(n.writes, func(w region) bool { return w.overlaps(g) })
}

// place returns where one launch can do what i and j do: at j, at i, or −1.
func (r *rewriter) place(i, j int) int {
	switch {
	case r.movable(r.nodes[i], i, j):
		return j
	case r.movable(r.nodes[j], i, j):
		return i
	}
	return -1
}

// movable reports whether nothing between two places touches what a launch writes, or writes what
// it reads: it may be done at either.
func (r *rewriter) movable(n *node, i, j int) bool {
	for k := range n.writes {
		if r.firstConflict(&n.writes[k], i+1, j, true, true) >= 0 {
			return false
		}
	}
	for k := range n.reads {
		if r.firstConflict(&n.reads[k], i+1, j, false, true) >= 0 {
			return false
		}
	}
	return true
}

// both returns a map with the results of two, the former of which is done first; or nil and why
// not, nil if they have nothing to do with each other.
func (r *rewriter) both(p, c *mapping) (m *mapping, why *cause) {
	if p.typ != c.typ {
		return nil, nil
	}
	// The index of p for each of c: by what c reads of it or, if it reads nothing, in row-major
	// order.
	var cp, pc *mapping // both in common dimensions
	shares, straight := false, true
	for _, o := range c.operands {
		for _, res := range p.results {
			if cp != nil || o.buf != res.view.buf || disjoint(o.view, c.dims, res.view, p.dims) {
				continue
			}
			at, ok := compose(res.view, p.dims, o.view, c.dims)
			if ok { // each element once: of windows that overlap, others are not read
				_, ok = at.ofWriter(res.view).dimStrides(at.dims())
			}
			if !ok {
				return nil, because(ReasonAccess, "the latter does not read what the former writes element by element")
			}
			shares, straight = true, at.straight(p.dims, c.dims)
			cp, pc = c.in(at.dims(), at.ofReader), p.in(at.dims(), at.ofWriter)
		}
	}
	if cp == nil {
		a, b, ok := refine(p.dims, c.dims)
		if !ok {
			return nil, nil
		}
		dims := make([]int, len(a))
		for i, x := range a {
			dims[i] = x.n
		}
		in := func(parts []part) func(view) view {
			return func(v view) view {
				strides := make([]int, len(parts))
				for i, x := range parts {
					strides[i] = v.strides[x.dim] * x.by
				}
				return view{v.buf, v.off, strides}
			}
		}
		pc, cp = p.in(dims, in(a)), c.in(dims, in(b))
		for _, res := range cp.results { // parts of one tensor
			shares = shares || slices.ContainsFunc(pc.results, func(q result) bool { return q.view.buf == res.view.buf && !r.lives(q.view.buf) })
		}
		for _, o := range cp.operands {
			shares = shares || o.buf != nil && slices.ContainsFunc(pc.operands, func(q operand) bool { return q.mask == o.mask && q.same(o.view, dims) })
		}
	}
	if !shares && intmath.Product(c.dims) > joinSmall {
		return nil, nil
	}
	m = &mapping{typ: p.typ, dims: pc.dims, operands: slices.Clone(pc.operands), scalars: pc.scalars, results: slices.Clone(pc.results)}
	later := m.with(cp)
	first := len(pc.operands)
	for k := range later {
		why = nil
		later[k] = later[k].Replace(func(x int) *expr.Expr {
			o := m.operands[x]
			if x < first {
				return expr.Input(x)
			}
			for _, res := range pc.results {
				switch {
				case res.view.same(o.view, m.dims):
					return number(res.value)
				case !disjoint(o.view, m.dims, res.view, m.dims):
					why = because(ReasonAliasing, "the latter reads what the former writes at other indices")
				}
			}
			return expr.Input(x)
		}, expr.Param)
		if why != nil {
			return nil, why
		}
		m.results = append(m.results, result{later[k], cp.results[k].view})
	}
	m.tidy()
	if why = m.problem(); why != nil {
		return nil, why
	}
	if why = r.kernelBudget(m); why != nil {
		return nil, why
	}
	if !r.alike(p, m, straight) || !r.alike(c, m, true) {
		return nil, otherVectors
	}
	return m, nil
}
