package tensorboard

import (
	"math"
	"slices"
)

// mostBuckets is how many buckets of equal width a histogram has.
const mostBuckets = 64

// histogram returns a HistogramProto of the finite ones of values.
func histogram(values []float64) []byte {
	values = slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	var low, high, sum, squares float64
	if len(values) > 0 {
		low, high = slices.Min(values), slices.Max(values)
	}
	limits, counts := buckets(low, high), []float64{}
	if len(values) > 0 {
		counts = make([]float64, len(limits))
	} else {
		limits = nil
	}
	for _, v := range values {
		sum, squares = sum+v, squares+v*v
		at, _ := slices.BinarySearch(limits, v) // the first limit that is not below v
		counts[min(at, len(counts)-1)]++
	}
	b := double(double(double(nil, 1, low), 2, high), 3, float64(len(values)))
	b = double(double(b, 4, sum), 5, squares)
	return doubles(doubles(b, 6, limits), 7, counts)
}

// buckets returns the upper limits of buckets from low to high.
func buckets(low, high float64) []float64 {
	if low == high {
		return []float64{high}
	}
	limits := make([]float64, mostBuckets)
	for i := range limits {
		part := float64(i+1) / mostBuckets
		limits[i] = low*(1-part) + high*part // high − low may overflow
	}
	limits[mostBuckets-1] = high
	return slices.Compact(limits)
}
