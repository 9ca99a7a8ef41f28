package compose

import "math"

// Resample has along the last axes of x as many positions as size says: each the sum of elements times weights, which
// take returns for a list of each. They are the nearest element alone, or four by Keys' cubic filter, of which those
// beyond an end are that at the end.
func Resample[T Array[T]](x T, size []int, cubic, aligned bool, take func(x T, axis int, index []int64, weights []float64) T) T {
	for i, n := range size {
		a := x.Rank() - len(size) + i
		index, weights := nearest(x.Shape()[a], n)
		if cubic {
			index, weights = cubics(x.Shape()[a], n, aligned)
		}
		y := take(x, a, index[0], weights[0])
		for k := 1; k < len(index); k++ {
			y = y.Add(take(x, a, index[k], weights[k]))
		}
		x = y
	}
	return x
}

// nearest returns for each of size positions the index ⌊(q + ½)·n/size⌋, and no weights: the weight is 1.
func nearest(n, size int) (index [][]int64, weights [][]float64) {
	list := make([]int64, size)
	for q := range list {
		list[q] = (2*int64(q) + 1) * int64(n) / (2 * int64(size))
	}
	return [][]int64{list}, [][]float64{nil}
}

// cubics returns for each of four taps the indices and weights of size positions.
func cubics(n, size int, aligned bool) (index [][]int64, weights [][]float64) {
	const taps = 4
	index, weights = make([][]int64, taps), make([][]float64, taps)
	for q := range size {
		at := (float64(q)+0.5)*float64(n)/float64(size) - 0.5
		if aligned {
			at = float64(q) * float64(n-1) / float64(max(size-1, 1))
		}
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
