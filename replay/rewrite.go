package replay

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/operation"
	"github.com/clgrad/clgrad/replay/fusion"
)

// A rewriter makes fewer launches of those that a step did, with the same results. It knows of each
// launch which memory it reads and writes, and of maps the formulas. Memory that the step made is
// followed through the whole step, for nobody sees it afterwards; that of outputs and of older
// tensors is there to the end, and each of its elements has to be what the step left.

// region is elements that a launch reads or writes: those of a view or, without dims, all of a
// span.
type region struct {
	buf  kernels.Buffer
	span span
	view view
	dims []int
}

// overlaps reports whether two regions may have an element in common.
func (a *region) overlaps(b *region) bool {
	if a.buf != b.buf || a.span.hi <= b.span.lo || b.span.hi <= a.span.lo {
		return false
	}
	return a.dims == nil || b.dims == nil || !disjoint(a.view, a.dims, b.view, b.dims)
}

// node is a launch as it is rewritten. Its place in the step is that in rewriter.nodes.
type node struct {
	kernel *kernels.Kernel
	args   []kernels.Arg
	from   []int    // the launches of the step that it does, ascending
	names  []string // of their kernels
	m      *mapping // the formulas of the launch; nil if it is no map
	why    *cause   // where m is nil: why it is no map. If slotted, most rewrites leave the launch alone
	// late is the formulas of an optimizer's update (operation.Map.ExactRounding), where m is nil. Epilogue alone uses
	// them.
	late *mapping
	// fused: a rewrite changed m, and rewriteLaunches makes kernel and args anew; or there is a chain by rows.
	fused bool
	// chain is the launches that the kernel does: by rows, one after the other; by batch-launches, each in
	// work-groups of its own. They are launched one by one where the device computes the kernel wrongly.
	chain  []rowPart
	form   *chainForm // of a chain whose kernel is not built yet
	by     string     // the rewrite that made it of them
	reads  []region
	writes []region
	fills  []span2 // that it writes whole
	kind   string  // of the kernel that is made for it, if one is

	described bool // the kernel says what it computes
	once      bool // it is done when the step is recorded, and not in each run
}

// span2 is a span of a buffer.
type span2 struct {
	buf kernels.Buffer
	span
}

type rewriter struct {
	opt      *Options
	target   kernels.Target
	nodes    []*node                 // nil: fused with another, or left out
	first    []*node                 // of registered fusions, done when the step is recorded: before those of nodes that are, too
	hoisted  map[kernels.Buffer]bool // that first writes
	lives    func(b kernels.Buffer) bool
	constant func(b kernels.Buffer) bool
	uses     map[kernels.Buffer][]int // the nodes that name a buffer, ascending; some no longer
	writers  map[kernels.Buffer][]int // those of uses that write it
	// dependents are the nodes that surely depend on some node, however these are ordered: see wait.
	dependents map[*node]map[*node]bool
	kinds      map[string]int // how many nodes there are of each kind
	device     *device        // nil: kernels are not tried here, and no fusion is looked for
	// decisions are what was fused and what not.
	decisions []*decision
	doing     string // the name of the pass that is done now
	panicked  error  // of a registered fusion: fusion.ErrPanic
}

// rewriteLaunches returns launches that do what those of the step do. lives reports whether memory
// is seen after a run, and constant whether it is the same in all runs; dev takes what was found
// of registered fusions.
func rewriteLaunches(opt *Options, limits kernels.Target, launches []capture.Launch, lives, constant func(b kernels.Buffer) bool, dev *device) ([]*node, error) {
	r := &rewriter{opt: opt, target: limits, device: dev, lives: lives, uses: map[kernels.Buffer][]int{},
		writers: map[kernels.Buffer][]int{},
		kinds:   map[string]int{}, dependents: map[*node]map[*node]bool{}, hoisted: map[kernels.Buffer]bool{}}
	r.constant = func(b kernels.Buffer) bool { return r.hoisted[b] || constant(b) }
	for i, l := range launches {
		n := &node{kernel: l.Kernel, args: l.Args, from: []int{i}, names: []string{l.Kernel.Name}}
		r.analyze(n)
		r.nodes = append(r.nodes, n)
		r.note(i)
	}
	if dev != nil {
		for _, n := range r.nodes {
			was := *n
			dev.step = append(dev.step, &was)
		}
		defer func() { dev.decisions = r.decisions }()
	}
	for _, w := range rewrites() {
		if !opt.without(w.name) {
			r.doing = w.name
			r.timed(w)
		}
		if r.panicked != nil {
			return nil, r.panicked
		}
	}
	if !opt.without(deadPass.name) {
		r.doing = deadPass.name
		eliminateDead(r) // what the others made so
	}
	list := r.first
	for _, n := range r.nodes {
		if n == nil {
			continue
		}
		if n.fused && n.m != nil {
			var err error
			if n.kernel, n.args, err = n.m.launch(limits); err != nil {
				return nil, err
			}
		}
		if n.chain != nil {
			list = append(list, r.tried(n)...)
			continue
		}
		list = append(list, n)
	}
	return list, nil
}

// timed does a pass, and notes how long it took without the kernels that it had built.
func (r *rewriter) timed(w rewrite) {
	if r.device == nil || r.device.times == nil {
		w.do(r)
		return
	}
	start, before := time.Now(), *r.device.building
	w.do(r)
	r.device.times.Passes = append(r.device.times.Passes, PassTime{w.name, time.Since(start) - (*r.device.building - before)})
}

// analyze finds out what a launch reads and writes, from what it says of itself if it does.
func (r *rewriter) analyze(n *node) {
	k, args := n.kernel, n.args
	var ops []kernels.Op
	switch {
	case k.Semantics == nil:
		n.why = notDescribed
	case k.Grid(args, r.target).Empty():
		n.why = because(ReasonShape, "it has nothing to do")
	default:
		if ops = k.Semantics(args); len(ops) == 0 {
			n.why = notDescribed
		}
	}
	sizes := dynamicSizes(args, ops)
	if sizes {
		n.why = dynamicSize
	} else if n.why == nil {
		n.m, n.why = mappingOf(k, args, ops)
		if op, ok := ops[0].(*operation.Map); ok && n.m != nil && op.ExactRounding {
			n.m, n.late, n.why = nil, n.m, because(ReasonOpaque, "it updates what others read, by a kernel of its own")
		}
	}
	n.described = len(ops) > 0 && !sizes
	if n.m != nil {
		r.ofMap(n)
		return
	}
	keeps, fills := effects(args, ops)
	for i, p := range k.Params {
		a := &args[i]
		if a.Kind != kernels.ArgBuffer || a.N == 0 {
			continue
		}
		g := region{buf: a.Buf, span: span{a.Off, a.Off + a.N}}
		if p.Mode.Written() {
			n.writes = append(n.writes, g)
		}
		only := !p.Mode.Read() // written
		if whole := only && !k.Grid(args, r.target).Empty() || fills[i]; whole && !sizes {
			n.fills = append(n.fills, span2{g.buf, g.span})
		}
		if !only && !(n.described && p.Mode.Written() && !keeps[i]) {
			n.reads = append(n.reads, g)
		}
	}
}

// effects finds out what operations do with the memory of a launch: keeps are arguments of which
// they read what was there before, or that they may leave, in part, as it was; fills those that
// they write whole.
func effects(args []kernels.Arg, ops []kernels.Op) (keeps, fills map[int]bool) {
	keeps, fills = map[int]bool{}, map[int]bool{}
	written := map[int]bool{}
	for _, op := range ops {
		reads, writes := op.Views()
		for _, v := range reads {
			if v.Arg >= 0 && !fills[v.Arg] {
				keeps[v.Arg] = true
			}
		}
		dims := fusion.ResultDims(op)
		for _, v := range writes {
			if v.Arg < 0 {
				continue
			}
			written[v.Arg] = true
			if len(dims) != len(v.Strides) {
				continue
			}
			x := view{args[v.Arg].Buf, v.Offset, v.Strides}
			if _, ok := x.dimStrides(dims); !ok {
				continue
			}
			for _, s := range whole([]view{x}, dims) {
				fills[v.Arg] = fills[v.Arg] || s.lo <= 0 && args[v.Arg].N <= s.hi
			}
		}
	}
	for i := range written {
		keeps[i] = keeps[i] || !fills[i]
	}
	return keeps, fills
}

// dynamicSizes reports whether an int of a launch is a step scalar and may say what it computes: it is no
// scalar of its operations.
func dynamicSizes(args []kernels.Arg, ops []kernels.Op) bool {
	passed := map[int]bool{}
	for _, op := range ops {
		switch op := op.(type) {
		case *operation.Map:
			for _, res := range op.Results {
				for _, s := range res.Scalars {
					passed[s.Arg] = true
				}
			}
		case *operation.Random:
			for _, s := range []operation.Scalar{op.Seed[0], op.Seed[1], op.Call, op.A, op.B} {
				passed[s.Arg] = true
			}
		}
	}
	for i := range args {
		if s, _, _ := args[i].StepScalar(); s != nil && args[i].Kind == kernels.ArgInt && !passed[i] {
			return true
		}
	}
	return false
}

// ofMap sets what a map reads and writes.
func (r *rewriter) ofMap(n *node) {
	m := n.m
	n.reads, n.writes, n.fills = nil, nil, nil
	at := func(v view) region { return region{v.buf, v.span(m.dims), v, m.dims} }
	for _, o := range m.operands {
		n.reads = append(n.reads, at(o.view))
	}
	var views []view
	for _, res := range m.results {
		n.writes = append(n.writes, at(res.view))
		views = append(views, res.view)
	}
	for i, v := range views {
		if slices.ContainsFunc(views[:i], func(w view) bool { return w.buf == v.buf }) {
			continue
		}
		of := slices.DeleteFunc(slices.Clone(views), func(w view) bool { return w.buf != v.buf })
		for _, s := range whole(of, m.dims) {
			n.fills = append(n.fills, span2{v.buf, s})
		}
	}
}

// note adds a node to the uses of the memory that it names.
func (r *rewriter) note(i int) {
	add := func(to map[kernels.Buffer][]int, regions []region) {
		for k := range regions {
			b := regions[k].buf
			if at, found := slices.BinarySearch(to[b], i); !found {
				to[b] = slices.Insert(to[b], at, i)
			}
		}
	}
	add(r.uses, r.nodes[i].reads)
	add(r.uses, r.nodes[i].writes)
	add(r.writers, r.nodes[i].writes)
}

// forget removes a node, if there is one, from the uses of the memory that it names.
func (r *rewriter) forget(i int) {
	n := r.nodes[i]
	if n == nil {
		return
	}
	for _, from := range []map[kernels.Buffer][]int{r.uses, r.writers} {
		for _, list := range [][]region{n.reads, n.writes} {
			for k := range list {
				b := list[k].buf
				if at, found := slices.BinarySearch(from[b], i); found {
					from[b] = slices.Delete(from[b], at, at+1)
				}
			}
		}
	}
}

// touch calls f with the nodes that name a buffer, from one place to before another, until it
// returns false.
func (r *rewriter) touch(b kernels.Buffer, from, to int, f func(i int, n *node) bool) {
	r.among(r.uses[b], from, to, f)
}

// among is touch of the nodes of a list.
func (r *rewriter) among(list []int, from, to int, f func(i int, n *node) bool) {
	at, _ := slices.BinarySearch(list, from)
	for ; at < len(list) && list[at] < to; at++ {
		if n := r.nodes[list[at]]; n != nil && !f(list[at], n) {
			return
		}
	}
}

// firstConflict returns the first node from one place to before another that reads, or writes, elements
// of a region; −1 if none does.
func (r *rewriter) firstConflict(g *region, from, to int, reads, writes bool) int {
	found, list := -1, r.uses[g.buf]
	if !reads {
		list = r.writers[g.buf]
	}
	r.among(list, from, to, func(i int, n *node) bool {
		if reads && slices.ContainsFunc(n.reads, func(h region) bool { return g.overlaps(&h) }) ||
			writes && slices.ContainsFunc(n.writes, func(h region) bool { return g.overlaps(&h) }) {
			found = i
		}
		return found < 0
	})
	return found
}

// readers returns the nodes after i that may read elements of a region as i left them.
func (r *rewriter) readers(g *region, i int) []int {
	var list []int
	r.touch(g.buf, i+1, len(r.nodes), func(k int, n *node) bool {
		if slices.ContainsFunc(n.reads, func(h region) bool { return g.overlaps(&h) }) {
			list = append(list, k)
		}
		return !n.fillsWhole(g)
	})
	return list
}

// fillsWhole reports whether a launch writes all elements of a region.
func (n *node) fillsWhole(g *region) bool {
	return slices.ContainsFunc(n.fills, func(s span2) bool {
		return s.buf == g.buf && s.lo <= g.span.lo && g.span.hi <= s.hi
	})
}

// liveOut reports whether elements of a region, as node i left them, are there after the run.
func (r *rewriter) liveOut(g *region, i int) bool {
	if !r.lives(g.buf) {
		return false
	}
	over := false
	r.touch(g.buf, i+1, len(r.nodes), func(_ int, n *node) bool {
		over = n.fillsWhole(g)
		return !over
	})
	return !over
}

// String returns "3 k_mul + 4 k_add", of many launches the first and the last.
func (l label) String() string {
	var list []string
	for k, i := range l.from {
		list = append(list, fmt.Sprintf("%d %s", i, l.names[k]))
	}
	if last := len(list) - 1; last > 3 {
		return fmt.Sprintf("%s … %s (%d launches)", list[0], list[last], len(list))
	}
	return strings.Join(list, " + ")
}

// mostKinds is how many kernels are made for a recording: a driver takes a tenth of a second or two
// for each.
const mostKinds = 48

// kernelBudget says why a recording makes no further kernel, for a mapping: it has mostKinds, and none is
// of this kind. Nil: it makes one, or has it.
func (r *rewriter) kernelBudget(m *mapping) *cause {
	if len(r.kinds) >= mostKinds && r.kinds[m.kind(r.target)] == 0 {
		return manyKernels(len(r.kinds), "other maps")
	}
	return nil
}

// absorb makes node into, at place i, one that also does what gone did.
func (r *rewriter) absorb(i int, into, gone *node, m *mapping) {
	r.drop(into)
	into.m, into.fused, into.kind = m, true, m.kind(r.target)
	r.kinds[into.kind]++
	r.mergeSources(into, gone)
	r.ofMap(into)
	r.note(i)
}

// mergeSources adds the launches of the step that gone did to those of into.
func (r *rewriter) mergeSources(into, gone *node) {
	into.from, into.names = slices.Clone(into.from), slices.Clone(into.names) // labels keep those that were
	for k, from := range gone.from {
		at, found := slices.BinarySearch(into.from, from)
		if !found {
			into.from, into.names = slices.Insert(into.from, at, from), slices.Insert(into.names, at, gone.names[k])
		}
	}
}

// drop forgets that there is a node of a kind.
func (r *rewriter) drop(n *node) {
	if n.kind != "" {
		if r.kinds[n.kind]--; r.kinds[n.kind] == 0 {
			delete(r.kinds, n.kind)
		}
	}
}

// leave takes a node out.
func (r *rewriter) leave(i int) {
	r.drop(r.nodes[i])
	r.nodes[i] = nil
}

// newBuffer is memory that no launch of the step has. It is planned with the memory of the step.
type newBuffer struct {
	dtype kernels.DType
	n     int
}

func (f *newBuffer) DType() kernels.DType { return f.dtype }
func (f *newBuffer) Len() int             { return f.n }

func (r *rewriter) newBuffer(t kernels.DType, n int) kernels.Buffer { return &newBuffer{t, n} }

// new reports whether memory is fresh, and no launch names it yet.
func (r *rewriter) new(b kernels.Buffer) bool {
	_, is := b.(*newBuffer)
	return is && len(r.uses[b]) == 0 && !r.hoisted[b]
}
