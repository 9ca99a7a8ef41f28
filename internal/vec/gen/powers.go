package main

import "math"

// log10Of is log₁₀ x.
func (k *code) log10Of(x value) value {
	v, n := k.normal(x)
	e, f, half, s, least := k.logParts(v, n)
	l := k.sub(f, k.sub(half, k.mul(s, least)))
	high, low := k.parted(math.Log10E, 0)
	high2, low2 := k.parted(math.Log10(2), 0)
	y := k.fma(e, k.number(high2), k.fma(l, k.number(high), k.fma(e, k.number(low2), k.mul(l, k.number(low)))))
	return k.logEnds(y, x)
}

// powOf is x to the power y, in single precision: 2 to the power y·log₂|x|, of which two numbers
// hold about 40 bits. Squares and cubes are products.
func (k *code) powOf(x, y value) value {
	h, l := k.log2Parts(k.abs(x))
	p := k.mul(y, h)
	rest := k.fma(y, l, k.fma(y, h, k.xor(p, k.sign())))
	near := k.compare(less, k.abs(p), k.number(160))
	rest = k.choose(near, rest, k.load(k.number(0)))
	p = k.between(p, -152, 130)
	n := k.round(p, nearest)
	q := k.series(k.mul(k.add(k.sub(p, n), rest), k.number(math.Ln2)))
	v := k.scale(k.add(q, k.number(1)), n)
	one := k.load(k.number(1))
	v = k.choose(k.compare(equal, k.abs(x), one), one, v)
	// That of a negative number has its sign if y is odd, and is none if y is not whole.
	whole := k.round(y, nearest)
	below := k.round(k.mul(y, k.number(0.5)), down)
	odd := k.compare(notEqual, k.add(below, below), y)
	sign := k.choose(odd, k.and(x, k.sign()), k.load(k.number(0)))
	negative := k.choose(k.compare(equal, k.abs(x), k.number(math.Inf(1))), k.number(0), x)
	broken := k.choose(k.compare(less, negative, k.number(0)), k.sub(y, whole), k.load(k.number(0)))
	broken = k.choose(k.compare(equal, y, whole), k.number(0), broken)
	sign = k.choose(k.compare(equal, y, whole), sign, k.load(k.number(0)))
	v = k.choose(k.compare(notEqual, broken, k.number(0)), k.number(math.NaN()), k.xor(v, sign))
	v = k.choose(k.compare(unordered, x, y), k.number(math.NaN()), v)
	v = k.choose(k.compare(equal, x, one), one, v)
	v = k.choose(k.compare(equal, y, k.number(0)), one, v)
	square := k.mul(x, x)
	v = k.choose(k.compare(equal, y, k.number(2)), square, v)
	return k.choose(k.compare(equal, y, k.number(3)), k.mul(square, x), v)
}

// log2Parts returns the logarithm of a, which is not negative, as a sum of two numbers, in single
// precision. With s = f/(2 + f), it is that of e times 2s + s³·p(s²).
func (k *code) log2Parts(a value) (high, low value) {
	v, n := k.normal(a)
	e, f := k.exponent(v, n)
	sum := k.add(f, k.number(2))
	lost := k.sub(f, k.sub(sum, k.number(2)))
	s := k.div(f, sum)
	s2 := k.div(k.fnma(s, lost, k.fnma(s, sum, f)), sum)
	z := k.mul(s, s)
	cube := k.mul(z, s)
	cube2 := k.fma(k.fma(s, s, k.xor(z, k.sign())), s, k.fma(z, s, k.xor(cube, k.sign())))
	w := k.polynomial(z, logNear...)
	t := k.mul(cube, w)
	t2 := k.fma(cube2, w, k.fma(cube, w, k.xor(t, k.sign())))
	twice := k.add(s, s)
	h := k.add(twice, t)
	more := k.add(s2, s2)
	l := k.add(k.sub(t, k.sub(h, twice)), k.add(k.fma(z, more, more), t2))
	// Over log 2.
	c, c2 := k.parted(math.Log2E, log2ELo)
	g := k.mul(h, k.number(c))
	g2 := k.fma(l, k.number(c), k.fma(h, k.number(c2), k.fma(h, k.number(c), k.xor(g, k.sign()))))
	high = k.add(e, g)
	low = k.add(g2, k.sub(g, k.sub(high, e)))
	infinite := k.compare(equal, a, k.number(math.Inf(1)))
	high = k.choose(infinite, a, high)
	zero := k.compare(equal, a, k.number(0))
	return k.choose(zero, k.number(math.Inf(-1)), high), low
}

// quotient returns the quotient of |x| and |y| rounded towards 0, and what is left over. Both are
// exact up to 2 to the number of bits of the type; beyond, and where y is 0, the second is NaN.
func (k *code) quotient(x, y value) (q, rest value) {
	a, b := k.abs(x), k.abs(y)
	exact := k.div(a, b)
	q = k.round(exact, toZero)
	rest = k.fnma(q, b, a)
	above := k.compare(less, rest, k.number(0)) // the quotient was rounded up to a whole number
	q = k.choose(above, k.sub(q, k.number(1)), q)
	rest = k.choose(above, k.add(rest, b), rest)
	rest = k.choose(k.compare(less, a, b), a, rest) // also where y is infinite
	return q, k.choose(k.compare(less, exact, k.number(math.Ldexp(1, k.fraction()+1))), rest, k.load(k.number(math.NaN())))
}

// floorDivOf is x/y rounded down.
func (k *code) floorDivOf(x, y value) value {
	q, rest := k.quotient(x, y)
	sign := k.and(k.xor(x, y), k.sign())
	side := k.choose(k.compare(equal, rest, k.number(0)), k.number(0), k.or(sign, k.number(1)))
	q = k.add(q, k.bit(k.compare(less, side, k.number(0))))
	return k.or(k.choose(k.compare(unordered, rest, rest), rest, q), sign)
}

// erfInvOf is the inverse of the error function, in single precision: x·p(w) with w = −log(1 − x²),
// after Giles, "Approximating the erfinv function", 2010, and beyond 5 by √w.
func (k *code) erfInvOf(x value) value {
	a, one := k.abs(x), k.load(k.number(1))
	t := k.mul(k.sub(one, a), k.add(one, a))
	v, n := k.normal(t)
	w := k.xor(k.logOf(v, n, k.load(k.number(0)), t), k.sign())
	near := k.polynomial(k.sub(w, k.number(2.5)), erfInvNear...)
	far := k.polynomial(k.sub(k.sqrt(w), k.number(3)), erfInvFar...)
	y := k.mul(x, k.choose(k.compare(less, w, k.number(5)), near, far))
	infinite := k.or(k.and(x, k.sign()), k.number(math.Inf(1)))
	return k.choose(k.compare(equal, a, k.number(1)), infinite, y)
}

// Polynomials of the least relative error: of (log(1+f) − f + f²/2)/f³ in f from −¼ to ½, off by
// 2⁻³⁰ of log(1+f), of (log((1+s)/(1−s)) − 2s)/s³ in s² up to 1/25, off by 2⁻³⁵, and of erfinv(x)/x
// in w − 2.5 and √w − 3, off by 2⁻²³.
var (
	log1pNear = []float64{0.33333339861657435, -0.2500016526748584, 0.19999604866416007, -0.16655296666409575, 0.14276238860478824,
		-0.12727778228666814, 0.11700659150171597, -0.09116188281938449, 0.03767291461297154}
	logNear    = []float64{0.6666666309603891, 0.4000086076402385, 0.28507129040493673, 0.24098517283632884}
	erfInvNear = []float64{1.501409421543183, 0.24664072607464829, -0.0041777075556911963, -0.0012537074395248282, 0.00021860202705674202,
		-4.3968107088279411e-06, -3.5288127581138619e-06, 3.4373022738441245e-07, 2.8530719748011936e-08}
	erfInvFar = []float64{2.8329770290592404, 1.0016743347724284, 0.0094340404599257115, -0.007628063310047558, 0.0057718085385951605,
		-0.0036498070803625267, 0.0012789826985167413, 7.594278486701891e-05, -0.00015035060087084543}
)
