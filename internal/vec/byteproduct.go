package vec

import "sync"

// ByteProduct is a product of integers of 8 bits, C [M, N] = (A − ZeroA)·(B − ZeroB). Element (i, k)
// of A is i·RowA + k·StepA, element (i, j) of C is i·RowC + j. Sums wrap around in 32 bits; nothing
// else is rounded.
type ByteProduct struct {
	M           int
	A           Bytes
	RowA, StepA int
	ZeroA       []int32 // one for all rows of A, or one for each row; nil is 0
	B           *ByteMatrix
	ZeroB       []int32 // one for all columns of B, or one for each column; nil is 0
	C           []int32
	RowC        int
}

const (
	byteRun   = 512            // steps of the sum that a block of C stays in registers for
	byteRows  = 120            // of A: as many rows of a run stay in the second-level cache
	packedRow = 2*byteRun + 64 // bytes of a packed row; the gap keeps rows apart in the cache
	blockMost = 12 * 32        // elements of the largest block

	minByteWork = 1 << 20 // multiplications that are worth a goroutine
)

// byteBlock computes a block of C: 4·k steps of the sum. Rows of A are rowA bytes apart, panels of B
// panel bytes.
type byteBlock func(k int, a *byte, rowA int, b *byte, panel int, c *int32, rowC int, add bool)

// byteBlocks are the blocks of so many rows, of all widths.
type byteBlocks struct {
	rows   int
	blocks []byteBlock
}

// byteProductLoops are the loops of products of bytes. Loops that are nil are plain ones.
type byteProductLoops struct {
	widths  []int // columns of the blocks, the widest first
	heights []byteBlocks
	signed  bool // blocks read A as signed bytes
	wide    bool // blocks read A as unsigned integers of 16 bits

	// packRow packs n bytes of a row of A, a multiple of 32, and returns their sum.
	packRow func(n int, to, x *byte, flip uint64) int
	// packColumns packs 16 columns of B, 4·k rows, and adds them to sums.
	packColumns func(k int, to, b *byte, step int, flip uint64, sums *int32)
	// packTransposed packs 16 columns of B, 16·k rows, where the elements of a column lie together.
	packTransposed func(k int, to, b *byte, column int, flip uint64, sums *int32)
	// correct adds p[i]·u[j] + q[i]·v[j] to rows of C, n being a multiple of 8.
	correct func(rows, n int, c *int32, rowC int, p, q, u, v *int32)
}

// loopsOnBytes returns the loops of products of bytes. s may be nil.
func (s *Set) loopsOnBytes() *byteProductLoops {
	if s == nil || s.byteProducts.heights == nil {
		return &plainByteProducts
	}
	return &s.byteProducts
}

// MultiplyBytes computes p. set may be nil. each runs a function over [0, n) in pieces of at least
// min, on several goroutines; nil is this one alone.
func MultiplyBytes(set *Set, p ByteProduct, each func(n, min int, f func(lo, hi int))) {
	k, n := p.B.K, p.B.N
	if p.M == 0 || n == 0 {
		return
	}
	_ = p.C[(p.M-1)*p.RowC+n-1] // assembly knows no bounds
	if k == 0 {
		for i := range p.M {
			clear(p.C[i*p.RowC:][:n])
		}
		return
	}
	_ = p.A.bits[(p.M-1)*p.RowA+(k-1)*p.StepA]
	if len(p.ZeroB) > 1 {
		_ = p.ZeroB[n-1]
	}
	t, _ := byteTasks.Get().(*byteTask)
	if t == nil {
		t = newByteTask()
	}
	t.ByteProduct, t.byteProductLoops = p, set.loopsOnBytes()
	t.correction()
	tall := t.heights[0].rows
	tiles, panels := (p.M+tall-1)/tall, (n+panelColumns-1)/panelColumns
	switch {
	case each == nil:
		t.run(0, p.M, 0, n)
	case p.M > n: // each piece reads all of B
		each(tiles, max(1, minByteWork/(tall*n*k)), t.rows)
	default: // each piece packs all of A
		each(panels, max(4, minByteWork/(p.M*panelColumns*k)), t.across)
	}
	t.ByteProduct = ByteProduct{}
	byteTasks.Put(t)
}

var byteTasks, byteScratches sync.Pool // of *byteTask, *byteScratch

// byteTask is one product while it is computed. With A′ and B′ as they are packed, A + shift and
// B − offset, and the zero points of those, element (i, j) of C is
//
//	ΣA′·B′ − zeroA′[i]·(ΣB′[j] − K·zeroB′[j]) − zeroB′[j]·ΣA′[i]
type byteTask struct {
	ByteProduct
	*byteProductLoops
	flip         uint64  // bits of A that packing flips
	shift        int32   // what that adds
	corrects     bool    // the second or third term is not zero
	u, v         []int32 // ΣB′[j] − K·zeroB′[j], and zeroB′[j]
	rows, across func(lo, hi int)
}

func newByteTask() *byteTask {
	t := new(byteTask)
	t.rows = func(lo, hi int) {
		tall := t.heights[0].rows
		t.run(lo*tall, min(hi*tall, t.M), 0, t.B.N)
	}
	t.across = func(lo, hi int) { t.run(0, t.M, lo*panelColumns, min(hi*panelColumns, t.B.N)) }
	return t
}

// correction prepares the second and third term.
func (t *byteTask) correction() {
	t.flip, t.shift = 0, 0
	if t.A.signed != t.signed {
		t.flip, t.shift = signs, 128
		if t.signed {
			t.shift = -128
		}
	}
	t.corrects = t.shift != 0
	for _, z := range t.ZeroA {
		t.corrects = t.corrects || z != 0
	}
	t.u, t.v = sized(t.u, len(t.B.sums)), sized(t.v, len(t.B.sums))
	for j := range t.B.sums {
		zero := -t.B.offset
		switch {
		case len(t.ZeroB) == 1:
			zero += t.ZeroB[0]
		case j < len(t.ZeroB):
			zero += t.ZeroB[j]
		}
		t.corrects = t.corrects || zero != 0
		t.u[j], t.v[j] = t.B.sums[j]-int32(t.B.K)*zero, zero
	}
}

// byteScratch is what a goroutine needs: packed rows of A, minus their zero points and sums, and a
// block of which not all columns are there.
type byteScratch struct {
	packed     [byteRows * packedRow]byte
	zero, sums [byteRows]int32
	cut        [blockMost]int32
}

// run computes rows [lo, hi) of columns [column, end) of C.
func (t *byteTask) run(lo, hi, column, end int) {
	s, _ := byteScratches.Get().(*byteScratch)
	if s == nil {
		s = new(byteScratch)
	}
	defer byteScratches.Put(s)
	for ; lo < hi; lo += byteRows {
		rows := min(byteRows, hi-lo)
		for i := range rows {
			s.zero[i], s.sums[i] = -t.shift, 0
			switch {
			case len(t.ZeroA) == 1:
				s.zero[i] -= t.ZeroA[0]
			case len(t.ZeroA) > 1:
				s.zero[i] -= t.ZeroA[lo+i]
			}
		}
		for from := 0; from < t.B.K; from += byteRun {
			k := min(byteRun, t.B.K-from)
			for i := range rows {
				s.sums[i] -= t.packRowOf(s.packed[i*packedRow:][:packedRow], lo+i, from, k)
			}
			for j := column; j < end; {
				j += t.columns(s, lo, rows, from, k, j, end)
			}
		}
	}
}

// packRowOf packs k elements of a row of A, and returns their sum.
func (t *byteTask) packRowOf(to []byte, row, from, k int) int32 {
	x := t.A.bits[row*t.RowA+from*t.StepA:]
	whole, sum, size := 0, int32(0), 1
	if t.wide {
		size = 2
	}
	if t.byteProductLoops.packRow != nil && t.StepA == 1 && k >= 32 {
		whole = k / 32 * 32
		sum = int32(t.byteProductLoops.packRow(whole, &to[0], &x[0], t.flip))
	}
	clear(to[whole*size : (k+3)/4*4*size])
	for i := whole; i < k; i++ {
		v := x[i*t.StepA] ^ byte(t.flip)
		to[i*size] = v
		if t.signed {
			sum += int32(int8(v))
		} else {
			sum += int32(v)
		}
	}
	return sum
}

// columns computes columns of C from j on, for some rows and one run of the sum. It returns how many.
func (t *byteTask) columns(s *byteScratch, row, rows, from, k, j, end int) int {
	width := 0
	for width < len(t.widths)-1 && t.widths[width] > end-j {
		width++
	}
	wide := t.widths[width]
	n := min(wide, end-j)
	panel := t.B.panel()
	b := &t.B.packed[j/panelColumns*panel+from/4*panelRow+j%panelColumns*4]
	k = (k + 3) / 4
	last := from+byteRun >= t.B.K
	for i, h := 0, 0; i < rows; {
		height := &t.heights[h]
		if height.rows > rows-i {
			h++
			continue
		}
		a, to := &s.packed[i*packedRow], t.C[(row+i)*t.RowC+j:]
		if n == wide {
			height.blocks[width](k, a, packedRow, b, panel, &to[0], t.RowC, from > 0)
		} else {
			height.blocks[width](k, a, packedRow, b, panel, &s.cut[0], wide, false)
			for y := range height.rows {
				row := to[y*t.RowC:][:n]
				for x, v := range s.cut[y*wide:][:n] {
					if from > 0 {
						v += row[x]
					}
					row[x] = v
				}
			}
		}
		if last && t.corrects {
			t.correctBlock(to, height.rows, n, s.zero[i:], s.sums[i:], t.u[j:], t.v[j:])
		}
		i += height.rows
	}
	return n
}

// correctBlock adds p[i]·u[j] + q[i]·v[j] to rows of n columns of C.
func (t *byteTask) correctBlock(c []int32, rows, n int, p, q, u, v []int32) {
	whole := 0
	if t.correct != nil && n >= 8 {
		whole = n / 8 * 8
		t.correct(rows, whole, &c[0], t.RowC, &p[0], &q[0], &u[0], &v[0])
	}
	for i := range rows {
		row := c[i*t.RowC:][:n]
		for j := whole; j < n; j++ {
			row[j] += p[i]*u[j] + q[i]*v[j]
		}
	}
}
