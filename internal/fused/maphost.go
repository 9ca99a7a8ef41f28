package fused

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// host kernel returns the map in Go: blocks of elements, in the order of the result's indices, each
// primitive in one loop.
func (m *mapSpec) host() kernels.HostKernel {
	if m.moves() {
		switch m.typ {
		case kernels.Int32:
			return kernels.ElementHostKernel(moveHost[int32](m))
		case kernels.Uint8:
			return kernels.ElementHostKernel(moveHost[uint8](m))
		case kernels.Uint16:
			return kernels.ElementHostKernel(moveHost[uint16](m))
		case kernels.Int64:
			return kernels.ElementHostKernel(moveHost[int64](m))
		}
		return kernels.HostKernel{F32: moveHost[float32](m), F64: moveHost[float64](m)}
	}
	switch m.typ {
	case kernels.Int32:
		return kernels.ElementHostKernel(mapHost[int32](m))
	case kernels.Int64:
		return kernels.ElementHostKernel(mapHost[int64](m))
	case kernels.Uint64:
		return kernels.ElementHostKernel(mapHost[uint64](m))
	}
	if m.mixed && !slices.Contains(m.types, kernels.Float32) { // of no floats: floats of 16 bits are computed in float32
		return kernels.HostKernel{F32: mapHost[float32](m)}
	}
	return kernels.HostKernel{F32: mapHost[float32](m), F64: mapHost[float64](m)}
}

// mapLoops is where the elements of one launch's tensors lie.
type mapLoops struct {
	dims    [MapRank]int             // outermost first
	strides [MapTensors][MapRank]int // of each tensor
	dense   [MapTensors]bool         // in the order of the result's indices, without gaps
	alike   [MapTensors]bool         // all rows are the same
	rank, n int                      // n elements in all
}

// mapLoopsOf returns the loops of a launch. It is inlined: callers can keep them on the stack.
func mapLoopsOf(m *mapSpec, args []kernels.Arg) *mapLoops {
	l := new(mapLoops)
	l.set(m, args)
	return l
}

// set makes l the loops of a launch with the arguments args. Before, l is zero, or the loops of
// another launch of m.
func (l *mapLoops) set(m *mapSpec, args []kernels.Arg) {
	l.rank = m.l.Rank
	inner := int(args[m.nAt()].Int)
	l.n = inner
	l.dims[m.outer] = inner
	if m.outer > 0 {
		l.n *= int(args[m.rowsAt()].Int)
		first := int(args[m.rowsAt()].Int)
		for d := 1; d < m.outer; d++ {
			l.dims[d] = int(args[m.dimsAt()+d-1].Int)
			first /= max(l.dims[d], 1)
		}
		l.dims[0] = first
	}
	for t := range m.tensors() {
		at := m.stridesAt(t)
		if m.l.Steps[t] == Indexed {
			continue
		}
		for d := range m.outer {
			l.strides[t][d] = int(args[at+d].Int)
		}
		switch m.l.Steps[t] {
		case Contiguous:
			l.strides[t][m.outer] = 1
		case Strided:
			l.strides[t][m.outer] = int(args[at+m.outer].Int)
		}
		l.dense[t], l.alike[t] = true, true
		size := 1
		for d := m.outer; d >= 0; d-- {
			if l.dims[d] != 1 && l.strides[t][d] != size {
				l.dense[t] = false
			}
			if d < m.outer && l.dims[d] != 1 && l.strides[t][d] != 0 {
				l.alike[t] = false
			}
			size *= l.dims[d]
		}
	}
}

// block is the part of a map that is computed at a time: rows by columns of the innermost axis, at
// most a block of its program, in the order of the result's indices. Where a tensor goes across the
// rows it has several of them, so that what one row leaves of a line of the cache is there for the
// next.
type block struct{ rows, cols int }

func (m *mapSpec) block(inner int) block {
	const tall, wide = 32, expr.Block / 32
	most := m.program.Block()
	switch {
	case m.tiles() && inner > wide:
		return block{tall, wide}
	case inner <= most:
		return block{most / inner, inner}
	}
	return block{1, most}
}

// moveSide is the side of a square block of a map that only moves elements.
const moveSide = 64

// moved is block for maps that only move elements: of more, for nothing is computed on the way.
func (m *mapSpec) moved(inner int) block {
	switch {
	case m.tiles() && inner > moveSide:
		return block{moveSide, moveSide}
	case inner <= moveSide*moveSide:
		return block{moveSide * moveSide / inner, inner}
	}
	return block{1, moveSide * moveSide}
}

// count returns how many blocks cover rows of inner elements, and how many of them lie beside each
// other.
func (b block) count(rows, inner int) (all, perRow int) {
	perRow = intmath.CeilDiv(inner, b.cols)
	return intmath.CeilDiv(rows, b.rows) * perRow, perRow
}

// starts sets at[k] to where row r+k of tensor t begins.
func (l *mapLoops) starts(t, r int, at []int) {
	var index [MapRank]int
	rest, place := r, 0
	for d := l.rank - 2; d >= 0; d-- {
		index[d] = rest % l.dims[d]
		place += index[d] * l.strides[t][d]
		rest /= l.dims[d]
	}
	last := l.rank - 2
	if last < 0 {
		for k := range at {
			at[k] = place
		}
		return
	}
	for step := l.strides[t][last]; len(at) > 0; {
		n := min(len(at), l.dims[last]-index[last])
		for k := range at[:n] {
			at[k] = place
			place += step
		}
		at = at[n:]
		index[last] += n
		for d := last; d > 0 && index[d] == l.dims[d]; d-- {
			place += l.strides[t][d-1] - index[d]*l.strides[t][d]
			index[d] = 0
			index[d-1]++
		}
	}
}

// mapHost computes formulas in T.
func mapHost[T expr.Number](m *mapSpec) func(kernels.HostArgs[T]) {
	pool := sync.Pool{New: func() any { return newMapScratch[T](m) }}
	return func(c kernels.HostArgs[T]) {
		s := pool.Get().(*mapScratch[T])
		defer pool.Put(s)
		run := &s.run
		all, cost := run.begin(c)
		if c.Serial(all, cost) {
			run.blocks(s, 0, all)
		} else {
			c.Parallel(all, cost, func(lo, hi int) {
				s := pool.Get().(*mapScratch[T])
				defer pool.Put(s)
				run.blocks(s, lo, hi)
			})
		}
		run.c, run.whole = kernels.HostArgs[T]{}, nil // or the pool keeps the memory
	}
}

// mapRun is one launch of a map.
type mapRun[T expr.Number] struct {
	m           *mapSpec
	c           kernels.HostArgs[T]
	loops       mapLoops
	inner, rows int
	size        block
	perRow      int // blocks of a row
	whole       [][]T
	apart       [kernels.MapResults]bool
}

// begin makes run that of a launch, and returns how many blocks it has, and what one costs.
func (run *mapRun[T]) begin(c kernels.HostArgs[T]) (all, cost int) {
	m, l := run.m, &run.loops
	run.c = c
	l.set(m, c.Args())
	if l.n == 0 {
		return 0, 0
	}
	run.inner = l.dims[l.rank-1]
	run.rows = l.n / run.inner
	run.size = m.block(run.inner)
	all, run.perRow = run.size.count(run.rows, run.inner)
	run.whole, run.apart = wholeOperands[T](m, c), m.apart(c.Args())
	return all, run.size.rows * run.size.cols * m.tensors()
}

// blocks computes the blocks [lo, hi).
func (run *mapRun[T]) blocks(s *mapScratch[T], lo, hi int) {
	run.ready(s)
	for b := lo; b < hi; b++ {
		p := blockRange{r: b / run.perRow * run.size.rows, c: b % run.perRow * run.size.cols}
		p.rows, p.cols = min(run.size.rows, run.rows-p.r), min(run.size.cols, run.inner-p.c)
		// The block before has filled the memory of a tensor with the number of this row, or with
		// these rows.
		run.block(s, p, b == lo || p.c == 0 || p.rows > 1, b == lo || run.perRow > 1)
	}
}

// ready makes scratch that of the launch.
func (run *mapRun[T]) ready(s *mapScratch[T]) {
	m, c := run.m, run.c
	s.eval.Vectors(c.Vectors())
	s.eval.Scalars(func(i int) T { return scalarOf[T](m.scalar(c.Args(), i)) },
		func(i int) int32 { return int32(m.scalar(c.Args(), i).Int) })
	s.indices = nil
	if len(m.axes) > 0 {
		rows := make([]int32, max(run.size.rows, m.program.Block()/run.inner))
		s.indices = func(axis int) expr.Indices { return run.loops.indices(s.place, axis, rows[:s.place.rows]) }
	}
}

// block computes a block. The memory of the scratch holds the operands of the one before: newRow
// says that this is of another row, otherRows that operands of which all rows are alike are not
// there either.
func (run *mapRun[T]) block(s *mapScratch[T], p blockRange, newRow, otherRows bool) {
	m, c, l, whole := run.m, run.c, &run.loops, run.whole
	set, y := vectorsFor(c.Vectors()), len(m.uses)
	s.place = p
	for t, operand := range m.uses {
		if s.loads[t] == nil {
			if whole != nil && whole[t] != nil {
				s.operands[operand] = whole[t]
				continue
			}
			if in, ok := direct(l, t, p, c.Floats(t)); ok {
				s.operands[operand] = in
				continue
			}
		}
		s.operands[operand] = s.memory[t][:p.rows*p.cols]
		if !newRow && l.strides[t][l.rank-1] == 0 || !otherRows && l.alike[t] {
			continue
		}
		if s.loads[t] != nil {
			s.loads[t](l, t, p, s.at[:p.rows], c.Args()[t], s.operands[operand], set)
		} else {
			gather(l, t, p, s.at[:p.rows], c.Floats(t), s.operands[operand], set)
		}
	}
	for k := range s.results {
		s.results[k] = s.memory[y+k][:p.rows*p.cols]
		if s.stores[k] != nil || !run.apart[k] {
			continue
		}
		if to, ok := direct(l, y+k, p, c.Floats(y+k)); ok {
			s.results[k] = to
		}
	}
	s.eval.RunAll(s.results, s.operands, s.indices)
	for k, r := range s.results {
		switch {
		case s.stores[k] != nil:
			s.stores[k](l, y+k, p, s.at[:p.rows], r, c.Args()[y+k], set)
		case unsafe.SliceData(r) == unsafe.SliceData(s.memory[y+k]):
			scatter(l, y+k, p, s.at[:p.rows], r, c.Floats(y+k), set)
		}
	}
}

// apart says of each result whether it may be computed where it is to lie: of one, always, and else
// if no operand is of that memory, since results are put there one after the other.
func (m *mapSpec) apart(args []kernels.Arg) (apart [kernels.MapResults]bool) {
	y, n := len(m.uses), m.tensors()
	for k := range n - y {
		r := &args[y+k]
		apart[k] = n-y == 1 || !slices.ContainsFunc(args[:y],
			func(a kernels.Arg) bool { return a.Buf == r.Buf && a.Off < r.Off+r.N && r.Off < a.Off+a.N })
	}
	return apart
}

// wholeOperands returns the elements of the operands that are read by index, nil if there are none.
func wholeOperands[T expr.Number](m *mapSpec, c kernels.HostArgs[T]) [][]T {
	if !m.gathers {
		return nil
	}
	whole := make([][]T, len(m.uses))
	for t := range m.uses {
		if m.l.Steps[t] == Indexed {
			whole[t] = c.Floats(t)[:c.Int(m.stridesAt(t))]
		}
	}
	return whole
}

// scalar returns the argument that is scalar i.
func (m *mapSpec) scalar(args []kernels.Arg, i int) kernels.Arg {
	return args[m.scalarsAt()+slices.Index(m.scalars, i)]
}

// indices returns the indices of a block's elements along an axis. rows is scratch.
func (l *mapLoops) indices(p blockRange, axis int, rows []int32) expr.Indices {
	last := l.rank - 1
	if axis == last {
		return expr.Indices{Cols: p.cols, First: p.c}
	}
	below := 1 // rows of one index
	for d := last - 1; d > axis; d-- {
		below *= l.dims[d]
	}
	index, left := p.r/below%l.dims[axis], below-p.r%below
	for r := range rows {
		rows[r] = int32(index)
		if left--; left == 0 {
			left = below
			if index++; index == l.dims[axis] {
				index = 0
			}
		}
	}
	return expr.Indices{Cols: p.cols, Rows: rows}
}

// blockRange is the rows and columns of one block.
type blockRange struct{ r, c, rows, cols int }

// direct returns the elements of a block of tensor t where they lie, if they lie one after the other.
func direct[T any](l *mapLoops, t int, p blockRange, x []T) ([]T, bool) {
	inner := l.rank - 1
	switch {
	case l.strides[t][inner] != 1:
		return nil, false
	case l.dense[t]:
		if p.rows > 1 && p.cols != l.dims[inner] {
			return nil, false
		}
		at := p.r*l.dims[inner] + p.c
		return x[at : at+p.rows*p.cols], true
	case p.rows > 1:
		return nil, false
	}
	var at [1]int
	l.starts(t, p.r, at[:])
	return x[at[0]+p.c : at[0]+p.c+p.cols], true
}

// gather copies a block of tensor t to d, along the rows or across them, as the tensor lies. at is
// scratch.
func gather[T any](l *mapLoops, t int, p blockRange, at []int, x, d []T, set *vec.Set) {
	p, at = l.joined(t, p, at)
	l.starts(t, p.r, at)
	step := l.strides[t][l.rank-1]
	if across(at, step) {
		loadTile(d, x, p, at, step, set)
		return
	}
	for r, start := range at {
		out, from := d[r*p.cols:(r+1)*p.cols], start+p.c*step
		switch step {
		case 0:
			vec.Fill(out, x[from])
		case 1:
			copy(out, x[from:])
		default:
			vec.StepElements(set, out, x[from:], step)
		}
	}
}

// joined makes a block of whole rows of tensor t one row, if they lie one behind the other.
func (l *mapLoops) joined(t int, p blockRange, at []int) (blockRange, []int) {
	if inner := l.rank - 1; p.rows > 1 && l.dense[t] && l.strides[t][inner] == 1 && p.cols == l.dims[inner] {
		return blockRange{p.r, 0, 1, p.rows * p.cols}, at[:1]
	}
	return p, at
}

// across reports whether neighbours lie nearer from row to row than along one.
func across(at []int, step int) bool {
	return len(at) > 1 && step > 1 && at[1]-at[0] < step && at[1] > at[0]
}

// scatter copies r to a block of tensor t.
func scatter[T any](l *mapLoops, t int, p blockRange, at []int, r, y []T, set *vec.Set) {
	p, at = l.joined(t, p, at)
	l.starts(t, p.r, at)
	step := l.strides[t][l.rank-1]
	if across(at, step) {
		storeTile(y, r, p, at, step, set)
		return
	}
	for k, start := range at {
		row, to := r[k*p.cols:(k+1)*p.cols], start+p.c*step
		if step == 1 {
			copy(y[to:], row)
			continue
		}
		for _, v := range row {
			y[to] = v
			to += step
		}
	}
}

// scalarOf returns a scalar as a launch rounds it.
func scalarOf[T expr.Number](a kernels.Arg) T {
	if a.Kind == kernels.ArgInt {
		return T(a.Int)
	}
	return T(a.Float)
}

// mapScratch is what one goroutine computes with.
type mapScratch[T expr.Number] struct {
	run      mapRun[T] // of a launch that the goroutine began
	eval     *expr.Eval[T]
	operands [][]T                       // of the block, by operand of the functions
	results  [][]T                       // by function
	memory   [][]T                       // a block for each tensor that is gathered or scattered
	at       []int                       // where rows begin
	loads    []loader[T]                 // by tensor: nil of those of the type that is computed in
	stores   []storer[T]                 // by result: the same
	place    blockRange                  // of the block that is computed
	indices  func(axis int) expr.Indices // of its elements, nil if the functions read none
}

func newMapScratch[T expr.Number](m *mapSpec) *mapScratch[T] {
	most, results := m.program.Block(), len(m.j.Functions)
	s := &mapScratch[T]{run: mapRun[T]{m: m}, eval: expr.NewEval[T](m.program), operands: make([][]T, m.operandCount),
		results: make([][]T, results), memory: make([][]T, m.tensors()), at: make([]int, most),
		loads: make([]loader[T], len(m.uses)), stores: make([]storer[T], results)}
	for t := range m.types {
		s.memory[t] = make([]T, most)
		switch {
		case m.own(t):
		case m.result(t):
			_, s.stores[t-len(m.uses)] = typed[T](m.types[t], m.l.Cast)
		case m.odd():
			s.loads[t] = typedOdd[T](m.types[t])
		default:
			s.loads[t], _ = typed[T](m.types[t], m.l.Cast)
		}
	}
	return s
}

// moveScratch is what one goroutine moves a block with.
type moveScratch[E kernels.Element] struct {
	from, to [moveSide * moveSide]int // where rows begin
	tile     [moveSide * moveSide]E
}

// moveHost copies elements, whatever they are.
func moveHost[E kernels.Element](m *mapSpec) func(kernels.HostArgs[E]) {
	pool := sync.Pool{New: func() any { return new(moveScratch[E]) }}
	return func(c kernels.HostArgs[E]) {
		run := moveRun[E]{x: c.Floats(0), y: c.Floats(1), set: vectorsFor(c.Vectors()), pool: &pool}
		l := &run.loops
		l.set(m, c.Args())
		if l.n == 0 {
			return
		}
		run.inner = l.dims[l.rank-1]
		run.rows = l.n / run.inner
		run.size = m.moved(run.inner)
		var all int
		all, run.perRow = run.size.count(run.rows, run.inner)
		cost := run.size.rows * run.size.cols * 2
		if l.dense[0] && l.dense[1] {
			all, cost = l.n, 1
		}
		if c.Serial(all, cost) {
			run.blocks(0, all)
			return
		}
		shared := run // on the heap, where goroutines can read it
		c.Parallel(all, cost, shared.blocks)
	}
}

// moveRun is one launch of a map that only moves elements.
type moveRun[E kernels.Element] struct {
	x, y        []E
	set         *vec.Set
	pool        *sync.Pool // of moveScratch[E]
	loops       mapLoops
	inner, rows int
	size        block
	perRow      int // blocks of a row
}

// blocks moves the blocks [lo, hi): of tensors without gaps, the elements.
func (run *moveRun[E]) blocks(lo, hi int) {
	x, y, set, l, inner, rows, size, perRow := run.x, run.y, run.set, &run.loops, run.inner, run.rows, run.size, run.perRow
	if l.dense[0] && l.dense[1] {
		vec.Move(y[lo:hi], x[lo:hi])
		return
	}
	sx, sy := l.strides[0][l.rank-1], l.strides[1][l.rank-1]
	own := run.pool.Get().(*moveScratch[E])
	defer run.pool.Put(own)
	tile := own.tile[:]
	for b := lo; b < hi; b++ {
		p := blockRange{r: b / perRow * size.rows, c: b % perRow * size.cols}
		p.rows, p.cols = min(size.rows, rows-p.r), min(size.cols, inner-p.c)
		if fx, fy := l.strides[0][0], l.strides[1][0]; l.rank == 2 && p.cols < p.rows && sx <= 1 && sy <= 1 {
			for c := p.c; c < p.c+p.cols; c++ { // short rows: along the columns
				move(y[p.r*fy+c*sy:], fy, x[p.r*fx+c*sx:], fx, p.rows, set)
			}
			continue
		}
		from, to := own.from[:p.rows], own.to[:p.rows]
		l.starts(0, p.r, from)
		l.starts(1, p.r, to)
		if across(from, sx) || across(to, sy) {
			// Through a tile: the rows of a matrix of a power of two would take each other's place
			// in the cache.
			loadTile(tile, x, p, from, sx, set)
			storeTile(y, tile, p, to, sy, set)
			continue
		}
		if fx, fy, ok := evenly(from, to); ok && p.cols < p.rows { // short rows: along the columns
			for c := p.c; c < p.c+p.cols; c++ {
				move(y[to[0]+c*sy:], fy, x[from[0]+c*sx:], fx, p.rows, set)
			}
			continue
		}
		for r := range from {
			move(y[to[r]+p.c*sy:], sy, x[from[r]+p.c*sx:], sx, p.cols, set)
		}
	}
}

// loadTile copies a block of x, whose rows begin at the places at, to a tile.
func loadTile[E any](tile, x []E, p blockRange, at []int, step int, set *vec.Set) {
	if across(at, step) {
		for r := 0; r < len(at); {
			n := adjacent(at[r:])
			vec.Transpose(set, tile[r*p.cols:], p.cols, x[at[r]+p.c*step:], step, n, p.cols)
			r += n
		}
		return
	}
	for r, start := range at {
		move(tile[r*p.cols:], 1, x[start+p.c*step:], step, p.cols, set)
	}
}

// storeTile copies a tile to a block of y, whose rows begin at the places at.
func storeTile[E any](y, tile []E, p blockRange, at []int, step int, set *vec.Set) {
	if across(at, step) {
		for r := 0; r < len(at); {
			n := adjacent(at[r:])
			vec.Transpose(set, y[at[r]+p.c*step:], step, tile[r*p.cols:], p.cols, p.cols, n)
			r += n
		}
		return
	}
	for r, start := range at {
		move(y[start+p.c*step:], step, tile[r*p.cols:], 1, p.cols, set)
	}
}

// evenly returns how far apart the beginnings of neighbouring rows are, and whether that is the
// same for all.
func evenly(from, to []int) (fx, fy int, ok bool) {
	if len(from) < 2 {
		return 0, 0, false
	}
	fx, fy = from[1]-from[0], to[1]-to[0]
	for r := 1; r < len(from); r++ {
		if from[r]-from[r-1] != fx || to[r]-to[r-1] != fy {
			return 0, 0, false
		}
	}
	return fx, fy, true
}

// adjacent returns how many of the first rows begin at neighbours.
func adjacent(at []int) int {
	n := 1
	for n < len(at) && at[n] == at[n-1]+1 {
		n++
	}
	return n
}

// move copies n elements, each a step from the one before on either side.
func move[E any](to []E, toStep int, from []E, fromStep, n int, set *vec.Set) {
	switch {
	case toStep == 1 && fromStep == 1:
		copy(to[:n], from)
		return
	case toStep == 1 && fromStep == 0:
		vec.Fill(to[:n], from[0])
		return
	case toStep == 1:
		vec.StepElements(set, to[:n], from, fromStep)
		return
	}
	for i := range n {
		to[i*toStep] = from[i*fromStep]
	}
}

// row returns where row r of tensor t begins.
func (l *mapLoops) row(t, r int) int {
	var at [1]int
	l.starts(t, r, at[:])
	return at[0]
}

// vectorsFor returns the vector instructions that a host kernel may use, nil for none.
func vectorsFor(use bool) *vec.Set {
	if !use {
		return nil
	}
	set, _ := vec.Chosen()
	return set
}
