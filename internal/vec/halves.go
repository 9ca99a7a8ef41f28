package vec

import (
	"unsafe"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/x448/float16"
)

// Half is a float of 16 bits.
type Half interface {
	float16.Float16 | bfloat16.BFloat16
}

// halfLoops are the loops between n floats of 16 bits and as many of 32, n being a multiple of 16.
// nil: there are none.
type halfLoops struct {
	fromFloat16, fromBFloat16 func(n int, to *float32, x *uint16)
	toFloat16, toBFloat16     func(n int, to *uint16, x *float32)
}

// FromHalves sets the elements of to to those of x, which is as long. set may be nil.
func FromHalves[H Half](set *Set, to []float32, x []H) {
	x = x[:len(to)]
	whole := 0
	if set != nil && set.halves.fromFloat16 != nil && len(to) >= 16 {
		whole = len(to) / 16 * 16
		loop := set.halves.fromFloat16
		if _, bfloat := any(x).([]bfloat16.BFloat16); bfloat {
			loop = set.halves.fromBFloat16
		}
		loop(whole, &to[0], (*uint16)(unsafe.Pointer(&x[0])))
	}
	switch x := any(x[whole:]).(type) {
	case []float16.Float16:
		for i, v := range x {
			to[whole+i] = v.Float32()
		}
	case []bfloat16.BFloat16:
		for i, v := range x {
			to[whole+i] = v.Float32()
		}
	}
}

// ToHalves sets the elements of to to those of x, which is as long, rounded to nearest, ties to even.
// set may be nil.
func ToHalves[H Half](set *Set, to []H, x []float32) {
	x = x[:len(to)]
	whole := 0
	if set != nil && set.halves.toFloat16 != nil && len(to) >= 16 {
		whole = len(to) / 16 * 16
		loop := set.halves.toFloat16
		if _, bfloat := any(to).([]bfloat16.BFloat16); bfloat {
			loop = set.halves.toBFloat16
		}
		loop(whole, (*uint16)(unsafe.Pointer(&to[0])), &x[0])
	}
	switch to := any(to[whole:]).(type) {
	case []float16.Float16:
		for i, v := range x[whole:] {
			to[i] = float16.Fromfloat32(v)
		}
	case []bfloat16.BFloat16:
		for i, v := range x[whole:] {
			to[i] = bfloat16.FromFloat32(v)
		}
	}
}

// RoundHalves sets the elements of to to those of x, which is as long, rounded to floats of 16 bits.
// set may be nil.
func RoundHalves[H Half](set *Set, to, x []float32) {
	var some [256]H
	for len(to) > 0 {
		n := min(len(to), len(some))
		ToHalves(set, some[:n], x[:n])
		FromHalves(set, to[:n], some[:n])
		to, x = to[n:], x[n:]
	}
}
