package replay

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
)

// doneOnce does launches when the step is recorded, and not in each run, that only read what never
// changes: constants that the step uploads, such as a table of positions, and what is made of them.
//
// It is refused where
//   - the kernel does not describe itself, or a number of the launch is a slot
//   - the result is there after the run, or anything else writes to its memory
//   - the launch does not write its result whole
//   - all such results take more memory than a step should keep.
//
// A launch that reads nothing, such as a fill, is done once if one that is done once reads it.
var doneOnce = rewrite{"constant-folding", "does launches that only read constants when the step is recorded", doOnce}

// onceBytes is what the results of launches that are done once may take.
const onceBytes = 16 << 20

func doOnce(r *rewriter) {
	maker := map[kernels.Buffer]int{} // of memory that one launch writes, whole, and that does not change
	total := int64(0)
	for i, n := range r.nodes {
		if n == nil || !n.described || len(n.writes) == 0 || slices.ContainsFunc(n.args, func(a kernels.Arg) bool { s, _, _ := a.Slot(); return s != nil }) {
			continue
		}
		known := func(b kernels.Buffer) bool { _, made := maker[b]; return made || r.constant(b) || n.written(b) }
		if slices.ContainsFunc(n.args, func(a kernels.Arg) bool { return a.Kind == kernels.ArgBuffer && !known(a.Buf) }) {
			continue
		}
		var bytes int64
		for _, g := range n.writes {
			bytes += bytesOf(g.buf)
		}
		if !r.alone(i, n) || total+bytes > onceBytes {
			if len(n.reads) > 0 {
				r.refused(because(ReasonUsed, "others write its result, it is there after the run, or takes too much memory"), "%s: refused", r.name(n))
			}
			continue
		}
		for _, g := range n.writes {
			maker[g.buf] = i
		}
		total += bytes
		if len(n.reads) == 0 {
			continue
		}
		r.did("%s: reads constants alone", r.name(n))
		n.once = true
		for _, g := range n.reads {
			if k, made := maker[g.buf]; made {
				r.nodes[k].once = true
			}
		}
	}
}

// alone reports whether a node writes all that it writes whole, to memory that nothing else writes
// and that is not there after the run.
func (r *rewriter) alone(i int, n *node) bool {
	for _, g := range n.writes {
		if r.lives(g.buf) || !slices.ContainsFunc(n.fills, func(s span2) bool { return s.buf == g.buf && s.lo <= g.span.lo && g.span.hi <= s.hi }) {
			return false
		}
		only := true
		r.touch(g.buf, 0, len(r.nodes), func(k int, other *node) bool {
			only = k == i || !other.written(g.buf) && k > i
			return only
		})
		if !only || slices.ContainsFunc(n.reads, func(h region) bool { return h.buf == g.buf }) {
			return false
		}
	}
	return true
}
