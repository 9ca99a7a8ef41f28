package expr_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/kernels/expr"
)

// TestIntegerPrimitives: those that integers alone have, and those that have a value of their own
// in integers.
func TestIntegerPrimitives(t *testing.T) {
	const least, most = math.MinInt32, math.MaxInt32
	for _, c := range []struct {
		name       string
		f          *expr.Expr
		x, y, want int32
	}{
		{"fmod", x.Fmod(y), 7, -3, 1}, {"fmod", x.Fmod(y), -7, 3, -1}, {"fmod", x.Fmod(y), 7, 0, 0}, {"fmod", x.Fmod(y), least, -1, 0},
		{"floordiv", x.FloorDiv(y), 7, -3, -3}, {"floordiv", x.FloorDiv(y), -6, 3, -2}, {"floordiv", x.FloorDiv(y), 7, 0, 0}, {"floordiv", x.FloorDiv(y), least, -1, least},
		{"floordiv", x.FloorDiv(y), most, least, -1}, {"floordiv", x.FloorDiv(y), -7, -2, 3},
		{"and", x.BitAnd(y), -2, 7, 6}, {"or", x.BitOr(y), least, 5, least + 5}, {"xor", x.BitXor(y), -1, 5, -6},
		{"left", x.ShiftLeft(y), 3, 30, -1 << 30}, {"left", x.ShiftLeft(y), 3, 32, 0}, {"left", x.ShiftLeft(y), 3, -1, 0}, {"left", x.ShiftLeft(y), -1, 31, least},
		{"right", x.ShiftRight(y), -9, 1, -5}, {"right", x.ShiftRight(y), -9, 99, -1}, {"right", x.ShiftRight(y), 9, -1, 0}, {"right", x.ShiftRight(y), least, 31, -1},
		{"round", x.Round().Add(x.Floor()).Add(x.Ceil()).Add(x.Trunc()), 5, 0, 20},
	} {
		for _, vectors := range []bool{false, true} {
			const n = 37
			in, out := [2][]int32{make([]int32, n), make([]int32, n)}, make([]int32, n)
			for i := range n {
				in[0][i], in[1][i] = c.x, c.y
			}
			e := expr.NewEval[int32](expr.Compile(c.f))
			e.Vectors(vectors)
			e.Run(out, in[:])
			for _, got := range out {
				if got != c.want {
					t.Errorf("%s of %d and %d is %d, want %d (vectors: %v)", c.name, c.x, c.y, got, c.want, vectors)
				}
			}
		}
		if !c.f.Whole() {
			t.Errorf("%s has no value in integers", c.name)
		}
	}
	if !x.BitAnd(y).Eq(x).OfIntegers() || x.Fmod(y).OfIntegers() || x.FloorDiv(y).OfIntegers() {
		t.Error("and is of integers alone, fmod and floordiv are not")
	}
}

// TestFloorDiv: of numbers, where the quotient rounds up to a whole number that it does not reach,
// too.
func TestFloorDiv(t *testing.T) {
	p := expr.Compile(x.FloorDiv(y))
	inf, negative := math.Inf(1), math.Copysign(0, -1)
	for _, c := range [][3]float64{{7, 2, 3}, {-7, 2, -4}, {7, -2, -4}, {-7, -2, 3}, {1, 0.1, 9}, {-1, 0.1, -10}, {0, 3, 0}, {negative, 3, negative}, {1, 0, inf}, {-1, 0, -inf},
		{2, inf, 0}, {-2, inf, -1}, {6, 3, 2}, {-6, 3, -2}, {0.3, 0.1, 2}, {1e300, 1e-300, inf}} {
		got := value(p, c[:2])
		if got != c[2] || math.Signbit(got) != math.Signbit(c[2]) {
			t.Errorf("of %v and %v it is %v, want %v", c[0], c[1], got, c[2])
		}
	}
	for _, c := range [][2]float64{{0, 0}, {inf, 2}, {math.NaN(), 1}, {1, math.NaN()}} {
		if got := value(p, c[:]); !math.IsNaN(got) {
			t.Errorf("of %v it is %v", c, got)
		}
	}
}
