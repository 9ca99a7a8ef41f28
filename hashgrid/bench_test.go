package hashgrid

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// BenchmarkEncode is 8192 positions in the grids of mlpimage's presets for a picture of 512 × 512:
// the features, and with the gradient of the table.
func BenchmarkEncode(b *testing.B) {
	const n, features = 8192, 4
	var grids []Level
	for _, cells := range []int{16, 26, 43, 71, 116, 190, 312, 512} {
		grids = append(grids, Level{cells, cells, min(1<<14, (cells+2)*(cells+2))})
	}
	for _, sel := range devtest.Selected() {
		d := devtest.Open(b, sel, tensor.Options{})
		rng := tensor.NewRNG(1)
		g := New(d, grids, features)
		table := autograd.Param(rng.Uniform(d, -1, 1, g.Entries, features), "table")
		positions := autograd.Const(rng.Uniform(d, 0, 1, n, 2))
		up := autograd.BackwardOptions{Seed: rng.Uniform(d, -1, 1, n, len(grids)*features)}
		step := func(b *testing.B, f func()) {
			f() // builds the kernels
			for b.Loop() {
				f()
				if err := d.Sync(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpositions/s")
		}
		b.Run(sel+"/features", func(b *testing.B) {
			step(b, func() { g.Encode(table, positions).Free() })
		})
		b.Run(sel+"/gradient", func(b *testing.B) {
			step(b, func() {
				y := g.Encode(table, positions)
				if err := y.Backward(up); err != nil {
					b.Fatal(err)
				}
				y.Free()
				table.ZeroGrad()
			})
		})
		g.Free()
	}
}
