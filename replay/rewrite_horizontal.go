package replay

import (
	"slices"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
)

// horizontalPass makes one launch of two that do not depend on each other, of whichever kernels, of
// which one is small: the update of a network beside what scatters the gradient of its inputs, say.
// See fused.FuseHorizontal. A small launch takes about as long as it takes to start, and leaves most of a
// GPU with nothing to do.
//
// It is refused where
//   - the device is a CPU, which one launch keeps busy
//   - a kernel does not say how it is done with others, or a number that may say so is a step scalar
//   - the work-groups of the two have not as many work-items, or do not lie in a row
//   - both have many work-groups, or both use local memory
//   - what is done between them keeps either from going where the other is
//   - memory that the former reads would be kept longer, and is large
//   - the device does not build the kernel, or computes it wrongly.
var horizontalPass = rewrite{"horizontal-fusion",
	"makes one launch of a small one and another that does not depend on it", fuseHorizontally}

// smallLaunch is how many work-groups the smaller of two launches has at most.
const smallLaunch = 1 << 10

func fuseHorizontally(r *rewriter) {
	if r.target.CPU {
		return
	}
	for j := range r.nodes {
		for i := j - 1; i >= 0 && r.fusesHorizontally(j); i-- {
			if !r.fusesHorizontally(i) {
				continue
			}
			n, c := r.nodes[i], r.nodes[j]
			gn, gc := n.kernel.Grid(n.args, r.target), c.kernel.Grid(c.args, r.target)
			own := [2][2]int{groups(gn), groups(gc)}
			if own[0][1] > 1 || own[1][1] > 1 || gn.Items() != gc.Items() || min(own[0][0], own[1][0]) > smallLaunch {
				continue
			}
			at := r.place(i, j)
			var why *cause
			switch {
			case r.depend(n, c):
				continue
			case at < 0:
				why = betweenThem
			case at == j:
				_, why = r.wait(i, j)
			}
			few, many, wide := n, c, [2]int{gn.Local[0], gc.Local[0]}
			if own[0][0] > own[1][0] {
				few, many, wide = c, n, [2]int{wide[1], wide[0]}
			}
			var kernel *kernels.Kernel
			args := slices.Concat(few.args, many.args)
			if why == nil {
				switch kernel = fused.FuseHorizontal(few.kernel, many.kernel, wide); {
				case kernel == nil:
					why = because(ReasonLimit, "they have too many arguments, are built with options that differ, or both use local memory")
				case r.device == nil:
				case r.device.try(kernel, args) != nil:
					why = wrongly
				}
			}
			if why != nil {
				r.refused(why, "%s and %s: refused", r.name(n), r.name(c))
				continue
			}
			r.did("%s and %s: one launch", r.name(n), r.name(c))
			into := &node{kernel: kernel, args: args, why: because(ReasonOpaque, "it is two launches"), from: slices.Clone(c.from), names: slices.Clone(c.names),
				reads: slices.Concat(n.reads, c.reads), writes: slices.Concat(n.writes, c.writes), fills: slices.Concat(n.fills, c.fills)}
			r.mergeSources(into, n)
			r.leave(i)
			r.leave(j)
			r.nodes[at] = into
			r.note(at)
		}
	}
}

// fusesHorizontally reports whether the launch at place i can be fused with an independent one.
func (r *rewriter) fusesHorizontally(i int) bool {
	n := r.nodes[i]
	return n != nil && n.m == nil && n.chain == nil && !n.once && n.why != dynamicSize &&
		fused.Of(n.kernel).Batch.Horizontal() && !n.kernel.Grid(n.args, r.target).Empty()
}

// depend reports whether either of two launches touches what the other writes.
func (r *rewriter) depend(n, c *node) bool {
	meet := func(writes, others []region) bool {
		return slices.ContainsFunc(writes, func(w region) bool {
			return slices.ContainsFunc(others, func(g region) bool { return w.overlaps(&g) })
		})
	}
	return meet(n.writes, c.reads) || meet(n.writes, c.writes) || meet(c.writes, n.reads)
}
