package ops

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/parallel"
	"github.com/clgrad/clgrad/internal/vec"
	"github.com/x448/float16"
)

// Quantize rounds W [k, n] to a format: to floats of 16 bits, or to integers, with a scale for each column and group of
// rows, a multiple of 32, or 0 for all, and maybe a zero point. at is where the first element lies that is no finite
// number, or becomes none, or −1.
func Quantize(w []float32, k, n int, format vec.WeightFormat, group int, zeros bool) (q *vec.Weights, at int) {
	switch format {
	case vec.WeightsFloat16:
		return quantizeHalves[float16.Float16](w, k, n)
	case vec.WeightsBFloat16:
		return quantizeHalves[bfloat16.BFloat16](w, k, n)
	}
	bits := format.Bits()
	z := quantizer{w: w, n: n, ints: make([]uint8, k*n), levels: float64(int(1)<<bits - 1), zeros: zeros}
	z.middle = (z.levels + 1) / 2
	groups, rows := 1, k
	if group > 0 {
		groups, rows = intmath.CeilDiv(k, group), group
	}
	z.scale, z.zero = make([]float32, groups*n), make([]float32, groups*n)
	var infinite atomic.Bool
	parallel.For(n, intmath.CeilDiv(parallel.Grain, max(1, k)), func(lo, hi int) {
		for g := range groups {
			if !z.group(g, g*rows, min(k, (g+1)*rows), lo, hi) {
				infinite.Store(true)
				return
			}
		}
	})
	if infinite.Load() {
		return nil, slices.IndexFunc(w, func(v float32) bool { return v-v != 0 })
	}
	return vec.PackWeights(bits, z.ints, k, n, n, 1, group, z.scale, z.zero, parallel.For), -1
}

func quantizeHalves[H vec.Half](w []float32, k, n int) (q *vec.Weights, at int) {
	halves, rounded := make([]H, len(w)), make([]float32, len(w))
	vec.ToHalves(nil, halves, w)
	vec.FromHalves(nil, rounded, halves)
	if at = slices.IndexFunc(rounded, func(v float32) bool { return v-v != 0 }); at >= 0 {
		return nil, at
	}
	return vec.PackHalves(halves, k, n, parallel.For), -1
}

// PackQuantized packs integers that are there already: see vec.PackWeights.
func PackQuantized[T int8 | uint8](bits int, q []T, k, n, step, column, group int, scale, zero []float32) *vec.Weights {
	return vec.PackWeights(bits, q, k, n, step, column, group, scale, zero, parallel.For)
}

// quantizer rounds W [k, n] to integers from 0 to levels.
type quantizer struct {
	w              []float32
	n              int
	ints           []uint8
	scale, zero    []float32 // n for each group
	levels, middle float64
	zeros          bool // zero points are where they fit best, and not in the middle
}

// group rounds group g, rows [first, end) of columns [lo, hi). It returns whether all numbers are finite.
func (q *quantizer) group(g, first, end, lo, hi int) (finite bool) {
	low, high := make([]float32, hi-lo), make([]float32, hi-lo)   // with 0 between them
	least, most := make([]float64, hi-lo), make([]float64, hi-lo) // integers
	for i := first; i < end; i++ {
		for j, v := range q.w[i*q.n+lo : i*q.n+hi] {
			low[j], high[j] = min(low[j], v), max(high[j], v)
		}
	}
	scale, zero := q.scale[g*q.n+lo:g*q.n+hi], q.zero[g*q.n+lo:g*q.n+hi]
	for j := range scale {
		if low[j]-low[j] != 0 || high[j]-high[j] != 0 {
			return false
		}
		scale[j], zero[j] = q.scaleOf(float64(low[j]), float64(high[j]))
		least[j], most[j] = q.reach(float64(zero[j]), scale[j])
	}
	for i := first; i < end; i++ {
		ints := q.ints[i*q.n+lo : i*q.n+hi]
		for j, v := range q.w[i*q.n+lo : i*q.n+hi] {
			r := math.RoundToEven(float64(v)/float64(scale[j])) + float64(zero[j])
			ints[j] = uint8(min(max(r, least[j]), most[j]))
		}
	}
	return true
}

// scaleOf returns the scale and the zero point of numbers from low to high. Numbers that are too small for a
// scale become 0, with a scale of 1.
func (q *quantizer) scaleOf(low, high float64) (scale, zero float32) {
	const least = 0x1p-126 // a normal number: devices may take smaller ones for 0
	if q.zeros {
		scale = float32((high - low) / q.levels)
	} else {
		scale = float32(max(high, -low) / (q.middle - 1))
	}
	if scale < least {
		return 1, float32(q.middle)
	}
	for {
		zero, span := q.middle, q.middle-1 // the largest integer less the zero point
		if q.zeros {
			zero = min(max(math.RoundToEven(-low/float64(scale)), 0), q.levels)
			span = math.Floor(max(high, -low)/float64(scale) + 1e-4)
		}
		if inRange(span, scale) {
			return scale, float32(zero)
		}
		scale = math.Nextafter32(scale, 0) // it was rounded up
	}
}

// reach returns the least and the largest integer of a zero point and a scale. Those that floats do not reach are none:
// with a zero point, the range may begin half a scale below the least number.
func (q *quantizer) reach(zero float64, scale float32) (least, most float64) {
	least, most = 0, q.levels
	if !q.zeros {
		least = 1
	}
	for !inRange(zero-least, scale) {
		least++
	}
	for !inRange(most-zero, scale) {
		most--
	}
	return least, most
}

// inRange reports whether so many scales are a finite number.
func inRange(n float64, scale float32) bool { return n*float64(scale) < 0x1p128-0x1p103 }
