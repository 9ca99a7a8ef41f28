package vec

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSameBits: loops have the same bits on every kind of processor, those of a sum that is written
// down here.
func TestSameBits(t *testing.T) {
	sameBits[float32](t, "d327e8d6c8442753")
	sameBits[float64](t, "cdb0417844d13dc0")
}

func sameBits[T Float](t *testing.T, want string) {
	for _, set := range Sets() {
		rng := rand.New(rand.NewPCG(21, 22))
		sum := fnv.New64a()
		add := func(all []T) {
			for _, v := range all {
				bits := math.Float64bits(float64(v))
				if v != v { // of which there are many
					bits = math.Float64bits(math.NaN())
				}
				fmt.Fprintf(sum, "%x ", bits)
			}
		}
		l := On[T](set)
		const n = 1003
		var x [4][]T
		for k := range x {
			for range n {
				x[k] = append(x[k], T(math.Ldexp(rng.Float64()*2-1, rng.IntN(20)-9)))
			}
		}
		for f := Neg; f < NegInts; f++ {
			if l.Has(f) {
				to := make([]T, n)
				l.Map(f, to, x[0], x[1], x[2], x[3])
				add(to)
			}
		}
		add([]T{l.Sum(x[0]), l.Dot(x[0], x[1]), l.Max(x[2])})
		for _, f := range []Function{Add, Sub, Mul, Div} {
			to := make([]T, n)
			l.MapBy(f, to, x[0], x[1][0])
			add(to)
		}
		p, m, v := slices.Clone(x[0]), slices.Clone(x[2]), make([]T, n)
		l.AdamW(p, x[1], m, v, &AdamW[T]{0.9, 0.8, 0.3, 0.99, 0.02, 0.01, 1.5, 1e-8})
		add(slices.Concat(p, m, v))
		for i, size := range [][3]int{{33, 45, 300}, {70, 3, 65}, {1, 130, 64}} {
			p := form[T](rng, i, size[0], size[1], size[2], 1)
			l.Product(*p, nil)
			add(p.C)
		}
		if got := fmt.Sprintf("%016x", sum.Sum64()); got != want {
			t.Errorf("%v, %T: the sum of the bits is %s, want %s", set, x[0][0], got, want)
		}
	}
}
