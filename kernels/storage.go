package kernels

import "github.com/clgrad/clgrad/lowbit"

// storageType says how elements of a type for storage become numbers, and numbers elements.
type storageType struct {
	numbers [256]float32 // of each byte
	element func(f float32, o lowbit.CastOptions) uint8
}

func storageOf[T lowbit.Element]() *storageType {
	s := &storageType{element: func(f float32, o lowbit.CastOptions) uint8 { return uint8(lowbit.FromFloat32[T](f, o)) }}
	for b := range s.numbers {
		s.numbers[b] = lowbit.Float32(T(b))
	}
	return s
}

// StoredNumber returns the number that a byte is as an element of t, a type for storage.
func (t DType) StoredNumber(b uint8) float64 { return float64(dtypeTable[t].stored.numbers[b]) }

// StoredElement returns what f becomes as an element of t, a type for storage.
func (t DType) StoredElement(f float32, o lowbit.CastOptions) uint8 {
	return dtypeTable[t].stored.element(f, o)
}
