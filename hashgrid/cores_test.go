package hashgrid

import (
	"runtime"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// TestGradientOnAnyCores: a gradient has the same bits however many cores share it, whole levels
// each or parts of one.
func TestGradientOnAnyCores(t *testing.T) {
	const features, n = 3, 4100
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, sel := range devtest.Selected() {
		d := devtest.Open(t, sel, tensor.Options{})
		if !d.Target().CPU {
			continue
		}
		g := New(d, append([]Level{{1, 1, 2}, {60, 50, 1 << 11}}, levels...), features) // the first level has fewer entries than parts
		rng := tensor.NewRNG(11)
		positions, up := rng.Uniform(d, 0, 1, n, 2), rng.Uniform(d, -1, 1, n, len(g.Levels)*features)
		var want []float64
		for _, groups := range []int{1, 2, 3, 5, 7, 64, 330} {
			k := *gradient(features)
			k.Grid = func([]kernels.Arg, kernels.Target) kernels.Grid { return kernels.Groups(groups, 1) }
			runtime.GOMAXPROCS(groups)
			got := tensor.Full(d, 77, g.Entries, features)
			tensor.Launch(d, &k, positions.Arg(), up.Arg(), g.levels.Arg(), got.Arg(), kernels.IntArg(n), kernels.IntArg(len(g.Levels)), kernels.IntArg(g.Entries))
			if want == nil {
				want = devtest.Float64s(t, got)
				continue
			}
			if !slices.Equal(devtest.Float64s(t, got), want) {
				t.Errorf("%s: %d cores make another gradient than one", sel, groups)
			}
		}
		g.Free()
	}
}
