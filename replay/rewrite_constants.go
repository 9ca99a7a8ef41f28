package replay

import (
	"maps"
	"slices"

	"github.com/clgrad/clgrad/kernels"
)

// constantPass does launches when the step is recorded, and not in each run, that only read what never
// changes: constants that the step uploads, such as a table of positions, those of
// [Options.Constants], such as the weights of a model that only runs, and what is made of them.
//
// It is refused where
//   - a number of the launch is a step scalar
//   - the result is there after the run, or a launch that is not done once writes to its memory
//   - its memory is read before all of it is there
//   - the launch does not write its result whole
//   - all such results take more memory than a step should keep.
//
// A launch that reads nothing, such as a fill, is done once if one that is done once reads it.
var constantPass = rewrite{"constant-folding", "does launches that only read constants when the step is recorded",
	foldConstants}

// onceBytes is what the results of launches that are done once may take, beside four times what
// constants take: as much as weights that are transformed for Winograd's convolutions.
const onceBytes = 16 << 20

func foldConstants(r *rewriter) {
	able := map[int]bool{}               // of nodes that read only what is known: whether they write whole
	makers := map[kernels.Buffer][]int{} // of memory that is known: all nodes that write it
	left := int64(onceBytes)
	for b := range r.uses {
		if r.constant(b) {
			left += 4 * bytesOf(b)
		}
	}
	unknown := func(g region) bool { return makers[g.buf] == nil && !r.constant(g.buf) }
	for i, n := range r.nodes {
		if n == nil || len(n.writes) == 0 || n.scalar() || slices.ContainsFunc(n.reads, unknown) {
			continue
		}
		able[i] = n.fillsAll()
		made := r.made(i, n, able)
		bytes := int64(0)
		for b := range made {
			bytes += bytesOf(b)
		}
		if bytes <= left {
			left -= bytes
			maps.Copy(makers, made)
		}
	}
	var once func(i int)
	once = func(i int) {
		n := r.nodes[i]
		if n.once {
			return
		}
		n.once = true
		for _, g := range slices.Concat(n.reads, n.writes) {
			for _, k := range makers[g.buf] {
				once(k)
			}
		}
	}
	for i, n := range r.nodes {
		switch _, known := able[i]; {
		case !known || len(n.reads) == 0:
		case makers[n.writes[0].buf] != nil:
			r.did("%s: reads constants alone", r.name(n))
			once(i)
		default:
			why := because(ReasonUsed, "others write its result, it is there after the run, or takes too much memory")
			r.refused(why, "%s: refused", r.name(n))
		}
	}
}

// made returns the memory of which node i is the last writer, and all writers of each, if they are able to be done once
// before anything reads it. Several writers write nothing else.
func (r *rewriter) made(i int, n *node, able map[int]bool) map[kernels.Buffer][]int {
	made := map[kernels.Buffer][]int{}
	for _, g := range n.writes {
		var writers []int
		fit := !r.lives(g.buf)
		r.touch(g.buf, 0, len(r.nodes), func(k int, other *node) bool {
			if !other.written(g.buf) {
				fit = fit && k > i
				return true
			}
			writers = append(writers, k)
			fit = fit && able[k]
			return true
		})
		fit = fit && writers[len(writers)-1] == i
		for _, k := range writers {
			single := !slices.ContainsFunc(r.nodes[k].writes, func(h region) bool { return h.buf != g.buf })
			reads := slices.ContainsFunc(r.nodes[k].reads, func(h region) bool { return h.buf == g.buf })
			fit = fit && (len(writers) == 1 || single) && !reads
		}
		if !fit {
			return nil
		}
		made[g.buf] = writers
	}
	return made
}

// scalar reports whether a number of the launch changes from run to run.
func (n *node) scalar() bool {
	return slices.ContainsFunc(n.args, func(a kernels.Arg) bool { s, _, _ := a.StepScalar(); return s != nil })
}

// fillsAll reports whether the launch writes whole all that it writes.
func (n *node) fillsAll() bool {
	return !slices.ContainsFunc(n.writes, func(g region) bool { return !n.fillsWhole(&g) })
}
