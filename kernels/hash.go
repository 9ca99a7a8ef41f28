package kernels

import (
	"fmt"
	"math"
	"sync"
)

// Kernels of hash.cl, which says how levels, tables and features lie in memory. All but HashCollect are built
// for a number of features per entry.
var (
	// HashEncode interpolates: C [n, 2], TABLE [entries, features], LEVELS [levels, 4], F [n, levels·features], n,
	// levels.
	HashEncode = perFeatures(func(features int) *Kernel {
		return &Kernel{Name: "k_hash_encode", File: "hash.cl", Grid: perInts(4, 5),
			Params: []Param{{"C", In}, {"TABLE", In}, {"LEVELS", InInts}, {"F", Out}, {"n", IntArg}, {"levels", IntArg}},
			Twin:   Twin{hashEncodeTwin[float32](features), hashEncodeTwin[float64](features)},
			Tol:    Tolerance{ULP: 4, Rel: 8, Scale: func(a []Arg) float64 { return MaxAbs(a, 1) }}}
	})
	// HashGrad is the gradient of the table, one work-item for each level: C, G [n, levels·features], LEVELS,
	// D [entries, features], n, levels, entries.
	HashGrad = perFeatures(func(features int) *Kernel {
		return &Kernel{Name: "k_hash_grad", File: "hash.cl",
			Grid: func(a []Arg, _ Limits) Grid { return groups(int(a[5].Int), 1) },
			Params: []Param{{"C", In}, {"G", In}, {"LEVELS", InInts}, {"D", Out}, {"n", IntArg}, {"levels", IntArg},
				{"entries", IntArg}},
			Twin: Twin{hashGradTwin[float32](features), hashGradTwin[float64](features)},
			Tol:  Tolerance{ULP: 4, Rel: 8, Scale: func(a []Arg) float64 { return float64(a[4].Int) * MaxAbs(a, 1) }}}
	})
	// HashScatter adds the same gradient to SUM [entries, features, 2], in fixed point, which HashCollect turns
	// into reals: C, G, LEVELS, SUM, n, levels. The sums are exact, whatever the order.
	HashScatter = perFeatures(func(features int) *Kernel {
		return &Kernel{Name: "k_hash_scatter", File: "hash.cl", Grid: perInts(4, 5),
			Params: []Param{{"C", In}, {"G", In}, {"LEVELS", InInts}, {"SUM", InOutInts}, {"n", IntArg}, {"levels", IntArg}},
			Twin:   Twin{hashScatterTwin[float32](features), hashScatterTwin[float64](features)}}
	})
	// HashCollect writes the sums of HashScatter to D [n] and clears them: SUM [n, 2], D, n.
	HashCollect = &Kernel{Name: "k_hash_collect", File: "hash.cl", Grid: perInt(2),
		Params: []Param{{"SUM", InOutInts}, {"D", Out}, {"n", IntArg}},
		Twin:   Twin{hashCollectTwin[float32], hashCollectTwin[float64]}, Tol: ULP(1)}
)

// HashFeatures is the most features that an entry of a hash grid has.
const HashFeatures = 8

// perFeatures makes a kernel once for each number of features, 1 to HashFeatures.
func perFeatures(build func(features int) *Kernel) func(features int) *Kernel {
	var all [HashFeatures]func() *Kernel
	for i := range all {
		all[i] = sync.OnceValue(func() *Kernel {
			k := build(i + 1)
			k.Defines = fmt.Sprintf("-DFEATURES=%d", i+1)
			return k
		})
	}
	return func(features int) *Kernel { return all[features-1]() }
}

// perInts launches one work-item per unit of the product of two int arguments.
func perInts(a, b int) func([]Arg, Limits) Grid {
	return func(args []Arg, l Limits) Grid { return Line(int(args[a].Int)*int(args[b].Int), l) }
}

// hashCorners are the entries at the corners of a cell, and their weights.
type hashCorners[T Real] struct {
	entry  [4]int
	weight [4]T
}

func (h *hashCorners[T]) find(x, y T, level []int32) {
	across, down, mask := level[1], level[2], uint32(level[3])
	// Of a float32 the product and the sum are exact in float64: one rounding, as a device's fma.
	px, py := T(math.FMA(float64(x), float64(across), 0.5)), T(math.FMA(float64(y), float64(down), 0.5))
	column, row := min(max(int32(px), 0), across), min(max(int32(py), 0), down)
	right, below := px-T(column), py-T(row)
	left, above := 1-right, 1-below
	h.weight = [4]T{left * above, right * above, left * below, right * below}
	for k := range h.entry {
		c, r := uint32(column)+uint32(k%2), uint32(row)+uint32(k/2)
		if mask != 0 {
			h.entry[k] = int(level[0]) + int((c^r*2654435761)&mask)
		} else {
			h.entry[k] = int(level[0]) + int(r)*(int(across)+2) + int(c)
		}
	}
}

func hashEncodeTwin[T Real](features int) func(Call[T]) {
	return func(c Call[T]) {
		centres, table, levels, out, n, count := c.Reals(0), c.Reals(1), c.Ints(2), c.Reals(3), c.Int(4), c.Int(5)
		parallel(n, max(1, grain/(16*max(count, 1))), func(lo, hi int) {
			var at hashCorners[T]
			for i := lo; i < hi; i++ {
				for l := range count {
					at.find(centres[2*i], centres[2*i+1], levels[4*l:])
					f := out[(i*count+l)*features : (i*count+l+1)*features]
					clear(f)
					for k, e := range at.entry {
						for j, v := range table[e*features : (e+1)*features] {
							f[j] += at.weight[k] * v
						}
					}
				}
			}
		})
	}
}

func hashGradTwin[T Real](features int) func(Call[T]) {
	return func(c Call[T]) {
		centres, g, levels, d, n, count, entries := c.Reals(0), c.Reals(1), c.Ints(2), c.Reals(3), c.Int(4), c.Int(5), c.Int(6)
		parallel(count, max(1, grain/(16*max(n, 1))), func(lo, hi int) {
			var at hashCorners[T]
			for l := lo; l < hi; l++ {
				end := entries
				if l+1 < count {
					end = int(levels[4*l+4])
				}
				clear(d[int(levels[4*l])*features : end*features])
				for i := range n {
					at.find(centres[2*i], centres[2*i+1], levels[4*l:])
					up := g[(i*count+l)*features : (i*count+l+1)*features]
					for k, e := range at.entry {
						down := d[e*features : (e+1)*features]
						for j, v := range up {
							down[j] += at.weight[k] * v
						}
					}
				}
			}
		})
	}
}

func hashScatterTwin[T Real](features int) func(Call[T]) {
	return func(c Call[T]) {
		centres, g, levels, sum, n, count := c.Reals(0), c.Reals(1), c.Ints(2), c.Ints(3), c.Int(4), c.Int(5)
		var at hashCorners[T]
		for l := range count {
			for i := range n {
				at.find(centres[2*i], centres[2*i+1], levels[4*l:])
				for k, e := range at.entry {
					for j, v := range g[(i*count+l)*features : (i*count+l+1)*features] {
						words := sum[(e*features+j)*2 : (e*features+j)*2+2]
						setFixed(words, fixed(words)+toFixed(at.weight[k]*v))
					}
				}
			}
		}
	}
}

func hashCollectTwin[T Real](c Call[T]) {
	sum, d := c.Ints(0), c.Reals(1)
	for i := range d {
		d[i] = T(float64(fixed(sum[2*i:])) * 0x1p-36)
	}
	clear(sum)
}

// toFixed returns a real in units of 2⁻³⁶, rounded to even and saturated.
func toFixed[T Real](v T) int64 {
	f := math.RoundToEven(float64(v) * 0x1p36)
	switch {
	case f >= 0x1p63:
		return math.MaxInt64
	case f < -0x1p63:
		return math.MinInt64
	case f != f:
		return 0
	}
	return int64(f)
}

// fixed joins the low and the high word of a sum.
func fixed(words []int32) int64 { return int64(words[1])<<32 | int64(uint32(words[0])) }

func setFixed(words []int32, v int64) { words[0], words[1] = int32(v), int32(v>>32) }
