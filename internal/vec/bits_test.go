package vec

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"
)

// TestSameBits: loops have the same bits on every kind of processor, those of a sum that is written down here.
func TestSameBits(t *testing.T) {
	sameBits[float32](t, "bd265c2e00470a84")
	sameBits[float64](t, "c812f8546a30b428")
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
		for f := Neg; f < functions; f++ {
			if l.Has(f) {
				to := make([]T, n)
				l.Map(f, to, x[0], x[1], x[2], x[3])
				add(to)
			}
		}
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
