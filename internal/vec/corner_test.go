package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// plainCorners is what Find returns of one position.
func plainCorners(x, y float32, level []int32) (entry [4]int32, weight [4]float32) {
	cell := func(v float32, cells int32) (int32, float32) {
		p := fused[float32](float64(v), float64(cells), 0.5)
		c := int32(0)
		if p >= float32(cells) {
			c = cells
		} else if p > 0 {
			c = int32(p)
		}
		return c, p - float32(c)
	}
	column, right := cell(x, level[1])
	row, below := cell(y, level[2])
	left, above := 1-right, 1-below
	for i := range entry {
		c, r := uint32(column)+uint32(i%2), uint32(row)+uint32(i/2)
		if level[3] != 0 {
			entry[i] = level[0] + int32((c^r*2654435761)&uint32(level[3]))
		} else {
			entry[i] = level[0] + int32(r)*(level[1]+2) + int32(c)
		}
	}
	return entry, [4]float32{left * above, right * above, left * below, right * below}
}

// TestCorners: entries, weights, sums and gradients are those of plain loops, bit for bit, for all
// numbers of samples, in levels with and without a hash, of positions inside and outside; nothing
// else is written.
func TestCorners(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	levels := [][]int32{{0, 4, 3, 0}, {30, 700, 500, 0}, {7, 37, 29, 63}, {9, 1 << 15, 1 << 15, 1<<12 - 1}}
	for _, set := range Sets() {
		l := On[float32](set)
		if !l.HasCorners() {
			continue
		}
		for n := range CornerSamples + 1 {
			level := levels[n%len(levels)]
			x := random[float32](rng, 2*n)
			for i := range x {
				x[i] = 1.2*float32(math.Abs(float64(x[i]))) - 0.1
			}
			if n > 8 {
				x[0], x[3], x[4], x[2*n-1], x[2*n-2] = nan, inf, -inf, 1e30, -1e30
			}
			var all Corners[float32]
			largest := l.HashIndices(&all, x, n, level)
			most := int32(0)
			for i := range n {
				entry, weight := plainCorners(x[2*i], x[2*i+1], level)
				for c := range entry {
					if got, w := all.Entry[c][i], all.Weight[c][i]; got != entry[c] || w != weight[c] && (w == w || weight[c] == weight[c]) {
						t.Fatalf("%v: corner %d of %d of %d at %v, %v in %v: entry %d and weight %v, want %d and %v", set, c, i, n, x[2*i], x[2*i+1], level, got, w, entry[c], weight[c])
					}
					most = max(most, entry[c])
				}
			}
			if int32(largest) < most || largest > uint32(most)+4*uint32(level[1]) {
				t.Fatalf("%v: the largest of entries to %d of %d samples is %d", set, most, n, largest)
			}
			const step = 6
			table := random[float32](rng, 4*int(largest)+4)
			table[len(table)-1] = float32(math.Copysign(0, -1))
			seen := make([]float32, n*step)
			for i := range seen {
				seen[i] = 77
			}
			l.GatherInterp(seen, step, &all, n, table, largest)
			for i := range n {
				for f := range step {
					want := float32(77)
					if f < CornerFeatures {
						want = 0
						for c := range 4 {
							want += float32(all.Weight[c][i] * table[4*int(all.Entry[c][i])+f])
						}
					}
					if got := seen[i*step+f]; math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
						t.Fatalf("%v: feature %d of sample %d of %d is %v, want %v", set, f, i, n, got, want)
					}
				}
			}
			// Some of the entries.
			first := int(largest) / 3
			g, d := random[float32](rng, n*step), random[float32](rng, 4*(int(largest)/2+1))
			want := append([]float32(nil), d...)
			for i := range n {
				for c := range 4 {
					if e := int(all.Entry[c][i]) - first; e >= 0 && 4*e+3 < len(d) {
						for f := range 4 {
							want[4*e+f] += float32(all.Weight[c][i] * g[i*step+f])
						}
					}
				}
			}
			l.ScatterAdd(d, first, &all, n, g, step)
			if i := differs(d, want); i >= 0 {
				t.Fatalf("%v: number %d of the gradient of %d samples is %v, want %v", set, i, n, d[i], want[i])
			}
		}
	}
}

// TestCornersBounds: what does not hold the samples, the level or its entries is a panic, as an
// index of Go's is, since assembly would read and write beyond.
func TestCornersBounds(t *testing.T) {
	for _, set := range Sets() {
		l := On[float32](set)
		if !l.HasCorners() {
			continue
		}
		var all Corners[float32]
		x := make([]float32, 2*CornerSamples+2)
		panics := func(what string, f func()) {
			t.Helper()
			defer func() {
				if recover() == nil {
					t.Errorf("%v: %s: no panic", set, what)
				}
			}()
			f()
		}
		level := []int32{5, 3, 3, 0}
		panics("a level of three numbers", func() { l.HashIndices(&all, x, 1, level[:3]) })
		panics("few positions", func() { l.HashIndices(&all, x[:7], 4, level) })
		panics("many samples", func() { l.HashIndices(&all, x, CornerSamples+1, level) })
		largest := l.HashIndices(&all, x, 10, level)
		to := make([]float32, 200)
		panics("a short table", func() { l.GatherInterp(to, 4, &all, 10, make([]float32, 4*int(largest)), largest) })
		panics("few features", func() { l.GatherInterp(to[:30], 4, &all, 10, make([]float32, 4*int(largest)+4), largest) })
		panics("few gradients", func() { l.ScatterAdd(to, 5, &all, 10, to[:30], 4) })
		largest = l.HashIndices(&all, x, 10, []int32{-5, 3, 3, 0})
		panics("entries below 0", func() { l.GatherInterp(to, 4, &all, 10, to, largest) })
		l.ScatterAdd(nil, 0, &all, 10, to, 4) // no entry is there
	}
}
