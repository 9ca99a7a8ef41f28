package replay

import (
	"slices"

	"github.com/clgrad/clgrad/kernels"
)

// doneTogether makes one launch of several small ones of one kernel that do not depend on each other, such as the sums of
// the gradients of biases: see kernels.Together. They are done where the last of them was.
//
// It is refused where
//   - the work-groups of the launches are of several sizes, or a number that may say so is a slot
//   - a launch has many work-groups, or most of those that all have together would find nothing to do: there are as many
//     for each as the largest has
//   - what is done between them reads or writes what the former writes, or writes what it reads
//   - memory that the former reads would be kept longer, and is large.
var doneTogether = rewrite{"together", "makes one launch of small ones of one kernel", doTogether}

const (
	togetherSmall  = 1 << 15 // elements that a launch of a CPU reads that waits for others
	togetherLarge  = 1 << 23 // those that all launches of a GPU read that wait: to start one takes as long as to move some MiB
	togetherGroups = 128     // work-groups of a launch of a CPU
	togetherWide   = 1 << 11 // those of one of a GPU
	togetherIdle   = 16      // work-groups that may find nothing to do, beside half as many as do
)

// groups are the work-groups of a grid in both dimensions.
func groups(g kernels.Grid) (n [2]int) {
	for d := range n {
		n[d] = 1
		if d < g.Dims {
			n[d] = (g.Global[d] + g.Local[d] - 1) / g.Local[d]
		}
	}
	return n
}

// doTogether goes over the launches until none waits for another that could have gone.
func doTogether(r *rewriter) {
	for r.together() {
	}
}

// together reports whether it made one launch of several.
func (r *rewriter) together() (made bool) {
	type group struct {
		at    int // the place of the last
		parts []*node
		most  [2]int // work-groups of a part
		busy  int    // work-groups of all parts
	}
	open := map[*kernels.Kernel][]*group{}
	for j, n := range r.nodes {
		if n == nil || n.m != nil || n.once || n.kernel.Together == nil || n.why == slotted || n.kernel.Grid(n.args, r.limits).Empty() {
			continue
		}
		grid := n.kernel.Grid(n.args, r.limits)
		size, own := grid.Local, groups(grid)
		if own[0]*own[1] > togetherWide || r.limits.CPU && own[0]*own[1] > togetherGroups {
			continue
		}
		found := false
		for _, g := range open[n.kernel] {
			if len(g.parts) == n.kernel.MostTogether() || g.parts[0].kernel.Grid(g.parts[0].args, r.limits).Local != size {
				continue
			}
			most, busy := [2]int{max(g.most[0], own[0]), max(g.most[1], own[1])}, g.busy+own[0]*own[1]
			if (len(g.parts)+1)*most[0]*most[1] > busy+busy/2+togetherIdle {
				continue
			}
			if why := r.wait(g.at, j); why != "" {
				r.opt.say("together: %s and %s: refused: %s", r.name(r.nodes[g.at]), r.name(n), why)
				continue
			}
			// The launches before are done here.
			before := r.nodes[g.at]
			r.nodes[j] = &node{kernel: n.kernel, args: n.args, why: n.why, from: slices.Clone(n.from), names: slices.Clone(n.names),
				reads: append(slices.Clone(before.reads), n.reads...), writes: append(slices.Clone(before.writes), n.writes...), fills: append(slices.Clone(before.fills), n.fills...)}
			r.does(r.nodes[j], before)
			r.note(j)
			r.leave(g.at)
			g.at, g.parts, g.most, g.busy = j, append(g.parts, n), most, busy
			found = true
			break
		}
		if !found {
			open[n.kernel] = append(open[n.kernel], &group{j, []*node{n}, own, own[0] * own[1]})
		}
	}
	for _, groups := range open {
		for _, g := range groups {
			if len(g.parts) < 2 {
				continue
			}
			n := r.nodes[g.at]
			n.kernel = g.parts[0].kernel.Several(len(g.parts))
			n.args = nil
			for _, p := range g.parts {
				n.args = append(n.args, p.args...)
			}
			r.opt.say("together: %s: one launch", r.name(n))
			made = true
		}
	}
	return made
}

// wait says why the launch at i is not done at j, together with that, "" if it may be.
func (r *rewriter) wait(i, j int) string {
	n, c := r.nodes[i], r.nodes[j]
	kept := 0 // elements
	for k := range n.writes {
		w := &n.writes[k]
		if r.meeting(w, i+1, j, true, true) >= 0 {
			return "what is done between them touches what the former writes"
		}
		if slices.ContainsFunc(append(slices.Clone(c.reads), c.writes...), func(g region) bool { return w.meets(&g) }) {
			return "the latter touches what the former writes"
		}
	}
	for k := range n.reads {
		g := &n.reads[k]
		if r.meeting(g, i+1, j, false, true) >= 0 {
			return "what is done between them changes what the former reads"
		}
		if slices.ContainsFunc(c.writes, func(w region) bool { return g.meets(&w) }) {
			return "the latter changes what the former reads"
		}
		if size := g.span.hi - g.span.lo; size > togetherSmall && !r.lives(g.buf) && r.between(i, j) {
			used := false
			r.touch(g.buf, j+1, len(r.nodes), func(int, *node) bool { used = true; return false })
			if !used {
				kept += size
			}
			if kept > togetherLarge || r.limits.CPU && kept > 0 {
				return "it would keep much memory"
			}
		}
	}
	return ""
}

// between reports whether there is a launch between two places.
func (r *rewriter) between(i, j int) bool {
	return slices.ContainsFunc(r.nodes[i+1:j], func(n *node) bool { return n != nil })
}
