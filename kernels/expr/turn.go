package expr

import "math"

// turn sets d to sin πx, of a quarter of a turn more if quarter is 1. Whole turns come off exactly, and so does the
// nearest quarter. Sine and cosine of what is left, at most π/4, by Taylor's series, are good for single precision; both
// are computed, for the quarter is as good as random, and a mispredicted branch costs more.
func turn[T Number](d, x []T, quarter int) {
	_, double := any(d).([]float64)
	for i, v := range x {
		t := float64(v) * 0.5
		t -= math.RoundToEven(t)
		q := math.RoundToEven(4 * t)
		a := (t - 0.25*q) * (2 * math.Pi)
		var s, c float64
		if double {
			s, c = math.Sincos(a)
		} else {
			a2 := a * a
			s = a + a*a2*(-1.0/6+a2*(1.0/120+a2*(-1.0/5040+a2*(1.0/362880-a2*(1.0/39916800)))))
			c = 1 + a2*(-0.5+a2*(1.0/24+a2*(-1.0/720+a2*(1.0/40320+a2*(-1.0/3628800+a2*(1.0/479001600))))))
		}
		d[i] = T(part(s, c, int(q)+quarter))
	}
}

// part returns the sine of an angle n quarters of a turn beyond one with sine s and cosine c.
func part(s, c float64, n int) float64 {
	v := math.Float64bits(s)
	if w := math.Float64bits(c); n&1 != 0 {
		v = w
	}
	return math.Float64frombits(v ^ uint64(n&2)<<62)
}
