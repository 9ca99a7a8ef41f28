package hashgrid

import (
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestSmallGradients: a gradient that is so many times smaller, as that of a mean is, has a
// gradient of the table that is as many times smaller, to a unit of its sums for each position that
// reads an entry; and a large one is exact or NaN, as Encode says.
func TestSmallGradients(t *testing.T) {
	each(t, false, func(t *testing.T, d tensor.Device) {
		const features, n = 4, 200
		g := New(d, levels, features)
		defer g.Free()
		rng := tensor.NewRNG(9)
		table, at := tensor.Zeros(d, g.Entries, features), rng.Uniform(d, 0, 1, n, 2)
		up := rng.Uniform(d, -1, 1, n, 3*features)
		_, whole := encoded(t, g, table, at, up)
		_, before := encoded(t, g, table, at, up)
		for _, c := range []struct{ scale, unit float64 }{
			{0x1p-10, 0x1p-36}, {0x1p-21, 0x1p-36}, {0x1p-23, 0x1p-58}, {0x1p-30, 0x1p-58}, {0x1p-40, 0x1p-58}, {0x1p-50, 0x1p-58}, {1e-20, 0x1p-58},
			{1e5, 0x1p-36}, {1e20, 0x1p-36},
		} {
			_, got := encoded(t, g, table, at, up.MulScalar(c.scale))
			unit := c.unit
			if d.Target().CPU {
				unit = 0
			}
			for i, v := range got {
				want := whole[i] * c.scale
				off := 1e-5*math.Abs(want) + n*(0x1p-36*c.scale+unit)*2 // whole is rounded, too
				if d.Target().CPU {
					off = 1e-5*math.Abs(want) + n*0x1p-23*c.scale
				}
				if c.scale == 1e20 && !d.Target().CPU {
					if want != 0 && !math.IsNaN(v) {
						t.Fatalf("scale %g: element %d is %v, want NaN", c.scale, i, v)
					}
					continue
				}
				if !(math.Abs(v-want) <= off) {
					t.Fatalf("scale %g: element %d is %v, want %v", c.scale, i, v, want)
				}
				if c.scale == 1e-20 && !d.Target().CPU && v != 0 {
					t.Fatalf("scale %g: element %d is %v: half a unit is more", c.scale, i, v)
				}
			}
		}
		if _, after := encoded(t, g, table, at, up); !slices.Equal(before, after) {
			t.Error("a small gradient changes the next")
		}
		// A position with a small gradient beside one with a large one keeps its bits.
		mixed := append(slices.Repeat([]float64{0x1p-40}, 3*features), slices.Repeat([]float64{1024}, 3*features)...)
		_, got := encoded(t, g, table, devtest.New(d, []float64{0.125, 1. / 6, 0.875, 5. / 6}, 2, 2), devtest.New(d, mixed, 2, 3*features))
		if near, far := got[(1*6+1)*features], got[(3*6+4)*features]; near != 0x1p-40 || math.Abs(far-1024) > 1e-3 {
			t.Errorf("gradients of 2⁻⁴⁰ and 2¹⁰ give %v and %v", near, far)
		}
	})
}

// TestAnyPosition: positions at the edges of the square, far from it and of no numbers see entries
// of the outermost cells alone, and what is a number is what the formula of Encode says; for one
// position, one level, the least table, and 1 to 8 features.
func TestAnyPosition(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	each(t, false, func(t *testing.T, d tensor.Device) {
		for _, features := range []int{1, 2, 4, 8} {
			if testing.Short() && features != 2 {
				continue
			}
			for _, l := range []Level{{1, 1, 2}, {3, 2, 20}} {
				g := New(d, []Level{l}, features)
				entries := make([]float64, g.Entries*features)
				for i := range entries {
					entries[i] = float64(i + 1)
				}
				table := devtest.New(d, entries, g.Entries, features)
				for _, at := range [][2]float64{{0, 0}, {1, 1}, {0.5, 1}, {-0.25, 1.5}, {1.5, 0.25}, {1e30, 0.5}, {-1e30, -1e30}, {nan, 0.5}, {0.5, nan}, {inf, 0.5}, {-inf, inf}} {
					y, gradient := encoded(t, g, table, devtest.New(d, at[:], 1, 2), tensor.Full(d, 1, 1, features))
					entry, weight := outermost(l, at)
					far := math.Abs(at[0])+math.Abs(at[1]) > 10 || at[0] != at[0] || at[1] != at[1] // weights of another size, or none
					for f := range features {
						want, sums := 0.0, map[int]float64{}
						for c, e := range entry {
							want += weight[c] * entries[e*features+f]
							sums[e] += weight[c]
						}
						if !far && math.Abs(y[f]-want) > 1e-4 {
							t.Errorf("%+v, %d features, %v: feature %d is %v, want %v", l, features, at, f, y[f], want)
						}
						for e := range g.Entries {
							got := gradient[e*features+f]
							if _, seen := sums[e]; !seen && got != 0 || !far && math.Abs(got-sums[e]) > 1e-5 {
								t.Errorf("%+v, %d features, %v: the gradient of entry %d is %v, want %v", l, features, at, e, got, sums[e])
							}
						}
						if (at[0] != at[0] || at[1] != at[1]) && !math.IsNaN(y[f]) {
							t.Errorf("%+v, %v: feature %d is %v", l, at, f, y[f])
						}
					}
				}
				g.Free()
			}
		}
	})
}

// outermost returns the entries at the corners of the cell that a position sees, and their weights,
// by the formula of Level.
func outermost(l Level, at [2]float64) (entry [4]int, weight [4]float64) {
	var cell [2]int
	var rest [2]float64
	for k, cells := range []int{l.Across, l.Down} {
		p := at[k]*float64(cells) + 0.5
		if p > 0 {
			cell[k] = int(min(p, float64(cells)))
		}
		rest[k] = p - float64(cell[k])
	}
	for c := range entry {
		column, row := cell[0]+c%2, cell[1]+c/2
		if entry[c] = row*(l.Across+2) + column; l.hashed() {
			entry[c] = int((uint32(column) ^ uint32(row)*2654435761) & uint32(l.Entries-1))
		}
		weight[c] = 1
		for k, r := range rest {
			if c>>k&1 == 0 {
				r = 1 - r
			}
			weight[c] *= r
		}
	}
	return entry, weight
}
