package vec

// Product is a product C [M, N] = A·B, plus Bias to each row unless it is nil, plus what C held if
// Add says so. Element (i, k) of A is i·RowA + k·StepA, element (k, j) of B is k·StepB + j·ColumnB,
// element (i, j) of C is i·RowC + j. One of the two steps of A is 1, and one of B.
//
// The sum over K is added up in runs of 256 steps, each from zero and by fused multiplications: its
// bits depend on nothing but the operands.
type Product[T Float] struct {
	M, N, K        int
	A              []T
	RowA, StepA    int
	B              []T
	StepB, ColumnB int
	ReadA, ReadB   Reader[T] // instead of A, of B
	C              []T
	RowC           int
	Add            bool
	Bias           []T
	End            func(lo, hi int) // runs when rows [lo, hi) of C are there, if it is not nil
}

// Reader reads an operand of a product, line by line: to[i·row+j] becomes element from + i·distance + j of the
// operand, for i < lines and j < n.
type Reader[T Float] func(to []T, row, from, distance, lines, n int)

const (
	run         = 256     // steps of the sum that a block of C stays in registers for
	chunkRows   = 120     // of A: as many rows of a run stay in the second-level cache; whole blocks of all heights
	packedMax   = 1 << 21 // elements of B that are packed at a time
	packedFew   = 1 << 18 // those of B that is read for few rows: they stay in the second-level cache
	fewRows     = 48      // of C, for which B is not packed where it can be read in place
	readColumns = 512     // of an operand that is read, in a line
	readSteps   = 32      // of the sum, of a part of B that is read in rows
	minTaskWork = 1 << 18 // multiplications that are worth a goroutine
	minPackWork = 1 << 14 // elements that are worth one to pack
)

// block computes a block of C, of as many rows and columns as its name says: k steps of the sum.
type block[T Float] func(k int, a *T, rowA, stepA int, b *T, stepB int, c *T, rowC int, add bool)

// blocks are the blocks of all sizes.
type blocks[T Float] struct {
	widths  [3]int // columns of the blocks, each half of the one before
	heights []height[T]
}

// height is the blocks of so many rows, of all widths.
type height[T Float] struct {
	rows   int
	blocks [3]block[T]
}

// scratch is what a goroutine, or a whole product, keeps for the next one.
type scratch[T Float] struct{ packed, cut []T }

func (s *scratch[T]) pack(n int) []T {
	if cap(s.packed) < n {
		s.packed = make([]T, n)
	}
	return s.packed[:n]
}

func (l *Loops[T]) scratch() *scratch[T] {
	if s, ok := l.pool.Get().(*scratch[T]); ok {
		return s
	}
	return &scratch[T]{cut: make([]T, l.blocks.heights[0].rows*l.blocks.widths[0])}
}

// columns is some columns of C as they are computed: panels of the width of the widest block, and
// then one or two of narrower ones, or of that, of which the last may be cut off.
type columns struct {
	first, n int
	whole    int    // panels of the widest block
	widths   [3]int // of a whole panel, and of those behind them; 0 is none
	panels   int
}

func (l *Loops[T]) columns(first, n int) columns {
	w := l.blocks.widths
	c := columns{first: first, n: n, whole: n / w[0], widths: [3]int{w[0]}}
	switch rest := n % w[0]; {
	case rest == 0:
	case rest <= w[2]:
		c.widths[1] = w[2]
	case rest <= w[1]:
		c.widths[1] = w[1]
	case rest <= w[1]+w[2]:
		c.widths[1], c.widths[2] = w[1], w[2]
	default:
		c.widths[1] = w[0]
	}
	c.panels = c.whole + min(c.widths[1], 1) + min(c.widths[2], 1)
	return c
}

// panel returns where panel i begins, the width of its block, and how many columns there are of it.
func (c *columns) panel(i int) (at, width, n int) {
	over := max(0, i-c.whole+1)
	at, width = min(i, c.whole)*c.widths[0], c.widths[over]
	if over == 2 {
		at += c.widths[1]
	}
	return at, width, min(width, c.n-at)
}

// padded is the columns of all panels.
func (c *columns) padded() int { return c.whole*c.widths[0] + c.widths[1] + c.widths[2] }

// Product computes p. each runs a function over [0, n) in pieces of at least min, on several
// goroutines; nil is this one alone.
func (l *Loops[T]) Product(p Product[T], each func(n, min int, f func(lo, hi int))) {
	if p.M == 0 || p.N == 0 {
		return
	}
	p.check()
	t, _ := l.tasks.Get().(*task[T])
	if t == nil {
		t = newTask(l)
	}
	defer t.free()
	t.Product = p
	if t.narrow.from(l, &t.Product) {
		t.narrowProduct(each)
		return
	}
	t.plan = l.plan(&p)
	for first := 0; first < p.N; first += t.plan.columns {
		for from := 0; from == 0 || from < p.K; from += t.steps {
			t.right = l.right(&t.Product, t.plan, first, from)
			if each == nil {
				t.pack(0, t.parts)
				t.rows(0, t.plan.tiles)
			} else {
				each(t.parts, t.least, t.pack)
				if t.plan.tiles > 1 {
					each(t.plan.tiles, t.worth(t.tall*t.right.n), t.rows)
				} else {
					each(t.panels, t.worth(p.M*t.right.widths[0]), t.across)
				}
			}
			l.free(&t.right)
		}
	}
	if p.End != nil && each != nil && !t.ends() {
		each(t.plan.tiles, t.worth(t.tall*p.N), t.end)
	} else if p.End != nil && !t.ends() {
		p.End(0, p.M)
	}
}

// task is one product while it is computed, with the loops that are shared out.
type task[T Float] struct {
	Product[T]
	plan
	right[T]
	narrow                         narrow[T]
	loops                          *Loops[T]
	pack, rows, across, end, tiles func(lo, hi int)
}

func newTask[T Float](l *Loops[T]) *task[T] {
	t := &task[T]{loops: l}
	t.pack = func(lo, hi int) { l.packParts(&t.right, &t.Product, lo, hi) }
	t.rows = func(lo, hi int) {
		lo, hi = lo*t.tall, min(hi*t.tall, t.M)
		l.rows(&t.Product, &t.right, lo, hi, 0, t.panels)
		if t.End != nil && t.ends() {
			t.End(lo, hi)
		}
	}
	t.across = func(lo, hi int) { l.rows(&t.Product, &t.right, 0, t.M, lo, hi) }
	t.tiles = func(lo, hi int) { l.tiles(&t.narrow, lo, hi) }
	t.end = func(lo, hi int) { t.End(lo*t.tall, min(hi*t.tall, t.M)) }
	return t
}

// ends reports whether rows are complete as soon as the loop over them has passed.
func (t *task[T]) ends() bool { return t.once && t.plan.tiles > 1 }

// worth returns how many of what has so many elements of C are worth a goroutine.
func (t *task[T]) worth(elements int) int { return max(1, minTaskWork/max(1, elements*t.right.k)) }

// free keeps the task for another product, without its operands.
func (t *task[T]) free() {
	t.Product, t.right.packed = Product[T]{}, nil
	t.narrow.Product, t.narrow.a, t.narrow.b, t.narrow.read = nil, nil, nil, nil
	t.loops.tasks.Put(t)
}

// plan is how a product is parted.
type plan struct {
	columns, steps int  // of B, that are packed at a time
	once           bool // they are all
	tall, tiles    int  // C is that many times that many rows, the last ones fewer
	least          int  // panels that are worth a goroutine to pack
}

// check looks at the last element of each operand, since assembly knows no bounds.
func (p *Product[T]) check() {
	_ = p.C[(p.M-1)*p.RowC+p.N-1]
	if p.K > 0 && p.ReadA == nil {
		_ = p.A[(p.M-1)*p.RowA+(p.K-1)*p.StepA]
	}
	if p.K > 0 && p.ReadB == nil {
		_ = p.B[(p.K-1)*p.StepB+(p.N-1)*p.ColumnB]
	}
}

func (l *Loops[T]) plan(p *Product[T]) plan {
	wide := l.blocks.widths[0]
	w := plan{columns: p.N, tall: l.blocks.heights[0].rows, least: max(1, minPackWork/(run*wide))}
	packed := packedMax
	if p.ReadB != nil && p.M <= fewRows {
		packed = packedFew
	}
	if most := packed / min(max(p.K, 1), packed/1024); p.N > most {
		w.columns = most / wide * wide
	}
	w.steps = max(1, packed/max(w.columns, 1)/run) * run
	w.once = w.columns == p.N && w.steps >= p.K
	w.tiles = (p.M + w.tall - 1) / w.tall
	return w
}

// right is the columns of B for some steps of the sum. Panels lie where they are, or packed: for
// each run of steps, and in it for each panel, a row of the panel's width for each step. Packed
// columns beyond the last are zero.
type right[T Float] struct {
	columns
	from, k  int
	last     int  // the width of the last panel
	all      bool // all panels are packed, not just the last
	row      int  // the distance of the packed rows where these have all columns, as B that is read for few rows; else 0
	unpacked int  // panels that are not
	parts    int  // of what is packed
	packed   *scratch[T]
}

// right is the columns of B of a plan. It packs what is better not read where it lies: B whose
// columns are not its rows in memory, rows that are far apart where they are read often, and
// columns that fill no block. These are the parts that packParts is to be called for.
func (l *Loops[T]) right(p *Product[T], w plan, first, from int) right[T] {
	b := right[T]{columns: l.columns(first, min(w.columns, p.N-first)), from: from, k: min(w.steps, p.K-from),
		all: p.ReadB != nil || p.ColumnB != 1 || p.M > fewRows && p.StepB > 256}
	size := b.padded()
	_, width, n := b.panel(b.panels - 1)
	b.last = width
	if !b.all {
		if n == width {
			return b
		}
		b.unpacked, size = b.panels-1, width
	}
	b.packed = l.scratch()
	if p.ReadB != nil && p.ColumnB == 1 && p.M <= fewRows {
		b.row = size + gap
		b.packed.pack(b.k * b.row)
		b.parts = (b.k + readSteps - 1) / readSteps
		return b
	}
	b.packed.pack(b.k * size)
	b.parts = (b.k + run - 1) / run * (b.panels - b.unpacked)
	return b
}

func (l *Loops[T]) free(b *right[T]) {
	if b.packed != nil {
		l.pool.Put(b.packed)
	}
}

// packParts packs some of the parts, each a panel for a run of the sum.
func (l *Loops[T]) packParts(b *right[T], p *Product[T], lo, hi int) {
	if b.row > 0 {
		k, end := lo*readSteps, min(hi*readSteps, b.k)
		p.ReadB(b.packed.packed[k*b.row:], b.row, (b.from+k)*p.StepB+b.first, p.StepB, end-k, b.n)
		for ; k < end; k++ {
			clear(b.packed.packed[k*b.row:][b.n:b.row])
		}
		return
	}
	for u := lo; u < hi; u++ {
		panels := b.panels - b.unpacked
		at := u / panels * run
		l.pack(b, p, at, min(run, b.k-at), b.unpacked+u%panels)
	}
}

// place is where the packed panel begins, for the run of k steps from one on.
func (b *right[T]) place(from, k, panel int) int {
	if !b.all {
		return from * b.last
	}
	at, _, _ := b.panel(panel)
	return from*b.padded() + k*at
}

// pack packs a panel for k steps.
func (l *Loops[T]) pack(b *right[T], p *Product[T], from, k, panel int) {
	at, width, n := b.panel(panel)
	to := b.packed.packed[b.place(from, k, panel):][:k*width]
	first := (b.from+from)*p.StepB + (b.first+at)*p.ColumnB
	if p.ReadB != nil {
		l.packRead(p, to, width, first, k, n)
		return
	}
	src := p.B[first:]
	if p.ColumnB == 1 && n == width {
		for i := range k {
			copy(to[i*width:(i+1)*width], src[i*p.StepB:])
		}
		return
	}
	if p.ColumnB == 1 { // few columns: no call is worth its time
		for i := range k {
			row, from := to[i*width:(i+1)*width], src[i*p.StepB:][:n]
			for j := range row {
				row[j] = 0
				if j < len(from) {
					row[j] = from[j]
				}
			}
		}
		return
	}
	if n < width {
		clear(to)
	}
	l.transposer.run(to, width, src, p.ColumnB, k, n)
}

// packRead packs n columns of B, which is read from an element on, for k steps.
func (l *Loops[T]) packRead(p *Product[T], to []T, width, first, k, n int) {
	if n < width {
		clear(to)
	}
	if p.ColumnB == 1 {
		p.ReadB(to, width, first, p.StepB, k, n)
		return
	}
	s := l.scratch()
	defer l.pool.Put(s)
	columns := s.pack(n * k)
	p.ReadB(columns, k, first, p.ColumnB, n, k)
	l.transposer.run(to, width, columns, k, k, n)
}

// rows computes rows [lo, hi) of some panels of C.
func (l *Loops[T]) rows(p *Product[T], b *right[T], lo, hi, panel, end int) {
	if b.from == 0 && panel < end {
		from, _, _ := b.panel(panel)
		last, _, n := b.panel(end - 1)
		p.begin(lo, hi, b.first+from, b.first+last+n)
	}
	s := l.scratch()
	defer l.pool.Put(s)
	// Rows of A that are far apart would take each other's place in the cache.
	apart := p.ReadA != nil || max(p.RowA, p.StepA) > 128 && end-panel > 1
	for r := lo; r < hi; r += chunkRows {
		rows := min(chunkRows, hi-r)
		for from := 0; from < b.k; from += run {
			k := min(run, b.k-from)
			first := r*p.RowA + (b.from+from)*p.StepA
			var a []T
			rowA, stepA := p.RowA, p.StepA
			if apart {
				a, rowA, stepA = s.left(p, first, rows, k)
			} else {
				a = p.A[first:]
			}
			l.chunk(p, b, a, rowA, stepA, r, rows, from, k, panel, end, s.cut)
		}
	}
}

// begin prepares a part of C for sums to be added to it.
func (p *Product[T]) begin(lo, hi, from, end int) {
	if len(p.Bias) == 0 && (p.K > 0 || p.Add) {
		return
	}
	for r := lo; r < hi; r++ {
		row := p.C[r*p.RowC+from : r*p.RowC+end]
		switch {
		case len(p.Bias) == 0:
			clear(row)
		case p.Add:
			for j, v := range p.Bias[from:end] {
				row[j] += v
			}
		default:
			copy(row, p.Bias[from:end])
		}
	}
}

// left copies rows of A that begin at an element, for k steps, to where they lie beside each other.
func (s *scratch[T]) left(p *Product[T], first, rows, k int) (packed []T, row, step int) {
	if p.StepA == 1 {
		row, step = run+gap, 1
		packed = s.pack(rows * row)
		p.lines(packed, row, first, p.RowA, rows, k)
		return packed, row, step
	}
	row, step = 1, chunkRows+gap
	packed = s.pack(k * step)
	p.lines(packed, step, first, p.StepA, k, rows)
	return packed, row, step
}

// gap is what lies between lines that are copied, so that those of a power of two do not meet in the cache.
const gap = 16

// lines copies so many lines of n elements of A, distance apart there and row in to.
func (p *Product[T]) lines(to []T, row, first, distance, lines, n int) {
	if p.ReadA != nil {
		p.ReadA(to, row, first, distance, lines, n)
		return
	}
	for i := range lines {
		copy(to[i*row:i*row+n], p.A[first+i*distance:])
	}
}

// chunk computes rows from r on, for one run of the sum.
func (l *Loops[T]) chunk(p *Product[T], b *right[T], a []T, rowA, stepA, r, rows, from, k, panel, end int, cut []T) {
	add := p.Add || len(p.Bias) > 0 || b.from+from > 0
	for ; panel < end; panel++ {
		at, width, n := b.panel(panel)
		kind := 0
		for width != l.blocks.widths[kind] {
			kind++
		}
		right, stepB := p.B, p.StepB
		if b.row > 0 {
			right, stepB = b.packed.packed[from*b.row+at:], b.row
		} else if b.all || n < width {
			right, stepB = b.packed.packed[b.place(from, k, panel):], width
		} else {
			right = right[(b.from+from)*p.StepB+b.first+at:]
		}
		column := b.first + at
		for i, h := 0, 0; i < rows; {
			height := &l.blocks.heights[h]
			if height.rows > rows-i {
				h++
				continue
			}
			to := p.C[(r+i)*p.RowC+column:]
			if n == width {
				height.blocks[kind](k, &a[i*rowA], rowA, stepA, &right[0], stepB, &to[0], p.RowC, add)
			} else {
				height.blocks[kind](k, &a[i*rowA], rowA, stepA, &right[0], stepB, &cut[0], width, false)
				for y := range height.rows {
					row, sums := to[y*p.RowC:y*p.RowC+n], cut[y*width:y*width+n]
					for x, v := range sums {
						if add {
							v += row[x]
						}
						row[x] = v
					}
				}
			}
			i += height.rows
		}
	}
}
