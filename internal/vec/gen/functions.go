package main

import (
	"math"

	"github.com/mmcloughlin/avo/operand"
)

// function is what a loop computes of each element: of up to four operands, a vector of each.
type function struct {
	name     string // as package vec has it
	operands int
	double   bool // also in double precision
	of       func(k *code, x []value) value
}

// functions are all of them, those of ints last.
var functions = append(floatFunctions, intFunctions...)

var floatFunctions = []function{
	{"Neg", 1, true, func(k *code, x []value) value { return k.xor(x[0], k.sign()) }},
	{"Abs", 1, true, func(k *code, x []value) value { return k.abs(x[0]) }},
	{"Add", 2, true, func(k *code, x []value) value { return k.add(x[0], x[1]) }},
	{"Sub", 2, true, func(k *code, x []value) value { return k.sub(x[0], x[1]) }},
	{"Mul", 2, true, func(k *code, x []value) value { return k.mul(x[0], x[1]) }},
	{"Div", 2, true, func(k *code, x []value) value { return k.div(x[0], x[1]) }},
	{"FMA", 3, true, func(k *code, x []value) value { return k.fma(x[0], x[1], x[2]) }},
	{"Min", 2, true, func(k *code, x []value) value { return k.min(x[0], x[1]) }},
	{"Max", 2, true, func(k *code, x []value) value { return k.max(x[0], x[1]) }},
	{"Copysign", 2, true, func(k *code, x []value) value { return k.or(k.abs(x[0]), k.and(x[1], k.sign())) }},
	{"Floor", 1, true, func(k *code, x []value) value { return k.round(x[0], down) }},
	{"Ceil", 1, true, func(k *code, x []value) value { return k.round(x[0], up) }},
	{"Trunc", 1, true, func(k *code, x []value) value { return k.round(x[0], toZero) }},
	{"Round", 1, true, func(k *code, x []value) value { return k.round(x[0], nearest) }},
	{"Sqrt", 1, true, func(k *code, x []value) value { return k.sqrt(x[0]) }},
	{"Less", 2, true, func(k *code, x []value) value { return k.bit(k.compare(less, x[0], x[1])) }},
	{"LessEqual", 2, true, func(k *code, x []value) value { return k.bit(k.compare(lessEqual, x[0], x[1])) }},
	{"Equal", 2, true, func(k *code, x []value) value { return k.bit(k.compare(equal, x[0], x[1])) }},
	{"And", 2, true, func(k *code, x []value) value {
		zero := k.number(0)
		return k.choose(k.compare(notEqual, x[0], zero), k.bit(k.compare(notEqual, x[1], zero)), k.load(zero))
	}},
	{"Or", 2, true, func(k *code, x []value) value {
		zero, one := k.number(0), k.number(1)
		return k.choose(k.compare(notEqual, x[0], zero), one, k.bit(k.compare(notEqual, x[1], zero)))
	}},
	{"Not", 1, true, func(k *code, x []value) value { return k.bit(k.compare(equal, x[0], k.number(0))) }},
	{"Where", 3, true, func(k *code, x []value) value { return k.choose(k.compare(notEqual, x[0], k.number(0)), x[1], x[2]) }},
	{"WhereLess", 4, true, func(k *code, x []value) value { return k.choose(k.compare(less, x[0], x[1]), x[2], x[3]) }},
	{"WhereLessEqual", 4, true, func(k *code, x []value) value { return k.choose(k.compare(lessEqual, x[0], x[1]), x[2], x[3]) }},
	{"WhereEqual", 4, true, func(k *code, x []value) value { return k.choose(k.compare(equal, x[0], x[1]), x[2], x[3]) }},
	{"Exp", 1, true, func(k *code, x []value) value {
		q, n := k.reduced(k.limited(x[0]))
		return k.scale(k.add(q, k.number(1)), n)
	}},
	{"Exp2", 1, true, func(k *code, x []value) value {
		low, high := k.exponents()
		v := k.between(x[0], math.Floor(low/math.Ln2), math.Ceil(high/math.Ln2))
		n := k.round(v, nearest)
		q := k.series(k.mul(k.sub(v, n), k.number(math.Ln2)))
		return k.scale(k.add(q, k.number(1)), n)
	}},
	{"Expm1", 1, true, func(k *code, x []value) value {
		q, n := k.reduced(k.limited(x[0]))
		half, rest := k.halves(n)
		scale := k.power(half)
		one := k.power(k.xor(rest, k.sign())) // over the other half
		return k.or(k.mul(k.fma(q, scale, k.sub(scale, one)), k.power(rest)), k.and(x[0], k.sign()))
	}},
	{"Tanh", 1, true, func(k *code, x []value) value {
		// (e²ˣ − 1)/(e²ˣ + 1) of |x|, which is 1 from the limit on.
		a := k.abs(x[0])
		q, n := k.reduced(k.least(k.load(k.number(80)), k.add(a, a)))
		scale := k.power(n)
		t := k.fma(q, scale, k.sub(scale, k.number(1)))
		return k.or(k.div(t, k.add(t, k.number(2))), k.and(x[0], k.sign()))
	}},
	{"Log", 1, true, func(k *code, x []value) value {
		v, n := k.normal(x[0])
		return k.logOf(v, n, k.load(k.number(0)), x[0])
	}},
	{"Log2", 1, true, func(k *code, x []value) value { return k.log2Of(x[0]) }},
	{"Log1p", 1, true, func(k *code, x []value) value { return k.log1pOf(x[0]) }},
	{"Sin", 1, true, func(k *code, x []value) value { return k.sine(x[0], false) }},
	{"Cos", 1, true, func(k *code, x []value) value { return k.sine(x[0], true) }},
	{"SinPi", 1, true, func(k *code, x []value) value { return k.sinCosPi(x[0], false) }},
	{"CosPi", 1, true, func(k *code, x []value) value { return k.sinCosPi(x[0], true) }},
	{"Erf", 1, true, func(k *code, x []value) value {
		a := k.abs(x[0])
		near := k.mul(x[0], k.polynomial(k.mul(x[0], x[0]), erfNear[k.r.size]...))
		far := k.or(k.sub(k.load(k.number(1)), k.erfcOf(a)), k.and(x[0], k.sign()))
		return k.choose(k.compare(less, a, k.number(0.9486833)), near, far)
	}},
	{"Erfc", 1, true, func(k *code, x []value) value {
		v := k.erfcOf(k.abs(x[0]))
		return k.choose(k.compare(less, x[0], k.number(0)), k.sub(k.load(k.number(2)), v), v)
	}},
	{"ErfInv", 1, false, func(k *code, x []value) value { return k.erfInvOf(x[0]) }},
	{"Log10", 1, false, func(k *code, x []value) value { return k.log10Of(x[0]) }},
	{"Pow", 2, false, func(k *code, x []value) value { return k.powOf(x[0], x[1]) }},
	{"Hypot", 2, false, func(k *code, x []value) value { return k.hypotOf(x[0], x[1]) }},
	{"Tan", 1, false, func(k *code, x []value) value { return k.tangent(x[0]) }},
	{"Asin", 1, false, func(k *code, x []value) value { return k.asinOf(x[0]) }},
	{"Acos", 1, false, func(k *code, x []value) value { return k.acosOf(x[0]) }},
	{"Atan", 1, false, func(k *code, x []value) value { return k.atanOf(x[0]) }},
	{"Atan2", 2, false, func(k *code, x []value) value { return k.atan2Of(x[0], x[1]) }},
	{"Sinh", 1, false, func(k *code, x []value) value { return k.sinhOf(x[0]) }},
	{"Cosh", 1, false, func(k *code, x []value) value { return k.coshOf(x[0]) }},
	{"Asinh", 1, false, func(k *code, x []value) value { return k.asinhOf(x[0]) }},
	{"Acosh", 1, false, func(k *code, x []value) value { return k.acoshOf(x[0]) }},
	{"Atanh", 1, false, func(k *code, x []value) value { return k.atanhOf(x[0]) }},
	{"Fmod", 2, false, func(k *code, x []value) value {
		_, rest := k.quotient(x[0], x[1])
		return k.or(rest, k.and(x[0], k.sign()))
	}},
	{"FloorDiv", 2, false, func(k *code, x []value) value { return k.floorDivOf(x[0], x[1]) }},
	{"BitAnd", 2, false, func(k *code, x []value) value { return k.and(x[0], x[1]) }},
	{"BitOr", 2, false, func(k *code, x []value) value { return k.or(x[0], x[1]) }},
	{"BitXor", 2, false, func(k *code, x []value) value { return k.xor(x[0], x[1]) }},
}

func (k *code) abs(x value) value { return k.and(x, k.bits(1<<(8*k.r.size-1)-1)) }

// bit is 1 where m holds, 0 elsewhere.
func (k *code) bit(m mask) value { return k.choose(m, k.number(1), k.load(k.number(0))) }

// min is NaN where a or b is, and −0 below 0. The instruction gives the second operand in both
// cases: so both orders.
func (k *code) min(a, b value) value { return k.or(k.least(a, b), k.least(b, a)) }

// max is NaN where a or b is, and 0 above −0.
func (k *code) max(a, b value) value {
	return k.xor(k.min(k.xor(a, k.sign()), k.xor(b, k.sign())), k.sign())
}

// exponents are bounds beyond which eˣ is 0 and infinite.
func (k *code) exponents() (low, high float64) {
	if k.r.size == 4 {
		return -104, 89
	}
	return -746, 710
}

// limited is x between those bounds.
func (k *code) limited(x value) value {
	low, high := k.exponents()
	return k.between(x, low, high)
}

// between is x between bounds, and NaN where x is.
func (k *code) between(x value, low, high float64) value {
	return k.most(k.load(k.number(low)), k.least(k.load(k.number(high)), x))
}

// reduced returns q and a whole n such that eˣ is (1 + q)·2ⁿ, |q| at most √2 − 1.
func (k *code) reduced(x value) (q, n value) {
	r, n := k.remainder(x)
	return k.series(r), n
}

// remainder returns r and a whole n such that x is r + n·log 2, |r| at most log(2)/2.
func (k *code) remainder(x value) (r, n value) {
	n = k.round(k.mul(x, k.number(math.Log2E)), nearest)
	high, low := k.parted(math.Ln2, ln2Lo)
	return k.fnma(n, k.number(low), k.fnma(n, k.number(high), x)), n
}

// parted returns a number, of which rest is what double precision loses, as the nearest one of the
// type and the remainder.
func (k *code) parted(v, rest float64) (high, low float64) {
	if k.r.size == 8 {
		return v, rest
	}
	return float64(float32(v)), v - float64(float32(v))
}

// series is eʳ − 1 for |r| up to log(2)/2.
func (k *code) series(r value) value {
	return k.fma(k.mul(r, r), k.polynomial(r, expNear[k.r.size]...), r)
}

// scale is v·2ⁿ for a normal v and whole n, rounded once, also where that is no normal number.
func (k *code) scale(v, n value) value {
	if k.neon == nil && k.s == avx512 {
		to := k.new()
		k.pick(k.c.VSCALEFPS, k.c.VSCALEFPD)(n, v, to)
		return to
	}
	half, rest := k.halves(n)
	return k.mul(k.mul(v, k.power(half)), k.power(rest))
}

// halves parts n in two whole numbers, each so small that a power of two with it is a normal
// number.
func (k *code) halves(n value) (half, rest value) {
	half = k.round(k.mul(n, k.number(0.5)), down)
	return half, k.sub(n, half)
}

// normal returns a normal number v and n such that x is v·2ⁿ, for any x above 0: x and no n where
// exponent takes any number.
func (k *code) normal(x value) (v, n value) {
	if k.getsExponents() {
		return x, nil
	}
	small := k.compare(less, x, k.number(math.Ldexp(1, 2-int(k.bias()))))
	v = k.choose(small, k.mul(x, k.number(math.Ldexp(1, k.fraction()))), x)
	return v, k.choose(small, k.number(-float64(k.fraction())), k.load(k.number(0)))
}

// logOf is log v + n·log 2 + rest for a normal v. Where x, which v was made of, is no positive
// number, it is what the logarithm of x is.
func (k *code) logOf(v, n, rest, x value) value {
	high, low := k.parted(math.Ln2, ln2Lo)
	e, f, half, s, least := k.logParts(v, n)
	least = k.fma(s, least, k.fma(e, k.number(low), rest))
	return k.logEnds(k.fma(e, k.number(high), k.sub(f, k.sub(half, least))), x)
}

// log2Of is log₂ x, exact where that is whole.
func (k *code) log2Of(x value) value {
	v, n := k.normal(x)
	e, f, half, s, least := k.logParts(v, n)
	l := k.sub(f, k.sub(half, k.mul(s, least)))
	high, low := k.parted(math.Log2E, log2ELo)
	return k.logEnds(k.fma(l, k.number(high), k.fma(l, k.number(low), e)), x)
}

// logParts parts v·2ⁿ in m·2ᵉ, as exponent does. With f = m − 1, log m is f − (half − s·least).
func (k *code) logParts(v, n value) (e, f, half, s, least value) {
	e, f = k.exponent(v, n)
	square := k.mul(f, f)
	half = k.mul(square, k.number(0.5))
	if k.r.size == 4 {
		return e, f, half, k.mul(f, square), k.polynomial(f, log1pNear...)
	}
	// With s = f/(2 + f), log(1 + f) is 2s + 2s³/3 + 2s⁵/5 …, and 2s is f − f²/2 + s·f²/2.
	s = k.div(f, k.add(f, k.number(2)))
	z := k.mul(s, s)
	c := make([]float64, 10)
	for i := range c {
		c[i] = 2 / float64(2*i+3)
	}
	return e, f, half, s, k.fma(z, k.polynomial(z, c...), half)
}

// exponent parts v·2ⁿ in m·2ᵉ, with m from ¾ to 1½, or √½ to √2 in double precision, and returns e
// and m − 1.
func (k *code) exponent(v, n value) (e, f value) {
	var m value
	switch {
	case k.getsExponents():
		m, e = k.new(), k.new()
		k.c.VGETMANTPS(operand.Imm(3), v, m)
		of := k.new()
		k.c.VGETEXPPS(v, e)
		k.c.VGETEXPPS(m, of)
		e = k.sub(e, of)
	case k.r.size == 4:
		bits := k.shiftRightInts(k.subInts(v, k.load(k.number(0.75))), k.fraction())
		m, e = k.subInts(v, k.shiftLeft(bits, k.fraction())), k.fromInts(bits)
	default:
		e = k.sub(k.or(k.shiftRight(v, k.fraction()), k.number(math.Ldexp(1, k.fraction()))), k.number(math.Ldexp(1, k.fraction())+k.bias()))
		m = k.or(k.and(v, k.bits(1<<k.fraction()-1)), k.number(1))
		large := k.compare(less, k.load(k.number(math.Sqrt2)), m)
		m = k.choose(large, k.mul(m, k.number(0.5)), m)
		e = k.choose(large, k.add(e, k.number(1)), e)
	}
	if n != nil {
		e = k.add(e, n)
	}
	return e, k.sub(m, k.number(1))
}

// getsExponents reports whether there are instructions that part a number, also one that is not
// normal.
func (k *code) getsExponents() bool { return k.neon == nil && k.s == avx512 && k.r.size == 4 }

// logEnds is y, a logarithm, and where x is no positive number, what that of x is.
func (k *code) logEnds(y, x value) value {
	if k.neon == nil && k.s == avx512 {
		to := k.load(y) // from the highest four bits on: x > 0, x < 0, ∞, −∞, 1, 0, NaN
		k.of(forms{k.c.VFIXUPIMMPS, k.c.VFIXUPIMMPD, k.c.VFIXUPIMMPS_BCST, k.c.VFIXUPIMMPD_BCST}, k.bits(0))(operand.Imm(0), k.bits(0x03530422), x, to)
		return to
	}
	zero := k.load(k.number(0))
	y = k.choose(k.compare(equal, x, k.number(math.Inf(1))), x, y)
	y = k.choose(k.compare(equal, x, zero), k.number(math.Inf(-1)), y)
	return k.choose(k.compare(lessEqual, zero, x), y, k.load(k.number(math.NaN())))
}

// ln2Lo and log2ELo are what double precision loses of log 2 and of its inverse.
const (
	ln2Lo   = 2.3190468138462996e-17
	log2ELo = 2.0355273740931033e-17
)

// sine is sin x, or cos x, for |x| up to SineLimit of package vec, and NaN beyond.
func (k *code) sine(x value, cosine bool) value {
	n, sin, cos := k.angle(x)
	y := k.quarter(n, sin, cos, cosine)
	if !cosine { // that of −0 is −0, which the differences have lost
		y = k.choose(k.compare(equal, x, k.number(0)), x, y)
	}
	return k.known(x, y)
}

// known is y where |x| is at most SineLimit of package vec, and NaN elsewhere.
func (k *code) known(x, y value) value {
	return k.choose(k.compare(lessEqual, k.abs(x), k.number(1<<15)), y, k.load(k.number(math.NaN())))
}

// angle parts x in n quarters of a turn and an angle of at most an eighth, of which it returns sine
// and cosine.
func (k *code) angle(x value) (n, sin, cos value) {
	n = k.round(k.mul(x, k.number(2/math.Pi)), nearest)
	// x − n·π/2 by a π/2 of three parts. The first difference is exact.
	p1, p2, p3 := math.Pi/2, halfPi2, halfPi3
	if k.r.size == 4 {
		p1 = float64(float32(math.Pi / 2))
		p2 = float64(float32(math.Pi/2 - p1))
		p3 = math.Pi/2 - p1 - p2 + halfPi2
	}
	r := k.fnma(n, k.number(p3), k.fnma(n, k.number(p2), k.fnma(n, k.number(p1), x)))
	z := k.mul(r, r)
	sin = k.fma(k.mul(z, r), k.polynomial(z, k.taylor(1, 1)[1:]...), r)
	cos = k.polynomial(z, k.taylor(0, 1)...)
	return n, sin, cos
}

// What double precision loses of π/2, and what is then lost of that.
const (
	halfPi2 = 6.123233995736766e-17
	halfPi3 = -1.4973849048591833e-33
)

// sinCosPi is sin πx, or cos πx. Whole turns and quarters come off exactly.
func (k *code) sinCosPi(x value, cosine bool) value {
	rest := k.fnma(k.round(k.mul(x, k.number(0.5)), nearest), k.number(2), x)
	n := k.round(k.add(rest, rest), nearest)
	r := k.fnma(n, k.number(0.5), rest)
	z := k.mul(r, r)
	high, low := k.parted(math.Pi, 2*halfPi2)
	odd := k.taylor(1, math.Pi)
	// π·r is in two parts, too.
	sin := k.fma(r, k.number(high), k.mul(r, k.fma(z, k.polynomial(z, odd[1:]...), k.number(low))))
	cos := k.polynomial(z, k.taylor(0, math.Pi)...)
	return k.quarter(n, sin, cos, cosine)
}

// taylor returns the coefficients of the powers of x² in cos(scale·x), or in sin(scale·x)/x if odd
// is 1: as many as the type has room for up to an eighth of a turn.
func (k *code) taylor(odd int, scale float64) []float64 {
	terms := 6 - odd
	if k.r.size == 8 {
		terms = 9
	}
	c := make([]float64, terms)
	v := 1.0
	if odd == 1 {
		v = scale
	}
	for i := range c {
		c[i] = v
		v *= -scale * scale / float64((2*i+1+odd)*(2*i+2+odd))
	}
	return c
}

// quarter chooses between sine and cosine, and the sign, by the number n of quarters of a turn that
// came off.
func (k *code) quarter(n, sin, cos value, cosine bool) value {
	if cosine {
		n = k.add(n, k.number(1))
	}
	half := k.round(k.mul(n, k.number(0.5)), down)
	odd := k.compare(notEqual, k.add(half, half), n)
	sign := k.shiftLeft(k.add(half, k.number(k.whole())), 8*k.r.size-1)
	return k.xor(k.choose(odd, cos, sin), sign)
}

// erfcOf is erfc a for a that is not negative: e^(−a²)·(1 − q)·p(q), q = (a − c)/(a + c).
func (k *code) erfcOf(a value) value {
	a = k.least(k.load(k.number(map[int]float64{4: 10.25, 8: 27.5}[k.r.size])), a)
	center := k.number(erfcCenter[k.r.size])
	q := k.div(k.sub(a, center), k.add(a, center))
	p := k.mul(k.sub(k.load(k.number(1)), q), k.polynomial(q, erfcFar[k.r.size]...))
	square := k.mul(a, a)
	minus := k.xor(square, k.sign())
	r, n := k.remainder(minus)
	e := k.series(k.sub(r, k.fma(a, a, minus))) // less what the square has lost
	return k.scale(k.fma(e, p, p), n)
}

// erfcCenter is c of erfcOf.
var erfcCenter = map[int]float64{4: 3, 8: 4}

// Polynomials, found in 50 digits, by the bytes of the type. Through Chebyshev's nodes: of erf(x)/x
// in x² for x² up to 0.9, off by 2⁻³⁰ and 2⁻⁵⁴. Of the least relative error: of (eʳ − 1 − r)/r² up
// to log(2)/2, off by 2⁻²⁷ and 2⁻⁵⁶ of eʳ at most, and of e^(a²)·erfc(a)/(1 − q) in q for all a up
// to 10.3 and 27.6, off by 2⁻²⁸ and 2⁻⁵⁵.
var (
	erfNear = map[int][]float64{
		4: {1.1283791664763395, -0.37612632154013932, 0.11283671041450989, -0.026858042482942561, 0.0051976849144596491,
			-0.00081050545108085004, 8.2127805330598775e-5},
		8: {
			1.1283791670955126, -0.37612638903183754, 0.11283791670955044, -0.026866170645111445, 0.005223977625190048,
			-0.0008548327004330467, 0.00012055332050048154, -1.492561988537055e-05, 1.6461430548949832e-06, -1.635526736603724e-07,
			1.4695927304472006e-08, -1.152421846528433e-09, 6.234208164172843e-11,
		},
	}
	erfcFar = map[int][]float64{
		4: {0.17900115130568384, -0.14723241462426587, 0.09837138206926514, -0.051744328520032745, 0.01992152839716201,
			-0.004473343252195291, -0.00020450620696093181, 0.0005134296586116658, -8.033443602190675e-05, -5.412102861369445e-05},
		8: {
			0.13699945762506138, -0.1220685911351103, 0.09665108778315509, -0.06760672891414816, 0.04135644848472423,
			-0.021751367155195066, 0.009547689364269122, -0.0032962566644306216, 0.0007640069503689265, -3.511988498800637e-05,
			-5.688154571888044e-05, 2.210174452870428e-05, -4.545357053103175e-07, -2.358094071519121e-06,
			5.870788822295603e-07, 1.7907888298596415e-07, -1.0603939303916047e-07, -1.086983859450113e-08,
			1.551726108075677e-08, 1.199850055605485e-09, -1.7191475739485609e-09, -3.4172219429762527e-10,
		},
	}
	expNear = map[int][]float64{
		4: {0.49999997721287191, 0.16666530558049931, 0.041667290376456718, 0.0083677948408172832, 0.0013878316163789477},
		8: {
			0.5000000000000007423, 0.1666666666666657094, 0.04166666666655554981, 0.008333333333399194759, 0.001388888893737624168,
			0.000198412697025175446, 0.0000248014991837235551, 2.755741871832414236e-6, 2.762820283840963301e-7, 2.505123541319213187e-8,
		},
	}
)
