package vec

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// plain is the functions in plain loops: what they are, and how many ULP the loops may be off.
var plain = map[Function]struct {
	ulp float64
	of  func(x []float64) float64
}{
	Neg:            {0, func(x []float64) float64 { return -x[0] }},
	Abs:            {0, func(x []float64) float64 { return math.Abs(x[0]) }},
	Add:            {0, func(x []float64) float64 { return x[0] + x[1] }},
	Sub:            {0, func(x []float64) float64 { return x[0] - x[1] }},
	Mul:            {0, func(x []float64) float64 { return x[0] * x[1] }},
	Div:            {0, func(x []float64) float64 { return x[0] / x[1] }},
	FMA:            {0, nil}, // see fused
	Min:            {0, func(x []float64) float64 { return min(x[0], x[1]) }},
	Max:            {0, func(x []float64) float64 { return max(x[0], x[1]) }},
	Copysign:       {0, func(x []float64) float64 { return math.Copysign(x[0], x[1]) }},
	Floor:          {0, func(x []float64) float64 { return math.Floor(x[0]) }},
	Ceil:           {0, func(x []float64) float64 { return math.Ceil(x[0]) }},
	Trunc:          {0, func(x []float64) float64 { return math.Trunc(x[0]) }},
	Round:          {0, func(x []float64) float64 { return math.RoundToEven(x[0]) }},
	Sqrt:           {0, func(x []float64) float64 { return math.Sqrt(x[0]) }},
	Less:           {0, func(x []float64) float64 { return bit(x[0] < x[1]) }},
	LessEqual:      {0, func(x []float64) float64 { return bit(x[0] <= x[1]) }},
	Equal:          {0, func(x []float64) float64 { return bit(x[0] == x[1]) }},
	And:            {0, func(x []float64) float64 { return bit(x[0] != 0 && x[1] != 0) }},
	Or:             {0, func(x []float64) float64 { return bit(x[0] != 0 || x[1] != 0) }},
	Not:            {0, func(x []float64) float64 { return bit(x[0] == 0) }},
	Where:          {0, func(x []float64) float64 { return either(x[0] != 0, x[1], x[2]) }},
	WhereLess:      {0, func(x []float64) float64 { return either(x[0] < x[1], x[2], x[3]) }},
	WhereLessEqual: {0, func(x []float64) float64 { return either(x[0] <= x[1], x[2], x[3]) }},
	WhereEqual:     {0, func(x []float64) float64 { return either(x[0] == x[1], x[2], x[3]) }},
	Exp:            {3, func(x []float64) float64 { return math.Exp(x[0]) }},
	Exp2:           {3, func(x []float64) float64 { return math.Exp2(x[0]) }},
	Expm1:          {3, func(x []float64) float64 { return math.Expm1(x[0]) }},
	Tanh:           {3, func(x []float64) float64 { return math.Tanh(x[0]) }},
	Log:            {3, func(x []float64) float64 { return logarithm(x[0]) }},
	Log2:           {3, func(x []float64) float64 { return binary(x[0]) }},
	Log1p:          {3, func(x []float64) float64 { return math.Log1p(x[0]) }},
	Sin:            {3, func(x []float64) float64 { return sine(x[0], 0) }},
	Cos:            {3, func(x []float64) float64 { return sine(x[0], 1) }},
	SinPi:          {3, func(x []float64) float64 { return turned(x[0], 0) }},
	CosPi:          {3, func(x []float64) float64 { return turned(x[0], 1) }},
	Erf:            {6, func(x []float64) float64 { return math.Erf(x[0]) }},
	Erfc:           {6, func(x []float64) float64 { return math.Erfc(x[0]) }},
	ErfInv:         {6, func(x []float64) float64 { return math.Erfinv(x[0]) }},
	Log10:          {3, func(x []float64) float64 { return logarithm(x[0]) * math.Log10E }},
	Pow:            {3, func(x []float64) float64 { return math.Pow(x[0], x[1]) }},
	Hypot:          {3, func(x []float64) float64 { return math.Hypot(x[0], x[1]) }},
	Tan:            {4, func(x []float64) float64 { return sine(x[0], 0) / sine(x[0], 1) }},
	Asin:           {3, func(x []float64) float64 { return math.Asin(x[0]) }},
	Acos:           {3, func(x []float64) float64 { return math.Acos(x[0]) }},
	Atan:           {3, func(x []float64) float64 { return math.Atan(x[0]) }},
	Atan2:          {3, func(x []float64) float64 { return math.Atan2(x[0], x[1]) }},
	Sinh:           {3, func(x []float64) float64 { return math.Sinh(x[0]) }},
	Cosh:           {3, func(x []float64) float64 { return math.Cosh(x[0]) }},
	Asinh:          {3, func(x []float64) float64 { return math.Asinh(x[0]) }},
	Acosh:          {3, func(x []float64) float64 { return math.Acosh(x[0]) }},
	Atanh:          {3, func(x []float64) float64 { return math.Atanh(x[0]) }},
	Fmod:           {0, func(x []float64) float64 { return math.Mod(x[0], x[1]) }},
	FloorDiv:       {0, func(x []float64) float64 { return quotient(x[0], x[1]) }},
	BitAnd:         {0, func(x []float64) float64 { return ofBits(x, func(a, b uint32) uint32 { return a & b }) }},
	BitOr:          {0, func(x []float64) float64 { return ofBits(x, func(a, b uint32) uint32 { return a | b }) }},
	BitXor:         {0, func(x []float64) float64 { return ofBits(x, func(a, b uint32) uint32 { return a ^ b }) }},
}

// sine is that of x and some quarters of a turn, also near multiples of π, where math.Sin has lost
// digits.
func sine(x float64, quarters int) float64 {
	n := math.RoundToEven(x * 2 / math.Pi)
	if math.IsNaN(x) || math.Abs(x) > SineLimit {
		return math.NaN()
	}
	rest := x
	if n != 0 {
		half, _, err := big.ParseFloat("1.5707963267948966192313216916397514420985846996875529104874722961", 10, 200, big.ToNearestEven)
		if err != nil {
			panic(err)
		}
		half.Mul(half, big.NewFloat(n))
		rest, _ = half.Sub(new(big.Float).SetPrec(200).SetFloat64(x), half).Float64()
	}
	switch (int(n) + quarters) & 3 {
	case 0:
		return math.Sin(rest)
	case 1:
		return math.Cos(rest)
	case 2:
		return -math.Sin(rest)
	}
	return -math.Cos(rest)
}

// logarithm is math.Log, which on amd64 does not know denormals.
func logarithm(x float64) float64 {
	if x > 0 && x < 0x1p-1022 {
		return math.Log(x*0x1p52) - 52*math.Ln2
	}
	return math.Log(x)
}

// binary is log₂ x: math.Log2 takes the exponent off first, and has few places left beside 1.
func binary(x float64) float64 {
	if x > 0.7 && x < 1.5 {
		return math.Log(x) * math.Log2E
	}
	return math.Log2(x)
}

// ofBits is a function of the bits of two numbers in single precision.
func ofBits(x []float64, of func(a, b uint32) uint32) float64 {
	return float64(math.Float32frombits(of(math.Float32bits(float32(x[0])), math.Float32bits(float32(x[1])))))
}

// quotient is x/y rounded down.
func quotient(x, y float64) float64 {
	rest := math.Mod(x, y)
	q := math.RoundToEven((x - rest) / y)
	if rest != 0 && (y < 0) != (rest < 0) {
		q--
	}
	if q == 0 {
		return math.Copysign(0, x) * math.Copysign(1, y)
	}
	return q
}

// turned is sin πx, of so many quarters of a turn more.
func turned(x float64, quarters int) float64 {
	r := math.Remainder(x, 2)
	n := math.RoundToEven(2 * r)
	sin, cos := math.Sincos(math.Pi * (r - n/2))
	switch (int(n) + quarters) & 3 {
	case 0:
		return sin
	case 1:
		return cos
	case 2:
		return -sin
	}
	return -cos
}

func bit(b bool) float64 { return either(b, 1, 0) }

func either(b bool, yes, no float64) float64 {
	if b {
		return yes
	}
	return no
}

// fused is x·y + z rounded once to T.
func fused[T Float](x, y, z float64) T {
	if _, double := any(T(0)).(float64); double {
		return T(math.FMA(x, y, z))
	}
	p := x * y // exact
	s := p + z
	back := s - p
	if lost := (p - (s - back)) + (z - back); lost != 0 && !math.IsInf(s, 0) && math.Float64bits(s)&1 == 0 { // to odd
		s = math.Nextafter(s, math.Inf(int(math.Copysign(1, lost))))
	}
	return T(s)
}

// ends are the special values of a type, and those around which functions change.
func ends[T Float](eps, least, largest float64) []T {
	v := []float64{0, least, 2 * least, 1000 * least, least / eps, least / eps * (1 - eps), largest, math.Inf(1), math.NaN(), eps, eps / 2, 1, 1 + 2*eps, 1 - eps,
		0.5, 1.5, 2.5, 3.5, 0.25, 0.75, 1.25, math.Pi, math.Pi / 2, math.Pi / 4, math.Sqrt2, math.Ln2, 0.3465735, 0.9486833, 0.9, 2, 3, 7, 10, 10.05, 10.3, 20, 40, 80, 87, 88.7, 88.73,
		103, 103.97, 104, 708, 709.79, 745, 745.2, 746, 127, 128, 149, 150, 1022, 1024, 1074, 1075, 8388607.5, 1e6, 1e15, 4503599627370495.5, 32767, SineLimit,
		22041.4140625, 22231.48046875}
	var all []T
	for _, x := range v {
		all = append(all, T(x), T(-x))
	}
	return all
}

// ulps returns how far got is from want, in units of what T rounds want to.
func ulps[T Float](got T, want, eps, least float64) float64 {
	g := float64(got)
	switch w := float64(T(want)); {
	case math.IsNaN(g) || math.IsNaN(want):
		return either(math.IsNaN(g) && math.IsNaN(want), 0, math.Inf(1))
	case g == w:
		return either(math.Signbit(g) == math.Signbit(w), 0, math.Inf(1))
	case math.IsInf(w, 0) || math.IsInf(g, 0):
		if math.IsInf(w, 0) && math.IsInf(want, 0) || math.IsInf(g, 0) && !math.IsInf(w, 0) {
			return math.Inf(1)
		}
		return 1
	}
	_, e := math.Frexp(want)
	return math.Abs(g-want) / max(math.Ldexp(2*eps, e-1), least)
}

// TestMaps: each loop is what plain loops compute, at all lengths and wherever the operands begin,
// special values too; it writes nothing else, may write in place, and has the same bits with each
// set.
func TestMaps(t *testing.T) {
	t.Run("float32", func(t *testing.T) { testMaps[float32](t, 0x1p-24, 0x1p-149, math.MaxFloat32) })
	t.Run("float64", func(t *testing.T) { testMaps[float64](t, 0x1p-53, 0x1p-1074, math.MaxFloat64) })
}

func testMaps[T Float](t *testing.T, eps, least, largest float64) {
	if len(Sets()) == 0 {
		t.Skip("this processor has no vectors that we know")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	special := ends[T](eps, least, largest)
	n := len(special) * len(special)
	n += n%2 + 20001
	x := make([][]T, 4)
	for k := range x {
		for i := range n {
			v := T(math.Ldexp(rng.Float64()*2-1, rng.IntN(18)-9))
			if i < len(special)*len(special) { // each with each
				v = special[[]int{i % len(special), i / len(special), i * 7 % len(special), i * 11 % len(special)}[k]]
			} else if i%16 == 0 {
				v = T(math.Ldexp(rng.Float64()*2-1, rng.IntN(250)-125))
			}
			x[k] = append(x[k], v)
		}
	}
	for f := Neg; f < NegInts; f++ {
		p, known := plain[f]
		if !known {
			t.Fatalf("function %d has no plain loop", f)
		}
		var first []T
		for s, set := range Sets() {
			l := On[T](set)
			if !l.Has(f) {
				continue
			}
			to := make([]T, n)
			l.Map(f, to, x[0], x[1], x[2], x[3])
			if s > 0 && first != nil {
				for i := range to {
					if b, a := math.Float64bits(float64(to[i])), math.Float64bits(float64(first[i])); a != b && to[i] == to[i] {
						t.Fatalf("function %d of %v: %v with %v, %v with %v", f, x[0][i], to[i], set, first[i], Sets()[0])
					}
				}
				checkLengths(t, l, f, x, to)
				continue
			}
			first = to
			worst, at := 0.0, 0
			for i, got := range to {
				in := []float64{float64(x[0][i]), float64(x[1][i]), float64(x[2][i]), float64(x[3][i])}
				if (f == Sin || f == Cos || f == Tan) && math.Abs(in[0]) > SineLimit || (f == Fmod || f == FloorDiv) && !(math.Abs(in[0]/in[1]) < QuotientLimit) {
					if got == got && !(math.Abs(in[0]/in[1]) < 2*QuotientLimit) {
						t.Fatalf("function %d on %v of %v: %v, want none", f, set, in, got)
					}
					continue
				}
				var want float64
				if f == FMA {
					want = float64(fused[T](in[0], in[1], in[2]))
				} else {
					want = p.of(in)
				}
				if p.ulp == 0 {
					if w := T(want); math.Float64bits(float64(w)) != math.Float64bits(float64(got)) && (w == w || got == got) {
						t.Fatalf("function %d on %v of %v: %v, want %v", f, set, in, got, w)
					}
					continue
				}
				if u := ulps(got, want, eps, least); u > worst {
					worst, at = u, i
				}
			}
			t.Logf("function %d on %v: %.2f ULP at %v: %v", f, set, worst, x[0][at], to[at])
			if worst > p.ulp {
				t.Errorf("function %d on %v: %.2f ULP at %v: %v, want %v", f, set, worst, x[0][at], to[at], T(p.of([]float64{float64(x[0][at]), 0, 0, 0})))
			}
			checkLengths(t, l, f, x, to)
		}
	}
}

// checkLengths compares short runs from several places on with the elements of a long one.
func checkLengths[T Float](t *testing.T, l *Loops[T], f Function, x [][]T, want []T) {
	const guard = 12345
	from := len(x[0]) - 200
	for n := range 68 {
		for _, skip := range []int{0, 1, 3} {
			at := from + skip
			to := make([]T, n+skip+1)
			for i := range to {
				to[i] = guard
			}
			in := make([][]T, 4)
			for k := range in {
				in[k] = slices.Clip(x[k][at : at+n])
			}
			l.Map(f, to[skip:skip+n], in[0], in[1], in[2], in[3])
			for i, v := range to {
				w := T(guard)
				if i >= skip && i < skip+n {
					w = want[at+i-skip]
				}
				if v != w && (v == v || w == w) {
					t.Fatalf("function %d, %d elements: element %d is %v, want %v", f, n, i-skip, v, w)
				}
			}
			same := slices.Clone(in[0])
			l.Map(f, same, same, in[1], in[2], in[3])
			for i, v := range same {
				if w := want[at+i]; v != w && (v == v || w == w) {
					t.Fatalf("function %d in place, %d elements: element %d is %v, want %v", f, n, i, v, w)
				}
			}
		}
	}
}

// TestMapBounds: operands that are too short are refused.
func TestMapBounds(t *testing.T) {
	for _, set := range Sets() {
		if !On[float32](set).Has(WhereLess) {
			continue
		}
		x, short := make([]float32, 9), make([]float32, 8)
		for k := range 4 {
			in := [][]float32{x, x, x, x}
			in[k] = short
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%v takes operand %d that is too short", set, k)
					}
				}()
				On[float32](set).Map(WhereLess, make([]float32, 9), in[0], in[1], in[2], in[3])
			}()
		}
	}
}

func BenchmarkMap(b *testing.B) {
	for f := Neg; f < NegInts; f++ {
		for _, set := range Sets() {
			benchmarkMap[float32](b, f, set)
			benchmarkMap[float64](b, f, set)
		}
	}
}

func benchmarkMap[T Float](b *testing.B, f Function, set *Set) {
	l := On[T](set)
	if !l.Has(f) {
		return
	}
	b.Run(fmt.Sprintf("%d/%T/%v", f, *new(T), set), func(b *testing.B) {
		const n = 512
		to, x := make([]T, n), random[T](rand.New(rand.NewPCG(1, 2)), n)
		for b.Loop() {
			l.Map(f, to, x, x, x, x)
		}
		b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/n, "ns/element")
	})
}
