package replay

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// epiloguePass computes a map of what a product, a convolution, a pooling or a sum stores where that
// is stored: a bias, a residual, an activation or its gradient. What else it reads is read there.
// The result of the former is stored, too, only if another launch reads it.
//
// It is refused where
//   - the map does not read each element of the result once, or another element of it, or has other
//     elements than it
//   - the kernel does not store on this device in a way that takes a map, or the launch stores
//     shares of a sum, or adds a long sum up in parts, or puts a long row together, where its
//     result lies
//   - what is done between them keeps either from going where the other is
//   - the map reads something else that the launch writes, or writes what the launch reads
//   - the map would read or write across the rows of large tensors or, on a CPU, has more
//     dimensions than rows and columns
//   - a function of a driver that has one for vectors and one for an element would be computed by
//     the other
//   - the map is an optimizer's update, and what stores its gradient is an operation that others of
//     its kind may be done together with
//   - the device computes the launch wrongly.
var epiloguePass = rewrite{"epilogue", "computes maps of products, convolutions, pools and sums where these are stored", fuseEpilogues}

func fuseEpilogues(r *rewriter) {
	for j, c := range r.nodes {
		if c == nil || c.once {
			continue
		}
		m := c.m
		if m == nil {
			m = c.late
		}
		if m != nil {
			r.tryEpilogue(j, m, nil)
		}
	}
}

// tryEpilogue computes map m of node j where one of its operands is stored, if that can be done: for
// `epilogue`, and for `split` with rest, which is what stays in its place.
func (r *rewriter) tryEpilogue(j int, m *mapping, rest *node) bool {
	c := r.nodes[j]
	for x := len(m.operands) - 1; x >= 0; x-- {
		i := r.producer(j, m.operands[x])
		if i < 0 || c.m == nil && r.nodes[i].kernel.Semantics != nil && !windowed(r.nodes[i]) {
			continue
		}
		n := r.nodes[i]
		at, e, why := r.fuseEpilogue(i, j, x, m)
		if why == nil && rest != nil {
			switch {
			case e.spec.Keep:
				why = because(ReasonCost, "another launch reads what the former stores, and nothing would be gained")
			case at != i && !r.movable(c, i, j):
				why = because(ReasonDependence, "what is done between them depends on the former, and a part of the latter on that")
			}
			at = i
		}
		var kernel *kernels.Kernel
		if why == nil {
			kernel = fused.FuseEpilogue(n.kernel, e.spec)
			switch {
			case r.device == nil:
			case kernel.SelfTest(e.args) == nil && len(kernel.Cases(true)) == 0: // nothing would be tested
				why = because(ReasonUnsupported, "no case of the kernel is of such views")
			case r.device.try(kernel, e.args) != nil:
				why = wrongly
			}
		}
		if why != nil {
			r.refused(why, "%s and %s: refused", r.name(n), r.name(c))
			continue
		}
		how := ""
		switch {
		case rest != nil:
			how = ", but for its sums"
		case e.spec.Keep:
			how = ", which is stored, too"
		}
		r.did("%s: computed where %s stores its result%s", r.name(c), r.name(n), how)
		into, gone := c, n
		if at == i {
			into, gone = n, c
		}
		r.drop(c)
		e.reads, e.writes, e.fills = r.effectsOf(n, c, e)
		into.late = nil
		into.kernel, into.args, into.m, into.why = kernel, e.args, nil, because(ReasonOpaque, "a map is computed where it stores its result")
		into.fused, into.kind, into.described = false, e.kind, false
		into.reads, into.writes, into.fills = e.reads, e.writes, e.fills
		r.kinds[e.kind]++
		r.mergeSources(into, gone)
		r.note(at)
		r.nodes[i+j-at] = rest
		if rest != nil {
			r.note(j)
		}
		return true
	}
	return false
}

// epilogue is a map that is to be computed where a launch stores its result.
type epilogue struct {
	spec          fused.Epilogue
	args          []kernels.Arg
	kind          string
	reads, writes []region
	fills         []span2
}

// producer returns the launch before j that stores what an operand reads, if it can store a map of
// it; −1 if there is none. Such launches store floats: a map of integers reads none of them.
func (r *rewriter) producer(j int, o operand) int {
	last := -1
	r.touch(o.buf, 0, j, func(i int, n *node) bool {
		if n.written(o.buf) {
			last = i
		}
		return true
	})
	if last < 0 {
		return -1
	}
	n := r.nodes[last]
	if !r.opt.without(rowsPass.name) && fused.RowTilingOf(n.kernel, n.args, r.target) != nil {
		return -1 // which are fused with more than one map
	}
	if n.m != nil || n.once || fused.Of(n.kernel).Epilogue == nil || n.why == dynamicSize {
		return -1
	}
	if a := n.args[fused.Of(n.kernel).Epilogue.Result]; a.Buf != o.buf || o.mask ||
		!(a.Off <= o.off && o.off < a.Off+a.N) {
		return -1
	}
	return last
}

// fuseEpilogue says how launch j, the map `of`, of whose operands x is the result of launch i, is
// computed where that is stored, and at which of the two places; or why it is not.
func (r *rewriter) fuseEpilogue(i, j, x int, of *mapping) (at int, e *epilogue, why *cause) {
	n := r.nodes[i]
	k, s := n.kernel, fused.Of(n.kernel).Epilogue
	count, _ := s.Elements(n.args)
	result := n.args[s.Result]
	switch {
	case s.Wide(r.target) == 0:
		return 0, nil, because(ReasonUnsupported, "on this device it stores its result in another way")
	case s.Before != nil && s.Before(n.args, r.target):
		return 0, nil, because(ReasonUnsupported, "a long sum is added up where its result lies, or a long row is put together there, or neighbours are stored apart")
	case count == 0 || count != result.N:
		return 0, nil, because(ReasonAccess, "it does not store elements of a result one after the other")
	}
	m, value, why := epilogueOf(of, x, result, count)
	if why != nil {
		return 0, nil, why
	}
	own := func(v view) bool { return v.same(m.operands[value].view, m.dims) }
	stored := region{buf: result.Buf, span: span{result.Off, result.Off + result.N}}
	for k, o := range m.operands {
		if k == value {
			continue
		}
		g := region{o.buf, o.span(m.dims), o.view, m.dims}
		if g.overlaps(&stored) {
			return 0, nil, because(ReasonAccess, "it reads other elements of the result, too")
		}
		if slices.ContainsFunc(n.writes, func(w region) bool { return w.overlaps(&g) }) {
			return 0, nil, because(ReasonAliasing, "it reads something else that the former writes")
		}
	}
	over := false // the map writes where the result would be
	for _, res := range m.results {
		g := region{res.view.buf, res.view.span(m.dims), res.view, m.dims}
		overlaps := func(h region) bool {
			return h.overlaps(&g) && !(h.span == stored.span && own(res.view))
		}
		if slices.ContainsFunc(n.reads, overlaps) || slices.ContainsFunc(n.writes, overlaps) {
			return 0, nil, because(ReasonAliasing, "it writes what the former reads or writes")
		}
		over = over || own(res.view)
	}
	if at = r.place(i, j); at < 0 {
		return 0, nil, betweenThem
	}
	keep := !over && (r.liveOut(&stored, i) || len(r.readers(&stored, i)) > 1)
	layout, rank := m.layout(r.target)
	if r.target.CPU && rank > 2 {
		return 0, nil, because(ReasonCost, "on a CPU, finding its rows would take longer than a launch of its own")
	}
	for t := range len(m.operands) + len(m.results) {
		if layout.Steps[t] == fused.Strided && count > joinSmall {
			return 0, nil, because(ReasonCost, "it would read or write across the rows of large tensors")
		}
	}
	if count%fused.MapVector != 0 {
		layout.Aligned = false
	}
	vectors := false
	if !of.program().Alike() {
		var ok bool
		if vectors, ok = r.sameEpilogueBits(of, m, s); !ok {
			return 0, nil, otherVectors
		}
		layout.Aligned = layout.Aligned && vectors
	}
	j2, err := m.joined()
	if err != nil {
		return 0, nil, failed(err)
	}
	e = &epilogue{spec: fused.Epilogue{Of: j2, Value: value, Layout: layout, Keep: keep, Vectors: vectors}}
	e.kind = fmt.Sprintf("%p %d %t %t %v %s", k, value, keep, vectors, layout.Aligned, m.kind(r.target))
	if len(r.kinds) >= mostKinds && r.kinds[e.kind] == 0 {
		return 0, nil, manyKernels(len(r.kinds), "other maps")
	}
	_, all, err := m.launch(r.target)
	if err != nil {
		return 0, nil, failed(err)
	}
	e.args = slices.Clone(n.args)
	if !keep && !(s.Reads != nil && s.Reads(n.args)) {
		unused := m.results[0].view.buf
		if unused.DType() != result.Buf.DType() { // any memory of that type stands for what is not written
			other := slices.IndexFunc(n.args, func(a kernels.Arg) bool {
				return a.Buf != nil && a.Buf != result.Buf && a.Buf.DType() == result.Buf.DType()
			})
			if other < 0 {
				return 0, nil, because(ReasonTypes, "its result is of another type")
			}
			unused = n.args[other].Buf
		}
		e.args[s.Result] = kernels.BufferArg(unused, 0, 0)
	}
	// The arguments of the map, but for the value and its strides.
	outer := rank - 1
	strides := len(m.operands) + len(m.results) + 1
	if outer > 0 {
		strides += outer
	}
	for t := range value {
		strides += outer
		if layout.Steps[t] == fused.Strided {
			strides++
		}
	}
	for a, arg := range all {
		if a != value && (a < strides || a >= strides+outer) {
			e.args = append(e.args, arg)
		}
	}
	return at, e, nil
}

// epilogueOf returns a map in dimensions in which operand x is a result of count elements as it lies
// in memory, and which of its operands that then is; or why there are none.
func epilogueOf(c *mapping, x int, result kernels.Arg, count int) (m *mapping, value int, why *cause) {
	o := c.operands[x].view
	if o.off != result.Off || intmath.Product(c.dims) != count {
		return nil, 0, because(ReasonAccess, "it does not read the result whole, each element once")
	}
	order := make([]int, len(c.dims))
	for d := range order {
		order[d] = d
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(o.strides[b], o.strides[a]) })
	dims := make([]int, len(order))
	for i, d := range order {
		dims[i] = c.dims[d]
	}
	m = c.in(dims, func(v view) view {
		strides := make([]int, len(order))
		for i, d := range order {
			strides[i] = v.strides[d]
		}
		return view{v.buf, v.off, strides}
	})
	m.tidy()
	value = slices.IndexFunc(m.operands, func(p operand) bool { return p.buf == o.buf && p.off == o.off && intmath.Dense(p.strides, m.dims) })
	if value < 0 {
		return nil, 0, because(ReasonAccess, "it does not read the result whole, each element once")
	}
	if why := m.problem(); why != nil {
		return nil, 0, why
	}
	return m, value, nil
}

// sameEpilogueBits says how functions that may be others for vectors are computed as they were: every
// element in a vector, or every one alone.
func (r *rewriter) sameEpilogueBits(was, now *mapping, s *fused.EpilogueSpec) (vectors, ok bool) {
	switch width := was.vectors(r.target); {
	case width > 1:
		return true, true
	case width == 1:
		return false, !r.target.CPU || s.CPU == 1 || inner(now.dims) < fused.MapVectorCPU
	}
	return false, false
}

// effectsOf returns what both read and write.
func (r *rewriter) effectsOf(n, c *node, e *epilogue) (reads, writes []region, fills []span2) {
	result := n.args[fused.Of(n.kernel).Epilogue.Result]
	is := func(g region) bool {
		return g.buf == result.Buf && g.span.lo < result.Off+result.N && result.Off < g.span.hi
	}
	reads = append(reads, n.reads...)
	for _, g := range c.reads {
		if !is(g) {
			reads = append(reads, g)
		}
	}
	for _, g := range n.writes {
		if e.spec.Keep || !is(g) {
			writes = append(writes, g)
		}
	}
	for _, f := range n.fills {
		if e.spec.Keep || !is(region{buf: f.buf, span: f.span}) {
			fills = append(fills, f)
		}
	}
	return reads, append(writes, c.writes...), append(fills, c.fills...)
}
