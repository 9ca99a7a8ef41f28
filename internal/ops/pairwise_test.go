package ops

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/vec"
)

// TestParallelSums: the bits of sums of columns do not depend on how many cores compute them.
func TestParallelSums(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][2]int{{1, 3}, {64, 5000}, {129, 4096}, {300, 700}, {1000, 1000}, {4097, 129}, {31250, 33}} {
		n, w := shape[0], shape[1]
		x := make([]float32, n*w)
		for i := range x {
			x[i] = rng.Float32() - 0.3
		}
		all := []*vec.Loops[float32]{nil}
		for _, set := range vec.Sets() {
			all = append(all, vec.On[float32](set))
		}
		for s, loops := range all {
			runtime.GOMAXPROCS(1)
			columns := wideSums[float32]{loops: loops}
			want := slices.Clone(columns.of(x, n, w, w))
			for _, cores := range []int{1, 2, 3, 8} {
				t.Run(fmt.Sprint(shape, s, cores), func(t *testing.T) {
					runtime.GOMAXPROCS(cores)
					columns := wideSums[float32]{loops: loops}
					if got := columns.parallel(x, n, w, w); !slices.Equal(got, want) {
						t.Error("other sums than those of one core")
					}
				})
			}
		}
	}
}
