package replay

import (
	"cmp"
	"math"
	"slices"

	"github.com/clgrad/clgrad/kernels"
)

// block is memory that a step makes and needs from one launch to another, and where it was put.
type block struct {
	dtype       kernels.DType
	n           int
	first, last int // launches
	chunk       int
	at          int64 // in bytes, of its chunk
}

func (b *block) bytes() int64 { return int64(b.n) * int64(b.dtype.Size()) }

// align is where blocks begin: at multiples of what the pool gives to a buffer of its own, which
// kernels may rely on.
const align = 512

// chunkBytes is the most that is put in one buffer, but for a block that is larger: every OpenCL
// device has buffers of 128 MiB.
const chunkBytes = 128 << 20

// plan puts blocks in chunks so that those that are needed at the same time do not overlap, and
// returns the bytes of each chunk. The largest go first, each to the lowest place that is free all
// its life. Source: Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
// Inference", 2020.
func plan(blocks []*block, limit int64) []int64 {
	order := slices.Clone(blocks)
	slices.SortStableFunc(order, func(a, b *block) int {
		return cmp.Or(cmp.Compare(b.bytes(), a.bytes()), cmp.Compare(a.first, b.first))
	})
	var sizes []int64
	var taken [][]place // of each chunk, by where they begin
	for _, b := range order {
		for b.chunk = 0; ; b.chunk++ {
			if b.chunk == len(taken) {
				taken, sizes = append(taken, nil), append(sizes, 0)
			}
			b.at = gap(taken[b.chunk], b)
			fits := b.at+b.bytes() <= max(limit, sizes[b.chunk]) && b.at/int64(b.dtype.Size())+int64(b.n) <= math.MaxInt32 // kernels take an int
			if fits || len(taken[b.chunk]) == 0 {
				break
			}
		}
		taken[b.chunk] = take(taken[b.chunk], b)
		sizes[b.chunk] = max(sizes[b.chunk], b.at+b.bytes())
	}
	return sizes
}

// used returns the bytes of all blocks, and the most of them that are needed at one time: no plan takes less than these.
func used(blocks []*block) (all, peak int64) {
	begin, end := map[int]int64{}, map[int]int64{}
	last := -1
	for _, b := range blocks {
		all += b.bytes()
		begin[b.first] += b.bytes()
		end[b.last] += b.bytes()
		last = max(last, b.last)
	}
	now := int64(0)
	for i := range last + 1 {
		now += begin[i]
		peak = max(peak, now)
		now -= end[i]
	}
	return all, peak
}

// place is where blocks of one size lie, one after the other in time.
type place struct {
	at, bytes   int64
	first, last int      // of all of them
	lives       []*block // by their first launch
}

// busy reports whether a block of the place is needed while b is. They do not overlap in time, so
// the last of them to begin before b ends tells.
func (p *place) busy(b *block) bool {
	if p.last < b.first || b.last < p.first || len(p.lives) == 1 {
		return p.first <= b.last && b.first <= p.last
	}
	n, _ := slices.BinarySearchFunc(p.lives, b.last+1, func(x *block, launch int) int { return cmp.Compare(x.first, launch) })
	return n > 0 && p.lives[n-1].last >= b.first
}

// gap returns the lowest offset that is free while b is needed.
func gap(taken []place, b *block) int64 {
	at := int64(0)
	for i := range taken {
		p := &taken[i]
		if p.at+p.bytes <= at || !p.busy(b) {
			continue
		}
		if at+b.bytes() <= p.at {
			break
		}
		at = (p.at + p.bytes + align - 1) / align * align
	}
	return at
}

// take puts b where it was planned.
func take(taken []place, b *block) []place {
	i, found := slices.BinarySearchFunc(taken, b, func(p place, b *block) int {
		return cmp.Or(cmp.Compare(p.at, b.at), cmp.Compare(p.bytes, b.bytes()))
	})
	if !found {
		taken = slices.Insert(taken, i, place{at: b.at, bytes: b.bytes(), first: b.first, last: b.last})
	}
	p := &taken[i]
	p.first, p.last = min(p.first, b.first), max(p.last, b.last)
	j, _ := slices.BinarySearchFunc(p.lives, b.first, func(x *block, launch int) int { return cmp.Compare(x.first, launch) })
	p.lives = slices.Insert(p.lives, j, b)
	return taken
}
