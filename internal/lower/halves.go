package lower

import (
	"slices"
	"sync"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/ir"
	"github.com/x448/float16"
)

// halfBlock is how many elements of a tensor are widened at a time, and stay in a cache.
const halfBlock = 1 << 14

// Halves returns the Go code of the kernel that [Rows] returns for a program and types of its buffers. It
// goes over blocks of lines: what is of 16 bits in memory is widened, run, the Go code of the kernel for
// floats, computes the block, and the results are rounded.
func Halves(p *ir.Program, types []kernels.DType, run func(kernels.HostArgs[float32])) func(kernels.HostArgs[float32]) {
	h := &halfRows{at: LayoutOf(p), run: run, columns: !p.OfInts() && slices.ContainsFunc(p.Results, func(r ir.Result) bool {
		return r.Along == ir.Element // for sums alone it takes longer to gather some columns
	})}
	add := func(b halfBuffer) {
		if b.arg < len(types) && types[b.arg].Half() {
			b.half = true
		}
		h.buffers = append(h.buffers, b)
	}
	for i, v := range p.Values {
		if v.Kind == ir.Input {
			add(halfBuffer{arg: h.at.Values[i], along: v.Along, channel: v.Channel, set: v.Set})
		}
	}
	for k, r := range p.Results {
		add(halfBuffer{arg: h.at.Results + k, along: r.Along, result: true, summed: r.Summed})
	}
	return h.launch
}

// halfRows is a row program whose buffers may be of 16 bits.
type halfRows struct {
	at      *Layout
	buffers []halfBuffer
	columns bool // long lines that lie side by side are computed some at a time
	run     func(kernels.HostArgs[float32])
	scratch sync.Pool // of *kernels.HostBuffer
}

// halfBuffer is an input or a result.
type halfBuffer struct {
	arg                          int
	along                        ir.Axes
	channel, set, result, summed bool
	half                         bool
}

// halfLaunch is a launch in blocks: of `rows` parts of lines [outer, n, inner], `some` of them with all of
// inner, or one with some columns.
type halfLaunch struct {
	*halfRows
	call                         kernels.HostArgs[float32]
	args                         []kernels.Arg // what all blocks share is widened
	set                          *vec.Set
	n, inner, chunk, parts, sets int
	rows, some                   int
	columns, wide                int // how many blocks of columns there are, of this width; the last has the rest
}

func (h *halfRows) launch(c kernels.HostArgs[float32]) {
	l := &halfLaunch{halfRows: h, call: c, args: slices.Clone(c.Args()), rows: c.Int(h.at.Sizes), n: c.Int(h.at.Sizes + 1), inner: c.Int(h.at.Sizes + 2)}
	l.set = setOf(c)
	l.chunk, l.parts, l.columns, l.wide, l.sets = l.n, 1, 1, l.inner, 1
	if h.at.Chunk >= 0 {
		if chunk := c.Int(h.at.Chunk); chunk < l.n {
			l.chunk, l.parts = chunk, Parts(l.n, chunk)
			l.rows *= l.parts
		}
	}
	if h.at.Sets >= 0 {
		l.sets = c.Int(h.at.Sets)
	}
	size := max(1, l.chunk*l.inner)
	l.some = max(1, halfBlock/size)
	switch {
	case h.at.Run >= 0:
		run := c.Int(h.at.Run)
		l.some = max(1, halfBlock/(size*run)) * run
	case l.parts > 1 || l.sets > 1:
		l.some = 1
	}
	if size > halfBlock && l.inner >= 2*halfColumns && h.columns {
		l.wide = max(halfColumns, halfBlock/max(1, l.chunk)/halfColumns*halfColumns)
		l.columns, l.some = l.inner/l.wide, 1
	}
	for _, b := range h.buffers {
		if b.half && b.shared() {
			x := l.args[b.arg]
			to := kernels.NewHostBuffer(kernels.Float32, x.N)
			widen(l.set, kernels.Slice[float32](to, 0, x.N), x, 0)
			l.args[b.arg] = kernels.BufferArg(to, 0, x.N)
		}
	}
	blocks := max(1, (l.rows+l.some-1)/l.some*l.columns)
	c.Parallel(blocks, 8*l.some*l.chunk*l.wide, func(lo, hi int) {
		args := slices.Clone(l.args)
		call := c.With(args, hi-lo < blocks)
		for ; lo < hi; lo++ {
			l.block(call, args, lo)
		}
	})
}

// halfColumns is how many columns a block has at least, of long lines: so many neighbours are read at a time. Of
// fewer than sixteen columns sums would be added in another order.
const halfColumns = 64

// shared reports whether blocks of lines have the same elements of an input.
func (b halfBuffer) shared() bool {
	return !b.result && (b.channel || b.set || b.along == ir.Column || b.along == 0)
}

// block computes block i with args, those of the launch but for what they are set to.
func (l *halfLaunch) block(call kernels.HostArgs[float32], args []kernels.Arg, i int) {
	row, column := i/l.columns*l.some, i%l.columns*l.wide
	rows, wide := min(l.some, l.rows-row), l.wide
	if i%l.columns == l.columns-1 {
		wide = l.inner - column
	}
	begin := row % l.parts * l.chunk
	n := min(l.chunk, l.n-begin)
	room, used := l.take(rows*n*wide, rows*wide), 0
	defer l.scratch.Put(room)
	element := (row/l.parts*l.n+begin)*l.inner + column
	for _, b := range l.buffers {
		a := l.args[b.arg]
		from, size, strided := 0, a.N, false
		switch {
		case b.summed:
			run := call.Int(l.at.Run)
			from, size = row/run*l.n, (rows+run-1)/run*l.n
		case b.channel && l.sets > 1:
			size = l.n / call.Int(l.at.Sets+1)
			from = row % l.sets * size
		case b.set && l.sets > 1:
			from, size = row/l.call.Int(l.at.Sets+1)%l.sets, 1
		case b.along == ir.Element:
			from, size, strided = element, rows*n*wide, l.columns > 1
		case b.along == ir.Line && l.parts > 1 && !b.result:
			from, size = row/l.parts*l.inner+column, wide
		case b.along == ir.Line && !b.set:
			from, size = row*l.inner+column, rows*wide
		case b.along == ir.Column:
			from, size = begin, n
		}
		if !strided && !(b.half && !b.shared()) {
			args[b.arg] = kernels.BufferArg(a.Buf, a.Off+from, size)
			continue
		}
		args[b.arg] = kernels.BufferArg(room, used, size)
		if !b.result {
			l.copy(call, kernels.Slice[float32](room, used, size), a, from, wide, strided, widen)
		}
		used += size
	}
	sizes := l.at.Sizes
	args[sizes], args[sizes+1], args[sizes+2] = kernels.IntArg(rows), kernels.IntArg(n), kernels.IntArg(wide)
	if l.parts > 1 {
		args[l.at.Chunk] = kernels.IntArg(l.chunk)
	}
	if l.sets > 1 {
		args[l.at.Sets] = kernels.IntArg(1)
	}
	l.run(call)
	for _, b := range l.buffers {
		if of := args[b.arg]; b.result && of.Buf == kernels.Buffer(room) {
			from := row*l.inner + column
			if b.along == ir.Element {
				from = element
			}
			l.copy(call, kernels.Slice[float32](room, of.Off, of.N), l.args[b.arg], from, wide, b.along == ir.Element && l.columns > 1, narrow)
		}
	}
}

// take returns memory for the elements and the lines of all buffers of a block.
func (l *halfLaunch) take(elements, lines int) *kernels.HostBuffer {
	size := 0
	for _, b := range l.buffers {
		if b.along == ir.Element {
			size += elements
		} else {
			size += lines
		}
	}
	room, _ := l.scratch.Get().(*kernels.HostBuffer)
	if room == nil || room.Len() < size {
		room = kernels.NewHostBuffer(kernels.Float32, size)
	}
	return room
}

// copy moves the elements of a block from an argument or to it, by move: those from one place on, or pieces
// of wide neighbours that lie inner apart.
func (l *halfLaunch) copy(call kernels.HostArgs[float32], x []float32, a kernels.Arg, from, wide int, strided bool,
	move func(set *vec.Set, x []float32, a kernels.Arg, from int),
) {
	if !strided {
		call.Parallel(len(x), 1, func(lo, hi int) { move(l.set, x[lo:hi], a, from+lo) })
		return
	}
	for ; len(x) > 0; x, from = x[wide:], from+l.inner {
		move(l.set, x[:wide], a, from)
	}
}

// setOf returns the vector instructions that a call may use, nil for none.
func setOf(c kernels.HostArgs[float32]) *vec.Set {
	if !c.Vectors() {
		return nil
	}
	set, _ := vec.Chosen()
	return set
}

// Widen sets x to the elements of an argument from one on, and Narrow these to x, rounded to nearest, ties to
// even.
func Widen(c kernels.HostArgs[float32], x []float32, a kernels.Arg, from int) {
	widen(setOf(c), x, a, from)
}
func Narrow(c kernels.HostArgs[float32], x []float32, a kernels.Arg, from int) {
	narrow(setOf(c), x, a, from)
}

func widen(set *vec.Set, x []float32, a kernels.Arg, from int) {
	m, from := a.Buf.(*kernels.HostBuffer), a.Off+from
	switch m.DType() {
	case kernels.Float16:
		vec.FromHalves(set, x, kernels.Slice[float16.Float16](m, from, len(x)))
	case kernels.BFloat16:
		vec.FromHalves(set, x, kernels.Slice[bfloat16.BFloat16](m, from, len(x)))
	default:
		copy(x, kernels.Slice[float32](m, from, len(x)))
	}
}

func narrow(set *vec.Set, x []float32, a kernels.Arg, from int) {
	m, from := a.Buf.(*kernels.HostBuffer), a.Off+from
	switch m.DType() {
	case kernels.Float16:
		vec.ToHalves(set, kernels.Slice[float16.Float16](m, from, len(x)), x)
	case kernels.BFloat16:
		vec.ToHalves(set, kernels.Slice[bfloat16.BFloat16](m, from, len(x)), x)
	default:
		copy(kernels.Slice[float32](m, from, len(x)), x)
	}
}
