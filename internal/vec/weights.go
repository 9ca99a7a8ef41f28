package vec

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/clgrad/clgrad/bfloat16"
)

// Weights is a matrix W [K, N] of integers of 8 or 4 bits, with a scale, and maybe a zero point, for
// each column, or for each column and group of rows: W is (integer − zero)·scale. It is packed for
// Multiply. A matrix of floats of 16 bits has a scale of 1 for each column.
//
// For each 64 columns, rows lie one after the other: of 8 bits, a row is 64 bytes, of 16, 128; of 4 bits, two
// rows are 64, the first in the lower halves. Integers are signed: of unsigned ones, 128 or 8 is subtracted.
// With them lie their scales, 64 for each group, and their zero points. Columns beyond the last are
// zero.
type Weights struct {
	K, N   int
	Format WeightFormat
	group  int // rows that share scales; 0: all of them
	packed []byte
	scale  []float32
	zero   []float32 // nil: all are 0
}

// WeightFormat is what elements of [Weights] are.
type WeightFormat int

// The formats: integers of 8 and of 4 bits, and floats of 16.
const (
	Weights8 WeightFormat = iota
	Weights4
	WeightsFloat16
	WeightsBFloat16
	weightFormats
)

// IntegerWeights returns the format of integers of so many bits, 8 or 4.
func IntegerWeights(bits int) WeightFormat {
	switch bits {
	case 8:
		return Weights8
	case 4:
		return Weights4
	}
	panic("vec: integers of weights have 4 or 8 bits")
}

// HalfWeights returns the format of floats of type H.
func HalfWeights[H Half]() WeightFormat {
	if _, bfloat := any(H(0)).(bfloat16.BFloat16); bfloat {
		return WeightsBFloat16
	}
	return WeightsFloat16
}

// Bits returns those of an element.
func (f WeightFormat) Bits() int { return [weightFormats]int{8, 4, 16, 16}[f] }

const (
	weightColumns = 64      // columns of W that are packed together
	weightRows    = 3       // rows of X that are multiplied at once, at most
	minGroup      = 32      // rows of a group are a multiple of it
	tileColumns   = 128     // columns of W that are made floats at a time
	minWeightWork = 1 << 17 // multiplications that are worth a goroutine
)

// weightLoops are the loops on weights of each format.
type weightLoops [weightFormats]weightLoop

// multiplyWeights adds scale·(Σx·w − zero·sum) to 64 elements from to on, for each run of k elements of
// x and rows of w. Runs have a sum each, and 64 elements of scale and of zero, step behind those of the
// run before. zero may be nil. k is even if there are several runs. Rows of X are rowX elements apart,
// their sums rowSums, and results 64.
type multiplyWeights func(runs, k int, to, x, sums *float32, w *byte, scale, zero *float32, step, rowX, rowSums int)

// weightLoop is those on weights of one format, in panels of 64 columns.
type weightLoop struct {
	multiply [weightRows]multiplyWeights // of one row of X, of two, of three; nil: there is none
	few      int                         // rows of X for which they are faster than products with floats
	// unpack sets 2·pairs rows of 64 floats, row elements apart, to (w − zero)·scale.
	unpack func(pairs int, to *float32, row int, w *byte, scale, zero *float32)
}

// weightLoop returns the loops on weights of a format. s may be nil.
func (s *Set) weightLoop(f WeightFormat) *weightLoop {
	if s != nil && s.weights[f].unpack != nil {
		return &s.weights[f]
	}
	return &plainWeights[f]
}

// PackWeights packs W [k, n], of 8 bits or of 4, whose integer (i, j) is q[i·step + j·column]; of 4
// bits, each is in an element of its own, −8 to 7 or 0 to 15. Each group rows, a multiple of 32, share
// a scale for each column, element g·n + j of scale for group g; 0 is all rows. zero is zero points
// in the same places, or nil for none. each runs a function over [0, n) in pieces of at least min, on
// several goroutines; nil is this one alone.
func PackWeights[T Byte](bits int, q []T, k, n, step, column, group int, scale, zero []float32,
	each func(n, min int, f func(lo, hi int))) *Weights {
	format := IntegerWeights(bits)
	if group%minGroup != 0 {
		panic("vec: a group of weights is a multiple of 32 rows")
	}
	w := &Weights{K: k, N: n, Format: format, group: group}
	p := packWeights{Weights: w, q: BytesOf(q), step: step, column: column, fromScale: scale, fromZero: zero}
	if !p.q.signed {
		p.flip = 1 << (bits - 1)
	}
	panels := w.panels()
	w.packed, w.scale = make([]byte, panels*w.panel()), make([]float32, panels*w.groups()*weightColumns)
	for _, z := range zero {
		p.zeros = p.zeros || z != float32(p.flip)
	}
	if p.zeros = p.zeros || zero == nil && p.flip != 0; p.zeros {
		w.zero = make([]float32, len(w.scale))
	}
	if each == nil {
		p.panels(0, panels)
	} else {
		each(panels, max(1, minPackBytes/max(1, w.panel())), p.panels)
	}
	return w
}

// PackHalves packs W [k, n] of floats of 16 bits. each is that of [PackWeights].
func PackHalves[H Half](x []H, k, n int, each func(n, min int, f func(lo, hi int))) *Weights {
	w := &Weights{K: k, N: n, Format: HalfWeights[H]()}
	panels := w.panels()
	packed := make([]H, panels*w.panel()/2)
	w.packed = HalfBytes(packed)
	w.scale = slices.Repeat([]float32{1}, panels*weightColumns)
	pack := func(lo, hi int) {
		for panel := lo; panel < hi; panel++ {
			first := panel * weightColumns
			columns := min(weightColumns, n-first)
			to := packed[panel*w.panel()/2:]
			for i := range k {
				copy(to[i*weightColumns:][:columns], x[i*n+first:])
			}
		}
	}
	if each == nil {
		pack(0, panels)
	} else {
		each(panels, max(1, minPackBytes/max(1, w.panel())), pack)
	}
	return w
}

// panels is the number of panels of 64 columns.
func (w *Weights) panels() int { return (w.N + weightColumns - 1) / weightColumns }

// rowBytes is the bytes of so many rows of a panel, from an even one on.
func (w *Weights) rowBytes(rows int) int {
	if w.Format == Weights4 {
		return (rows + 1) / 2 * weightColumns
	}
	return rows * weightColumns * w.Format.Bits() / 8
}

// panel is the bytes of a panel, of which the rows are even.
func (w *Weights) panel() int { return w.rowBytes((w.K + 1) / 2 * 2) }

// groups is the number of groups of rows.
func (w *Weights) groups() int {
	if w.group == 0 {
		return 1
	}
	return (w.K + w.group - 1) / w.group
}

// packWeights is W while it is packed.
type packWeights struct {
	*Weights
	q                   Bytes
	step, column        int
	fromScale, fromZero []float32
	flip                byte // bits that make unsigned integers signed
	zeros               bool // there are zero points
}

// panels packs some panels.
func (p *packWeights) panels(lo, hi int) {
	for panel := lo; panel < hi; panel++ {
		first := panel * weightColumns
		columns := min(weightColumns, p.N-first)
		to := p.packed[panel*p.panel():][:p.panel()]
		for j := range columns {
			for i := range p.K {
				v := p.q.bits[i*p.step+(first+j)*p.column] ^ p.flip
				if p.Format == Weights8 {
					to[i*weightColumns+j] = v
				} else {
					to[i/2*weightColumns+j] |= v & 15 << (i % 2 * 4)
				}
			}
		}
		for g := range p.groups() {
			at := (panel*p.groups() + g) * weightColumns
			copy(p.scale[at:at+columns], p.fromScale[g*p.N+first:])
			for j := range columns {
				if p.fromZero != nil && p.zeros {
					p.zero[at+j] = p.fromZero[g*p.N+first+j]
				}
				if p.zeros {
					p.zero[at+j] -= float32(p.flip)
				}
			}
		}
	}
}

// Multiply sets Y [m, N] = X [m, K]·W. Rows of X and Y are rowX and rowY elements apart. set may be
// nil. each runs a function over [0, n) in pieces of at least min, on several goroutines; nil is this
// one alone. Pieces are columns, 64 at a time.
//
// Where m is more than 32, the bits are those of Product with W as floats, unless set is nil. Of fewer
// rows, products with the integers may be added up, each run of rows of W for itself, and multiplied by
// the scale then; an infinity in X gives NaN there in columns that have zero points.
func (w *Weights) Multiply(set *Set, m int, x []float32, rowX int, y []float32, rowY int,
	each func(n, min int, f func(lo, hi int))) {
	if m == 0 || w.N == 0 {
		return
	}
	_ = y[(m-1)*rowY+w.N-1] // assembly knows no bounds
	if w.K == 0 {
		for i := range m {
			clear(y[i*rowY:][:w.N])
		}
		return
	}
	_ = x[(m-1)*rowX+w.K-1]
	t, _ := weightTasks.Get().(*weightTask)
	if t == nil {
		t = new(weightTask)
		t.byRow, t.byTile = t.rows, t.tiles
	}
	t.Weights, t.set, t.loop = w, set, set.weightLoop(w.Format)
	t.m, t.x, t.rowX, t.y, t.rowY = m, x, rowX, y, rowY
	f, least := t.byTile, tileColumns/weightColumns
	if m <= t.loop.few {
		f, least = t.byRow, 1
		t.addGroups()
	}
	if each == nil {
		f(0, w.panels())
	} else {
		each(w.panels(), max(least, minWeightWork/(m*w.K*weightColumns)), f)
	}
	t.Weights, t.x, t.y = nil, nil, nil
	weightTasks.Put(t)
}

var weightTasks, weightSums sync.Pool // of *weightTask, and of columns of Y

// weightTask is one product by weights.
type weightTask struct {
	*Weights
	set           *Set
	loop          *weightLoop
	m             int
	x             []float32
	rowX          int
	y             []float32
	rowY          int
	sums          []float32 // of the elements of each run of each row of X, if there are zero points
	byRow, byTile func(lo, hi int)
}

// runs returns how many rows of W are added up before they are scaled, how many such runs there are,
// and the rest.
func (t *weightTask) runs() (rows, whole, rest int) {
	rows = t.group
	if rows == 0 {
		rows = run
	}
	return rows, t.K / rows, t.K % rows
}

// addGroups adds up the elements of X that are in each run.
func (t *weightTask) addGroups() {
	t.sums = t.sums[:0]
	if t.zero == nil {
		return
	}
	rows, whole, _ := t.runs()
	for i := range t.m {
		row := t.x[i*t.rowX:][:t.K]
		for r := range whole + 1 {
			sum := 0.0
			for _, v := range row[r*rows : min(t.K, (r+1)*rows)] {
				sum += float64(v)
			}
			t.sums = append(t.sums, float32(sum))
		}
	}
}

// rows computes some panels of Y, a few rows of X at a time.
func (t *weightTask) rows(lo, hi int) {
	rows, whole, rest := t.runs()
	step := weightColumns
	if t.group == 0 {
		step = 0
	}
	to, _ := weightSums.Get().(*[weightRows * weightColumns]float32)
	if to == nil {
		to = new([weightRows * weightColumns]float32)
	}
	defer weightSums.Put(to)
	for panel := lo; panel < hi; panel++ {
		w := t.packed[panel*t.panel():]
		scale, zero := t.scales(panel, 0)
		for i := 0; i < t.m; {
			n := min(t.m-i, weightRows)
			if t.loop.multiply[n-1] == nil {
				n = 1
			}
			multiply := t.loop.multiply[n-1]
			x := t.x[i*t.rowX:]
			clear(to[:])
			sums := unsafe.SliceData(t.sums)
			if t.zero != nil {
				sums = &t.sums[i*(whole+1)]
			}
			if whole > 0 {
				multiply(whole, rows, &to[0], &x[0], sums, &w[0], scale, zero, step, t.rowX, whole+1)
			}
			if rest > 0 {
				last, lastZero := t.scales(panel, whole*min(1, step))
				if t.zero != nil {
					sums = &t.sums[i*(whole+1)+whole]
				}
				from := whole * rows
				multiply(1, rest, &to[0], &x[from], sums, &w[t.rowBytes(from)], last, lastZero, 0, t.rowX, whole+1)
			}
			for row := range n {
				y := t.y[(i+row)*t.rowY:][:t.N]
				copy(y[panel*weightColumns:], to[row*weightColumns:][:weightColumns])
			}
			i += n
		}
	}
}

// scales returns where those of a group of a panel lie, and its zero points, or nil.
func (w *Weights) scales(panel, group int) (scale, zero *float32) {
	at := (panel*w.groups() + group) * weightColumns
	if w.zero != nil {
		zero = &w.zero[at]
	}
	return &w.scale[at], zero
}

// noZeros is the zero points of weights that have none.
var noZeros [weightColumns]float32

// tiles computes some panels of Y, as products of X and of tiles of W as floats.
func (t *weightTask) tiles(lo, hi int) {
	l := On[float32](t.set)
	s := l.scratch()
	defer l.pool.Put(s)
	tile := s.pack(run * tileColumns)
	for ; lo < hi; lo += tileColumns / weightColumns {
		end := min(hi, lo+tileColumns/weightColumns)
		first := lo * weightColumns
		columns := min(end*weightColumns, t.N) - first
		for from := 0; from < t.K; from += run {
			k := min(run, t.K-from)
			for panel := lo; panel < end; panel++ {
				t.unpack(tile[(panel-lo)*weightColumns:], panel, from, k)
			}
			l.Product(Product[float32]{M: t.m, N: columns, K: k, A: t.x[from:], RowA: t.rowX, StepA: 1,
				B: tile, StepB: tileColumns, ColumnB: 1, C: t.y[first:], RowC: t.rowY, Add: from > 0}, nil)
		}
	}
}

// unpack makes floats of k rows of a panel, from an even one on; one more if k is odd.
func (t *weightTask) unpack(to []float32, panel, from, k int) {
	w := t.packed[panel*t.panel():]
	for at := 0; at < k; {
		n, group := k, 0
		if t.group > 0 {
			group = (from + at) / t.group
			n = min(k-at, (group+1)*t.group-from-at)
		}
		scale, zero := t.scales(panel, group)
		if zero == nil {
			zero = &noZeros[0]
		}
		t.loop.unpack((n+1)/2, &to[at*tileColumns], tileColumns, &w[t.rowBytes(from+at)], scale, zero)
		at += n
	}
}
