package hashgrid

import (
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestStrangeGradients: what is no number, or too large for fixed point, is in the gradient of the
// entries that it reaches and of no others, and the next pass knows nothing of it. Sums that are
// just small enough are exact.
func TestStrangeGradients(t *testing.T) {
	each(t, false, func(t *testing.T, d tensor.Device) {
		inf, nan := math.Inf(1), math.NaN()
		for name, up := range map[string][]float64{
			"NaN":                        {nan, 1, 1, 1},
			"infinite":                   {inf, 1, 1, 1},
			"infinite below":             {1, -inf, 1, 1},
			"four infinite":              {inf, inf, inf, inf},
			"infinite either way":        {inf, -inf, 1, 1},
			"2⁴⁰":                        {0x1p40, 1, 1, 1},
			"2⁴⁰ four times":             {0x1p40, 0x1p40, 0x1p40, 0x1p40},
			"the largest":                {math.MaxFloat32, -math.MaxFloat32, 1, 1},
			"a sum that is too large":    {0x1p25, 0x1p25, 0x1p25, 1},
			"below":                      {-0x1p25, -0x1p25, -0x1p25, 1},
			"just large enough":          {0x1p25, 0x1p24, 0x1p23, 0x1p22},
			"that take each other's way": {0x1p25, -0x1p25, 0x1p25, -0x1p25},
			"the smallest":               {0x1p-149, 0x1p-149, 0x1p-36, 0x1p-36},
		} {
			t.Run(name, func(t *testing.T) {
				for _, features := range []int{1, 3, 4} {
					const n = 4
					g := New(d, []Level{{4, 3, 30}, {40, 30, 64}}, features)
					defer g.Free()
					table := tensor.Zeros(d, g.Entries, features)
					// Four samples at a vertex of the first level, and a fifth in the opposite
					// corner.
					at := slices.Repeat([]float64{0.125, 1. / 6}, n)
					positions := devtest.New(d, append(at, 1, 1), n+1, 2)
					wide := 2 * features
					ups, plain := make([]float64, (n+1)*wide), make([]float64, (n+1)*wide)
					for i := range plain {
						ups[i], plain[i] = 1, 0.5
					}
					for i, v := range up {
						ups[i*wide] = v // of the first feature of the first level
					}
					_, before := encoded(t, g, table, positions, devtest.New(d, plain, n+1, wide))
					_, got := encoded(t, g, table, positions, devtest.New(d, ups, n+1, wide))
					_, after := encoded(t, g, table, positions, devtest.New(d, plain, n+1, wide))
					if !slices.Equal(before, after) {
						t.Errorf("%d features: the next gradient is\n%v\nand was\n%v", features, after, before)
					}
					own := (1*6 + 1) * features // pixel (0, 0) has its centre in vertex (1, 1) of 6 across
					want := 0.0
					strange := false
					for _, v := range up {
						want += v
						strange = strange || !(math.Abs(v) < largest)
					}
					if strange = strange || !(math.Abs(want) < largest); strange && !d.Target().CPU {
						want = nan
					} else if !d.Target().CPU && want == 0x1p-35+0x1p-148 {
						want = 0x1p-35
					}
					if got[own] != float64(float32(want)) && !(math.IsNaN(got[own]) && math.IsNaN(want)) {
						t.Errorf("%d features: the gradient is %v, want %v", features, got[own], want)
					}
					for i, v := range got {
						if near := i < 30*features && i%features == 0 && slices.Contains([]int{own, own + features, own + 6*features, own + 7*features}, i); !near && (math.IsNaN(v) || math.Abs(v) > 16) {
							t.Errorf("%d features: number %d of the gradient is %v", features, i, v)
						}
					}
				}
			})
		}
	})
}
