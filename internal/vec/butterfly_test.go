package vec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestButterfly: results are those of complex arithmetic within rounding at all lengths, and nothing else is written.
func TestButterfly(t *testing.T) {
	testButterfly[float32](t, 0x1p-23)
	testButterfly[float64](t, 0x1p-52)
}

func testButterfly[T Float](t *testing.T, eps float64) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, set := range Sets() {
		l := On[T](set)
		if !l.HasButterfly() {
			continue
		}
		l.Butterfly(&Butterfly[T]{}) // nothing to do
		for n := range 40 {
			const room = 41
			b := &Butterfly[T]{To: random[T](rng, 8*room+1), From: random[T](rng, 12*room), N: n, Plane: 4 * room, ToApart: room, FromApart: room + 3}
			copy(b.By[:], random[T](rng, 6))
			b.By[6] = T(1 - 2*(n%2))
			was := slices.Clone(b.To)
			l.Butterfly(b)
			for j := range n {
				var x [4]complex128
				size := 0.0
				for i := range x {
					at := i*b.FromApart + j
					x[i] = complex(float64(b.From[at]), float64(b.From[at+b.Plane]))
					if i > 0 {
						x[i] *= complex(float64(b.By[2*i-2]), float64(b.By[2*i-1]))
					}
					size += math.Abs(real(x[i])) + math.Abs(imag(x[i])) + 1
				}
				turn := complex(0, float64(b.By[6])) * (x[1] - x[3])
				for i, want := range []complex128{x[0] + x[1] + x[2] + x[3], x[0] - x[2] + turn, x[0] + x[2] - x[1] - x[3], x[0] - x[2] - turn} {
					at := i*b.ToApart + j
					got := complex(float64(b.To[at]), float64(b.To[at+b.Plane]))
					if d := got - want; math.Abs(real(d)) > 8*eps*size || math.Abs(imag(d)) > 8*eps*size {
						t.Fatalf("%v, %T, %d: number %d of row %d is %v, want %v", set, b.By[0], n, j, i, got, want)
					}
					was[at], was[at+b.Plane] = b.To[at], b.To[at+b.Plane]
				}
			}
			if !slices.Equal(was, b.To) {
				t.Fatalf("%v, %T, %d: it wrote elsewhere", set, b.By[0], n)
			}
		}
	}
}
