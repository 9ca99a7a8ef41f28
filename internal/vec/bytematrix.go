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
	set          *Set
	pack         func(lo, hi int)
}

// Pack sets m to B [k, n], whose element (i, j) is i·step + j·column; one of step and column is 1.
// It reuses the memory of m. set may be nil; any set can read what another one packed. each runs a
// function over [0, n) in pieces of at least min, on several goroutines; nil is this one alone.
func (m *ByteMatrix) Pack(set *Set, b Bytes, k, n, step, column int, each func(n, min int, f func(lo, hi int))) {
	m.K, m.N, m.b, m.step, m.column, m.set = k, n, b, step, column, set
	m.offset, m.flip = 0, 0
	if !b.signed {
		m.offset, m.flip = 128, signs
	}
	panels := (n + panelColumns - 1) / panelColumns
	m.packed = sized(m.packed, panels*m.panel())
	m.sums = sized(m.sums, panels*panelColumns)
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
