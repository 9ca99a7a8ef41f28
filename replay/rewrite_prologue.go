package replay

import (
	"slices"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
)

// prologuePass computes what a launch reads by rows where it reads it: maps and gathers, of what
// a batch is drawn from or encoded of, say, within the fused step of a perceptron. See
// fused.FusePrologue.
//
// It is refused where
//   - the launch gains nothing, as one of many rows, or on a CPU, which computes rows faster side
//     by side
//   - anything else reads a result of theirs, or it is there after the run
//   - what they read is written before the launch
//   - they do not say what they compute, or may round otherwise than that says; or do so once,
//     since it is the same in every run
//   - they write a result in another order than rows, or of another type than floats
//   - they read much more than they write
//   - the device computes the launch wrongly.
var prologuePass = rewrite{"prologue-fusion", "computes maps and gathers where launches by rows read their results",
	fusePrologues}

func fusePrologues(r *rewriter) {
	if r.device == nil {
		return
	}
	for i, n := range r.nodes {
		if n != nil && n.m == nil && n.chain == nil &&
			slices.ContainsFunc(fused.Of(n.kernel).Prologues,
				func(l fused.PrologueSpec) bool { return l.Worth(n.args, r.target) }) {
			r.inputs(i, n)
		}
	}
}

// inputs computes what makes the operands of a launch in it: first what it reads itself, and then
// what that is made of.
func (r *rewriter) inputs(i int, n *node) {
	none := n.args[slices.IndexFunc(n.kernel.Params, func(p kernels.Param) bool { return p.Mode == kernels.Out })]
	none.N = 0 // of memory that the launch writes anyway
	var taken []int
	var kernel *kernels.Kernel
	var args []kernels.Arg
	for grew := true; grew; {
		grew = false
		for _, j := range r.sources(i, n, taken) {
			with := append(slices.Clone(taken), j)
			slices.Sort(with)
			why := r.apart(i, n, j, with)
			if why == nil {
				k, a, err := r.from(n, with, none)
				if err == nil {
					taken, kernel, args, grew = with, k, a, true
					break
				}
				why = failed(err)
			}
			r.refused(why, "%s: refused in %s", r.name(r.nodes[j]), r.name(n))
		}
	}
	if kernel == nil {
		return
	}
	if err := r.device.try(kernel, args); err != nil {
		r.refused(because(ReasonDevice, "%v", err), "refused in %s", r.name(n))
		return
	}
	into := &node{kernel: kernel, args: args, from: slices.Clone(n.from), names: slices.Clone(n.names)}
	for _, j := range taken {
		r.did("%s: computed within %s", r.name(r.nodes[j]), r.name(n))
		r.mergeSources(into, r.nodes[j])
		r.leave(j)
	}
	r.analyze(into)
	r.nodes[i] = into
	r.note(i)
}

// from returns the kernel of a launch that computes what others make, and its arguments.
func (r *rewriter) from(n *node, makers []int, none kernels.Arg) (*kernels.Kernel, []kernels.Arg, error) {
	var parts []fused.Launch
	for _, k := range makers {
		m := r.nodes[k]
		part := fused.Launch{Kernel: m.kernel, Args: m.args}
		if m.fused {
			var err error
			if part.Kernel, part.Args, err = m.m.launch(r.target); err != nil {
				return nil, nil, err
			}
		}
		parts = append(parts, part)
	}
	return fused.FusePrologue(n.kernel, n.args, parts, none)
}

// sources returns the launches that last write what a launch reads by rows, and what those that it
// takes read.
func (r *rewriter) sources(i int, n *node, taken []int) []int {
	var list []int
	last := func(g *region, before int) {
		at := -1
		r.touch(g.buf, 0, before, func(k int, c *node) bool {
			if c.wrote(g) {
				at = k
			}
			return true
		})
		if at >= 0 && !slices.Contains(taken, at) && !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	for _, l := range fused.Of(n.kernel).Prologues {
		a := n.args[l.Operand]
		last(&region{buf: a.Buf, span: span{a.Off, a.Off + a.N}}, i)
	}
	for _, j := range taken {
		for k := range r.nodes[j].reads {
			last(&r.nodes[j].reads[k], j)
		}
	}
	return list
}

// apart says why a launch cannot be left out where others compute what it does, nil if it can.
func (r *rewriter) apart(i int, n *node, j int, with []int) *cause {
	c := r.nodes[j]
	switch {
	case c.once:
		return because(ReasonUnsupported, "it is done once")
	case !c.described || c.chain != nil:
		return c.why
	}
	for k := range c.writes {
		w := &c.writes[k]
		if r.liveOut(w, j) {
			return staysBehind
		}
		for _, q := range r.readers(w, j) {
			if q != i && !slices.Contains(with, q) {
				return because(ReasonUsed, "%s reads its result", r.name(r.nodes[q]))
			}
		}
		for k, a := range n.args {
			if a.Kind == kernels.ArgBuffer && a.Buf == w.buf &&
				!slices.ContainsFunc(fused.Of(n.kernel).Prologues, func(l fused.PrologueSpec) bool { return l.Operand == k }) {
				return because(ReasonUsed, "its result is read otherwise, too")
			}
		}
	}
	reads, writes := 0, 0
	for k := range c.reads {
		g := &c.reads[k]
		if at := r.firstConflict(g, j+1, i+1, false, true); at >= 0 {
			return because(ReasonDependence, "%s changes what it reads", r.name(r.nodes[at]))
		}
		if c.m != nil && !slices.Contains(c.m.operands[k].strides, 0) {
			reads += g.span.hi - g.span.lo
		}
	}
	for _, g := range c.writes {
		writes += g.span.hi - g.span.lo
	}
	if reads > writes {
		return because(ReasonCost, "it reads more than it writes")
	}
	return nil
}
