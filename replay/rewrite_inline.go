package replay

import (
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels/expr"
)

// inlinePass computes a map where its result is read, by one or more later maps, and does not
// store it. The readers may read it through any view whose elements are found by sums of their
// indices: slices, transposes, reshapes, repeated axes.
//
// It is refused where
//   - anything else reads the result, or it is there after the run, and is stored for that
//   - what the map reads is written before a reader runs
//   - several readers, or one that repeats elements, would compute more than memory takes
//   - a reader would have more operands than a kernel takes, or steps than registers
//   - the result is written at other indices than an operand of the same memory is read
//   - a function of a driver that has one for vectors and one for an element would be computed by
//     the other: it may round otherwise.
var inlinePass = rewrite{"inline", "computes maps where other maps read their results, and does not store those",
	inlineMaps}

func inlineMaps(r *rewriter) {
	for i, n := range r.nodes {
		if n == nil || n.m == nil || n.once && len(n.m.operands) > 0 {
			continue
		}
		if len(n.m.operands) == 0 {
			r.inlineConstant(i, n)
			continue
		}
		readers, becoming, why := r.tryInline(i, n)
		if why != nil {
			r.refused(why, "%s: refused", r.name(n))
			continue
		}
		if len(readers) == 0 {
			continue // it is dead, or what it writes stays
		}
		for k, j := range readers {
			r.did("%s: computed within %s", r.name(n), r.name(r.nodes[j]))
			r.absorb(j, r.nodes[j], n, becoming[k])
		}
		r.leave(i)
	}
}

// inlineConstant computes a map without operands, such as a fill, within each map that reads it:
// what others read of it is still stored.
func (r *rewriter) inlineConstant(i int, n *node) {
	left := false
	for k := range n.writes {
		w := &n.writes[k]
		left = left || r.liveOut(w, i)
		for _, j := range r.readers(w, i) {
			c := r.nodes[j]
			why := c.why
			if c.m != nil {
				var m *mapping
				if at := r.changed(w, c, i+1, j); at >= 0 {
					why = because(ReasonDependence, "%s changes a part of its result", r.name(r.nodes[at]))
				} else if m, why = r.inline(n.m, c.m, false); why == nil {
					r.did("%s: computed within %s", r.name(n), r.name(c))
					r.absorb(j, c, n, m)
					continue
				}
			}
			left = true
			r.refused(why, "%s: refused in %s", r.name(n), r.name(c))
		}
	}
	if !left {
		r.leave(i)
	}
}

// tryInline returns the readers of a map and what they become, or why that is not done. A map that nobody reads,
// such as an output, has no readers and no reason.
func (r *rewriter) tryInline(i int, n *node) (readers []int, becoming []*mapping, why *cause) {
	stays := false
	for k := range n.writes {
		w := &n.writes[k]
		stays = stays || r.liveOut(w, i)
		for _, j := range r.readers(w, i) {
			if !slices.Contains(readers, j) {
				readers = append(readers, j)
			}
		}
	}
	if stays && len(readers) > 0 {
		return nil, nil, staysBehind
	}
	for _, j := range readers {
		c := r.nodes[j]
		if c.m == nil {
			return nil, nil, because(c.why.reason, "%s reads its result: %s", r.name(c), c.why)
		}
		for k := range n.reads {
			if at := r.firstConflict(&n.reads[k], i+1, j, false, true); at >= 0 {
				return nil, nil, because(ReasonDependence, "%s changes what it reads before %s reads its result", r.name(r.nodes[at]), r.name(c))
			}
		}
		for k := range n.writes {
			if at := r.changed(&n.writes[k], c, i+1, j); at >= 0 {
				return nil, nil, because(ReasonDependence, "%s changes a part of its result", r.name(r.nodes[at]))
			}
		}
		if r.keeps(n, i, j) {
			return nil, nil, because(ReasonMemory, "it would keep what it reads for %s, which is more than its result", r.name(c))
		}
		m, why := r.inline(n.m, c.m, len(readers) > 1)
		if why != nil {
			return nil, nil, because(why.reason, "in %s: %s", r.name(c), why)
		}
		becoming = append(becoming, m)
	}
	full := 0 // operands as large as the map
	for _, o := range n.m.operands {
		if !slices.Contains(o.strides, 0) {
			full++
		}
	}
	if k := len(readers); k*full > full+1+k && intmath.Product(n.m.dims) > joinSmall {
		return nil, nil, because(ReasonCost, "%d launches would read its %d operands in place of one result", k, full)
	}
	return readers, becoming, nil
}

// keeps reports whether the operands of node i, which nobody reads from here to j any more, are
// more than its result.
func (r *rewriter) keeps(n *node, i, j int) bool {
	if j-i <= nearbyLaunches {
		return false
	}
	more := 0
	for k, g := range n.reads {
		if r.lives(g.buf) || slices.ContainsFunc(n.reads[:k], func(h region) bool { return h.buf == g.buf }) {
			continue
		}
		used := false
		r.touch(g.buf, j, len(r.nodes), func(int, *node) bool {
			used = true
			return false
		})
		if !used {
			more += g.buf.Len()
		}
	}
	for _, g := range n.writes {
		more -= g.span.hi - g.span.lo
	}
	return more > 0
}

// changed returns the first node, from one place to before another, that writes what c reads of a
// region; −1 if none does.
func (r *rewriter) changed(g *region, c *node, from, to int) int {
	for k := range c.reads {
		if h := &c.reads[k]; h.overlaps(g) {
			if at := r.firstConflict(h, from, to, false, true); at >= 0 {
				return at
			}
		}
	}
	return -1
}

// nearbyLaunches is how many places apart two launches may be without a question of what memory is kept between
// them.
const nearbyLaunches = 4

// inlineLimit is the most steps that a launch may compute again for one launch less.
const inlineLimit = 1 << 14

// inline replaces the operands of consumer c that producer p wrote by p's formulas: of y = exp(x) and
// z = y + 1 it returns z = exp(x) + 1. again says that other consumers compute p, too.
func (r *rewriter) inline(p, c *mapping, again bool) (*mapping, *cause) {
	if p.typ != c.typ {
		return nil, because(ReasonTypes, "they are computed in different types")
	}
	program := p.program()
	cheap := program.Simple() && program.Steps() <= 2
	m, straight, found := c, true, false
	for i, o := range c.operands {
		of := slices.IndexFunc(p.results, func(res result) bool {
			return o.buf == res.view.buf && !disjoint(o.view, c.dims, res.view, p.dims)
		})
		if of < 0 {
			continue
		}
		found = true
		at, ok := compose(p.results[of].view, p.dims, m.operands[i].view, m.dims)
		if !ok {
			return nil, because(ReasonAccess, "its elements are not found by sums of indices")
		}
		if n := max(1, intmath.Product(c.dims)); (again || n > intmath.Product(p.dims)) && !cheap &&
			n*program.Steps() > inlineLimit {
			return nil, because(ReasonCost, "it is read more often than computed, and costs more than to be stored")
		}
		straight = straight && at.straight(p.dims, m.dims)
		m = m.in(at.dims(), at.ofReader)
		value := number(m.with(p.in(at.dims(), at.ofWriter))[of])
		for k := range m.results {
			m.results[k].value = m.results[k].value.Replace(func(x int) *expr.Expr {
				if x == i {
					return value
				}
				return expr.Input(x)
			}, expr.Param)
		}
	}
	if !found {
		return nil, because(ReasonAccess, "it does not read it as an operand")
	}
	m.tidy()
	if why := m.problem(); why != nil {
		return nil, why
	}
	if why := r.kernelBudget(m); why != nil {
		return nil, why
	}
	if !r.alike(p, m, straight) || !r.alike(c, m, true) {
		return nil, otherVectors
	}
	return m, nil
}

// alike reports whether what a map computes has the same bits within another, where its functions
// may be others for vectors: every element is in a vector in both, or in none; or it is at the same
// place of a row of the same length in both, which straight says.
func (r *rewriter) alike(was, now *mapping, straight bool) bool {
	if was.program().Alike() {
		return true
	}
	a, b := was.vectors(r.target), now.vectors(r.target)
	if a != 0 && a == b {
		return true
	}
	x, _ := was.layout(r.target)
	y, _ := now.layout(r.target)
	return straight && x.Aligned == y.Aligned && inner(was.dims) == inner(now.dims)
}

// inner is the length of the rows of an index space.
func inner(dims []int) int {
	if len(dims) == 0 {
		return 1
	}
	return dims[len(dims)-1]
}
