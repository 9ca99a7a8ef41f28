package vec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestWeightsOf: a matrix over copies of another's memory is, as floats, what that stands for, bit by bit, with
// all sets of instructions and in pieces.
func TestWeightsOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, size := range [][2]int{{1, 1}, {0, 3}, {3, 0}, {31, 64}, {33, 65}, {97, 130}, {64, 7}} {
		for _, bits := range []int{8, 4} {
			for _, group := range []int{0, 32, 96} {
				for _, zeros := range []bool{false, true} {
					k, n := size[0], size[1]
					c := newWeightCase[int8](rng, bits, k, n, group, zeros, false)
					packed, scale, zero := c.Memory()
					if zeros && zero == nil && k*n > 0 {
						t.Fatal("the zero points are gone")
					}
					w := WeightsOf(bits, k, n, group, slices.Clone(packed), slices.Clone(scale), append([]float32{}, zero...))
					for _, set := range setsAndPlain() {
						for _, each := range []func(n, min int, f func(lo, hi int)){nil, inPieces} {
							const guard = 12345
							to := slices.Repeat([]float32{guard}, k*n+1)
							w.Floats(set, to, false, each)
							name := fmt.Sprintf("[%d, %d] of %d bits, groups of %d, zero points %v, %v", k, n, bits, group, zeros, set)
							if at := differs(to[:k*n], c.floats); at >= 0 || to[k*n] != guard {
								t.Fatalf("%s: element %d differs, or the guard: %v", name, at, to[k*n])
							}
							turned := make([]float32, k*n)
							transpose(turned, k, c.floats, n, n, k)
							w.Floats(set, to, true, each)
							if at := differs(to[:k*n], turned); at >= 0 || to[k*n] != guard {
								t.Fatalf("%s: transposed, element %d differs, or the guard: %v", name, at, to[k*n])
							}
							column := make([]float32, k)
							for j := range n {
								w.Column(column, j)
								if at := differs(column, turned[j*k:][:k]); at >= 0 {
									t.Fatalf("%s: column %d, element %d differs", name, j, at)
								}
							}
						}
					}
				}
			}
		}
	}
}
