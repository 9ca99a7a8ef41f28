package main

import "math"

// arctangent returns what atan t adds to t, for |t| up to 1.
func (k *code) arctangent(t value) value {
	z := k.mul(t, t)
	return k.mul(k.mul(t, z), k.polynomial(z, atanNear...))
}

// plus is a multiple of π/2, of at most two, and v and more: base is the multiple.
func (k *code) plus(base, v, more value) value {
	high, low := k.parted(math.Pi/2, halfPi2)
	return k.fma(base, k.number(high), k.add(v, k.fma(base, k.number(low), more)))
}

// atanOf is atan x: that of −1/|x| and a quarter of a turn where |x| is above 1.
func (k *code) atanOf(x value) value {
	a := k.abs(x)
	large := k.compare(less, k.load(k.number(1)), a)
	t := k.div(k.choose(large, k.number(-1), a), k.choose(large, a, k.load(k.number(1))))
	y := k.plus(k.bit(large), t, k.arctangent(t))
	return k.or(k.abs(y), k.and(x, k.sign()))
}

// atan2Of is the angle of the point (x, y): that of the quotient of the smaller and the larger
// coordinate, from the axis that is nearer.
func (k *code) atan2Of(y, x value) value {
	ax, ay := k.abs(x), k.abs(y)
	steep := k.compare(less, ax, ay)
	over, under := k.choose(steep, k.xor(ax, k.sign()), ay), k.choose(steep, ay, ax)
	t := k.div(over, under)
	t = k.choose(k.compare(equal, over, under), k.number(1), t) // also of infinities
	t = k.choose(k.compare(equal, under, k.number(0)), k.number(0), t)
	side := k.and(x, k.sign())
	t = k.xor(t, side)
	behind := k.compare(less, k.or(side, k.number(1)), k.number(0))
	flat := k.choose(behind, k.number(2), k.load(k.number(0)))
	v := k.plus(k.choose(steep, k.number(1), flat), t, k.arctangent(t))
	v = k.or(k.abs(v), k.and(y, k.sign()))
	return k.choose(k.compare(unordered, x, y), k.number(math.NaN()), v)
}

// asinParts returns s and what asin s adds to it, of x or, where large says that |x| is too large
// for the series, of sin((π/2 − asin |x|)/2), of which both are twice as large then.
func (k *code) asinParts(x value) (s, more value, large mask) {
	a := k.abs(x)
	large = k.compare(less, k.load(k.number(asinLimit)), a)
	z := k.choose(large, k.mul(k.sub(k.load(k.number(1)), a), k.number(0.5)), k.mul(a, a))
	root := k.sqrt(z)
	s = k.choose(large, k.add(root, root), a)
	return s, k.mul(k.mul(s, z), k.polynomial(z, asinNear...)), large
}

// asinOf is asin x.
func (k *code) asinOf(x value) value {
	s, more, large := k.asinParts(x)
	sign := k.choose(large, k.sign(), k.load(k.number(0)))
	y := k.plus(k.bit(large), k.xor(s, sign), k.xor(more, sign))
	return k.or(k.abs(y), k.and(x, k.sign()))
}

// acosOf is acos x.
func (k *code) acosOf(x value) value {
	s, more, large := k.asinParts(x)
	negative := k.compare(less, x, k.number(0))
	base := k.choose(large, k.choose(negative, k.number(2), k.load(k.number(0))), k.load(k.number(1)))
	// With the sign of x where |x| is large, else with the other one.
	sign := k.xor(k.and(x, k.sign()), k.choose(large, k.number(0), k.load(k.sign())))
	return k.plus(base, k.xor(s, sign), k.xor(more, sign))
}

// tangent is tan x for |x| up to SineLimit of package vec, and NaN beyond.
func (k *code) tangent(x value) value {
	n, sin, cos := k.angle(x)
	half := k.round(k.mul(n, k.number(0.5)), down)
	odd := k.compare(notEqual, k.add(half, half), n)
	over := k.choose(odd, k.xor(cos, k.sign()), sin)
	y := k.div(over, k.choose(odd, sin, cos))
	return k.known(x, k.choose(k.compare(equal, x, k.number(0)), x, y))
}

// log1pOf is log(1 + x).
func (k *code) log1pOf(x value) value {
	u, rest := k.onePlus(x)
	return k.smallest(x, k.logOf(u, k.load(k.number(0)), rest, u))
}

// onePlus returns u and rest such that log(1 + x) is log u + rest, where rest is what the sum
// loses, over it.
func (k *code) onePlus(x value) (u, rest value) {
	one := k.load(k.number(1))
	u = k.add(x, one)
	return u, k.div(k.choose(k.compare(less, one, x), k.sub(one, k.sub(u, x)), k.sub(x, k.sub(u, one))), u)
}

// smallest is y, which log(1 + x) is, and x where that is the nearest number.
func (k *code) smallest(x, y value) value {
	return k.choose(k.compare(less, k.abs(x), k.number(math.Ldexp(1, -k.fraction()-2))), x, y)
}

// areaOf is log(1 + u), and log 2a where a is so large that nothing else is left of it.
func (k *code) areaOf(a, u value) value {
	zero := k.load(k.number(0))
	v, rest := k.onePlus(u)
	large := k.compare(less, k.load(k.number(math.Ldexp(1, k.fraction()/2+2))), a)
	v = k.choose(large, a, v)
	return k.smallest(u, k.logOf(v, k.choose(large, k.number(1), zero), k.choose(large, k.number(0), rest), v))
}

// asinhOf is asinh x: log(1 + a + a²/(1 + √(1 + a²))) of a = |x|.
func (k *code) asinhOf(x value) value {
	a := k.abs(x)
	square, one := k.mul(a, a), k.load(k.number(1))
	u := k.add(a, k.div(square, k.add(k.sqrt(k.add(square, one)), one)))
	return k.or(k.areaOf(a, u), k.and(x, k.sign()))
}

// acoshOf is acosh x: log(1 + t + √(t·(t + 2))) of t = x − 1.
func (k *code) acoshOf(x value) value {
	t := k.sub(x, k.number(1))
	y := k.areaOf(x, k.add(t, k.sqrt(k.mul(t, k.add(t, k.number(2))))))
	return k.choose(k.compare(less, x, k.number(1)), k.number(math.NaN()), y)
}

// atanhOf is atanh x: half of log(1 + 2a/(1 − a)) of a = |x|.
func (k *code) atanhOf(x value) value {
	a := k.abs(x)
	y := k.log1pOf(k.div(k.add(a, a), k.sub(k.load(k.number(1)), a)))
	return k.or(k.abs(k.mul(y, k.number(0.5))), k.and(x, k.sign()))
}

// halfExp returns half of e^|x| and a quarter of its inverse, which make sums and differences of
// two halves of powers of e.
func (k *code) halfExp(x value) (e, inverse value) {
	_, high := k.exponents()
	q, n := k.reduced(k.between(k.abs(x), 0, high+1))
	half, rest := k.halves(n)
	e = k.mul(k.mul(k.add(q, k.number(1)), k.power(half)), k.power(k.sub(rest, k.number(1))))
	return e, k.div(k.load(k.number(0.25)), e)
}

// coshOf is cosh x.
func (k *code) coshOf(x value) value {
	e, inverse := k.halfExp(x)
	return k.add(e, inverse)
}

// sinhOf is sinh x: by Taylor's series up to 1.
func (k *code) sinhOf(x value) value {
	e, inverse := k.halfExp(x)
	far := k.or(k.sub(e, inverse), k.and(x, k.sign()))
	z := k.mul(x, x)
	near := k.fma(k.mul(x, z), k.polynomial(z, 1./6, 1./120, 1./5040, 1./362880, 1./39916800), x)
	return k.choose(k.compare(less, k.abs(x), k.number(1)), near, far)
}

// hypotOf is √(x² + y²), of numbers that are scaled so that no square is too large or too small.
func (k *code) hypotOf(x, y value) value {
	ax, ay := k.abs(x), k.abs(y)
	long := k.most(ax, ay)
	large, small := k.compare(less, k.load(k.number(0x1p62)), long), k.compare(less, long, k.number(0x1p-40))
	by := k.choose(large, k.number(0x1p-70), k.choose(small, k.number(0x1p90), k.load(k.number(1))))
	back := k.choose(large, k.number(0x1p70), k.choose(small, k.number(0x1p-90), k.load(k.number(1))))
	a, b := k.mul(long, by), k.mul(k.least(ax, ay), by)
	r := k.mul(k.sqrt(k.fma(a, a, k.mul(b, b))), back)
	r = k.choose(k.compare(unordered, x, y), k.number(math.NaN()), r)
	r = k.choose(k.compare(equal, ax, k.number(math.Inf(1))), ax, r)
	return k.choose(k.compare(equal, ay, k.number(math.Inf(1))), ay, r)
}

// asinLimit is up to where asin is its series: so far that twice the other one is small, whose
// rounding counts twice.
const asinLimit = 0.55

// Polynomials of the least relative error, in single precision: of (atan(t) − t)/t³ in t² up to 1,
// off by 2⁻²⁸ of atan t at most, and of (asin(s) − s)/s³ in s² up to asinLimit².
var (
	atanNear = []float64{-0.33333299088234419, 0.19998548257012821, -0.14264241387222887, 0.10952184233388773, -0.084034458099619694,
		0.057957516112990229, -0.031177768657369806, 0.010914564329049961, -0.0017936124588071745}
	asinNear = []float64{0.16666640892794881, 0.075015977294669439, 0.044315860458914898, 0.033408266068908274,
		0.0086914689554670743, 0.045158117012207198}
)
