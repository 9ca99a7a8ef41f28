package replay

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
)

// deadPass leaves out launches whose results nobody reads: memory that the step made and does not
// return, and memory that is overwritten before it is read. Opaque launches, too: what one writes
// are its arguments that are written, and it does nothing else. An argument that is read and
// written keeps what was there before; one that is only written ends it.
var deadPass = rewrite{"dead-store-elimination", "leaves out launches whose results nobody reads", eliminateDead}

func eliminateDead(r *rewriter) {
	needed := map[kernels.Buffer]*spans{}
	of := func(b kernels.Buffer) *spans {
		s := needed[b]
		if s == nil {
			s = &spans{}
			if r.lives(b) {
				s.add(span{0, b.Len()})
			}
			needed[b] = s
		}
		return s
	}
	for i := len(r.nodes) - 1; i >= 0; i-- {
		n := r.nodes[i]
		if n == nil {
			continue
		}
		if len(n.writes) > 0 && !slices.ContainsFunc(n.writes, func(g region) bool { return of(g.buf).overlaps(g.span) }) {
			r.did("%s: nobody reads what it writes", r.name(n))
			r.leave(i)
			continue
		}
		for _, s := range n.fills {
			of(s.buf).cut(s.span)
		}
		for _, g := range n.reads {
			of(g.buf).add(g.span)
		}
	}
}

// spans is elements, as spans that are apart.
type spans struct{ list []span }

func (s *spans) overlaps(t span) bool {
	return slices.ContainsFunc(s.list, func(x span) bool { return x.lo < t.hi && t.lo < x.hi })
}

func (s *spans) add(t span) {
	var list []span
	for _, x := range s.list {
		if x.hi < t.lo || t.hi < x.lo {
			list = append(list, x)
			continue
		}
		t = span{min(t.lo, x.lo), max(t.hi, x.hi)}
	}
	s.list = append(list, t)
}

func (s *spans) cut(t span) {
	var list []span
	for _, x := range s.list {
		if x.hi <= t.lo || t.hi <= x.lo {
			list = append(list, x)
			continue
		}
		if x.lo < t.lo {
			list = append(list, span{x.lo, t.lo})
		}
		if t.hi < x.hi {
			list = append(list, span{t.hi, x.hi})
		}
	}
	s.list = list
}
