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

// halfLoops are the loops between n floats of 16 bits and as many of 32, n being a multiple of 16, and
// those that move elements of 16 bits. nil: there are none.
type halfLoops struct {
	fromFloat16, fromBFloat16 func(n int, to *float32, x *uint16)
	toFloat16, toBFloat16     func(n int, to *uint16, x *float32)
	everySecond               func(n int, to, from *uint16)
	transposer                transposer[uint16]
}

// FromHalves sets the elements of to to those of x, which is as long. set may be nil.
func FromHalves[H Half](set *Set, to []float32, x []H) {
	FromHalfLines(set, to, 0, x, 0, 1, len(to))
}

// FromHalfLines sets lines of n elements, row apart in to, to those of x, which are distance apart. set may be nil.
func FromHalfLines[H Half](set *Set, to []float32, row int, x []H, distance, lines, n int) {
	loop := fromLoop[H](set)
	whole := n / 16 * 16
	for i := range lines {
		line, from := to[i*row:][:n], x[i*distance:][:n]
		if loop == nil || whole == 0 {
			fromHalves(line, from)
			continue
		}
		loop(whole, &line[0], (*uint16)(unsafe.Pointer(&from[0])))
		if whole < n { // the last ones with some before them again
			loop(16, &line[n-16], (*uint16)(unsafe.Pointer(&from[n-16])))
		}
	}
}

// fromLoop returns the loop of a set from a type, or nil.
func fromLoop[H Half](set *Set) func(n int, to *float32, x *uint16) {
	if set == nil {
		return nil
	}
	if _, bfloat := any(H(0)).(bfloat16.BFloat16); bfloat {
		return set.halves.fromBFloat16
	}
	return set.halves.fromFloat16
}

// fromHalves is [FromHalves] in plain Go.
func fromHalves[H Half](to []float32, x []H) {
	switch x := any(x).(type) {
	case []float16.Float16:
		for i, v := range x {
			to[i] = v.Float32()
		}
	case []bfloat16.BFloat16:
		for i, v := range x {
			to[i] = v.Float32()
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
