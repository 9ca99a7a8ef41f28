package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// inLanes is a reduction as the loops make it: 32 sums beside each other, joined by halves.
func inLanes[T Float](n int, start T, join func(sum T, i int) T, sums func(a, b T) T) T {
	lanes := make([]T, 32)
	for i := range lanes {
		lanes[i] = start
	}
	for i := range n {
		lanes[i%32] = join(lanes[i%32], i)
	}
	for len(lanes) > 1 {
		half := len(lanes) / 2
		for i := range half {
			lanes[i] = sums(lanes[i], lanes[half+i])
		}
		lanes = lanes[:half]
	}
	return lanes[0]
}

// TestRows: reductions are what their order says, bit for bit, at all lengths and wherever a row
// begins; functions of a row and a number are those of two rows.
func TestRows(t *testing.T) {
	testRows[float32](t)
	testRows[float64](t)
}

func testRows[T Float](t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	nan, inf := T(math.NaN()), T(math.Inf(1))
	plus := func(a, b T) T { return a + b }
	larger := func(a, b T) T {
		if a > b {
			return a
		}
		return b
	}
	for _, set := range Sets() {
		l := On[T](set)
		for c := range 3 * 140 {
			n := c / 3
			if n > 130 {
				n = 500 + n
			}
			skip := c % 3
			x, y := slices.Clip(random[T](rng, n+skip)[skip:]), slices.Clip(random[T](rng, n+skip)[skip:])
			same := func(what string, got, want T) {
				t.Helper()
				if got != want && (got == got || want == want) {
					t.Fatalf("%v, %T: %s of %d elements is %v, want %v", set, got, what, n, got, want)
				}
			}
			same("sum", l.Sum(x), inLanes(n, 0, func(s T, i int) T { return s + x[i] }, plus))
			same("dot", l.Dot(x, y), inLanes(n, 0, func(s T, i int) T { return fused[T](float64(x[i]), float64(y[i]), float64(s)) }, plus))
			if n > 0 {
				same("most", l.Max(x), slices.Max(x))
				times := func(a, b T) T { return a * b }
				greater, less := func(a, b T) T { return max(a, b) }, func(a, b T) T { return min(a, b) }
				reduced := func(what string) {
					t.Helper()
					same("product"+what, l.Reduce(Mul, x), inLanes(n, 1, func(s T, i int) T { return s * x[i] }, times))
					same("maximum"+what, l.Reduce(Max, x), inLanes(n, -inf, func(s T, i int) T { return max(s, x[i]) }, greater))
					same("minimum"+what, l.Reduce(Min, x), inLanes(n, inf, func(s T, i int) T { return min(s, x[i]) }, less))
				}
				reduced("")
				kept := slices.Clone(x)
				x[rng.IntN(n)] = inf
				reduced(" with infinity")
				x[rng.IntN(n)] = -inf
				reduced(" with infinities")
				x[rng.IntN(n)] = nan
				reduced(" with NaN")
				minus := T(math.Copysign(0, -1))
				for i := range x {
					x[i] = minus
				}
				if v := l.Reduce(Max, x); !math.Signbit(float64(v)) {
					t.Fatalf("%v, %T: the maximum of %d of −0 is %v", set, v, n, v)
				}
				if x[0] = 0; n > 1 && (math.Signbit(float64(l.Reduce(Max, x))) || !math.Signbit(float64(l.Reduce(Min, x)))) {
					t.Fatalf("%v, %T: maximum and minimum of 0 and %d of −0 are %v and %v", set, inf, n-1, l.Reduce(Max, x), l.Reduce(Min, x))
				}
				copy(x, kept)
				x[rng.IntN(n)], x[n-1] = nan, min(inf, T(n)-40)
				same("most with NaN", l.Max(x), inLanes(n, -inf, func(s T, i int) T { return larger(x[i], s) }, larger))
				x[0] = nan
				for i := range x {
					x[i] = nan
				}
				same("most of NaN", l.Max(x), -inf)
				same("sum of NaN", l.Sum(x), nan)
			}
			x = slices.Clip(random[T](rng, n+skip)[skip:])
			for _, f := range []Function{Add, Sub, Mul, Div} {
				by := T(rng.Float64())
				all, to, want := make([]T, n), make([]T, n+1), make([]T, n)
				for i := range all {
					all[i] = by
				}
				to[n] = 77
				l.Map(f, want, x, all, x, x)
				l.MapBy(f, to[:n], x, by)
				if to[n] != 77 || differs(to[:n], want) >= 0 {
					t.Fatalf("%v, %T: function %d of %d elements and a number: %v, want %v", set, by, f, n, to, want)
				}
			}
		}
	}
}

// TestRoom: what was borrowed is as long as asked for, and is lent again.
func TestRoom(t *testing.T) {
	for _, set := range Sets() {
		l := On[float32](set)
		for _, n := range []int{5, 0, 100, 7} {
			r := l.Scratch(n)
			if len(r.V) != n {
				t.Errorf("%d elements, not %d", len(r.V), n)
			}
			l.Return(r)
		}
	}
}
