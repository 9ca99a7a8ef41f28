package vec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/bfloat16"
	"github.com/x448/float16"
)

// TestWeightsOf: a matrix over copies of another's memory is, as floats, what that stands for, bit by bit, with
// all sets of instructions and in pieces.
func TestWeightsOf(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for _, size := range [][2]int{{1, 1}, {0, 3}, {3, 0}, {31, 64}, {33, 65}, {97, 130}, {64, 7}} {
		testWeightsOf(t, newHalvesCase[float16.Float16](rng, size[0], size[1]), "float16")
		testWeightsOf(t, newHalvesCase[bfloat16.BFloat16](rng, size[0], size[1]), "bfloat16")
		for _, bits := range []int{8, 4} {
			for _, group := range []int{0, 32, 96} {
				for _, zeros := range []bool{false, true} {
					k, n := size[0], size[1]
					c := newWeightCase[int8](rng, bits, k, n, group, zeros, false)
					if _, _, zero := c.Memory(); zeros && zero == nil && k*n > 0 {
						t.Fatal("the zero points are gone")
					}
					testWeightsOf(t, c, fmt.Sprintf("of %d bits, groups of %d, zero points %v", bits, group, zeros))
				}
			}
		}
	}
}

func testWeightsOf(t *testing.T, c weightCase, kind string) {
	t.Helper()
	k, n := c.K, c.N
	packed, scale, zero := c.Memory()
	w := WeightsOf(c.Format, k, n, c.group, slices.Clone(packed), slices.Clone(scale), append([]float32{}, zero...))
	turned, column := make([]float32, k*n), make([]float32, k)
	transpose(turned, k, c.floats, n, n, k)
	for j := range n {
		w.Column(column, j)
		if at := differs(column, turned[j*k:][:k]); at >= 0 {
			t.Fatalf("[%d, %d] %s: column %d, element %d differs", k, n, kind, j, at)
		}
	}
	for _, set := range setsAndPlain() {
		for _, each := range []func(n, min int, f func(lo, hi int)){nil, inPieces} {
			for transposed, want := range map[bool][]float32{false: c.floats, true: turned} {
				const guard = 12345
				to := slices.Repeat([]float32{guard}, k*n+1)
				w.Floats(set, to, transposed, each)
				if at := differs(to[:k*n], want); at >= 0 || to[k*n] != guard {
					t.Fatalf("[%d, %d] %s, %v, transposed %v: element %d differs, or the guard: %v", k, n, kind, set,
						transposed, at, to[k*n])
				}
			}
		}
	}
}
