package fusedmlp

import (
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kernels/operation"
	"github.com/clgrad/clgrad/replay/fusion"
)

// value is the symbolic value of a contiguous memory region: the operation (kind) and the values that
// produced it. A copy has the value of what it copies, so that two regions may have one.
type value struct {
	kind valueKind
	n    int // elements

	region region // of what was found

	// A product of a [rows, depth] and b [depth, cols]; in parts of its sum, which lie one after
	// the other, if they are more than one. One that was added up from parts knows them as from.
	rows, cols, depth, parts int
	a, b                     matrix

	value *expr.Expr // of a map: of these, as operands
	of    []broadcast

	// The sums of x [count, inner] over shares, of which there are some, one after the other.
	x                    *value
	count, inner, shares int

	// A piece is such sums of some elements of x, from the one at start. A sum that was added up
	// from pieces knows them.
	start  int
	pieces []*value

	lines *labelledRows // of what a cross-entropy leaves
	slope *value        // of its gradient: the gradient of the loss of every line

	from *value // what it was made of, without being another formula
}

// labelledRows are scores with a label of each, and maybe weights of classes, of which a cross-entropy
// made the losses, what each counts, and three more for the gradient.
type labelledRows struct {
	x, labels *value
	weights   *value // nil: none
	operation.CrossEntropySpec
	smoothing float64
	parts     [5]*value
}

// valueKind says which formula it is.
type valueKind uint8

const (
	found valueKind = iota // none: it was there before the step, or what made it has no formula here
	aProduct
	aMap
	aSum
	aPiece
	aLoss      // a part of what a cross-entropy leaves
	aLossSlope // the gradient of its scores
)

// region is contiguous elements of memory.
type region struct {
	memory any // a kernels.Buffer, or the temporary of a launch
	span
}

// matrix is a value of rows and columns, or its transpose: rows and cols are those after that.
type matrix struct {
	*value
	rows, cols int
	transposed bool
}

// is reports whether a matrix is h as it lies, or h transposed. A matrix of one row or column lies as its
// transpose does.
func (m matrix) is(h *value, transposed bool) bool {
	return m.value == h && (m.transposed == transposed || m.rows == 1 || m.cols == 1)
}

// broadcast is a value that a map reads: each element at its place, or those of a row again in every
// row, or one for all.
type broadcast struct {
	*value
	how broadcastKind
}

type broadcastKind uint8

const (
	each broadcastKind = iota
	byRow
	forAll
)

// write is that a node wrote to memory.
type write struct {
	region
	node  int
	value *value // nil: what no formula here says
}

// temporaryOf is memory that is there for the time of a launch.
type temporaryOf struct{ node, number int }

// dataFlow is what the launches of a step leave in memory, as formulas.
type dataFlow struct {
	step     fusion.Step
	launches []fusion.Recorded
	losses   []*labelledRows // in the order of their launches
	writes   map[any][]write // by memory, in the order of the step
	founds   map[foundKey]*value
	all      []*value // that operations made
	by       map[int][]write
}

// foundKey identifies what is found: the same elements, with the same last write before.
type foundKey struct {
	region
	last int
}

// newDataFlow goes through the launches of a step.
func newDataFlow(s fusion.Step) *dataFlow {
	f := &dataFlow{step: s, launches: s.Launches(), writes: map[any][]write{}, founds: map[foundKey]*value{},
		by: map[int][]write{}}
	for i := range f.launches {
		l := &f.launches[i]
		if l.Operations == nil {
			for _, g := range l.Writes {
				f.wrote(write{region{g.Buf, span{g.Off, g.Off + g.N}}, i, nil})
			}
		}
		for _, op := range l.Operations {
			f.operation(i, l, op)
		}
	}
	return f
}

func (f *dataFlow) wrote(w write) {
	f.writes[w.memory] = append(f.writes[w.memory], w)
	if _, temporary := w.memory.(temporaryOf); !temporary {
		f.by[w.node] = append(f.by[w.node], w)
	}
}

// operation notes what an operation of a launch writes.
func (f *dataFlow) operation(i int, n *fusion.Recorded, op kernels.Op) {
	_, writes := op.Views()
	dims := fusion.ResultDims(op)
	at := func(v kernels.View) write { return write{f.placeOf(i, n, v, dims), i, nil} }
	switch op := op.(type) {
	case *operation.Map:
		for _, part := range f.inPieces(i, n, op) {
			values := f.mapped(i, n, part)
			for k, r := range part.Results {
				w := write{f.placeOf(i, n, r.View, part.Dims), i, nil}
				if intmath.Dense(r.View.Strides, part.Dims) {
					w.value = values[k]
				}
				f.wrote(w)
			}
		}
		return
	case *operation.MatMul:
		w := at(op.C)
		if intmath.Dense(op.C.Strides, dims) {
			w.value = f.product(i, n, op)
		}
		f.wrote(w)
		return
	case *operation.Reduction:
		for _, part := range f.alone(i, n, op) {
			dims := fusion.ResultDims(part)
			w := write{f.placeOf(i, n, part.Y, dims), i, nil}
			if intmath.Dense(part.Y.Strides, dims) {
				w.value = f.sum(i, n, part)
			}
			f.wrote(w)
			if part.Index.Strides != nil {
				f.wrote(write{f.placeOf(i, n, part.Index, dims), i, nil})
			}
		}
		return
	case *operation.CrossEntropy:
		f.crossEntropy(i, n, op)
		return
	case *operation.CrossEntropyGrad:
		f.crossEntropyGrad(i, n, op)
		return
	}
	for _, v := range writes {
		w := at(v)
		if dims == nil { // anywhere
			w.span = span{0, math.MaxInt} // all of a temporary
			if v.Arg >= 0 {
				w.span = span{n.Args[v.Arg].Off, n.Args[v.Arg].Off + n.Args[v.Arg].N}
			}
		}
		f.wrote(w)
	}
}

func memoryOf(i int, n *fusion.Recorded, v kernels.View) any {
	if v.Arg < 0 {
		return temporaryOf{i, v.Arg}
	}
	return n.Args[v.Arg].Buf
}

// placeOf is the elements that a view lies within.
func (f *dataFlow) placeOf(i int, n *fusion.Recorded, v kernels.View, dims []int) region {
	off := v.Offset
	if v.Arg >= 0 {
		off += n.Args[v.Arg].Off
	}
	return region{memoryOf(i, n, v), spanOf(off, v.Strides, dims)}
}

// span is elements [lo, hi).
type span struct{ lo, hi int }

// spanOf returns the elements that a view lies within.
func spanOf(off int, strides, dims []int) span {
	s := span{off, off + 1}
	for d, n := range dims {
		if n == 0 {
			return span{off, off}
		}
		if by := (n - 1) * strides[d]; by < 0 {
			s.lo += by
		} else {
			s.hi += by
		}
	}
	return s
}

// valueAt returns the value of a region now.
func (f *dataFlow) valueAt(p region) *value {
	last := -1
	list := f.writes[p.memory]
	for k := len(list) - 1; k >= 0; k-- {
		w := &list[k]
		if w.span == p.span && w.value != nil {
			return w.value
		}
		if w.lo < p.hi && p.lo < w.hi {
			last = w.node
			break
		}
	}
	key := foundKey{p, last}
	h := f.founds[key]
	if h == nil {
		h = &value{n: p.hi - p.lo, region: p}
		f.founds[key] = h
	}
	return h
}

func (f *dataFlow) made(h *value) *value {
	f.all = append(f.all, h)
	return h
}

// read returns what a view of a map holds; nil if it is of other elements than broadcast knows.
func (f *dataFlow) read(i int, n *fusion.Recorded, v kernels.View, dims []int) *broadcast {
	if v.Type != kernels.Float32 || len(dims) != len(v.Strides) {
		return nil
	}
	p := f.placeOf(i, n, v, dims)
	if intmath.Dense(v.Strides, dims) {
		return &broadcast{f.valueAt(p), each}
	}
	rows := len(dims)
	for d := range dims {
		if dims[d] != 1 && v.Strides[d] != 0 {
			rows = d
			break
		}
	}
	switch {
	case rows == len(dims):
		return &broadcast{f.valueAt(p), forAll}
	case intmath.Dense(v.Strides[rows:], dims[rows:]):
		return &broadcast{f.valueAt(p), byRow}
	}
	return nil
}

// mapped returns the results of a map, nil where they are no formula of what broadcast knows.
func (f *dataFlow) mapped(i int, n *fusion.Recorded, m *operation.Map) []*value {
	operands := make([]*broadcast, len(m.Operands))
	for k, v := range m.Operands {
		if m.Uses(k) && m.Elements == nil {
			operands[k] = f.read(i, n, v, m.Dims)
		}
	}
	results := make([]*value, len(m.Results))
	for k, r := range m.Results {
		results[k] = f.formula(n, r, operands, intmath.Product(m.Dims))
	}
	return results
}

// formula is one result of a map.
func (f *dataFlow) formula(n *fusion.Recorded, r operation.Result, operands []*broadcast, count int) *value {
	fn := r.Function
	if fn.Indexed() || fn.Condition() || fn.Whole() || r.View.Type != kernels.Float32 {
		return nil
	}
	h := &value{kind: aMap, n: count}
	known := true
	to := map[int]int{}
	h.value = fn.Value.Replace(func(x int) *expr.Expr {
		if operands[x] == nil || fn.Mask(x) {
			known = false
			return expr.Const(0)
		}
		if _, ok := to[x]; !ok {
			to[x] = len(h.of)
			h.of = append(h.of, *operands[x])
		}
		return expr.Input(to[x])
	}, func(s int) *expr.Expr {
		v := r.Scalars[s]
		if v.Arg >= 0 {
			if scalars, _, _ := n.Args[v.Arg].StepScalar(); scalars != nil {
				known = false
			}
		}
		return expr.Const(v.In(n.Args, kernels.Float32))
	})
	switch {
	case !known:
		return nil
	case len(h.of) == 1 && h.of[0].how == each && (h.value.IsOperand(0) || same(h.value, expr.Input(0).Mul(expr.Const(1)))):
		return h.of[0].value
	}
	return f.made(h)
}

// product is what a product makes, nil unless its operands are contiguous matrices of float32, and so is what it makes.
func (f *dataFlow) product(i int, n *fusion.Recorded, p *operation.MatMul) *value {
	if len(p.Batch) > 0 || p.K == 0 || p.A.Type != kernels.Float32 || p.B.Type != p.A.Type || p.C.Type != p.A.Type {
		return nil
	}
	read := func(v kernels.View, rows, cols int) *matrix {
		m := &matrix{rows: rows, cols: cols}
		dims := []int{rows, cols}
		switch {
		case intmath.Dense(v.Strides, dims):
		case intmath.Dense([]int{v.Strides[1], v.Strides[0]}, []int{cols, rows}):
			m.transposed = true
		default:
			return nil
		}
		m.value = f.valueAt(f.placeOf(i, n, v, dims))
		return m
	}
	a, b := read(p.A, p.M, p.K), read(p.B, p.K, p.N)
	if a == nil || b == nil {
		return nil
	}
	parts := (p.K + p.Slice - 1) / p.Slice
	return f.made(&value{kind: aProduct, n: parts * p.M * p.N, rows: p.M, cols: p.N, depth: p.K, parts: parts,
		a: *a, b: *b})
}

// sum is what a reduction makes. One with several outer elements makes as many shares.
func (f *dataFlow) sum(i int, n *fusion.Recorded, r *operation.Reduction) *value {
	dims := []int{r.Outer, r.Len, r.Inner}
	if r.Function != fn.Add || r.Interleaved || r.Outer*r.Len == 0 || r.Outer > 1 && r.Shares > 1 || r.X.Type != kernels.Float32 || !intmath.Dense(r.X.Strides, dims) {
		return nil
	}
	x, count, shares := f.valueAt(f.placeOf(i, n, r.X, dims)), r.Outer*r.Len, max(r.Outer, r.Shares)
	switch {
	case count == 1 && shares == 1:
		if h := f.inPart(x.region, count, r.Inner, shares); x.kind == found && h != nil { // the one row that runs leave over
			return f.made(h)
		}
		return x
	case r.Shares > 1:
	case shares == 1 && x.kind == aProduct && x.parts == count && r.Inner == x.rows*x.cols:
		whole := *x
		whole.n, whole.parts, whole.from = r.Inner, 1, x
		return f.made(&whole)
	case x.kind == aSum && x.shares == count && x.inner == r.Inner:
		whole := *x
		whole.n, whole.shares, whole.from = shares*r.Inner, shares, x
		return f.made(&whole)
	case x.kind == found:
		if h := f.inPart(x.region, count, r.Inner, shares); h != nil {
			return f.made(h)
		}
	}
	return f.made(&value{kind: aSum, n: shares * r.Inner, x: x, count: count, inner: r.Inner, shares: shares})
}

// fewSums is the most sums of neighbours that get a value each.
const fewSums = 8

// alone returns the reductions that one with several outer elements stands for, if they are few,
// and what each reads was made alone.
func (f *dataFlow) alone(i int, n *fusion.Recorded, r *operation.Reduction) []*operation.Reduction {
	first := r.X
	if r.Outer < 2 || r.Outer > fewSums || r.Index.Strides != nil ||
		!f.knows(f.placeOf(i, n, first, []int{1, r.Len, r.Inner})) {
		return []*operation.Reduction{r}
	}
	var list []*operation.Reduction
	for o := range r.Outer {
		part := *r
		part.Outer = 1
		part.X.Offset += o * r.X.Strides[0]
		part.Y.Offset += o * r.Y.Strides[0]
		list = append(list, &part)
	}
	return list
}

// inPieces returns the maps that one of few elements stands for, if each of those that it reads was
// made alone.
func (f *dataFlow) inPieces(i int, n *fusion.Recorded, m *operation.Map) []*operation.Map {
	whole := []*operation.Map{m}
	if len(m.Dims) != 1 || m.Dims[0] < 2 || m.Dims[0] > fewSums || m.Elements != nil || !slices.ContainsFunc(m.Operands, func(v kernels.View) bool {
		return len(v.Strides) == 1 && v.Strides[0] != 0 && f.knows(f.placeOf(i, n, v, []int{1}))
	}) {
		return whole
	}
	at := func(v kernels.View, k int) kernels.View {
		if len(v.Strides) == 1 {
			v.Offset += k * v.Strides[0]
			v.Strides = nil
		}
		return v
	}
	var list []*operation.Map
	for k := range m.Dims[0] {
		part := &operation.Map{Codegen: m.Codegen}
		for _, v := range m.Operands {
			part.Operands = append(part.Operands, at(v, k))
		}
		for _, r := range m.Results {
			r.View = at(r.View, k)
			part.Results = append(part.Results, r)
		}
		list = append(list, part)
	}
	return list
}

// knows reports whether the last that was written of a place is a formula, and of that place alone.
func (f *dataFlow) knows(p region) bool {
	for _, w := range slices.Backward(f.writes[p.memory]) {
		if w.lo < p.hi && p.lo < w.hi {
			return w.value != nil && w.span == p.span
		}
	}
	return false
}

// crossEntropy notes what one leaves, as formulas if its lines lie one after the other.
func (f *dataFlow) crossEntropy(i int, n *fusion.Recorded, op *operation.CrossEntropy) {
	dims := []int{op.Outer, op.Inner}
	l := f.linesOf(i, n, &op.CrossEntropySpec)
	if l != nil {
		f.losses = append(f.losses, l)
	}
	for k, v := range []kernels.View{op.Loss, op.Counted, op.Most, op.LogSum, op.Slope} {
		w := write{f.placeOf(i, n, v, dims), i, nil}
		if l != nil && intmath.Dense(v.Strides, dims) {
			l.parts[k] = f.made(&value{kind: aLoss, n: op.Outer, lines: l})
			w.value = l.parts[k]
		}
		f.wrote(w)
	}
}

// crossEntropyGrad notes the gradient of one, as a formula if that of the loss is the same for
// every line.
func (f *dataFlow) crossEntropyGrad(i int, n *fusion.Recorded, op *operation.CrossEntropyGrad) {
	dims, whole := []int{op.Outer, op.Inner}, []int{op.Outer, op.Len, op.Inner}
	w := write{f.placeOf(i, n, op.D, whole), i, nil}
	g, l := f.read(i, n, op.G, dims), f.linesOf(i, n, &op.CrossEntropySpec)
	if l != nil && g != nil && g.n == 1 && intmath.Dense(op.D.Strides, whole) {
		if of := f.lossOf(i, n, op, l); of != nil {
			w.value = f.made(&value{kind: aLossSlope, n: intmath.Product(whole), lines: of, slope: g.value})
		}
	}
	f.wrote(w)
}

// lossOf returns the lines of the loss of which a launch is the gradient, nil if there is none. That
// of logarithms reads nothing that the loss left: it is of any with these labels.
func (f *dataFlow) lossOf(i int, n *fusion.Recorded, op *operation.CrossEntropyGrad, l *labelledRows) *labelledRows {
	dims := []int{op.Outer, op.Inner}
	for _, of := range slices.Backward(f.losses) {
		if of.labels != l.labels || !of.sameLoss(l) {
			continue
		}
		left := !op.Logits || of.x == l.x
		for k, v := range []kernels.View{op.Most, op.LogSum, op.Slope} {
			left = left && (!op.Logits || intmath.Dense(v.Strides, dims) && f.valueAt(f.placeOf(i, n, v, dims)) == of.parts[2+k])
		}
		if left {
			return of
		}
	}
	return nil
}

// linesOf returns the lines of a launch that lie one after the other; nil for others.
func (f *dataFlow) linesOf(i int, n *fusion.Recorded, l *operation.CrossEntropySpec) *labelledRows {
	if l.Smoothing.Arg >= 0 {
		if scalars, _, _ := n.Args[l.Smoothing.Arg].StepScalar(); scalars != nil {
			return nil
		}
	}
	whole, dims := []int{l.Outer, l.Len, l.Inner}, []int{l.Outer, l.Inner}
	if l.Inner != 1 || l.X.Strides != nil && !intmath.Dense(l.X.Strides, whole) || !intmath.Dense(l.Labels.Strides, dims) {
		return nil
	}
	all := &labelledRows{labels: f.valueAt(f.placeOf(i, n, l.Labels, dims)), CrossEntropySpec: *l,
		smoothing: l.Smoothing.In(n.Args, kernels.Float32)}
	if l.X.Strides != nil {
		all.x = f.valueAt(f.placeOf(i, n, l.X, whole))
	}
	if l.Weighted {
		if classes := []int{l.Len}; intmath.Dense(l.Weights.Strides, classes) {
			all.weights = f.valueAt(f.placeOf(i, n, l.Weights, classes))
		} else {
			return nil
		}
	}
	return all
}

// sameLoss reports whether two launches compute the loss alike.
func (l *labelledRows) sameLoss(m *labelledRows) bool {
	return l.Len == m.Len && l.Logits == m.Logits && l.weights == m.weights && l.Ignore == m.Ignore && l.smoothing == m.smoothing
}

// parents are the contents that h is made of.
func (h *value) parents() []*value {
	var list []*value
	switch h.kind {
	case aProduct:
		list = []*value{h.a.value, h.b.value}
	case aMap:
		for _, o := range h.of {
			list = append(list, o.value)
		}
	case aSum, aPiece:
		list = append([]*value{h.x}, h.pieces...)
	case aLoss:
		list = []*value{h.lines.x, h.lines.labels}
		if h.lines.weights != nil {
			list = append(list, h.lines.weights)
		}
	case aLossSlope:
		list = append([]*value{h.slope}, h.lines.parts[2:]...)
	}
	if h.from != nil {
		list = append(list, h.from)
	}
	return list
}

// mostSteps is how many steps a formula has at most.
const mostSteps = 40

// formulas are contents as formulas of some of them, element by element.
type formulas struct {
	one   *value // what holds 1
	known map[*value]*expr.Expr
}

// formulasOf returns formulas in which expr.Input(k) is atoms[k].
func formulasOf(one *value, atoms ...*value) *formulas {
	known := map[*value]*expr.Expr{}
	for k, a := range atoms {
		if a != nil {
			known[a] = expr.Input(k)
		}
	}
	return &formulas{one, known}
}

// formula returns h as one, nil if it is none.
func (f *formulas) formula(h *value) *expr.Expr {
	if x, ok := f.known[h]; ok {
		return x
	}
	if h == f.one {
		return expr.Const(1)
	}
	f.known[h] = nil
	if h.kind != aMap {
		return nil
	}
	all := true
	value := h.value.Replace(func(i int) *expr.Expr {
		o := h.of[i]
		var x *expr.Expr
		switch {
		case o.value == f.one:
			x = expr.Const(1)
		case o.how == each, o.how == forAll && o.n == 1 && h.n == 1:
			x = f.formula(o.value)
		case o.how == forAll && o.n == 1: // a number of numbers alone
			x = (&formulas{f.one, map[*value]*expr.Expr{}}).formula(o.value)
		}
		if x == nil {
			all = false
			return expr.Const(0)
		}
		return x
	}, expr.Param)
	if all && expr.Compile(value).Steps() <= mostSteps {
		f.known[h] = value
	}
	return f.known[h]
}
