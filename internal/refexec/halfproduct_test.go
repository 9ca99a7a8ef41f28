package refexec_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/fused"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/internal/refexec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// TestHalfProducts: a product of 16 bits rounds its sum once, to nearest even, with what is added to it, and says so;
// a map where it stores the sum reads what was rounded. Sums are exact in float32, and are no numbers of 16 bits.
func TestHalfProducts(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		typ       kernels.DType
		big, most float64 // from big on, numbers are even
	}{{kernels.BFloat16, 256, 3.3895313892515355e38}, {kernels.Float16, 2048, 65504}} {
		// A [1, 2] by B [2, n]: big + 1 is a tie, big + 3 the next one.
		big := c.big
		a := []float64{1, 1}
		b := [][2]float64{{big, 1}, {big, 3}, {big, -big}, {inf, 1}, {inf, -inf}, {nan, 1}, {c.most, c.most}}
		sums := []float64{big, big + 4, 0, inf, nan, nan, inf}
		plusOne := []float64{big + 2, big + 4, 1, inf, nan, nan, inf} // rounded once
		twice := []float64{big, big + 4, 1, inf, nan, nan, inf}       // of a sum that was rounded: big + 4 + 1 is a tie
		n := len(b)
		of := func(typ kernels.DType, n int, at func(i int) float64) kernels.Arg {
			m := kernels.NewHostBuffer(typ, n)
			for i := range n {
				m.Set(i, at(i))
			}
			return kernels.BufferArg(m, 0, n)
		}
		one := func(int) float64 { return 1 }
		tile := ops.GemmTiles(kernels.Float32, limits[0])[0]
		plain := func(accumulate, biased bool) []kernels.Arg {
			return []kernels.Arg{of(c.typ, 2, func(i int) float64 { return a[i] }),
				of(c.typ, 2*n, func(i int) float64 { return b[i%n][i/n] }), of(c.typ, n, one), of(c.typ, n, one),
				kernels.IntArg(1), kernels.IntArg(n), kernels.IntArg(2), kernels.IntArg(2), kernels.IntArg(n), kernels.IntArg(n),
				kernels.FlagArg(accumulate), kernels.FlagArg(biased), kernels.IntArg(12), kernels.IntArg(2)}
		}
		kernel := ops.OfTypes(ops.Gemm(ops.NN, tile, nil), plain(false, false))
		add := &kernels.FusedElementwise{Name: "stored_sum", Functions: []*kernels.Function{fn.Add}}
		then := fused.Epilogue{Of: add, Layout: fused.AccessPattern{Rank: 1}, Keep: true}
		then.Layout.Types[0], then.Layout.Types[1], then.Layout.Types[2] = c.typ, c.typ, c.typ
		mapped := fused.FuseEpilogue(kernel, then)
		stores := append(plain(false, false), of(c.typ, n, one), of(c.typ, n, one), kernels.IntArg(n))
		for _, p := range []struct {
			name string
			k    *kernels.Kernel
			args []kernels.Arg
			want map[int][]float64 // by argument
		}{
			{"a sum", kernel, plain(false, false), map[int][]float64{3: sums}},
			{"old elements", kernel, plain(true, false), map[int][]float64{3: plusOne}},
			{"a bias", kernel, plain(false, true), map[int][]float64{3: plusOne}},
			{"a map", mapped, stores, map[int][]float64{3: sums, 15: twice}},
		} {
			ops := p.k.Semantics(p.args)
			if _, err := refexec.Check(p.k, kernels.Float32, limits[0], p.args); err != nil || len(ops) == 0 {
				t.Errorf("%v, %s: %d operations, %v", c.typ, p.name, len(ops), err)
				continue
			}
			for _, run := range []func(){
				func() { p.k.Run(kernels.Float32, p.args) },
				func() {
					p.args[3] = of(c.typ, n, one)
					if _, err := refexec.Run(ops, kernels.Float32, p.args); err != nil {
						t.Error(err)
					}
				},
			} {
				run()
				for arg, want := range p.want {
					for i, w := range want {
						if got := p.args[arg].At(i); got != w && !(math.IsNaN(got) && math.IsNaN(w)) {
							t.Errorf("%v, %s: element %d of argument %d is %v, not %v", c.typ, p.name, i, arg, got, w)
						}
					}
				}
			}
		}
	}
}
