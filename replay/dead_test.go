package replay

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/kernels"
)

// TestDeadStores: exactly those launches are left out of whose elements none is read later, before
// it is written again, or is there after the run.
func TestDeadStores(t *testing.T) {
	kinds := []*kernels.Kernel{opaque("copy", kernels.In, kernels.Out), opaque("change", kernels.In, kernels.InOut), opaque("check", kernels.In)}
	left, kept := 0, 0
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 13))
		mems := []kernels.Buffer{kernels.NewHostBuffer(kernels.Float32, 16), kernels.NewHostBuffer(kernels.Float32, 16), kernels.NewHostBuffer(kernels.Float32, 16)}
		lives := func(b kernels.Buffer) bool { return b == mems[0] }
		var step []capture.Launch
		for range 2 + rng.IntN(9) {
			l := capture.Launch{Kernel: kinds[rng.IntN(len(kinds))]}
			for range len(l.Kernel.Params) - 3 {
				n := 1 + rng.IntN(8)
				l.Args = append(l.Args, kernels.BufferArg(mems[rng.IntN(len(mems))], rng.IntN(17-n), n))
			}
			l.Args = append(l.Args, kernels.IntArg(rng.IntN(8)), kernels.IntArg(1), kernels.IntArg(64))
			step = append(step, l)
		}
		needed := map[kernels.Buffer]*[16]bool{}
		for _, b := range mems {
			needed[b] = &[16]bool{}
			for e := range needed[b] {
				needed[b][e] = lives(b)
			}
		}
		var want []int
		for i, l := range slices.Backward(step) {
			writes, meets := false, false
			for k, p := range l.Kernel.Params[:len(l.Args)-3] {
				for e := l.Args[k].Off; p.Mode.Written() && e < l.Args[k].Off+l.Args[k].N; e++ {
					writes, meets = true, meets || needed[l.Args[k].Buf][e]
				}
			}
			if writes && !meets {
				left++
				continue
			}
			want = append(want, i)
			kept++
			for _, reads := range []bool{false, true} {
				for k, p := range l.Kernel.Params[:len(l.Args)-3] {
					for e := l.Args[k].Off; e < l.Args[k].Off+l.Args[k].N; e++ {
						switch {
						case reads && p.Mode.Read():
							needed[l.Args[k].Buf][e] = true
						case !reads && p.Mode == kernels.Out && l.Args[len(l.Args)-3].Int > 0:
							needed[l.Args[k].Buf][e] = false
						}
					}
				}
			}
		}
		slices.Reverse(want)
		nodes, err := rewriteLaunches(only("dead-store-elimination"), gpu, step, lives, never, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, n := range nodes {
			got = append(got, n.from...)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: launches %v are done, want %v", seed, got, want)
		}
	}
	if left < 1000 || kept < 1000 {
		t.Errorf("%d launches were left out and %d kept", left, kept)
	}
}
