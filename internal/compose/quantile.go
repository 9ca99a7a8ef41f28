package compose

import "math"

// Interpolation says what a quantile between two elements is.
type Interpolation uint8

// The interpolations.
const (
	Linear Interpolation = iota
	Lower
	Higher
	Nearest
	Midpoint
	interpolations
)

// Quantile is the element at the share q of the way from the least to the greatest along an axis; NaN where there is one.
// sorted sorts along an axis, NaN last.
func Quantile[T Array[T]](x T, q float64, axis int, between Interpolation, sorted func(x T, axis int) T) T {
	if x.Rank() == 0 && (axis == 0 || axis == -1) {
		x = x.Reshape(1)
	}
	a := axisOf(axis, x.Rank())
	n := x.Shape()[a]
	switch {
	case n == 0:
		misuse(Shape, "axis %d has no elements", axis)
	case !(q >= 0 && q <= 1):
		misuse(Value, "a quantile of %v: it is 0 to 1", q)
	case between >= interpolations:
		misuse(Value, "there is no interpolation %d", between)
	}
	if x.Type().Integer() {
		x = x.DivScalar(1)
	}
	x = sorted(x, a)
	at := q * float64(n-1)
	low, high := math.Floor(at), math.Ceil(at)
	part := at - low
	switch between {
	case Lower:
		high = low
	case Higher:
		low = high
	case Nearest:
		low = math.RoundToEven(at)
		high = low
	case Midpoint:
		part = 0.5
	}
	y := x.Select(a, int(low))
	if high != low {
		y = y.Lerp(x.Select(a, int(high)), part)
	}
	last := x.Select(a, n-1)
	return last.Where(last.IsNaN(), y)
}
