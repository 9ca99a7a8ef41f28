package replay

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/replay/fusion"
)

// proposal is a match of a registered fusion: whether it is sound, and where its launches can stand.
type proposal struct {
	r       *rewriter
	at      []int   // the places of the covered launches, ascending
	covered []*node // these
	nodes   []*node // the new ones
	once    int     // as many of these, the first, are done when the step is recorded
	padding []region
	results []region // what covered launches write and others need
}

// proposal checks that a match can be launched.
func (s *step) proposal(m fusion.Match) (*proposal, *fusion.Refusal) {
	p := &proposal{r: s.r}
	covers := slices.Clone(m.Covers)
	slices.Sort(covers)
	covers = slices.Compact(covers)
	for p.once < len(m.Launches) && m.Launches[p.once].Once {
		p.once++
	}
	switch each := m.Launches[p.once:]; {
	case len(covers) == 0:
		return nil, refusal(fusion.ErrProposal, "it covers no launch")
	case len(each) > len(covers):
		return nil, refusal(fusion.ErrProposal, "it has %d launches in place of %d", len(each), len(covers))
	case slices.ContainsFunc(each, func(l fusion.Launch) bool { return l.Once }):
		return nil, refusal(fusion.ErrProposal, "a launch that is done once follows one that each run does")
	}
	for _, i := range covers {
		if i < 0 || i >= len(s.nodes) {
			return nil, refusal(fusion.ErrProposal, "it covers launch %d of %d", i, len(s.nodes))
		}
		if s.r.nodes[s.at[i]] != s.nodes[i] {
			return nil, refusal(fusion.ErrCovered, "%s is part of another match", s.Name(i))
		}
		p.at, p.covered = append(p.at, s.at[i]), append(p.covered, s.nodes[i])
	}
	for _, l := range m.Launches {
		if why := s.r.misfit(l); why != "" {
			return nil, refusal(fusion.ErrProposal, "%s", why)
		}
		if i := foreignScalar(l.Args, p.covered); i >= 0 {
			return nil, refusal(fusion.ErrProposal,
				"%s: argument %d, %s, is a step scalar that no covered launch takes: pass one of theirs",
				l.Kernel.Name, i, l.Kernel.Params[i].Name)
		}
		n := &node{kernel: l.Kernel, args: slices.Clone(l.Args), once: l.Once}
		if n.once && n.scalar() {
			return nil, refusal(fusion.ErrProposal, "%s is to be done once, and a number of it is a step scalar", l.Kernel.Name)
		}
		does := l.Does
		if does == nil {
			does = covers
		}
		for _, i := range does {
			if !slices.Contains(covers, i) {
				return nil, refusal(fusion.ErrProposal, "%s does launch %d, which it does not cover", l.Kernel.Name, i)
			}
			s.r.mergeSources(n, s.nodes[i])
		}
		s.r.analyze(n)
		p.nodes = append(p.nodes, n)
	}
	for _, a := range m.Padding {
		p.padding = append(p.padding, *regionOf(a))
	}
	return p, nil
}

// foreignScalar returns the first argument that is a step scalar of none of some launches, −1 if there is none.
func foreignScalar(args []kernels.Arg, of []*node) int {
	return slices.IndexFunc(args, func(a kernels.Arg) bool {
		s, number, turn := a.StepScalar()
		return s != nil && !slices.ContainsFunc(of, func(n *node) bool {
			return slices.ContainsFunc(n.args, func(b kernels.Arg) bool {
				t, k, when := b.StepScalar()
				return s == t && number == k && turn == when
			})
		})
	})
}

// misfit says why a launch does not have the arguments that its kernel takes, "" if it does.
func (r *rewriter) misfit(l fusion.Launch) string {
	k := l.Kernel
	switch {
	case k == nil || k.Grid == nil:
		return "a launch has no kernel, or that has no Grid"
	case len(l.Args) != len(k.Params):
		return fmt.Sprintf("%s takes %d arguments, not %d", k.Name, len(k.Params), len(l.Args))
	}
	float := k.FloatOf(l.Args, r.device.one.DType())
	for i := range l.Args {
		a, p := &l.Args[i], k.Params[i]
		switch {
		case a.Kind != p.Mode.Kind():
			return fmt.Sprintf("%s: argument %d, %s, is %v, not %v", k.Name, i, p.Name, a.Kind, p.Mode.Kind())
		case p.Mode == kernels.IntParam && a.Int != int64(int32(a.Int)):
			return fmt.Sprintf("%s: argument %d, %s, is %d, which is no int of 32 bits", k.Name, i, p.Name, a.Int)
		case a.Kind != kernels.ArgBuffer:
		case a.Buf == nil:
			return fmt.Sprintf("%s: argument %d, %s, is no memory", k.Name, i, p.Name)
		case !k.Takes(i, a.Buf.DType(), float):
			return fmt.Sprintf("%s: argument %d, %s, has elements of type %v, not %v", k.Name, i, p.Name, a.Buf.DType(), p.Mode.Elements(float))
		case a.Off < 0 || a.N < 0 || a.Off > a.Buf.Len() || a.N > a.Buf.Len()-a.Off:
			return fmt.Sprintf("%s: argument %d, %s, is %d elements from %d on, of memory that has %d", k.Name, i, p.Name, a.N, a.Off, a.Buf.Len())
		}
	}
	if !k.Host.For(float) {
		return fmt.Sprintf("%s has no host kernel for %v", k.Name, float)
	}
	return ""
}

// sound says why the new launches do not make all that others need of the covered ones, or touch
// other memory. It finds the results.
func (p *proposal) sound() *fusion.Refusal {
	r := p.r
	var wrote, writes []region
	for _, n := range p.covered {
		wrote = append(wrote, n.writes...)
		for _, s := range n.fills { // by results in each other's gaps
			wrote = append(wrote, region{buf: s.buf, span: s.span})
		}
	}
	for _, n := range p.nodes {
		writes = append(writes, n.writes...)
	}
	for k, i := range p.at {
		for w := range p.covered[k].writes {
			g := &p.covered[k].writes[w]
			reader := slices.IndexFunc(r.readers(g, i), func(j int) bool { return !slices.Contains(p.at, j) })
			lasts := r.liveOut(g, i)
			switch {
			case reader < 0 && !lasts:
				continue
			case fills(writes, g):
				p.results = append(p.results, *g)
			case reader >= 0:
				readers := slices.DeleteFunc(r.readers(g, i), func(j int) bool { return slices.Contains(p.at, j) })
				return refusal(fusion.ErrIntermediate, "%s reads what %s makes on the way", r.name(r.nodes[readers[0]]), r.name(p.covered[k]))
			default:
				return refusal(fusion.ErrIntermediate, "what %s makes on the way is there after the run", r.name(p.covered[k]))
			}
		}
	}
	for k, n := range p.nodes {
		for w := range n.writes {
			g := &n.writes[w]
			switch new := r.new(g.buf); {
			case n.once && !new:
				return refusal(fusion.ErrMemory, "%s is to be done once, and writes memory that is not new", n.kernel.Name)
			case !new && !fills(slices.Concat(wrote, p.padding), g):
				return refusal(fusion.ErrMemory, "%s writes memory that the launches before it do not", n.kernel.Name)
			case !n.once && slices.ContainsFunc(p.nodes[:p.once], func(m *node) bool { return m.written(g.buf) }):
				return refusal(fusion.ErrMemory, "%s writes memory of a launch that is done once", n.kernel.Name)
			}
		}
		for _, g := range n.reads {
			switch made := p.madeBefore(k, &g) || n.wrote(&g); {
			case n.once && !made && !r.constant(g.buf):
				return refusal(fusion.ErrMemory, "%s is to be done once, and reads what may be other in each run", n.kernel.Name)
			case r.new(g.buf) && !made:
				return refusal(fusion.ErrMemory, "%s reads new memory that no launch of the match has written", n.kernel.Name)
			}
		}
	}
	return nil
}

// fills reports whether writes reach all elements of a region.
func fills(writes []region, g *region) bool {
	return within(slices.DeleteFunc(slices.Clone(writes), func(w region) bool {
		return w.dims != nil && !(g.dims != nil && slices.Equal(w.dims, g.dims) && w.view.same(g.view, g.dims)) && !w.whole()
	}), g)
}

// whole reports whether a region names all elements of its span.
func (a *region) whole() bool {
	if a.dims == nil {
		return true
	}
	for _, s := range whole([]view{a.view}, a.dims) {
		if s == a.span {
			return true
		}
	}
	return false
}

// within reports whether spans of some regions hold that of another, one or several side by side.
func within(list []region, g *region) bool {
	at := g.span.lo
	for at < g.span.hi {
		next := at
		for _, w := range list {
			if w.buf == g.buf && w.span.lo <= at {
				next = max(next, w.span.hi)
			}
		}
		if next == at {
			return false
		}
		at = next
	}
	return true
}

// madeBefore reports whether a new launch before the one at k writes elements of a region.
func (p *proposal) madeBefore(k int, g *region) bool {
	return slices.ContainsFunc(p.nodes[:k], func(n *node) bool { return n.wrote(g) })
}

// window is the places between which a launch may stand.
type window struct {
	after, before int
	by            int // a launch that keeps it from standing elsewhere
}

// places finds the places of the new launches that each run does: among those of the covered ones, as late as can be.
func (p *proposal) places() ([]int, *fusion.Refusal) {
	list := make([]int, len(p.nodes)-p.once)
	next := len(p.at)
	for k := len(p.nodes) - 1; k >= p.once; k-- {
		w, err := p.window(k)
		if err != nil {
			return nil, err
		}
		for next--; next >= 0 && p.at[next] >= w.before; {
			next--
		}
		if next < 0 || p.at[next] <= w.after {
			by := "what is done meanwhile"
			if w.by >= 0 {
				by = p.r.name(p.r.nodes[w.by]).String()
			}
			return nil, refusal(fusion.ErrMeanwhile, "something reads a result before all that it is made of is there: there is no place for %s before %s", p.nodes[k].kernel.Name, by)
		}
		list[k-p.once] = p.at[next]
	}
	return list, nil
}

// window returns between which places the new launch at k may stand: behind the launches that make
// what it reads, before those that write over it, and with nobody between it and the covered ones
// who reads or writes what it writes.
func (p *proposal) window(k int) (window, *fusion.Refusal) {
	r, n := p.r, p.nodes[k]
	w := window{-1, len(r.nodes), -1}
	narrow := func(after, before int) {
		if after > w.after {
			w.after = after
		}
		if before >= 0 && before < w.before {
			w.before, w.by = before, before
		}
	}
	for x := range n.reads {
		g := &n.reads[x]
		if r.new(g.buf) {
			continue
		}
		read, made := p.madeBefore(k, g), -1
		for c, i := range p.at {
			for y := range p.covered[c].reads {
				h := &p.covered[c].reads[y]
				if !h.overlaps(g) {
					continue
				}
				if at := p.maker(h, c); at >= 0 {
					made = at
					continue
				}
				read = true
				narrow(p.lastOutside(h, i, false), p.outside(h, i+1, len(r.nodes), false))
			}
		}
		switch first := p.outside(g, 0, len(r.nodes), false); {
		case read || within(n.writes, g): // of what it writes, too, it reads what it has written
		case made >= 0:
			return w, refusal(fusion.ErrMemory, "%s reads what %s makes, which it replaces", n.kernel.Name, r.name(p.covered[made]))
		case first >= 0:
			return w, refusal(fusion.ErrMemory, "%s reads what %s makes, and the launches that it replaces do not", n.kernel.Name, r.name(r.nodes[first]))
		}
	}
	for x := range n.writes {
		g := &n.writes[x]
		if r.new(g.buf) {
			continue
		}
		first, last := -1, -1
		for c, i := range p.at {
			if p.covered[c].wrote(g) {
				if first < 0 {
					first = i
				}
				last = i
			}
		}
		if first < 0 { // padding
			first, last = p.at[0], p.at[len(p.at)-1]
		}
		if i := p.outside(g, first, last+1, true); i >= 0 {
			return w, refusal(fusion.ErrMeanwhile, "%s reads or writes what it makes meanwhile", r.name(r.nodes[i]))
		}
		narrow(p.lastOutside(g, first, true), p.outside(g, last+1, len(r.nodes), true))
	}
	return w, nil
}

// outside returns the first launch from one place to before another that is not covered and writes
// elements of a region, or reads them; −1 if there is none.
func (p *proposal) outside(g *region, from, to int, reads bool) int {
	found := -1
	p.r.touch(g.buf, from, to, func(i int, n *node) bool {
		if _, covered := slices.BinarySearch(p.at, i); covered {
			return true
		}
		if n.wrote(g) || reads && slices.ContainsFunc(n.reads, func(h region) bool { return g.overlaps(&h) }) {
			found = i
		}
		return found < 0
	})
	return found
}

// lastOutside returns the last such launch before a place.
func (p *proposal) lastOutside(g *region, before int, reads bool) int {
	last := -1
	for i := p.outside(g, 0, before, reads); i >= 0; i = p.outside(g, i+1, before, reads) {
		last = i
	}
	return last
}

// maker returns the covered launch that wrote all of a region that the covered launch at c reads, −1
// if there is none.
func (p *proposal) maker(g *region, c int) int {
	for i := c - 1; i >= 0; i-- {
		if slices.ContainsFunc(p.covered[i].fills, func(s span2) bool { return s.buf == g.buf && s.lo <= g.span.lo && g.span.hi <= s.hi }) {
			if p.outside(g, p.at[i], p.at[c], false) < 0 {
				return i
			}
			return -1
		}
	}
	return -1
}

// writer returns the last launch before a place that writes elements of a region, −1 if none does.
func (r *rewriter) writer(g *region, before int) int {
	last := -1
	r.touch(g.buf, 0, before, func(i int, n *node) bool {
		if n.wrote(g) {
			last = i
		}
		return true
	})
	return last
}

// cost adds up what launches read and write.
func (p *proposal) cost(list []*node) fusion.Cost {
	c := fusion.Cost{Launches: len(list)}
	for _, n := range list {
		for _, g := range slices.Concat(n.reads, n.writes) {
			c.Bytes += g.bytes()
		}
	}
	return c
}

// tried tries the kernels of a match, and unless tests did it the match against what it replaces.
func (p *proposal) tried(m fusion.Match) *fusion.Refusal {
	var before, after []capture.Launch
	for _, n := range p.nodes {
		args := n.args
		if m.Tested { // at the sizes of its cases
			args = nil
		}
		if err := p.r.device.try(n.kernel, args); err != nil {
			return &fusion.Refusal{Reason: err}
		}
		after = append(after, capture.Launch{Kernel: n.kernel, Args: n.args})
	}
	if m.Tested {
		return nil
	}
	if m.Within < 0 || math.IsNaN(m.Within) {
		return refusal(fusion.ErrProposal, "Match.Within is %v", m.Within)
	}
	for _, n := range p.covered {
		before = append(before, capture.Launch{Kernel: n.kernel, Args: n.args})
	}
	if err := p.r.device.compare(before, after, p.results, m.Within); err != nil {
		return refusal(fusion.ErrWrong, "%v", err)
	}
	return nil
}
