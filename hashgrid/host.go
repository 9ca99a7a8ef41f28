package hashgrid

import (
	"math"
	"math/bits"
	"slices"

	"github.com/clgrad/clgrad/internal/vec"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// corners are the entries at the corners of a cell, and their weights.
type corners[T kernels.Float] struct {
	entry  [4]int
	weight [4]T
}

func (h *corners[T]) find(x, y T, level []int32) {
	across, down, mask := level[1], level[2], uint32(level[3])
	// Of a float32 the product and the sum are exact in float64: one rounding, as a device's fma.
	px, py := T(math.FMA(float64(x), float64(across), 0.5)), T(math.FMA(float64(y), float64(down), 0.5))
	column, row := cellOf(px, across), cellOf(py, down)
	right, below := px-T(column), py-T(row)
	left, above := 1-right, 1-below
	h.weight = [4]T{left * above, right * above, left * below, right * below}
	first, c, r := level[0], uint32(column), uint32(row)
	if mask == 0 {
		at, line := int(first)+int(row)*(int(across)+2)+int(column), int(across)+2
		h.entry = [4]int{at, at + 1, at + line, at + line + 1}
		return
	}
	entry := func(c, r uint32) int { return int(first) + int((c^r*2654435761)&mask) }
	h.entry = [4]int{entry(c, r), entry(c+1, r), entry(c, r+1), entry(c+1, r+1)}
}

// value adds up what a position sees of a level in f, an element of its entries each.
func (h *corners[T]) value(f, table []T) {
	features := len(f)
	if features == 4 { // what mlpimage has: in registers
		var f0, f1, f2, f3 T
		for k, e := range h.entry {
			w, t := h.weight[k], table[4*e:][:4]
			f0, f1, f2, f3 = f0+T(w*t[0]), f1+T(w*t[1]), f2+T(w*t[2]), f3+T(w*t[3])
		}
		f[0], f[1], f[2], f[3] = f0, f1, f2, f3
		return
	}
	clear(f)
	for k, e := range h.entry {
		for j, v := range table[e*features:][:features] {
			f[j] += T(h.weight[k] * v)
		}
	}
}

// cellOf returns the cell that p lies in, of those from 0 to last: 0 for NaN. What an int32 does
// not hold must not become one.
func cellOf[T kernels.Float](p T, last int32) int32 {
	switch {
	case p >= T(last):
		return last
	case p > 0:
		return int32(p)
	}
	return 0
}

func encodeHost[T kernels.Float](features int) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		centres, table, levels, out, n, count := c.Floats(0), c.Floats(1), c.Ints(2), c.Floats(3), c.Int(4), c.Int(5)
		loops := loopsOf(c, features)
		c.Parallel(n, 16*count, func(lo, hi int) { encodeSamples(loops, centres, table, levels, out, features, count, lo, hi) })
	}
}

// loopsOf returns the loops for a launch, nil if it is to be computed without vectors, or of
// entries that there are none for.
func loopsOf[T kernels.Float](c kernels.HostArgs[T], features int) *vec.Loops[T] {
	if set, _ := vec.Chosen(); set != nil && c.Vectors() && features == vec.CornerFeatures {
		if l := vec.On[T](set); l.HasCorners() {
			return l
		}
	}
	return nil
}

func encodeSamples[T kernels.Float](loops *vec.Loops[T], centres, table []T, levels []int32, out []T, features, count, lo, hi int) {
	var at corners[T]
	var all vec.Corners[T]
	for ; lo < hi; lo += samples {
		end := min(hi, lo+samples)
		for l := range count {
			if loops != nil {
				largest := loops.HashIndices(&all, centres[2*lo:], end-lo, levels[l*perLevel:])
				loops.GatherInterp(out[(lo*count+l)*features:], count*features, &all, end-lo, table, largest)
				continue
			}
			for i := lo; i < end; i++ {
				at.find(centres[2*i], centres[2*i+1], levels[l*perLevel:])
				at.value(out[(i*count+l)*features:][:features], table)
			}
		}
	}
}

func drawHost[T kernels.Float](features int) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		image, table, levels, out, centres, colours := c.Floats(0), c.Floats(1), c.Ints(2), c.Floats(3), c.Floats(4),
			c.Floats(5)
		n, count, width, height, channels := c.Int(6), c.Int(7), c.Int(8), c.Int(9), c.Int(10)
		key, call := [2]uint32{uint32(c.Int(11)), uint32(c.Int(12))}, uint32(c.Int(13))
		loops := loopsOf(c, features)
		c.Parallel((n+3)/4, 64*count, func(lo, hi int) { // four samples share the words of a counter
			for block := lo; block < hi; block++ {
				words := expr.Philox([4]uint32{uint32(block), call}, key)
				for i := 4 * block; i < min(n, 4*block+4); i++ {
					drawn, _ := bits.Mul32(words[i%4], uint32(width*height))
					pixel := int(drawn)
					centres[2*i], centres[2*i+1] = (T(pixel%width)+0.5)/T(width), (T(pixel/width)+0.5)/T(height)
					copy(colours[i*channels:(i+1)*channels], image[pixel*channels:])
				}
			}
			encodeSamples(loops, centres, table, levels, out, features, count, 4*lo, min(n, 4*hi))
		})
	}
}

func gradientHost[T kernels.Float](features int) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		centres, g, levels, d, n, count, entries := c.Floats(0), c.Floats(1), c.Ints(2), c.Floats(3), c.Int(4), c.Int(5), c.Int(6)
		loops := loopsOf(c, features)
		c.Parallel(count*parts, max(1, 16*n/parts), func(lo, hi int) {
			for l := lo / parts; l*parts < hi; l++ {
				begin, end := int(levels[l*perLevel]), entries
				if l+1 < count {
					end = int(levels[(l+1)*perLevel])
				}
				size := end - begin
				first, end := begin+size*max(lo-l*parts, 0)/parts, begin+size*min(hi-l*parts, parts)/parts
				addLevel(loops, d, centres, g, levels[l*perLevel:], features, l, n, count, first, end)
			}
		})
	}
}

// addLevel writes the gradient of entries first to end of level l, the samples added in their
// order.
func addLevel[T kernels.Float](loops *vec.Loops[T], d, centres, g []T, level []int32, features, l, n, count, first, end int) {
	clear(d[first*features : end*features])
	if loops != nil {
		var all vec.Corners[T]
		for lo := 0; lo < n; lo += vec.CornerSamples {
			m := min(vec.CornerSamples, n-lo)
			loops.HashIndices(&all, centres[2*lo:], m, level)
			loops.ScatterAdd(d[first*features:end*features], first, &all, m, g[(lo*count+l)*features:], count*features)
		}
		return
	}
	var at corners[T]
	for i := range n {
		at.find(centres[2*i], centres[2*i+1], level)
		up := g[(i*count+l)*features:][:features]
		for k, e := range at.entry {
			if e < first || e >= end {
				continue
			}
			w, down := at.weight[k], d[e*features:][:len(up)]
			for j, v := range up {
				down[j] += T(w * v)
			}
		}
	}
}

func scatterHost[T kernels.Float](features int) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		centres, g, levels, sum, fine, strange, n, count := c.Floats(0), c.Floats(1), c.Ints(2), c.Ints(3), c.Ints(4), c.Ints(5), c.Int(6), c.Int(7)
		var at corners[T]
		for l := range count {
			level := levels[l*perLevel:]
			for i := range n {
				at.find(centres[2*i], centres[2*i+1], level)
				copied := int(level[4]) - int(level[0]) + (i&int(level[5]))*entriesOf(level)
				up := g[(i*count+l)*features : (i*count+l+1)*features]
				isSmall := !slices.ContainsFunc(up, func(v T) bool { return !(math.Abs(float64(v)) < small) }) &&
					!slices.ContainsFunc(at.weight[:], func(w T) bool { return !(math.Abs(float64(w)) <= 1) })
				for k, e := range at.entry {
					for j, v := range up {
						part := float64(at.weight[k] * v)
						bit := e*features + j
						if !(math.Abs(part) < largest) {
							strange[bit/32*2] |= 1 << (bit % 32)
							continue
						}
						sum, units := sum, 0x1p36
						if isSmall {
							sum, units = fine, 0x1p36*(1<<finer)
							strange[bit/32*2+1] |= 1 << (bit % 32)
						}
						words := sum[((copied+e)*features+j)*2:][:2]
						setFixed(words, fixed(words)+int64(math.RoundToEven(part*units)))
					}
				}
			}
		}
	}
}

// entriesOf returns how many entries a level has.
func entriesOf(level []int32) int {
	if level[3] != 0 {
		return int(level[3]) + 1
	}
	return (int(level[1]) + 2) * (int(level[2]) + 2)
}

func collectHost[T kernels.Float](features int) func(kernels.HostArgs[T]) {
	return func(c kernels.HostArgs[T]) {
		sum, fine, strange, levels, d, n, count := c.Ints(0), c.Ints(1), c.Ints(2), c.Ints(3), c.Floats(4), c.Int(5), c.Int(6)
		for l := range count {
			level := levels[l*perLevel:]
			numbers, begin := entriesOf(level)*features, int(level[0])*features
			for i := range min(numbers, n-begin) {
				take := func(sum []int32) (all int64) {
					for copied := range int(level[5]) + 1 {
						words := sum[2*(int(level[4])*features+copied*numbers+i):][:2]
						all += fixed(words)
						setFixed(words, 0)
					}
					return all
				}
				bit := begin + i
				all, rest := take(sum), int64(0)
				if strange[bit/32*2+1]>>(bit%32)&1 != 0 {
					units := take(fine)
					all, rest = all+units>>finer, units&(1<<finer-1)
				}
				d[bit] = T(float64(all)*0x1p-36 + float64(rest)*(0x1p-36/(1<<finer)))
				if strange[bit/32*2]>>(bit%32)&1 != 0 || math.Abs(float64(d[bit])) >= largest {
					d[bit] = T(math.NaN())
				}
			}
		}
		clear(strange)
	}
}

// LARGEST, SMALL and FINER of hash_gpu.cl.
const (
	largest = 1 << 26
	small   = 1. / (1 << 22)
	finer   = 22
)

// fixed joins the low and the high word of a sum.
func fixed(words []int32) int64 { return int64(words[1])<<32 | int64(uint32(words[0])) }

func setFixed(words []int32, v int64) { words[0], words[1] = int32(v), int32(v>>32) }
