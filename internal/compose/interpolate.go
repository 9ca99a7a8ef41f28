package compose

import (
	"math"
	"slices"
)

// Taps returns for each tap of a filter, from n positions of an axis to size, the indices and weights of these. Without
// weights they are 1.
type Taps func(n, size int) (index [][]int64, weights [][]float64)

// TapsOf returns the taps of a filter: cubic, linear, or the nearest input, by the middle of an output if exact.
func TapsOf(cubic, linear, exact, aligned bool) Taps {
	switch {
	case cubic:
		return func(n, size int) ([][]int64, [][]float64) { return cubics(n, size, aligned) }
	case linear:
		return func(n, size int) ([][]int64, [][]float64) { return neighbours(n, size, aligned) }
	}
	return func(n, size int) ([][]int64, [][]float64) { return nearest(n, size, exact) }
}

// Resample has along the last axes of x as many positions as size says: each the sum of elements times weights, which
// take returns for a list of each.
func Resample[T Array[T]](x T, size []int, taps Taps, take func(x T, axis int, index []int64, weights []float64) T) T {
	for i, n := range size {
		a := x.Rank() - len(size) + i
		index, weights := taps(x.Shape()[a], n)
		y := take(x, a, index[0], weights[0])
		for k := 1; k < len(index); k++ {
			y = y.Add(take(x, a, index[k], weights[k]))
		}
		x = y
	}
	return x
}

// InBytes returns weights as whole numbers over 2 to the power of shift, which is as large as 16 bits allow: those of
// PyTorch's and Pillow's filters of bytes. Weights of one index are added before.
func InBytes(index [][]int64, weights [][]float64) (whole [][]int32, shift int) {
	most := 0.0
	for k := len(index) - 1; k > 0; k-- {
		for q := range index[k] {
			if index[k][q] == index[k-1][q] {
				weights[k-1][q], weights[k][q] = weights[k-1][q]+weights[k][q], 0
			}
		}
	}
	for _, tap := range weights {
		most = max(most, slices.Max(tap))
	}
	for shift < 22 && int(0.5+most*float64(int(1)<<(shift+1))) < 1<<15 {
		shift++
	}
	whole = make([][]int32, len(weights))
	for k, tap := range weights {
		for _, w := range tap {
			whole[k] = append(whole[k], int32(math.Round(w*float64(int(1)<<shift))))
		}
	}
	return whole, shift
}

// nearest returns for each of size positions the index ⌊q·n/size⌋, or ⌊(q + ½)·n/size⌋ if exact, and no weights.
func nearest(n, size int, exact bool) (index [][]int64, weights [][]float64) {
	list := make([]int64, size)
	for q := range list {
		list[q] = int64(q) * int64(n) / int64(size)
		if exact {
			list[q] = (2*int64(q) + 1) * int64(n) / (2 * int64(size))
		}
	}
	return [][]int64{list}, [][]float64{nil}
}

// neighbours returns for each of two taps the indices and weights of size positions.
func neighbours(n, size int, aligned bool) (index [][]int64, weights [][]float64) {
	index, weights = make([][]int64, 2), make([][]float64, 2)
	for q := range size {
		at := max(source(q, n, size, aligned), 0)
		first := min(math.Floor(at), float64(n-1))
		index[0], index[1] = append(index[0], int64(first)), append(index[1], int64(min(first+1, float64(n-1))))
		weights[0], weights[1] = append(weights[0], 1-(at-first)), append(weights[1], at-first)
	}
	return index, weights
}

// source returns where among n positions number q of size lies.
func source(q, n, size int, aligned bool) float64 {
	if aligned {
		return float64(q) * float64(n-1) / float64(max(size-1, 1))
	}
	return (float64(q)+0.5)*float64(n)/float64(size) - 0.5
}

// cubics returns for each of four taps the indices and weights of size positions.
func cubics(n, size int, aligned bool) (index [][]int64, weights [][]float64) {
	const taps = 4
	index, weights = make([][]int64, taps), make([][]float64, taps)
	for q := range size {
		at := source(q, n, size, aligned)
		first := math.Floor(at) - 1
		for k := range taps {
			place := first + float64(k)
			index[k] = append(index[k], int64(min(max(place, 0), float64(n-1))))
			weights[k] = append(weights[k], keys(math.Abs(at-place)))
		}
	}
	return index, weights
}

// keys is the cubic filter with a = −0.75 at a distance of at most 2. Source: Keys, "Cubic Convolution Interpolation for
// Digital Image Processing", 1981.
func keys(d float64) float64 {
	const a = -0.75
	if d <= 1 {
		return ((a+2)*d-(a+3))*d*d + 1
	}
	return ((a*d-5*a)*d+8*a)*d - 4*a
}
