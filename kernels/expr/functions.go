package expr

import "math"

// The functions of package math where they are good to a few units in the last place of a float64,
// and others in their place where they are not.

const (
	leastNormal = 0x1p-1022
	up          = 54 // binary places by which a denormal number becomes a normal one
)

// log of package math reads the exponent of a denormal number as if it were a normal one, on amd64.
func log(x float64) float64 {
	if x > 0 && x < leastNormal {
		return math.Log(math.Ldexp(x, up)) - up*math.Ln2
	}
	return math.Log(x)
}

// log2 and log10 of package math take the exponent off first, and have few places left beside 1.
func log2(x float64) float64 {
	if math.Abs(x-1) < 0.5 {
		return math.Log(x) * math.Log2E
	}
	return math.Log2(x)
}

func log10(x float64) float64 {
	if math.Abs(x-1) < 0.5 {
		return math.Log(x) * math.Log10E
	}
	return math.Log10(x)
}

// pow of package math takes the logarithm of x.
func pow(x, y float64) float64 {
	if x != 0 && math.Abs(x) < leastNormal {
		return math.Pow(math.Ldexp(x, up), y) * math.Exp2(-up*y)
	}
	return math.Pow(x, y)
}

// asin and acos of package math begin with 1 − x², of which few places are left beside ±1.
func asin(x float64) float64 {
	if math.Abs(x) <= 0.5 {
		return math.Asin(x)
	}
	return math.Copysign(math.Pi/2-fromOne(math.Abs(x)), x)
}

func acos(x float64) float64 {
	switch {
	case x > 0.5:
		return fromOne(x)
	case x < -0.5:
		return math.Pi - fromOne(-x)
	}
	return math.Acos(x)
}

// fromOne returns the angle whose cosine is x, of at least a half: 1 − x is exact there.
func fromOne(x float64) float64 { return 2 * math.Asin(math.Sqrt((1-x)/2)) }

// atan2 of package math takes the sign of y/x, which is lost where that is too small for a number.
func atan2(y, x float64) float64 { return math.Copysign(math.Atan2(y, x), y) }
