package replay

import (
	"slices"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/kernels"
)

// lookedUp has a launch look up what it reads in a table, where that consists of parts of which few
// differ, such as the encodings of the columns and the rows of a picture: the launch that made it
// writes where they lie, and the table is made when the step is recorded. See fused.Lookup.
//
// It is refused where
//   - anything else reads or writes that memory, or either launch does otherwise, too
//   - it is there before or after the run
//   - the launch that writes it has no form for that, or one of other parts; or the table would not
//     be the same in all runs
//   - there is no place for the launch that makes the table
//   - the table is nearly as large as what it stands for, or larger than a step should keep
//   - the device computes one of the launches wrongly.
var lookedUp = rewrite{"lookup", "looks up what consists of parts of which few differ", lookUp}

func lookUp(r *rewriter) {
	if r.device == nil {
		return
	}
	for j, n := range r.nodes {
		if n == nil || !launched(n) || fused.Of(n.kernel).Lookup == nil || fused.Of(n.kernel).Lookup.Table != nil {
			continue
		}
		i, why := r.writesParts(j)
		if why == nil {
			why = r.lookUpIn(i, j)
		}
		if why != nil {
			r.refused(why, "%s: refused", r.name(n))
		}
	}
}

// launched reports whether the kernel of a node is what is launched, in each run.
func launched(n *node) bool { return !n.fused && n.chain == nil && !n.once }

// writesParts returns the launch that writes, in parts, what the one at j reads and nothing else
// does. If there is none, it says why.
func (r *rewriter) writesParts(j int) (i int, why *cause) {
	n := r.nodes[j]
	form := fused.Of(n.kernel).Lookup
	a := n.args[form.Param]
	if r.lives(a.Buf) || r.constant(a.Buf) {
		return 0, because(ReasonUsed, "what it reads is there before or after the run")
	}
	i, why = -1, because(ReasonUnsupported, "no launch writes what it reads")
	r.touch(a.Buf, 0, len(r.nodes), func(k int, c *node) bool {
		switch own := fused.Of(c.kernel).Lookup; {
		case k == j:
			return true
		case k > j || i >= 0:
			why = because(ReasonUsed, "%s reads or writes what it reads, too", r.name(c))
		case !launched(c) || own == nil || own.Table == nil:
			why = because(ReasonUnsupported, "%s does not write it in parts", r.name(c))
		case own.Parts != form.Parts || own.Rows(c.args) != form.Rows(n.args):
			why = because(ReasonShape, "%s writes it in other parts", r.name(c))
		default:
			i, why = k, nil
		}
		return why == nil
	})
	if why != nil {
		return 0, why
	}
	for _, c := range []*node{r.nodes[i], n} {
		for k, b := range c.args {
			if b.Kind == kernels.ArgBuffer && b.Buf == a.Buf &&
				(k != fused.Of(c.kernel).Lookup.Param || b.Off != a.Off || b.N != a.N) {
				return 0, because(ReasonUsed, "%s reads or writes it otherwise, too", r.name(c))
			}
		}
	}
	return i, nil
}

// lookUpIn has the launch at i write where the parts lie that the one at j reads. If that cannot
// be, it says why.
func (r *rewriter) lookUpIn(i, j int) (why *cause) {
	writer, reader := r.nodes[i], r.nodes[j]
	rows := reader.args[fused.Of(reader.kernel).Lookup.Param]
	kernel, rest, n := fused.Of(writer.kernel).Lookup.Table(writer.args)
	real := rows.Buf.DType()
	place := i + slices.Index(r.nodes[i:j], nil) // where a launch was that is fused with another: the table's takes it
	switch {
	case place < i:
		return because(ReasonUnsupported, "there is no launch between it and the one that writes what it reads")
	case slices.ContainsFunc(rest, func(a kernels.Arg) bool { s, _, _ := a.StepScalar(); return s != nil }):
		return because(ReasonDynamicSize, "the table is not the same in all runs")
	case 2*n > rows.N || n*real.Size() > onceBytes:
		return because(ReasonCost, "the table is too large")
	}
	parts := fused.Of(reader.kernel).Lookup.Rows(reader.args) * fused.Of(reader.kernel).Lookup.Parts
	at, table := kernels.BufferArg(r.newBuffer(kernels.Int32, parts), 0, parts), kernels.BufferArg(r.newBuffer(real, n), 0, n)
	made := &node{kernel: kernel, args: append([]kernels.Arg{table}, rest...), from: writer.from, names: writer.names, once: true}
	writes := &node{kernel: fused.Of(writer.kernel).Lookup.Kernel, args: slices.Clone(writer.args), from: writer.from,
		names: writer.names}
	writes.args[fused.Of(writer.kernel).Lookup.Param] = at
	reads := &node{kernel: fused.Of(reader.kernel).Lookup.Kernel, args: append(slices.Clone(reader.args), table),
		from: reader.from, names: reader.names}
	reads.args[fused.Of(reader.kernel).Lookup.Param] = at
	for _, c := range []*node{made, writes, reads} {
		if err := r.device.try(c.kernel, c.args); err != nil {
			return because(ReasonDevice, "%v", err)
		}
		r.describe(c)
	}
	r.did("%s: looks up what %s makes in a table of %d", r.name(reader), r.name(writer), n)
	for at, c := range map[int]*node{i: writes, place: made, j: reads} {
		r.nodes[at] = c
		r.note(at)
	}
	return nil
}
