package replay

import (
	"slices"

	"github.com/clgrad/clgrad/internal/gradsums"
	"github.com/clgrad/clgrad/kernels"
)

// splitKPass has AdamW add up its gradient where it reads it: the sums along an axis that make
// parts of it, such as those of the shares of products and of biases, are done by the work-groups
// that update the parameters, with the same bits.
//
// It is refused where
//   - the device is a CPU, which a launch costs little
//   - a sum is added to what is there, or multiplied by a number, or one of those is a step scalar
//   - anything else reads the part of the gradient, or it is there after the run
//   - what the sum reads is overwritten before the update, or is not only the sum's
//   - memory would be kept longer, and is large
//   - the device computes the launch wrongly.
var splitKPass = rewrite{"split-k-into-adam", "adds the shares of gradients up where AdamW reads them", fuseSplitK}

func fuseSplitK(r *rewriter) {
	if r.target.CPU {
		return
	}
	for j, n := range r.nodes {
		if n == nil || n.once || n.m != nil || n.chain != nil || n.kernel.Semantics == nil || n.why == dynamicSize {
			continue
		}
		if u := gradsums.Registered().Update(n.args, n.kernel.Semantics(n.args)); u != nil {
			r.fuseSplitKInto(j, u)
		}
	}
}

// fuseSplitKInto has the update at j add up the shares of its gradient.
func (r *rewriter) fuseSplitKInto(j int, u gradsums.Update) {
	n, g := r.nodes[j], u.Gradient()
	var nodes []int
	refuse := func(i int, why *cause) {
		r.refused(why, "%s and %s: refused", r.name(r.nodes[i]), r.name(n))
	}
	size := 0
	begins := map[kernels.Buffer]int{} // in one memory, of what the sums read
	for i, c := range r.nodes[:j] {
		if c == nil || c.once || c.m != nil || c.chain != nil || c.why == dynamicSize {
			continue
		}
		if gradsums.Registered().Partials(c.kernel, c.args, 0, 0, r.target) == nil {
			continue
		}
		x, y := c.args[0].Buf, c.args[1]
		if y.Buf != g.Buf || y.Off < g.Off || g.Off+g.N < y.Off+y.N {
			continue
		}
		_, known := begins[x]
		why := r.late(i, j)
		if why == nil && !known && size+x.Len() > largeReads {
			why = muchMemory
		}
		if why != nil {
			refuse(i, why)
			continue
		}
		if !known {
			begins[x] = size
			size = (size + x.Len() + align - 1) / align * align
		}
		nodes = append(nodes, i)
	}
	for again := true; again; { // others may read what a sum does that is refused
		again = false
		nodes = slices.DeleteFunc(nodes, func(i int) bool {
			if r.only(r.nodes[i].args[0].Buf, nodes) {
				return false
			}
			refuse(i, because(ReasonUsed, "others read what it does"))
			again = true
			return true
		})
	}
	if len(nodes) == 0 {
		return
	}
	var sums []gradsums.Partial
	for _, i := range nodes {
		c := r.nodes[i]
		sums = append(sums, gradsums.Registered().Partials(c.kernel, c.args, c.args[1].Off-g.Off, begins[c.args[0].Buf]+c.args[0].Off, r.target)...)
	}
	blocks, all := u.SumBlocks(sums, g.N)
	if all {
		g.N = 0
	}
	memory := r.newBuffer(u.Gradient().Buf.DType(), size)
	kernel, args := u.SumByTable(g, kernels.BufferArg(memory, 0, size), kernels.BufferArg(&table{blocks}, 0, len(blocks)))
	if r.device != nil && r.device.try(kernel, args) != nil {
		r.refused(wrongly, "%s: refused", r.name(n))
		return
	}
	into := &node{kernel: kernel, args: args, from: slices.Clone(n.from), names: slices.Clone(n.names)}
	for _, i := range nodes {
		b := r.nodes[i].args[0].Buf
		r.mergeSources(into, r.nodes[i])
		r.leave(i)
		if at, left := begins[b]; left {
			delete(begins, b)
			r.move(b, memory, at)
		}
	}
	r.analyze(into)
	r.nodes[j] = into
	r.note(j)
	r.did("%s: one launch", r.name(into))
}

// only reports whether memory is written by launches that can write to other memory, and read by
// some launches alone.
func (r *rewriter) only(b kernels.Buffer, by []int) bool {
	fine := true
	r.touch(b, 0, len(r.nodes), func(at int, n *node) bool {
		fine = n.m == nil && n.late == nil && n.chain == nil && !n.once && (slices.Contains(by, at) || n.written(b))
		return fine
	})
	return fine
}

// late says why the sum at i cannot be done by the update at j, nil if it can.
func (r *rewriter) late(i, j int) (why *cause) {
	c := r.nodes[i]
	for k := range c.writes {
		y := &c.writes[k]
		if readers := r.readers(y, i); r.liveOut(y, i) || len(readers) != 1 || readers[0] != j {
			return because(ReasonUsed, "the gradient is read by others, or is there after the run")
		}
		if r.firstConflict(y, i+1, j, true, true) >= 0 {
			return because(ReasonDependence, "the gradient is read or written before the update")
		}
	}
	for k := range c.reads {
		x := &c.reads[k]
		if r.lives(x.buf) || r.constant(x.buf) {
			return because(ReasonUsed, "what it reads is there before or after the run")
		}
		if r.firstConflict(x, i+1, j, false, true) >= 0 {
			return because(ReasonDependence, "what it reads is overwritten before the update")
		}
	}
	return nil
}

// move has all launches use memory from an element of other memory on in place of its own.
func (r *rewriter) move(b, to kernels.Buffer, at int) {
	for i, n := range r.nodes {
		if n == nil || !slices.ContainsFunc(n.args, func(a kernels.Arg) bool { return a.Kind == kernels.ArgBuffer && a.Buf == b }) {
			continue
		}
		n.args = slices.Clone(n.args)
		for k := range n.args {
			if a := &n.args[k]; a.Kind == kernels.ArgBuffer && a.Buf == b {
				a.Buf, a.Off = to, a.Off+at
			}
		}
		for _, list := range [][]region{n.reads, n.writes} {
			for k := range list {
				if g := &list[k]; g.buf == b {
					g.buf, g.span = to, span{g.span.lo + at, g.span.hi + at}
				}
			}
		}
		for k := range n.fills {
			if f := &n.fills[k]; f.buf == b {
				f.buf, f.span = to, span{f.lo + at, f.hi + at}
			}
		}
		r.note(i)
	}
	delete(r.uses, b)
	delete(r.writers, b)
}

// table is memory of ints that are the same in all runs.
type table struct{ ints []int32 }

// DType returns Int32.
func (*table) DType() kernels.DType { return kernels.Int32 }

// Len returns how many there are.
func (t *table) Len() int { return len(t.ints) }
