package fused

import (
	"math"
	"sync"

	"github.com/clgrad/clgrad/internal/convert"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/lowbit"
)

// storedTables are what elements of the types for storage become as numbers, and what numbers become.
var storedTables [kernels.Uint2 + 1]storedTable

// storedTable is those of a type.
type storedTable struct {
	once     sync.Once
	typ      kernels.DType
	numbers  [256]float32 // of each byte
	mu       sync.Mutex
	elements map[lowbit.CastOptions]*elementTable
}

// storedTableOf returns the tables of a type for storage.
func storedTableOf(t kernels.DType) *storedTable {
	s := &storedTables[t]
	s.once.Do(func() {
		s.typ, s.elements = t, map[lowbit.CastOptions]*elementTable{}
		for b := range s.numbers {
			s.numbers[b] = float32(t.StoredNumber(uint8(b)))
		}
	})
	return s
}

// elementTable is what floats become, by the upper half of their bits, whose last bit is 1 where the lower
// half is not 0: eight significant bits that are rounded to odd round to fewer as the float does.
type elementTable [1 << 16]uint8

// table returns the elements, which it makes at its first call.
func (s *storedTable) table(o lowbit.CastOptions) *elementTable {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.elements[o]
	if t == nil {
		t = new(elementTable)
		for upper := range t {
			t[upper] = s.typ.StoredElement(math.Float32frombits(uint32(upper)<<16), o)
		}
		s.elements[o] = t
	}
	return t
}

// of returns the element that f becomes.
func (t *elementTable) of(f float32) uint8 {
	bits := math.Float32bits(f)
	return t[uint16(bits>>16|(bits&0xffff+0xffff)>>16)]
}

func widenStored[T expr.Number](s *storedTable) widener[uint8, T] {
	return func(_ *vec.Set, to []T, x []uint8) {
		for i, b := range x[:len(to)] {
			to[i] = T(s.numbers[b])
		}
	}
}

// narrowStored is narrow to elements of a type for storage. Of integers only such of integers are made:
// their low bits.
func narrowStored[T expr.Number](s *storedTable, o lowbit.CastOptions) narrower[uint8, T] {
	if one := T(1); one/2 == 0 {
		return func(_ *vec.Set, to []uint8, x []T) {
			for i, v := range x {
				to[i] = uint8(int8(s.numbers[uint8(v)]))
			}
		}
	}
	table := s.table(o)
	return func(_ *vec.Set, to []uint8, x []T) {
		if floats, single := any(x).([]float32); single {
			for i, v := range floats {
				to[i] = table.of(v)
			}
			return
		}
		for i, v := range x {
			to[i] = table.of(convert.ToOdd(float64(v)))
		}
	}
}
