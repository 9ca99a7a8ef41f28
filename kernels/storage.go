package kernels

import (
	"math"
	"sync"

	"github.com/clgrad/clgrad/internal/convert"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/lowbit"
)

// storageType says how elements of a type for storage become numbers, and numbers elements.
type storageType struct {
	numbers [256]float32 // of each byte
	element func(f float32, o lowbit.CastOptions) uint8
	mu      sync.Mutex
	tables  map[lowbit.CastOptions]*elementTable
}

// elementTable is what floats become, by the upper half of their bits, whose last bit is 1 where the lower
// half is not 0: eight significant bits that are rounded to odd round to fewer as the float does.
type elementTable [1 << 16]uint8

func storageOf[T lowbit.Element]() *storageType {
	s := &storageType{tables: map[lowbit.CastOptions]*elementTable{},
		element: func(f float32, o lowbit.CastOptions) uint8 { return uint8(lowbit.FromFloat32[T](f, o)) }}
	for b := range s.numbers {
		s.numbers[b] = lowbit.Float32(T(b))
	}
	return s
}

// table returns the elements, which it makes at its first call.
func (s *storageType) table(o lowbit.CastOptions) *elementTable {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tables[o]
	if t == nil {
		t = new(elementTable)
		for upper := range t {
			t[upper] = s.element(math.Float32frombits(uint32(upper)<<16), o)
		}
		s.tables[o] = t
	}
	return t
}

// of returns the element that f becomes.
func (t *elementTable) of(f float32) uint8 {
	bits := math.Float32bits(f)
	return t[uint16(bits>>16|(bits&0xffff+0xffff)>>16)]
}

func widenStored[T expr.Number](s *storageType) widener[uint8, T] {
	return func(_ *vec.Set, to []T, x []uint8) {
		for i, b := range x[:len(to)] {
			to[i] = T(s.numbers[b])
		}
	}
}

// narrowStored is narrow to elements of a type for storage. Of integers only such of integers are made:
// their low bits.
func narrowStored[T expr.Number](s *storageType, o lowbit.CastOptions) narrower[uint8, T] {
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
