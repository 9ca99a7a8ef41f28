package vec

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
)

// plainInts is the functions of ints in plain loops.
var plainInts = [functions]func(a, b, c, d int32) int32{
	NegInts:       func(a, _, _, _ int32) int32 { return -a },
	AbsInts:       func(a, _, _, _ int32) int32 { return max(a, -a) },
	AddInts:       func(a, b, _, _ int32) int32 { return a + b },
	SubInts:       func(a, b, _, _ int32) int32 { return a - b },
	MulInts:       func(a, b, _, _ int32) int32 { return a * b },
	MinInts:       func(a, b, _, _ int32) int32 { return min(a, b) },
	MaxInts:       func(a, b, _, _ int32) int32 { return max(a, b) },
	LessInts:      func(a, b, _, _ int32) int32 { return eitherInt(a < b, 1, 0) },
	LessEqualInts: func(a, b, _, _ int32) int32 { return eitherInt(a <= b, 1, 0) },
	EqualInts:     func(a, b, _, _ int32) int32 { return eitherInt(a == b, 1, 0) },
	AndInts:       func(a, b, _, _ int32) int32 { return eitherInt(a != 0 && b != 0, 1, 0) },
	OrInts:        func(a, b, _, _ int32) int32 { return eitherInt(a != 0 || b != 0, 1, 0) },
	NotInts:       func(a, _, _, _ int32) int32 { return eitherInt(a == 0, 1, 0) },
	WhereInts:     func(a, b, c, _ int32) int32 { return eitherInt(a != 0, b, c) },
	WhereLessInts: func(a, b, c, d int32) int32 { return eitherInt(a < b, c, d) },
	WhereLessEqualInts: func(a, b, c, d int32) int32 {
		return eitherInt(a <= b, c, d)
	},
	WhereEqualInts:  func(a, b, c, d int32) int32 { return eitherInt(a == b, c, d) },
	ShiftLeft:       func(a, b, _, _ int32) int32 { return a << uint32(b) },
	ShiftRight:      func(a, b, _, _ int32) int32 { return a >> uint32(b) },
	ShiftRightZeros: func(a, b, _, _ int32) int32 { return int32(uint32(a) >> uint32(b)) },
	MulHigh: func(a, b, _, _ int32) int32 {
		high, _ := bits.Mul32(uint32(a), uint32(b))
		return int32(high)
	},
	Random:   word,
	FromInts: func(a, _, _, _ int32) int32 { return int32(math.Float32bits(float32(a))) },
	ToInts: func(a, _, _, _ int32) int32 {
		switch v := float64(math.Float32frombits(uint32(a))); {
		case v != v:
			return 0
		default:
			return int32(min(max(v, math.MinInt32), math.MaxInt32))
		}
	},
}

func eitherInt(c bool, yes, no int32) int32 {
	if c {
		return yes
	}
	return no
}

// word is word i of a stream of Philox4x32-10.
func word(i, call, low, high int32) int32 {
	c := [4]uint32{uint32(i) / 4, uint32(call)}
	key := [2]uint32{uint32(low), uint32(high)}
	for range 10 {
		h0, l0 := bits.Mul32(c[0], 0xD2511F53)
		h1, l1 := bits.Mul32(c[2], 0xCD9E8D57)
		c = [4]uint32{h1 ^ c[1] ^ key[0], l1, h0 ^ c[3] ^ key[1], l0}
		key[0] += 0x9E3779B9
		key[1] += 0xBB67AE85
	}
	return int32(c[uint32(i)%4])
}

// TestIntMaps: the functions of ints have the bits of plain loops at all lengths, of ints at the
// ends of their range, of counts of shifts beyond all bits and of words that are any floats, and
// write nothing else.
func TestIntMaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	special := []int32{0, 1, -1, 2, 3, 31, 32, 33, 255, 256, math.MaxInt32, math.MinInt32, math.MinInt32 + 1, 1 << 24, 1<<24 + 1}
	for _, v := range []float64{0.5, -0.5, 1.5, -2.75, 1e9, 0x1p31, -0x1p31, 0x1p31 - 128, 1e20, -1e20, math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1)} {
		special = append(special, int32(math.Float32bits(float32(v))))
	}
	draw := func() int32 {
		if rng.IntN(2) == 0 {
			return special[rng.IntN(len(special))]
		}
		return int32(rng.Uint32())
	}
	for f := NegInts; f < Formulas[0].Function; f++ {
		if plainInts[f] == nil {
			t.Fatalf("function %d has no plain loop", f)
		}
		for _, set := range Sets() {
			for n := range 70 {
				var x [4][]int32
				for i := range x {
					x[i] = make([]int32, n)
					for k := range x[i] {
						x[i][k] = draw()
					}
				}
				to := make([]int32, n+1)
				set.MapInts(f, to[:n], x[0], x[1], x[2], x[3])
				for k, got := range to[:n] {
					if want := plainInts[f](x[0][k], x[1][k], x[2][k], x[3][k]); got != want {
						t.Fatalf("%v: function %d of %d, %d, %d, %d is %d, want %d", set, f, x[0][k], x[1][k], x[2][k], x[3][k], got, want)
					}
				}
				if to[n] != 0 {
					t.Fatalf("%v: function %d writes beyond %d elements", set, f, n)
				}
				if n > 0 { // in place
					want := plainInts[f](x[0][n-1], x[1][n-1], x[2][n-1], x[3][n-1])
					if set.MapInts(f, x[0], x[0], x[1], x[2], x[3]); x[0][n-1] != want {
						t.Fatalf("%v: function %d in place is %d, want %d", set, f, x[0][n-1], want)
					}
				}
			}
		}
	}
}

// TestBytes: numbers of all bytes are those bytes, and the other way round, at all lengths, with
// and without vectors; of ints the lowest byte counts.
func TestBytes(t *testing.T) {
	for _, set := range append(Sets(), nil) {
		testBytes[int32](t, set)
		testBytes[float32](t, set)
		testBytes[float64](t, set)
	}
}

func testBytes[T Float | int32](t *testing.T, set *Set) {
	for _, n := range []int{0, 1, 31, 32, 33, 64, 100, 300} {
		x, v, back := make([]byte, n), make([]T, n+1), make([]byte, n+1)
		for i := range x {
			x[i] = byte(i*7 + n)
		}
		FromBytes(set, v[:n], x)
		for i, b := range x {
			if v[i] != T(b) {
				t.Fatalf("%v, %T: byte %d is %v", set, v[0], b, v[i])
			}
			if _, whole := any(v).([]int32); whole {
				v[i] += T(-1024 * (i % 3))
			}
		}
		ToBytes(set, back[:n], v[:n])
		for i, b := range x {
			if back[i] != b {
				t.Fatalf("%v: %v becomes byte %d, want %d", set, v[i], back[i], b)
			}
		}
		if v[n] != 0 || back[n] != 0 {
			t.Errorf("%v, %T: something beyond %d elements is written", set, v[0], n)
		}
	}
}
