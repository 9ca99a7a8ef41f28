package expr

import "math"

// sinCosPi sets d to sin πx, of a quarter of a turn more if quarter is 1. Whole turns come off
// exactly, and so does the nearest quarter.
func sinCosPi[T Number](d, x []T, quarter uint64) {
	if single, ok := any(d).([]float32); ok {
		sinCosPiSingle(single, any(x).([]float32), quarter)
		return
	}
	for i, v := range x[:len(d)] {
		a, n := eighth(float64(v), quarter)
		s, c := math.Sincos(a)
		if n&1 != 0 {
			s = c
		}
		d[i] = T(math.Float64frombits(math.Float64bits(s) ^ n&2<<62))
	}
}

// sinCosPiSingle is sinCosPi in single precision, by Taylor's series of at most π/4. It chooses
// their coefficients without a branch: the quarter is as good as random.
func sinCosPiSingle(d, x []float32, quarter uint64) {
	x = x[:len(d)]
	for i, v := range x {
		a, n := eighth(float64(v), quarter)
		first := math.Float64bits(a)
		if n&1 != 0 {
			first = 0x3ff0000000000000 // 1
		}
		c, a2 := &taylor[n&1], a*a
		a4 := a2 * a2
		series := 1 + a2*c[0] + a4*(c[1]+a2*c[2]+a4*(c[3]+a2*c[4]))
		d[i] = float32(math.Float64frombits(first^n&2<<62) * series)
	}
}

// eighth returns the angle a, at most π/4, and the number n of quarters of a turn that make πx and
// more quarters; of n the lowest two bits count.
func eighth(x float64, quarters uint64) (a float64, n uint64) {
	t := x * 0.5
	if t > -0x1p50 && t < 0x1p50 {
		t -= t + wholes - wholes
	} else {
		t -= math.RoundToEven(t)
	}
	q := 4*t + wholes
	return (t - 0.25*(q-wholes)) * (2 * math.Pi), math.Float64bits(q) + quarters
}

// wholes is so large that a sum with it is rounded to a whole number, whose lowest bits are those
// of the sum.
const wholes = 0x1.8p52

// taylor is the coefficients of sin a/a and cos a, from that of a² on.
var taylor = [2][5]float64{
	{-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800},
	{-1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800},
}
