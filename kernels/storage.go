package kernels

import (
	"github.com/clgrad/clgrad/internal/convert"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/lowbit"
)

// storageType says how elements of a type for storage become numbers, and numbers elements.
type storageType struct {
	numbers [256]float32 // of each byte
	round   func(to []uint8, x []float32, o lowbit.CastOptions)
}

func storageOf[T lowbit.Element]() *storageType {
	s := &storageType{round: func(to []uint8, x []float32, o lowbit.CastOptions) {
		for i, v := range x {
			to[i] = uint8(lowbit.FromFloat32[T](v, o))
		}
	}}
	for b := range s.numbers {
		s.numbers[b] = lowbit.Float32(T(b))
	}
	return s
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
	return func(_ *vec.Set, to []uint8, x []T) {
		var odd [typedRun]float32
		for len(x) > 0 {
			run := odd[:min(len(x), typedRun)]
			for i := range run {
				run[i] = convert.ToOdd(float64(x[i]))
			}
			s.round(to[:len(run)], run, o)
			to, x = to[len(run):], x[len(run):]
		}
	}
}
