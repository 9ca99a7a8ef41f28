package kernels

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/clgrad/clgrad/internal/parallel"
)

// TestParallel: each of n is in one piece, whatever it costs.
func TestParallel(t *testing.T) {
	for _, n := range []int{0, 1, 7, parallel.Grain - 1, parallel.Grain, 5*parallel.Grain + 3} {
		for _, cost := range []int{-1, 0, 1, 100, parallel.Grain + 1, math.MaxInt} {
			seen := make([]int8, n)
			HostArgs[float32]{}.Parallel(n, cost, func(lo, hi int) {
				for i := lo; i < hi; i++ {
					seen[i]++
				}
			})
			for i, s := range seen {
				if s != 1 {
					t.Fatalf("n=%d, cost=%d: %d is in %d pieces", n, cost, i, s)
				}
			}
		}
	}
}

// TestParallelWhereItIsWorthIt: a core gets as much work as waking it up is worth, whether of few
// that cost much or of many that cost little.
func TestParallelWhereItIsWorthIt(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, c := range []struct {
		n, cost int
		pieces  int32 // four for each core, if there are two
	}{{2*parallel.Grain - 1, 1, 1}, {2 * parallel.Grain, 1, 8}, {4 * parallel.Grain, 1, 16}, {4, parallel.Grain, 4},
		{31, parallel.Grain / 16, 1}, {32, parallel.Grain / 16, 8}, {100, math.MaxInt, 16}} {
		var pieces atomic.Int32
		HostArgs[float32]{}.Parallel(c.n, c.cost, func(int, int) { pieces.Add(1) })
		if pieces.Load() != c.pieces {
			t.Errorf("%d at a cost of %d: %d pieces, want %d", c.n, c.cost, pieces.Load(), c.pieces)
		}
	}
}

// TestMaxAbs: of the elements that an argument names, those that are no number apart.
func TestMaxAbs(t *testing.T) {
	inf := math.Inf(1)
	single := BufferArg(HostBufferOf([]float32{9, -3, float32(inf), float32(math.NaN()), 2, -9}), 1, 4)
	double := BufferArg(HostBufferOf([]float64{1, -inf, 1e300}), 0, 3)
	args := []Arg{IntArg(1), single, double, BufferArg(HostBufferOf([]float32{1}), 1, 0), BufferArg(HostBufferOf([]float64{math.NaN()}), 0, 1)}
	for i, want := range map[int]float64{1: 3, 2: 1e300, 3: 0, 4: 0} {
		if got := MaxAbs(args, i); got != want {
			t.Errorf("argument %d: %v, want %v", i, got, want)
		}
	}
}
