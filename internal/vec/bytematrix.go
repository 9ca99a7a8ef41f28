package vec

import "unsafe"

// Byte is an integer of 8 bits.
type Byte interface{ int8 | uint8 }

// Bytes is elements of one of the types of Byte.
type Bytes struct {
	bits   []byte
	signed bool
}

// BytesOf returns x as Bytes, which share its memory.
func BytesOf[T Byte](x []T) Bytes {
	_, signed := any(x).([]int8)
	return Bytes{unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)), signed}
}

// BytesAs returns the elements whose bits are x, with a sign or without. They share its memory.
func BytesAs(x []byte, signed bool) Bytes { return Bytes{x, signed} }

const (
	panelColumns = 16                 // columns of B that are packed together
	panelRow     = 4 * panelColumns   // bytes of four rows of them
	signs        = 0x8080808080808080 // flipping them adds 128 to signed bytes, and subtracts it from unsigned ones
	minPackBytes = 1 << 16            // elements that are worth a goroutine to pack
)

// ByteMatrix is a matrix B [K, N] of integers of 8 bits, packed for MultiplyBytes: constant weights
// are packed once. With K rounded up to a multiple of 4, it takes K bytes for each column, and
// columns are rounded up to a multiple of 16.
//
// For each 16 columns, and for each four rows, the four elements of column 0 lie together, then those
// of column 1, and so on. Elements are signed: of unsigned ones, 128 is subtracted. Rows and columns
// beyond the last are zero.
type ByteMatrix struct {
	K, N   int
	packed []byte
	sums   []int32 // of the packed columns
	offset int32   // what was subtracted
	flip   uint64

	b            Bytes // while it is packed
	step, column int
	taps         []int
	set          *Set

	pack, packTaps func(lo, hi int)
}

// Pack sets m to B [k, n], whose element (i, j) is i·step + j·column; one of step and column is 1.
// It reuses the memory of m. set may be nil; any set can read what another one packed. each runs a
// function over [0, n) in pieces of at least min, on several goroutines; nil is this one alone.
func (m *ByteMatrix) Pack(set *Set, b Bytes, k, n, step, column int, each func(n, min int, f func(lo, hi int))) {
	panels := m.begin(set, b, k, n, step)
	m.column = column
	if k == 0 || n == 0 {
		clear(m.sums)
		return
	}
	_ = b.bits[(k-1)*step+(n-1)*column] // assembly knows no bounds
	if m.pack == nil {
		m.pack = func(lo, hi int) {
			for i := lo; i < hi; i++ {
				m.packPanel(i)
			}
		}
	}
	if each == nil {
		m.pack(0, panels)
	} else {
		each(panels, max(1, minPackBytes/m.panel()), m.pack)
	}
	m.b, m.set = Bytes{}, nil
}

// PackTaps sets m to B [k·len(taps), n], whose element (t·k + i, j) is taps[t] + i·step + j: what n positions of a
// convolution meet in k planes. k is a multiple of 4, but not 0, and b has 15 more elements behind the last of these.
// set and each are those of Pack.
func (m *ByteMatrix) PackTaps(set *Set, b Bytes, taps []int, k, n, step int,
	each func(n, min int, f func(lo, hi int))) {
	panels := m.begin(set, b, k*len(taps), n, step)
	m.taps = taps
	for _, at := range taps {
		_ = b.bits[at+(k-1)*step+panels*panelColumns-1] // assembly knows no bounds
	}
	if m.packTaps == nil {
		m.packTaps = func(lo, hi int) {
			for i := lo; i < hi; i++ {
				m.packTapPanel(i)
			}
		}
	}
	if each == nil {
		m.packTaps(0, panels)
	} else {
		each(panels, max(1, minPackBytes/max(1, m.panel())), m.packTaps)
	}
	m.b, m.set, m.taps = Bytes{}, nil, nil
}

// begin makes room for B [k, n], and returns how many panels of 16 columns it has.
func (m *ByteMatrix) begin(set *Set, b Bytes, k, n, step int) (panels int) {
	m.K, m.N, m.b, m.step, m.set = k, n, b, step, set
	m.offset, m.flip = 0, 0
	if !b.signed {
		m.offset, m.flip = 128, signs
	}
	panels = (n + panelColumns - 1) / panelColumns
	m.packed = sized(m.packed, panels*m.panel())
	m.sums = sized(m.sums, panels*panelColumns)
	return panels
}

// sized returns n elements, in the memory of x if there is enough.
func sized[T any](x []T, n int) []T {
	if cap(x) < n {
		return make([]T, n)
	}
	return x[:n]
}

// panel is the bytes of 16 columns.
func (m *ByteMatrix) panel() int { return (m.K + 3) / 4 * panelRow }

// packPanel packs 16 columns, or as many as there are of them.
func (m *ByteMatrix) packPanel(panel int) {
	to := m.packed[panel*m.panel():][:m.panel()]
	sums := m.sums[panel*panelColumns:][:panelColumns]
	clear(sums)
	b, n := m.b.bits[panel*panelColumns*m.column:], min(panelColumns, m.N-panel*panelColumns)
	whole := 0 // rows that are packed by vectors
	if n == panelColumns && m.set != nil && m.set.byteProducts.packColumns != nil {
		loops := &m.set.byteProducts
		switch {
		case m.column == 1 && m.K >= 4:
			whole = m.K / 4 * 4
			loops.packColumns(whole/4, &to[0], &b[0], m.step, m.flip, &sums[0])
		case m.step == 1 && m.K >= 16:
			whole = m.K / 16 * 16
			loops.packTransposed(whole/16, &to[0], &b[0], m.column, m.flip, &sums[0])
		}
	}
	if whole < m.K {
		clear(to[whole/4*panelRow:])
	}
	for i := whole; i < m.K; i++ {
		for j := range n {
			v := b[i*m.step+j*m.column] ^ byte(m.flip)
			to[i/4*panelRow+4*j+i%4] = v
			sums[j] += int32(int8(v))
		}
	}
}

// packTapPanel packs 16 columns of what taps meet.
func (m *ByteMatrix) packTapPanel(panel int) {
	sums := m.sums[panel*panelColumns:][:panelColumns]
	clear(sums)
	k := m.K / len(m.taps)
	for t, at := range m.taps {
		b := m.b.bits[at+panel*panelColumns:]
		to := m.packed[panel*m.panel()+t*k/4*panelRow:][:k/4*panelRow]
		if m.set != nil && m.set.byteProducts.packColumns != nil {
			m.set.byteProducts.packColumns(k/4, &to[0], &b[0], m.step, m.flip, &sums[0])
			continue
		}
		for i := range k {
			for j, v := range b[i*m.step:][:panelColumns] {
				v ^= byte(m.flip)
				to[i/4*panelRow+4*j+i%4] = v
				sums[j] += int32(int8(v))
			}
		}
	}
}
