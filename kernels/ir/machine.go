package ir

import (
	"math"
	"unsafe"

	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels/expr"
)

// Machine computes a row program on blocks of lines, a primitive at a time for a whole block. T is
// what it computes in, E what memory holds. It is for one goroutine at a time.
//
// A block is a matrix. If inner is below 16 its rows are lines; else its columns are lines with
// neighbouring inner indices. Where a block has few lines, steps of lines are computed for the lines of several
// blocks, a batch.
type Machine[T, E vec.Float] struct {
	Inputs  [][]E     // by value of the program; nil for one that is no input of floats
	Ints    [][]int32 // the same of ints
	Numbers []float64 // the same of numbers
	Results [][]E     // by result; nil for one that is stored as an int
	// IntResults are the others, by result.
	IntResults [][]int32
	// Sets and Span are those of inputs by channel, or by set.
	Sets, Span int

	p     *Program
	plan  *rowPlan
	loops *vec.Loops[T] // nil: plain ones
	same  bool          // T is E

	n, inner   int
	rows, cols int   // of the block
	across     bool  // lines are columns
	first      int   // line of the block
	batch      int   // lines of the batch that the block is part of
	offset     int   // of the block's first line in the batch
	base       int   // where its first element is in memory, if its rows are runs
	stride     int   // and how far apart they are there
	in, out    [][]T // Inputs and Results, if T is E
	values     []view[T]
	buffers    [element + 1][][]T
	fills      []fill[T] // of steps that are one number
	row        [][]T     // of numbers, for rowOf
	levels     [][]T
	shown      [][]T       // what steps of plan.shown have for the batch
	repeated   map[int][]T // see repeatedRow
	sums       [][]T       // of lines, by result
	pieces     [][]T       // of fused steps, one for each that is being computed
	one        [1]T        // what a row is reduced to
}

// view is what a step has in the block: element (r, c) is at r·stride + c of a matrix. A vector is
// of the lines or the columns, and a single number is the first.
type view[T vec.Float] struct {
	v      []T
	stride int
}

// fill is a number as often as was asked for.
type fill[T vec.Float] struct {
	v []T
	n int
}

// NewMachine returns a machine of a program with the vector loops l, nil for plain ones.
func NewMachine[T, E vec.Float](r *Rows, l *vec.Loops[T]) *Machine[T, E] {
	plan := r.plans[0]
	if l != nil && l.Has(vec.Formulas[0].Function) {
		plan = r.plans[1]
	}
	m := &Machine[T, E]{p: r.p, plan: plan, loops: l, values: make([]view[T], len(plan.steps)), fills: make([]fill[T], len(plan.steps))}
	_, m.same = any(*new(T)).(E)
	for c := range m.buffers {
		m.buffers[c] = make([][]T, plan.buffers[c])
	}
	n := len(r.p.Values)
	m.in, m.out = make([][]T, n), make([][]T, len(r.p.Results))
	m.Inputs, m.Ints, m.Numbers, m.Results = make([][]E, n), make([][]int32, n), make([]float64, n), make([][]E, len(r.p.Results))
	m.IntResults = make([][]int32, len(r.p.Results))
	m.shown, m.repeated = make([][]T, len(plan.shown)), map[int][]T{}
	m.sums = make([][]T, len(r.p.Results))
	return m
}

// What a block has: enough for what a step costs beside its elements, and so little that its values
// stay in a cache.
const (
	blockElements = 2048    // of rows that are shorter: with 4096 some values of a norm do not fit in the first cache
	columnsLeast  = 16      // fewer columns are not worth vectors
	columnsMost   = 1024    // of a block
	columnsBytes  = 1 << 20 // of one value in a block of columns
	foldColumns   = 2048    // of a block of which no value is kept
	batchLines    = 64      // of a batch, where a block has fewer lines
)

// Units returns the number of pieces that Run can compute independently, and the most elements of
// one.
func (m *Machine[T, E]) Units(outer, n, inner int) (units, elements int) {
	if w := m.wide(n, inner); w > 0 {
		return outer * ((inner + w - 1) / w), n * w
	}
	return outer * inner, n
}

// wide returns how many columns a block has, 0 if it is of rows.
func (m *Machine[T, E]) wide(n, inner int) int {
	if inner < columnsLeast || n == 0 {
		return 0
	}
	if m.plan.folds && m.same {
		return min(inner, foldColumns)
	}
	size := 4
	if _, double := any(*new(T)).(float64); double {
		size = 8
	}
	return min(inner, max(columnsLeast, min(columnsMost, columnsBytes/(size*max(n, 1))/columnsLeast*columnsLeast)))
}

// Run computes the pieces [lo, hi) of the lines [outer, n, inner]. If results are sums over the lines of
// runs, these are the lines of one.
func (m *Machine[T, E]) Run(n, inner, lo, hi int) {
	m.n, m.inner = n, inner
	for _, i := range m.plan.numbers {
		m.fills[i].n = 0
	}
	for i, v := range m.repeated {
		m.repeated[i] = v[:0]
	}
	if m.same {
		for i, in := range m.Inputs {
			m.in[i] = *(*[]T)(unsafe.Pointer(&in))
		}
		for k, out := range m.Results {
			m.out[k] = *(*[]T)(unsafe.Pointer(&out))
		}
	}
	for k, r := range m.p.Results {
		if r.Summed {
			m.sums[k] = append(m.sums[k][:0], make([]T, n)...)
		}
	}
	w := m.wide(n, inner)
	m.across = w > 0
	if m.across {
		m.rows, m.cols, m.stride = n, w, inner
	} else {
		m.rows, m.cols, m.stride = 1, n, n
	}
	m.steps(m.plan.once)
	if m.across {
		perRow := (inner + w - 1) / w
		for u := lo; u < hi; u++ {
			i := u % perRow * w
			count := min(w, inner-i)
			m.lines(u/perRow*inner+i, count, count)
		}
		return
	}
	some := max(1, blockElements/max(n, 1))
	switch {
	case !m.same || !m.contiguous():
	case m.plan.picks: // a line is a few numbers
		some = blockElements
	case m.plan.folds && m.fuses(): // no element is kept
		some = max(1, 32*blockElements/max(n, 1))
	case m.plan.small: // less memory is touched
		some = max(1, 4*blockElements/max(n, 1))
	}
	for batch := some * max(1, batchLines/some); lo < hi; lo += batch {
		m.lines(lo, min(batch, hi-lo), some)
	}
	for k, sum := range m.sums {
		for i, v := range sum {
			m.Results[k][i] = E(v)
		}
	}
}

// at returns where element (r, c) of the block is in memory: of element inputs and results.
func (m *Machine[T, E]) at(r, c int) int {
	l, k := m.first+r, c
	if m.across {
		l, k = m.first+c, r
	}
	return l/m.inner*m.n*m.inner + k*m.inner + l%m.inner
}

// contiguous reports whether the rows of the block are contiguous in memory.
func (m *Machine[T, E]) contiguous() bool { return m.across || m.inner == 1 }

// length returns how many elements a vector has.
func (m *Machine[T, E]) length(c class) int {
	switch {
	case c == single:
		return 1
	case c == element:
		return m.rows * m.cols
	case (c == line) == m.across:
		return m.cols
	}
	return m.rows
}

// above reports whether a vector has an element for each row of the block; else each column.
func (m *Machine[T, E]) above(c class) bool { return (c == column) == m.across }

func (m *Machine[T, E]) buffer(s *rowStep) []T {
	n, of := m.length(s.class), &m.buffers[s.class][s.buffer]
	offset, whole := 0, n
	if s.class == line {
		offset, whole = m.offset, m.batch
	}
	if cap(*of) < whole {
		*of = make([]T, whole+whole/4)
	}
	return (*of)[offset : offset+n]
}

// matrix returns the buffer of a step of elements.
func (m *Machine[T, E]) matrix(s *rowStep) view[T] {
	if k := m.plan.homes[s.buffer]; k >= 0 && m.same && m.contiguous() {
		return view[T]{m.out[k][m.base:], m.stride}
	}
	return view[T]{m.buffer(s), m.cols}
}

// lines computes a batch of count lines, in blocks of some.
func (m *Machine[T, E]) lines(first, count, some int) {
	m.batch = count
	m.block(first, 0, count)
	m.steps(m.plan.before)
	for i, step := range m.plan.shown {
		m.shown[i] = m.values[step].v
	}
	for offset := 0; offset < count; offset += some {
		m.block(first, offset, min(some, count-offset))
		for i, step := range m.plan.shown {
			m.values[step].v = m.shown[i][offset:][:m.length(line)]
		}
		m.steps(m.plan.each)
		for _, k := range m.plan.stored {
			m.store(k)
		}
	}
	m.block(first, 0, count)
	for i, step := range m.plan.shown {
		m.values[step].v = m.shown[i]
	}
	for _, step := range m.plan.kept {
		m.values[step].v = m.buffer(&m.plan.steps[step])
	}
	m.steps(m.plan.after)
	for _, k := range m.plan.last {
		m.store(k)
	}
}

// block makes count lines of a batch the block.
func (m *Machine[T, E]) block(first, offset, count int) {
	m.first, m.offset = first+offset, offset
	if m.across {
		m.cols = count
	} else {
		m.rows = count
	}
	m.base = m.at(0, 0)
}

// steps computes some steps, in their order.
func (m *Machine[T, E]) steps(list []int) {
	for _, i := range list {
		s := &m.plan.steps[i]
		switch {
		case s.fused && m.fuses():
		case s.Leaf == expr.None:
			m.primitive(i, s)
		case s.value >= 0:
			m.leaf(i, s)
		case s.Leaf == expr.OfConst:
			m.number(i, s.Value)
		default: // an index
			v := m.buffer(s)
			for k := range v {
				v[k] = T(k)
			}
			m.values[i] = view[T]{v, 0}
		}
	}
}

// number makes a step one number, unless it is that already.
func (m *Machine[T, E]) number(i int, v float64) {
	if f := &m.fills[i]; f.n == 0 {
		f.v, f.n = append(f.v[:0], T(v)), 1
	}
	m.values[i] = view[T]{m.fills[i].v[:1], 0}
}

// spread returns the number that a step is, n times.
func (m *Machine[T, E]) spread(i, n int) []T {
	f := &m.fills[i]
	if f.n < n {
		if cap(f.v) < n {
			f.v = append(make([]T, 0, n+n/4), f.v[0])
		}
		f.v, f.n = f.v[:n], n
		vec.Fill(f.v, f.v[0])
	}
	return f.v[:n]
}

// leaf gives a step the value of the program that it is.
func (m *Machine[T, E]) leaf(i int, s *rowStep) {
	v := &m.p.Values[s.value]
	switch {
	case v.Kind == OneHot:
		m.oneHot(i, s)
	case v.Kind.Made():
		m.reduce(i, s, v.Kind)
	case v.Kind == Length:
		m.number(i, float64(m.n))
	case v.Channel:
		m.values[i] = m.channels(s, m.Inputs[s.value])
	case v.Set:
		to := m.buffer(s)
		for l := range to {
			to[l] = T(m.Inputs[s.value][(m.first+l)/m.Span%m.Sets])
		}
		m.values[i] = view[T]{to, 0}
	case v.Kind == Number:
		m.number(i, m.Numbers[s.value])
	case s.class == element:
		m.values[i] = m.elements(s, m.Inputs[s.value])
	case v.Int:
		lo, hi := m.part(s.class)
		m.values[i] = view[T]{converted(m.buffer(s), m.Ints[s.value][lo:hi]), 0}
		if s.class == single {
			m.fills[i].n = 0
			m.number(i, float64(m.values[i].v[0]))
		}
	default:
		lo, hi := m.part(s.class)
		if m.same {
			m.values[i] = view[T]{m.in[s.value][lo:hi], 0}
		} else {
			m.values[i] = view[T]{converted(m.buffer(s), m.Inputs[s.value][lo:hi]), 0}
		}
		if s.class == single {
			m.fills[i].n = 0
			m.number(i, float64(m.values[i].v[0]))
		}
	}
}

// part returns which elements of a vector the block has.
func (m *Machine[T, E]) part(c class) (lo, hi int) {
	if c&line != 0 {
		return m.first, m.first + m.length(line)
	}
	return 0, m.length(c)
}

func converted[T vec.Float, X float32 | float64 | int32](to []T, from []X) []T {
	for i, v := range from {
		to[i] = T(v)
	}
	return to
}

// elements returns the elements of an input in the block: where they lie, or a copy.
func (m *Machine[T, E]) elements(s *rowStep, in []E) view[T] {
	if m.same && m.contiguous() {
		return view[T]{m.in[s.value][m.base:], m.stride}
	}
	to := m.buffer(s)
	for r := range m.rows {
		if m.contiguous() {
			converted(to[r*m.cols:], in[m.at(r, 0):][:m.cols])
			continue
		}
		at := m.at(r, 0)
		for c := range m.cols {
			to[r*m.cols+c] = T(in[at+c*m.inner])
		}
	}
	return view[T]{to, m.cols}
}

// channels returns the elements of an input by channel.
func (m *Machine[T, E]) channels(s *rowStep, in []E) view[T] {
	if m.same && m.Sets == 1 && m.Span == 1 && !m.across {
		if m.cols > repeatedMost {
			return view[T]{m.in[s.value], 0}
		}
		return view[T]{m.repeatedRow(s.value), m.cols}
	}
	of := m.matrix(s)
	for r := range m.rows {
		row, first := of.v[r*of.stride:][:m.cols], (m.first+r)%m.Sets*(m.cols/m.Span)
		for c := 0; c*m.Span < len(row); c++ {
			vec.Fill(row[c*m.Span:][:m.Span], T(in[first+c]))
		}
	}
	return of
}

// repeatedMost: a row of at most so many channels is written once for each row of a block, so that a loop
// goes over all rows.
const repeatedMost = 512

// repeatedRow returns an input by channel, which all lines have, for each row of the block. It is written
// for the first block of a run.
func (m *Machine[T, E]) repeatedRow(value int) []T {
	n := m.rows * m.cols
	all := m.repeated[value]
	for len(all) < n {
		all = append(all, m.in[value][:m.cols]...)
	}
	m.repeated[value] = all
	return all[:n]
}

// oneHot makes a step 0 but at an index of each line.
func (m *Machine[T, E]) oneHot(i int, s *rowStep) {
	if s.class == column { // all lines have the same
		to := m.buffer(s)
		clear(to)
		if k := m.values[s.at].v[0]; k >= 0 && int(k) < m.n {
			to[int(k)] = m.values[s.of].v[0]
		}
		m.values[i] = view[T]{to, 0}
		return
	}
	to := m.matrix(s)
	for r := range m.rows {
		clear(to.v[r*to.stride:][:m.cols])
	}
	m.values[i] = to
	m.eachHot(s, func(at int, x T) { to.v[at/m.cols*to.stride+at%m.cols] = x })
}

// eachHot calls f with the elements of a one-hot that are not 0.
func (m *Machine[T, E]) eachHot(s *rowStep, f func(at int, x T)) {
	of := func(step, l int) T {
		if v := m.values[step].v; m.plan.steps[step].class != single {
			return v[l]
		}
		return m.values[step].v[0]
	}
	for l := range m.length(line) {
		k := of(s.at, l)
		if !(k >= 0 && int(k) < m.n) {
			continue
		}
		if m.across {
			f(int(k)*m.cols+l, of(s.of, l))
		} else {
			f(l*m.cols+int(k), of(s.of, l))
		}
	}
}

// store puts result k to memory.
func (m *Machine[T, E]) store(k int) {
	r := m.plan.results[k]
	s, v, out := &m.plan.steps[r], m.values[r], m.Results[k]
	if m.p.Results[k].Summed {
		m.addLines(m.sums[k], s, r)
		return
	}
	if c := classOf(m.p.Results[k].Along); c != element {
		lo, hi := m.part(c)
		from := v.v
		if s.class == single {
			from = m.spread(r, hi-lo)
		}
		if m.p.Results[k].Int {
			for i := range m.IntResults[k][lo:hi] {
				m.IntResults[k][lo+i] = int32(min(max(float64(from[i]), math.MinInt32), math.MaxInt32)) // of float32, 2³¹
			}
			return
		}
		for i := range out[lo:hi] {
			out[lo+i] = E(from[i])
		}
		return
	}
	if s.class != element {
		for r := range m.rows {
			m.storeRow(out, r, m.rowOf(m.plan.results[k], r, 0))
		}
		return
	}
	if m.same && m.contiguous() && (len(v.v) == 0 || &m.out[k][m.base] == &v.v[0]) {
		return // it was computed there
	}
	for r := range m.rows {
		m.storeRow(out, r, v.v[r*v.stride:][:m.cols])
	}
}

// addLines adds the lines of the block, the value of step r, to a sum.
func (m *Machine[T, E]) addLines(sum []T, s *rowStep, r int) {
	for l := range m.rows {
		if s.dot {
			m.addProduct(sum, s, l)
		} else {
			m.add(sum, m.rowOf(r, l, 0))
		}
	}
}

// storeRow puts row r of the block to memory.
func (m *Machine[T, E]) storeRow(out []E, r int, from []T) {
	at := m.at(r, 0)
	switch {
	case m.contiguous():
		for c, x := range from {
			out[at+c] = E(x)
		}
	default:
		for c, x := range from {
			out[at+c*m.inner] = E(x)
		}
	}
}

// primitive computes a step of the values of others.
func (m *Machine[T, E]) primitive(i int, s *rowStep) {
	if s.class == single {
		var args [4][]T
		for k, a := range s.Args {
			args[k] = m.values[a].v[:1]
		}
		f := &m.fills[i]
		f.v, f.n = append(f.v[:0], 0), 1
		m.apply(s, f.v, args)
		m.values[i] = view[T]{f.v, 0}
		return
	}
	if s.class != element {
		to := m.buffer(s)
		if len(to) <= expr.Few {
			var args [4][]T
			var strides [4]int
			for k, a := range s.Args {
				if args[k] = m.values[a].v; m.plan.steps[a].class != single {
					strides[k] = 1
				}
			}
			if expr.ApplyFew(&s.Step, to, &args, &strides) {
				m.values[i] = view[T]{to, 0}
				return
			}
		}
		var args [4][]T
		for k, a := range s.Args {
			if args[k] = m.values[a].v; m.plan.steps[a].class == single {
				args[k] = m.spread(a, len(to))
			}
		}
		m.apply(s, to, args)
		m.values[i] = view[T]{to, 0}
		return
	}
	var to view[T]
	if s.result >= 0 && m.same && m.contiguous() { // it is computed where the result lies
		to = view[T]{m.out[s.result][m.base:], m.stride}
	} else {
		to = m.matrix(s)
	}
	m.values[i] = to
	switch {
	case s.hot >= 0:
		m.addHot(to, s)
		return
	case s.Chooses() > 0 && m.perRow(s.Args[0]) && m.perRow(s.Args[s.Chooses()-1]):
		m.choose(to, s)
		return
	}
	n, by := m.rows*m.cols, &s.by[0]
	if m.across {
		by = &s.by[1]
	}
	if m.loops != nil && by[1] >= 0 {
		x, number := m.values[by[0]], m.values[by[1]].v
		switch {
		case m.plan.steps[by[1]].class != single:
			m.loops.MapByRows(s.loop, to.v, x.v, number[:m.rows], m.cols, to.stride, x.stride)
		case to.stride == m.cols && x.stride == m.cols:
			m.loops.MapBy(s.loop, to.v[:n], x.v, number[0])
		default:
			m.loops.MapByRows(s.loop, to.v, x.v, m.spread(by[1], m.rows), m.cols, to.stride, x.stride)
		}
		return
	}
	var args [4][]T
	whole := (s.whole || m.cols <= shortRow && n <= blockElements) && to.stride == m.cols
	for k, a := range s.Args {
		if !whole {
			break
		}
		switch m.plan.steps[a].class {
		case single:
			args[k] = m.spread(a, n)
		case element:
			args[k] = m.values[a].v
			whole = m.values[a].stride == m.cols
		default:
			args[k] = m.expanded(a, k)
		}
	}
	if whole {
		m.apply(s, to.v[:n], args)
		return
	}
	for r := range m.rows {
		for k, a := range s.Args {
			args[k] = m.rowOf(a, r, k)
		}
		m.apply(s, to.v[r*to.stride:][:m.cols], args)
	}
}

// shortRow: for rows of a block of at most so many elements, what rows or columns have one element of
// is written out for all, since starting a loop for each row takes longer.
const shortRow = 64

// expanded returns what a step has one element of for a row, or a column, for each element of the
// block. It lies in place k.
func (m *Machine[T, E]) expanded(a, k int) []T {
	to, v := m.place(k, m.rows*m.cols), m.values[a].v
	for r := range m.rows {
		row := to[r*m.cols:][:m.cols]
		if !m.above(m.plan.steps[a].class) {
			copy(row, v)
			continue
		}
		for c := range row {
			row[c] = v[r]
		}
	}
	return to
}

// place returns memory for n numbers, one for each k.
func (m *Machine[T, E]) place(k, n int) []T {
	for len(m.row) <= k {
		m.row = append(m.row, nil)
	}
	if len(m.row[k]) < n {
		m.row[k] = make([]T, n)
	}
	return m.row[k][:n]
}

// perRow reports whether a step has one element for each row of the block, or one.
func (m *Machine[T, E]) perRow(a int) bool {
	c := m.plan.steps[a].class
	return c == single || c != element && m.above(c)
}

// ofRow returns what a step has for a row.
func (m *Machine[T, E]) ofRow(a, r int) float64 {
	if m.plan.steps[a].class == single {
		r = 0
	}
	return float64(m.values[a].v[r])
}

// addHot sets to to an argument, with a one-hot added or subtracted.
func (m *Machine[T, E]) addHot(to view[T], s *rowStep) {
	m.copyRows(to, s.Args[0])
	sign := T(1)
	if s.Loop() == vec.Sub {
		sign = -1
	}
	m.eachHot(&m.plan.steps[s.hot], func(at int, x T) { to.v[at/m.cols*to.stride+at%m.cols] += sign * x })
}

// copyRows sets to to what a step is, unless it lies there.
func (m *Machine[T, E]) copyRows(to view[T], a int) {
	if from := m.values[a]; m.plan.steps[a].class == element && m.rows*m.cols > 0 && &from.v[0] == &to.v[0] {
		return
	}
	for r := range m.rows {
		copy(to.v[r*to.stride:][:m.cols], m.rowOf(a, r, 0))
	}
}

// choose sets the rows of to to one of two arguments.
func (m *Machine[T, E]) choose(to view[T], s *rowStep) {
	first, aliased := s.Chooses(), -1 // the argument that lies in the memory of to
	for _, a := range s.Args[first:] {
		if m.plan.steps[a].class == element && m.rows*m.cols > 0 && &m.values[a].v[0] == &to.v[0] {
			aliased = a
		}
	}
	for r := range m.rows {
		from := s.Args[first+1]
		if s.Holds(m.ofRow(s.Args[0], r), m.ofRow(s.Args[first-1], r)) {
			from = s.Args[first]
		}
		if from != aliased {
			copy(to.v[r*to.stride:][:m.cols], m.rowOf(from, r, 0))
		}
	}
}

// rowOf returns row r of a step's value, which lies in place k if it is made for that.
func (m *Machine[T, E]) rowOf(a, r, k int) []T {
	v, c := m.values[a], m.plan.steps[a].class
	switch {
	case c == element:
		return v.v[r*v.stride:][:m.cols]
	case c == single:
		return m.spread(a, m.cols)
	case !m.above(c):
		return v.v[:m.cols]
	}
	row := m.place(k, m.cols)
	vec.Fill(row, v.v[r])
	return row
}

func (m *Machine[T, E]) apply(s *rowStep, d []T, args [4][]T) {
	for k := len(s.Args); k < 4; k++ {
		args[k] = args[0]
	}
	expr.Apply(m.loops, &s.Step, d, args[0], args[1], args[2], args[3])
}

// reduce gives a step the reduction of another. A sum overflows where one in E would.
func (m *Machine[T, E]) reduce(i int, s *rowStep, kind Kind) {
	of := &m.plan.steps[s.of]
	to := m.buffer(s)
	if s.class == single { // of what is a column
		f := &m.fills[i]
		f.v, f.n = append(f.v[:0], 0), 1
		to = f.v
	}
	m.values[i] = view[T]{to, 0}
	switch {
	case m.n == 0 && m.p.Values[s.value].Int: // none is the end of the range of ints
		vec.Fill(to, T(min(max(kind.none(), math.MinInt32), math.MaxInt32)))
	case kind == First:
		m.take(to, s, func(int) int { return 0 })
	case kind == Pick:
		index := m.values[s.at].v
		m.take(to, s, func(l int) int {
			if m.plan.steps[s.at].class == single {
				l = 0
			}
			if k := index[l]; k >= 0 {
				return int(k)
			}
			return -1
		})
	case m.fuses() && !m.across && (of.fused || of.dot && m.plan.fusedArg(of) >= 0):
		for r := range m.rows {
			to[r] = m.foldFused(kind, s.of, r, 0, m.cols)
		}
	case of.class != element:
		to[0] = m.fold(kind, m.values[s.of].v[:m.n])
	case !m.across && m.loops != nil && m.cols > 0:
		x := m.values[s.of]
		switch {
		case of.dot:
			x, y := m.values[of.Args[0]], m.values[of.Args[1]]
			m.loops.DotRows(to, x.v, y.v, m.cols, x.stride, y.stride)
		case kind == MaxNumber:
			m.loops.MaxRows(to, x.v, m.cols, x.stride)
		case kind == Sum:
			m.loops.SumRows(to, x.v, m.cols, x.stride)
		default:
			for r := range to {
				to[r] = m.loops.Reduce(kind.joins(), x.v[r*x.stride:][:m.cols])
			}
		}
	case !m.across && of.dot:
		for r := range m.rows {
			to[r] = m.product(m.rowOf(of.Args[0], r, 0), m.rowOf(of.Args[1], r, 1))
		}
	case !m.across:
		for r := range m.rows {
			to[r] = m.fold(kind, m.rowOf(s.of, r, 0))
		}
	case kind == Sum:
		m.sumRows(to, of, s.of, 0, m.rows, 0)
	default:
		vec.Fill(to, T(kind.none()))
		for r := range m.rows {
			m.join(kind, to, m.reduced(s.of, r))
		}
	}
	if !m.same && (kind == Sum || kind == Prod) {
		for l, v := range to {
			if x := T(E(v)); x-x != 0 {
				to[l] = x
			}
		}
	}
}

// pieceLeast is the length from which on rows of a block are computed in pieces, of pieceMost elements.
const pieceLeast, pieceMost = 512, 2048

// fuses reports whether fused steps are computed in pieces.
func (m *Machine[T, E]) fuses() bool { return m.across || m.cols >= pieceLeast }

// reduced returns row r of a step that is reduced.
func (m *Machine[T, E]) reduced(step, r int) []T {
	if m.plan.steps[step].fused && m.fuses() {
		return m.piece(step, r, 0, m.cols, 0)
	}
	return m.rowOf(step, r, 0)
}

// foldFused returns the reduction of elements [lo, hi) of row r of a fused step.
func (m *Machine[T, E]) foldFused(kind Kind, step, r, lo, hi int) T {
	if n := hi - lo; n > pieceMost {
		half := lo + (n/2+pieceMost-1)/pieceMost*pieceMost
		m.one[0] = m.foldFused(kind, step, r, lo, half)
		a := m.one
		m.one[0] = m.foldFused(kind, step, r, half, hi)
		m.join(kind, a[:], m.one[:])
		return a[0]
	}
	if s := &m.plan.steps[step]; s.dot {
		x, y := m.factors(s, r, lo, hi)
		return m.product(x, y)
	}
	return m.fold(kind, m.piece(step, r, lo, hi, 0))
}

// factors returns elements [lo, hi) of row r of the two factors of a product that a sum reads.
func (m *Machine[T, E]) factors(s *rowStep, r, lo, hi int) (x, y []T) {
	k := m.plan.fusedArg(s)
	if k < 0 || !m.fuses() {
		return m.rowOf(s.Args[0], r, 0)[lo:hi], m.rowOf(s.Args[1], r, 1)[lo:hi]
	}
	x = m.piece(s.Args[k], r, lo, hi, 0)
	return x, m.rowOf(s.Args[1-k], r, 0)[lo:hi]
}

// piece computes elements [lo, hi) of row r of a fused step, and of those that are fused with it. depth
// is how many are being computed.
func (m *Machine[T, E]) piece(step, r, lo, hi, depth int) []T {
	s := &m.plan.steps[step]
	for len(m.pieces) <= depth {
		m.pieces = append(m.pieces, nil)
	}
	if len(m.pieces[depth]) < hi-lo {
		m.pieces[depth] = make([]T, max(hi-lo, pieceMost))
	}
	to := m.pieces[depth][:hi-lo]
	of := func(k int) []T {
		switch a := s.Args[k]; {
		case m.plan.steps[a].fused:
			return m.piece(a, r, lo, hi, depth+1+k)
		case m.plan.steps[a].class == single:
			return m.spread(a, hi-lo)
		case m.perRow(a):
			row := m.place(4*depth+k, hi-lo)
			vec.Fill(row, m.values[a].v[r])
			return row
		default:
			return m.rowOf(a, r, 4*depth+k)[lo:hi]
		}
	}
	by := s.by[0]
	if m.across {
		by = s.by[1]
	}
	var args [4][]T
	if m.loops != nil && by[1] >= 0 {
		k := 0
		if by[0] != s.Args[0] {
			k = 1
		}
		m.loops.MapBy(s.loop, to, of(k), T(m.ofRow(by[1], r)))
		return to
	}
	for k := range s.Args {
		args[k] = of(k)
	}
	m.apply(s, to, args)
	return to
}

// take sets to to the element of each line l at an index, 0 where there is none.
func (m *Machine[T, E]) take(to []T, s *rowStep, index func(l int) int) {
	v := m.values[s.of]
	for l := range to {
		switch at := index(l); {
		case at < 0 || at >= m.n:
			to[l] = 0
		case m.plan.steps[s.of].class == column:
			to[l] = v.v[at]
		case m.across:
			to[l] = v.v[at*v.stride+l]
		default:
			to[l] = v.v[l*v.stride+at]
		}
	}
}

// fold returns the reduction of a row.
func (m *Machine[T, E]) fold(kind Kind, x []T) T {
	switch {
	case m.loops != nil && len(x) > 0 && kind == MaxNumber:
		return m.loops.Max(x)
	case m.loops != nil && len(x) > 0:
		return m.loops.Reduce(kind.joins(), x)
	case kind == Sum && len(x) > plainBlock:
		return m.fold(kind, x[:len(x)/2]) + m.fold(kind, x[len(x)/2:])
	}
	to := T(kind.none())
	for _, v := range x {
		to = joined(kind, to, v)
	}
	return to
}

// plainBlock is how many terms a plain loop adds one after the other.
const plainBlock = 64

// product returns the sum of x·y.
func (m *Machine[T, E]) product(x, y []T) T {
	if m.loops != nil {
		return m.loops.Dot(x, y)
	}
	if n := len(x) / 2; len(x) > plainBlock {
		return m.product(x[:n], y[:n]) + m.product(x[n:], y[n:])
	}
	var sum T
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

// join reduces the elements of x to those of to.
func (m *Machine[T, E]) join(kind Kind, to, x []T) {
	switch {
	case m.loops != nil && kind == MaxNumber:
		m.loops.Map(vec.WhereLess, to, to, x, x, to)
		return
	case m.loops != nil:
		m.loops.Map(kind.joins(), to, to, x, to, to)
		return
	}
	for i, v := range x[:len(to)] {
		to[i] = joined(kind, to[i], v)
	}
}

// joined returns the reduction of two elements.
func joined[T vec.Float](kind Kind, a, b T) T {
	switch kind {
	case Sum:
		return a + b
	case Prod:
		return a * b
	case Max:
		return max(a, b)
	case Min:
		return min(a, b)
	}
	if b > a {
		return b
	}
	return a
}

// none returns the reduction of nothing.
func (k Kind) none() float64 {
	switch k {
	case Prod:
		return 1
	case Max, MaxNumber:
		return math.Inf(-1)
	case Min:
		return math.Inf(1)
	}
	return 0
}

// joins returns the vector loop that reduces two elements; [MaxNumber] has one of its own.
func (k Kind) joins() vec.Function {
	switch k {
	case Prod:
		return vec.Mul
	case Max:
		return vec.Max
	case Min:
		return vec.Min
	}
	return vec.Add
}

// runRows is how many rows are added one after the other.
const runRows = 16

// sumRows sets to to the sums of the columns of rows [lo, hi), pairwise.
func (m *Machine[T, E]) sumRows(to []T, of *rowStep, step, lo, hi, level int) {
	if hi-lo > runRows {
		if len(m.levels) == level {
			m.levels = append(m.levels, nil)
		}
		if cap(m.levels[level]) < len(to) {
			m.levels[level] = make([]T, len(to))
		}
		part, half := m.levels[level][:len(to)], lo+((hi-lo)/2+runRows-1)/runRows*runRows
		m.sumRows(to, of, step, lo, half, level+1)
		m.sumRows(part, of, step, half, hi, level+1)
		m.add(to, part)
		return
	}
	clear(to)
	for r := lo; r < hi; r++ {
		switch {
		case !of.dot:
			m.add(to, m.reduced(step, r))
		default:
			m.addProduct(to, of, r)
		}
	}
}

// addProduct adds to to row r of a product that a sum reads.
func (m *Machine[T, E]) addProduct(to []T, of *rowStep, r int) {
	x, y := m.factors(of, r, 0, m.cols)
	if m.loops != nil {
		m.loops.Map(vec.FMA, to, x, y, to, to)
		return
	}
	for i := range to {
		to[i] += x[i] * y[i]
	}
}

func (m *Machine[T, E]) add(to, x []T) {
	if m.loops != nil {
		m.loops.Map(vec.Add, to, to, x, to, to)
		return
	}
	for i, v := range x[:len(to)] {
		to[i] += v
	}
}
