package replay

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
)

// rowsPass makes one launch of launches that work on rows, of which the later read what the
// former write: reductions of rows, softmax, norms, cross-entropy, and the maps before, between and
// after them, such as a residual that is added before a norm, or what a user wrote for a softmax of
// his own. Each work-group does the first for its own rows, then the second: see fused.FuseVertical.
// So it does small launches of any rows, in one work-group.
//
// It is refused where
//   - neither is a reduction of rows, or they have not as many rows
//   - a row reads or writes what another writes
//   - what is done between them keeps either from going where the other is
//   - the former would keep more memory, longer
//   - there would be few work-groups, of which each has much to do
//   - their work-groups have different numbers of rows; where one is to do all, several of a launch
//     for CPUs whose work-groups have a number
//   - there would be more than 12 launches in one, or of kernels that are built with different
//     options
//   - a map is strided along its rows, reads indices, or is of other types than floats
//   - the device computes the launch wrongly
//   - a function of a driver would be computed in vectors in one and alone in the other.
var rowsPass = rewrite{"rows", "makes one launch of reductions of rows with what precedes and follows them", fuseRows}

const (
	rowsFar   = 64      // places that two launches may be apart
	rowsAlone = 1 << 13 // elements of a launch that one work-group does alone
	rowsLong  = 1 << 13 // the same of each work-group, where a GPU has more units than there are of those
	rowsChunk = 4096    // elements of a launch that a work-group of a CPU does
)

// rowPart is a launch of a chain.
type rowPart struct {
	kernel *kernels.Kernel
	args   []kernels.Arg
	of     *fused.RowTiling
	m      *mapping // of a map, else nil: what it was before it was cut into rows. It is cut anew when the chain grows
}

func fuseRows(r *rewriter) {
	for j := range r.nodes {
		for i := j - 1; i >= max(0, j-rowsFar); i-- {
			p, c := r.nodes[i], r.nodes[j]
			if c == nil || c.why == dynamicSize {
				break
			}
			if p == nil || p.once || p.why == dynamicSize || !p.feeds(c) || p.m != nil && c.m != nil {
				continue
			}
			if !p.rowwise() || !c.rowwise() {
				continue
			}
			at := r.place(i, j)
			chain, alone, why := []rowPart(nil), false, betweenThem
			switch {
			case at == j && r.keeps(p, i, j):
				why = because(ReasonMemory, "the former would keep what it reads, which is more than its result")
			case at >= 0:
				chain, alone, why = r.chain(p, c)
			}
			if why != nil {
				r.refused(why, "%s and %s: refused", r.name(p), r.name(c))
				continue
			}
			r.did("%s and %s: one launch", r.name(p), r.name(c))
			r.fuseChain(i, j, at, chain, alone)
		}
	}
	for _, n := range r.nodes {
		if n != nil && n.form != nil {
			n.kernel, n.form = n.form.kernel(n.args), nil
		}
	}
}

// feeds reports whether another launch reads what a launch writes.
func (n *node) feeds(c *node) bool {
	return slices.ContainsFunc(c.reads, func(g region) bool { return n.wrote(&g) })
}

// rowwise reports whether a launch may be one by rows.
func (n *node) rowwise() bool {
	return n.chain != nil || n.m != nil || fused.Of(n.kernel).Rows != nil
}

// chain returns the launches of two nodes as one by rows, and whether one work-group is to do them
// alone; or why there is none.
func (r *rewriter) chain(p, c *node) (chain []rowPart, alone bool, why *cause) {
	for _, alone = range []bool{false, true} {
		rows := 1
		for _, n := range []*node{c, p} {
			if n.chain != nil {
				for _, part := range n.chain {
					if part.m == nil {
						rows = part.of.Rows
					}
				}
			} else if n.m == nil {
				of := fused.RowTilingOf(n.kernel, n.args, r.target)
				if of == nil {
					return nil, false, because(ReasonOpaque, "%s does not work on rows", r.name(n))
				}
				rows = of.Rows
			}
		}
		chain = nil
		var first *cause
		for _, n := range []*node{p, c} {
			var parts []rowPart
			if parts, first = r.parts(n, rows, alone); first != nil {
				break
			}
			chain = append(chain, parts...)
		}
		if first == nil {
			if first = r.checkVertical(chain, alone); first == nil {
				return chain, alone, nil
			}
		}
		if why == nil {
			why = first
		}
	}
	return nil, false, why
}

// parts returns the launches of a node by rows: a map has as many as it is asked for.
func (r *rewriter) parts(n *node, rows int, alone bool) (parts []rowPart, why *cause) {
	switch {
	case n.chain != nil:
		for _, part := range n.chain {
			if part.m != nil {
				if part, why = r.mapOf(part.m, rows, alone); why != nil {
					return nil, why
				}
			}
			parts = append(parts, part)
		}
		return parts, nil
	case n.m != nil:
		part, why := r.mapOf(n.m, rows, alone)
		return []rowPart{part}, why
	}
	return []rowPart{{n.kernel, n.args, fused.RowTilingOf(n.kernel, n.args, r.target), nil}}, nil
}

// mapOf is mapRows, of a map that one work-group does alone with rows of its innermost axis, else
// of one element.
func (r *rewriter) mapOf(m *mapping, rows int, alone bool) (part rowPart, why *cause) {
	n := intmath.Product(m.dims)
	if !alone || n == 0 {
		return r.mapRows(m, rows)
	}
	if part, why = r.mapRows(m, n/inner(m.dims)); why != nil {
		part, why = r.mapRows(m, n)
	}
	return part, why
}

// mapRows returns a map as a launch by rows, or why it is none.
func (r *rewriter) mapRows(m *mapping, rows int) (part rowPart, why *cause) {
	n := intmath.Product(m.dims)
	switch {
	case m.typ != kernels.Float32:
		return part, because(ReasonTypes, "a map is of %v", m.typ)
	case n == 0 || n%rows != 0:
		return part, because(ReasonShape, "a map of %d elements has not %d rows", n, rows)
	}
	outer, parts, ok := refine(m.dims, []int{rows, n / rows})
	if !ok {
		return part, because(ReasonShape, "a map of %v has not %d rows", m.dims, rows)
	}
	var dims []int
	along := 0
	for k, p := range outer {
		dims = append(dims, p.n)
		if parts[k].dim == 1 {
			along++
		}
	}
	if along > 1 {
		return part, because(ReasonAccess, "a row of a map is not one axis")
	}
	split := m.in(nil, func(v view) view {
		w := view{v.buf, v.off, nil}
		for _, p := range outer {
			w.strides = append(w.strides, v.strides[p.dim]*p.by)
		}
		if len(dims) == along { // one row
			w.strides = append([]int{0}, w.strides...)
		}
		if along == 0 { // of one element
			w.strides = append(w.strides, 1)
		}
		return w
	})
	if len(dims) == along {
		dims = append([]int{1}, dims...)
	}
	if along == 0 {
		dims = append(dims, 1)
	}
	split.dims = dims
	if why = split.problem(); why != nil {
		return part, why
	}
	if !r.alike(m, split, true) {
		return part, otherVectors
	}
	k, args, err := split.launch(r.target)
	if err != nil || fused.Of(k).Rows == nil {
		return part, because(ReasonAccess, "a map is strided along its rows")
	}
	return rowPart{k, args, fused.RowTilingOf(k, args, r.target), m}, nil
}

// width is how many elements a row has in the largest argument.
func (p *rowPart) width() int {
	most := 1
	for _, c := range p.of.Slices {
		most = max(most, c.Width)
	}
	return most
}

// checkVertical says why there is no chain of launches, nil if there is. alone says that one work-group is to
// do them.
func (r *rewriter) checkVertical(chain []rowPart, alone bool) *cause {
	if len(chain) > fused.MaxVertical {
		return because(ReasonLimit, "there would be too many in one")
	}
	rows := chain[0].of.Rows
	for i := range chain {
		p := &chain[i]
		switch {
		case alone && p.of.Rows*p.width() > rowsAlone:
			return because(ReasonCost, "one work-group would do too much")
		case alone:
			continue
		case p.of.Rows != rows:
			return because(ReasonShape, "one has %d rows, and another %d", rows, p.of.Rows)
		}
		for k := range chain[:i] {
			if why := p.apart(&chain[k], rows); why != nil {
				return why
			}
		}
	}
	run, groups := r.run(chain, alone)
	if run == 0 {
		return because(ReasonShape, "their work-groups have different numbers of rows")
	}
	if !alone && !r.target.CPU && groups < r.target.Units {
		for i := range chain {
			if run*chain[i].width() > rowsLong {
				return because(ReasonCost, "there would be few work-groups, each with much to do")
			}
		}
	}
	form, _ := r.chainForm(chain, alone)
	switch {
	case !fused.CanFuseVertical(form.parts):
		return because(ReasonLimit, "their kernels are built with different options, or have too many arguments")
	case len(r.kinds) >= mostKinds && r.kinds[form.key()] == 0:
		return manyKernels(len(r.kinds), "others")
	}
	return nil
}

// apart says why a row may read or write in one launch what another row does in the other, nil if
// none does.
func (p *rowPart) apart(q *rowPart, rows int) *cause {
	for i, a := range p.args {
		for k, b := range q.args {
			if a.Kind != kernels.ArgBuffer || b.Kind != kernels.ArgBuffer || a.Buf != b.Buf || a.Off >= b.Off+b.N || b.Off >= a.Off+a.N {
				continue
			}
			if !p.kernel.Params[i].Mode.Written() && !q.kernel.Params[k].Mode.Written() {
				continue
			}
			if c, d := p.of.Slice(i), q.of.Slice(k); c.Used() && d.Used() && !c.Agrees(a.Off, d, b.Off, rows) {
				return because(ReasonAliasing, "a row would read or write what another row writes")
			}
		}
	}
	return nil
}

// run returns how many rows a work-group of a chain has, 0 if the launches do not agree, and how
// many work-groups there are.
func (r *rewriter) run(chain []rowPart, alone bool) (run, groups int) {
	most := 0
	for i := range chain {
		most = max(most, chain[i].of.Rows)
	}
	if alone {
		for i := range chain {
			if of := chain[i].of; r.target.CPU && of.Run > 0 && of.Rows > of.Run { // the function does one run
				return 0, 0
			}
		}
		return most, 1
	}
	for i := range chain {
		run = max(run, chain[i].of.Run)
	}
	if run == 0 {
		wide := 1
		for i := range chain {
			wide = max(wide, chain[i].width())
		}
		run = max(1, rowsChunk/wide)
	}
	for i := range chain {
		if of := chain[i].of.Run; of > 0 && (r.target.CPU && of != run || run%of != 0) {
			return 0, 0
		}
	}
	return run, (most + run - 1) / run
}

// fuseChain puts a chain in the place of two nodes, at one of theirs.
func (r *rewriter) fuseChain(i, j, at int, chain []rowPart, alone bool) {
	p, c := r.nodes[i], r.nodes[j]
	n := &node{chain: chain, by: "rows", why: because(ReasonOpaque, "it does several launches by rows"), from: slices.Clone(c.from), names: slices.Clone(c.names)}
	r.mergeSources(n, p)
	n.writes, n.fills = append(slices.Clone(p.writes), c.writes...), append(slices.Clone(p.fills), c.fills...)
	n.reads = slices.Clone(p.reads)
	for _, g := range c.reads {
		if !slices.ContainsFunc(p.fills, func(s span2) bool { return s.buf == g.buf && s.lo <= g.span.lo && g.span.hi <= s.hi }) {
			n.reads = append(n.reads, g)
		}
	}
	n.form, n.args = r.chainForm(chain, alone)
	r.drop(p)
	r.drop(c)
	r.nodes[i], r.nodes[j] = nil, nil
	r.nodes[at] = n
	n.fused, n.kind = true, n.form.key()
	r.kinds[n.kind]++
	r.note(at)
}

// chainForm is what the kernel of a chain depends on. The kernel is built when the chain grows no more:
// its text is long.
type chainForm struct {
	parts []*kernels.Kernel
	loops []bool // by launch: see [fused.FuseVertical]
	on    kernels.Target
}

// chainForm returns the form of a chain, and the arguments of its launch.
func (r *rewriter) chainForm(chain []rowPart, alone bool) (*chainForm, []kernels.Arg) {
	run, groups := r.run(chain, alone)
	form := &chainForm{loops: make([]bool, len(chain)), on: r.target}
	var args, numbers []kernels.Arg
	for i, p := range chain {
		form.parts = append(form.parts, p.kernel)
		args = append(args, p.args...)
		n := p.of.Rows
		if !r.target.CPU && !fused.Of(p.kernel).Rows.Free {
			n = run / p.of.Run
			if alone {
				n = (p.of.Rows + p.of.Run - 1) / p.of.Run
			}
			form.loops[i] = n != 1
		}
		numbers = append(numbers, kernels.IntArg(n))
	}
	return form, append(append(args, numbers...), kernels.IntArg(run), kernels.IntArg(groups))
}

// key is the same for the same form.
func (f *chainForm) key() string {
	var s strings.Builder
	fmt.Fprint(&s, f.on.CPU, " ")
	for i, k := range f.parts {
		fmt.Fprintf(&s, "%p %t,", k, f.loops[i]) // a chain keeps its kernels
	}
	return s.String()
}

// chains are the kernels of chains that recordings made: those of one structure share one. They are
// there as long as a recording is.
var chains struct {
	sync.Mutex
	of map[string]weak.Pointer[kernels.Kernel]
}

// tried returns the launches of a chain: one where the device computes that rightly, else those
// that it is of.
func (r *rewriter) tried(n *node) []*node {
	if r.device == nil {
		return []*node{n}
	}
	err := r.device.try(n.kernel, n.args)
	if err == nil {
		return []*node{n}
	}
	r.doing = n.by
	r.refused(because(ReasonDevice, "%v: %v", wrongly, err), "%s: refused", r.name(n))
	var list []*node
	for _, p := range n.chain {
		part := *n
		part.kernel, part.args, part.chain, part.fused = p.kernel, p.args, nil, false
		list = append(list, &part)
	}
	return list
}

// kernel returns the kernel of a form. args are those of a launch.
func (f *chainForm) kernel(args []kernels.Arg) *kernels.Kernel {
	chains.Lock()
	defer chains.Unlock()
	key := f.key()
	if k := chains.of[key].Value(); k != nil {
		return k
	}
	k := fused.FuseVertical(f.parts, f.loops, args, f.on)
	if chains.of == nil {
		chains.of = map[string]weak.Pointer[kernels.Kernel]{}
	}
	if len(chains.of) >= mostJoins {
		maps.DeleteFunc(chains.of, func(_ string, p weak.Pointer[kernels.Kernel]) bool { return p.Value() == nil })
	}
	chains.of[key] = weak.Make(k)
	return k
}
