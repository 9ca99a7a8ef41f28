package replay

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
)

// batchPass makes one launch of several of one kernel that do not depend on each other, such as
// the products that are the gradients of weights, the sums of those of biases, and maps of parameters that
// have several sizes: see fused.BatchSpec. They are done where the last of them was, and what depends on
// the others behind that; or, if nothing between them has to be done before the last, where the first was.
//
// It is refused where
//   - the work-groups of the launches are of several sizes, or a number that may say so is a step scalar
//   - a launch has many work-groups, or most of those that all have together would find nothing to
//     do
//   - the latter depends on the former, if by way of what is done between them
//   - memory that waits would be kept longer, and is large
//   - the device computes the launch wrongly.
var batchPass = rewrite{"batch-launches", "makes one launch of small ones of one kernel", batchLaunches}

const (
	// smallRead is the elements of a read, on any device, that may be kept for a launch that waits, and are not
	// counted. On a CPU no other may be kept.
	smallRead     = 1 << 15
	largeReads    = 1 << 23 // elements that may be kept in all, on a GPU: to start a launch takes as long as to move some MiB
	mostGroupsCPU = 128     // work-groups that a launch has at most, on a CPU
	mostGroupsGPU = 1 << 11 // the same on a GPU
	// idleGroups: each launch gets as many work-groups as the largest has. In all there may be half as many more than
	// have something to do, and so many.
	idleGroups = 16
	groupTries = 8 // batches that a launch is tried with at most: wait goes over the step for each
)

// groups are the work-groups of a grid, those of a third dimension with those of the second.
func groups(g kernels.Grid) [2]int {
	n := g.Groups()
	return [2]int{n[0], n[1] * n[2]}
}

// group is launches that are to be one.
type group struct {
	n     *node // that does all of them
	parts []rowPart
	size  [3]int // of their work-groups, where those of all are alike
	most  [2]int // work-groups of a part
	busy  int    // work-groups of all parts
	full  bool   // no launch is added: too much memory would have been kept until the next
}

// batchLaunches calls batch until no launch can be added to another.
func batchLaunches(r *rewriter) {
	clear(r.uses)
	clear(r.writers)
	for i, n := range r.nodes {
		if n != nil {
			r.note(i)
		}
	}
	for r.batch() {
	}
}

// batch goes over the launches once, and reports whether it made one launch of several. First it
// takes launches of equal height: that makes no chain of launches that depend on each other
// longer. Then it takes launches of other heights.
func (r *rewriter) batch() (made bool) {
	paths := r.criticalPaths()
	batches := map[*node]*group{}
	for _, alike := range []bool{true, false} {
		open := map[*kernels.Kernel][]*group{}
		for j, n := range r.nodes {
			if n == nil {
				continue
			}
			c := batches[n]
			if c == nil {
				if c = r.groupOf(n); c == nil {
					continue
				}
			}
			k, tries, found := c.parts[0].kernel, 0, false
			for at, b := range open[k] {
				if b.full || alike && paths[b.n] != paths[n] || !r.fit(b, c) {
					continue
				}
				if tries++; tries > groupTries {
					break
				}
				kind := fmt.Sprintf("%p %d", k, len(b.parts)+len(c.parts)) // the node keeps the kernel
				if len(r.kinds) >= mostKinds && r.kinds[kind] == 0 {
					continue
				}
				i := slices.Index(r.nodes, b.n)
				late, why := r.wait(i, j)
				early := why != nil && r.early(i, j)
				if why != nil && !early {
					b.full = why == muchMemory // so it is beside those that follow
					if b.full || !alike {
						r.refused(why, "%s and %s: refused", r.name(b.n), r.name(n))
					}
					continue
				}
				into := &node{kernel: n.kernel, args: n.args, why: because(ReasonOpaque, "it is several launches"), kind: kind, from: slices.Clone(n.from), names: slices.Clone(n.names),
					reads: slices.Concat(b.n.reads, n.reads), writes: slices.Concat(b.n.writes, n.writes), fills: slices.Concat(b.n.fills, n.fills)}
				r.mergeSources(into, b.n)
				if early {
					r.advance(i, j, into)
				} else {
					r.delay(late, j, into)
				}
				r.kinds[kind]++
				delete(batches, b.n)
				delete(batches, n)
				all := &group{n: into, parts: append(b.parts, c.parts...), size: c.size, busy: b.busy + c.busy,
					most: [2]int{max(b.most[0], c.most[0]), max(b.most[1], c.most[1])}}
				batches[into], paths[into] = all, max(paths[b.n], paths[n])
				open[k][at] = all
				found = true
				break
			}
			if !found {
				open[k] = append(open[k], c)
			}
		}
	}
	for _, n := range r.nodes {
		b := batches[n]
		if b == nil {
			continue
		}
		k := b.parts[0].kernel
		var args [][]kernels.Arg
		for _, p := range b.parts {
			args = append(args, p.args)
		}
		n.kernel, n.args = fused.Batch(k, len(b.parts)), fused.BatchArgs(k, r.target, args...)
		n.chain, n.by = b.parts, "batch-launches"
		r.did("%s: one launch", r.name(n))
		made = true
	}
	return made
}

// groupOf returns a group of one launch, nil if the launch is done alone.
func (r *rewriter) groupOf(n *node) *group {
	if n.once || n.chain != nil || n.why == dynamicSize {
		return nil
	}
	if n.m != nil && n.fused {
		k, args, err := n.m.launch(r.target)
		if err != nil {
			return nil // which rewriteLaunches returns
		}
		n.kernel, n.args, n.fused = k, args, false
	}
	if fused.MaxBatch(n.kernel, r.target) == 1 {
		return nil
	}
	grid := n.kernel.Grid(n.args, r.target)
	if grid.Empty() {
		return nil
	}
	size, own := grid.Local, groups(grid)
	if r.numbered(n.kernel) {
		size = [3]int{}
	}
	if own[0]*own[1] > mostGroupsGPU || r.target.CPU && own[0]*own[1] > mostGroupsCPU {
		return nil
	}
	return &group{n: n, parts: []rowPart{{kernel: n.kernel, args: n.args}}, size: size, most: own, busy: own[0] * own[1]}
}

// numbered reports whether launches of a kernel together have work-groups of their own each, of one
// size.
func (r *rewriter) numbered(k *kernels.Kernel) bool {
	return fused.Of(k).Batch.GroupRanges != nil && !r.target.CPU
}

// fit reports whether there can be a launch that does both.
func (r *rewriter) fit(b, c *group) bool {
	k, n := b.parts[0].kernel, len(b.parts)+len(c.parts)
	if n > fused.MaxBatch(k, r.target) || b.size != c.size {
		return false
	}
	if r.numbered(k) {
		return true
	}
	busy := b.busy + c.busy
	return n*max(b.most[0], c.most[0])*max(b.most[1], c.most[1]) <= busy+busy/2+idleGroups
}

// criticalPaths returns the length of the longest chain of dependent launches from each to the end.
func (r *rewriter) criticalPaths() map[*node]int {
	paths := map[*node]int{}
	for i, n := range slices.Backward(r.nodes) {
		if n == nil {
			continue
		}
		high := 0
		r.after(i, len(r.nodes), func(_ int, c *node) { high = max(high, paths[c]) })
		paths[n] = high + 1
	}
	return paths
}

// after calls f with launches before place j that have to be done after the one at i, some perhaps
// more than once.
func (r *rewriter) after(i, j int, f func(k int, c *node)) {
	n := r.nodes[i]
	for _, writes := range []bool{true, false} {
		list, users := n.reads, r.writers
		if writes {
			list, users = n.writes, r.uses
		}
		for k := range list {
			g := &list[k]
			r.among(users[g.buf], i+1, j, func(k int, c *node) bool {
				if c.wrote(g) || writes && c.read(g) {
					f(k, c)
				}
				return true
			})
		}
	}
}

// wait returns the launch at i and those before j that have to be done after it, ascending, if it
// is done at j together with what is there; or why it is not.
func (r *rewriter) wait(i, j int) (late []int, why *cause) {
	if r.dependents[r.nodes[i]][r.nodes[j]] {
		return nil, dependent
	}
	late = []int{i}
	found := make([]bool, j+1-i)
	for next := 0; next < len(late); next++ {
		depends := false
		r.after(late[next], j+1, func(k int, _ *node) {
			depends = depends || k == j
			if !found[k-i] {
				found[k-i] = true
				late = append(late, k)
			}
		})
		if depends {
			r.dependents[r.nodes[i]] = r.dependentsOf(i)
			return nil, dependent
		}
	}
	slices.Sort(late)
	kept := 0 // elements
	counted := map[kernels.Buffer]bool{}
	for _, at := range late {
		n := r.nodes[at]
		for k := range n.reads {
			g := &n.reads[k]
			size := g.span.hi - g.span.lo
			if size <= smallRead || r.lives(g.buf) || counted[g.buf] || !r.between(i, j) {
				continue
			}
			counted[g.buf] = true
			used := false
			r.touch(g.buf, j, len(r.nodes), func(int, *node) bool { used = true; return false })
			if !used {
				kept += size
			}
			if kept > largeReads || r.target.CPU && kept > 0 {
				return nil, muchMemory
			}
		}
	}
	return late, nil
}

// dependentsOf returns all launches that have to be done after the one at i.
func (r *rewriter) dependentsOf(i int) map[*node]bool {
	all := map[*node]bool{}
	for list := []int{i}; len(list) > 0; {
		last := list[len(list)-1]
		list = list[:len(list)-1]
		r.after(last, len(r.nodes), func(k int, c *node) {
			if !all[c] {
				all[c] = true
				list = append(list, k)
			}
		})
	}
	return all
}

// read reports whether a launch reads elements of a region.
func (n *node) read(g *region) bool {
	return slices.ContainsFunc(n.reads, func(h region) bool { return g.overlaps(&h) })
}

// delay puts a launch in the place of those at late[0] and at j, and the others of late behind it.
func (r *rewriter) delay(late []int, j int, into *node) {
	i := late[0]
	r.drop(r.nodes[i])
	r.drop(r.nodes[j])
	if len(late) == 1 {
		r.forget(i)
		r.nodes[i], r.nodes[j] = nil, into
		r.note(j)
		return
	}
	var first []*node
	last := []*node{into}
	for k := i + 1; k < j; k++ {
		n := r.nodes[k]
		if _, waits := slices.BinarySearch(late, k); waits {
			last = append(last, n)
		} else {
			first = append(first, n)
		}
	}
	for k := i; k <= j; k++ {
		r.forget(k)
	}
	copy(r.nodes[i:], append(append([]*node{nil}, first...), last...))
	for k := i; k <= j; k++ {
		if r.nodes[k] != nil {
			r.note(k)
		}
	}
}

// early reports whether the launch at j can be done with that at i, before what is between them, and does not
// keep much memory for as long.
func (r *rewriter) early(i, j int) bool {
	n := r.nodes[j]
	if r.depend(r.nodes[i], n) || !r.movable(n, i, j) {
		return false
	}
	kept := 0
	for k := range n.writes {
		g := &n.writes[k]
		if size := g.span.hi - g.span.lo; size > smallRead && !r.lives(g.buf) {
			kept += size
		}
	}
	return kept == 0 || !r.target.CPU && kept <= largeReads
}

// advance puts a launch in the place of those at i and at j, at i.
func (r *rewriter) advance(i, j int, into *node) {
	r.drop(r.nodes[i])
	r.drop(r.nodes[j])
	r.forget(j)
	r.nodes[i], r.nodes[j] = into, nil
	r.note(i)
}

// between reports whether there is a launch between two places.
func (r *rewriter) between(i, j int) bool {
	return slices.ContainsFunc(r.nodes[i+1:j], func(n *node) bool { return n != nil })
}
