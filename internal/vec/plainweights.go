package vec

import (
	"math"
	"unsafe"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/x448/float16"
)

// plainWeights are the loops on weights without vectors.
var plainWeights = weightLoops{
	Weights8: plainWeightLoop(2*weightColumns, func(w []byte) (to twoRows) {
		for i, v := range w {
			to[i] = float32(int8(v))
		}
		return to
	}),
	Weights4: plainWeightLoop(weightColumns, func(w []byte) (to twoRows) {
		for j, v := range w {
			to[j], to[weightColumns+j] = float32(int8(v<<4)>>4), float32(int8(v)>>4)
		}
		return to
	}),
	WeightsFloat16: plainWeightLoop(4*weightColumns, func(w []byte) (to twoRows) {
		for i, v := range HalvesOf[float16.Float16](w, len(to)) {
			to[i] = v.Float32()
		}
		return to
	}),
	WeightsBFloat16: plainWeightLoop(4*weightColumns, func(w []byte) (to twoRows) {
		for i, v := range HalvesOf[bfloat16.BFloat16](w, len(to)) {
			to[i] = v.Float32()
		}
		return to
	}),
}

// twoRows is two rows of a panel as floats.
type twoRows [2 * weightColumns]float32

// plainWeightLoop returns the loops on weights of which two rows are so many bytes. floats makes
// floats of two rows.
func plainWeightLoop(size int, floats func(w []byte) twoRows) weightLoop {
	const columns = weightColumns
	multiply := func(runs, k int, to, x, sums *float32, w *byte, scale, zero *float32, step, _, _ int) {
		total, row := unsafe.Slice(to, columns), unsafe.Slice(x, runs*k)
		packed := unsafe.Slice(w, (runs*k+1)/2*size)
		for r := range runs {
			var added [columns]float32
			for i := r * k; i < (r+1)*k; i += 2 {
				two := floats(packed[i/2*size:][:size])
				for j := range added {
					added[j] += row[i] * two[j]
				}
				if i+1 == (r+1)*k {
					break
				}
				for j := range added {
					added[j] += row[i+1] * two[columns+j]
				}
			}
			if zero != nil {
				sum := unsafe.Slice(sums, runs)[r]
				for j, z := range unsafe.Slice(zero, r*step+columns)[r*step:] {
					added[j] -= z * sum
				}
			}
			for j, s := range unsafe.Slice(scale, r*step+columns)[r*step:] {
				total[j] += added[j] * s
			}
		}
	}
	unpack := func(pairs int, to *float32, row int, w *byte, scale, zero *float32) {
		var two twoRows
		out, packed := unsafe.Slice(to, (2*pairs-1)*row+columns), unsafe.Slice(w, pairs*size)
		scales, zeros := unsafe.Slice(scale, columns), unsafe.Slice(zero, columns)
		for i := range 2 * pairs {
			if i%2 == 0 {
				two = floats(packed[i/2*size:][:size])
			}
			for j, v := range two[i%2*columns:][:columns] {
				out[i*row+j] = (v - zeros[j]) * scales[j]
			}
		}
	}
	return weightLoop{[weightRows]multiplyWeights{multiply}, math.MaxInt, unpack}
}
