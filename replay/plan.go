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

// align is where blocks begin: at multiples of what the pool gives to a buffer of its own, which kernels may rely on.
const align = 512

// chunkBytes is the most that is put in one buffer, but for a block that is larger: every OpenCL device has buffers of
// 128 MiB.
const chunkBytes = 128 << 20

// plan puts blocks in chunks so that those that are needed at the same time do not overlap, and returns the bytes of
// each chunk. The largest go first, each to the lowest place that is free all its life. Source: Pisarchyk and Lee,
// "Efficient Memory Management for Deep Neural Net Inference", 2020.
func plan(blocks []*block, limit int64) []int64 {
	order := slices.Clone(blocks)
	slices.SortStableFunc(order, func(a, b *block) int {
		return cmp.Or(cmp.Compare(b.bytes(), a.bytes()), cmp.Compare(a.first, b.first))
	})
	var sizes []int64
	var placed [][]*block // of each chunk, by place
	for _, b := range order {
		for b.chunk = 0; ; b.chunk++ {
			if b.chunk == len(placed) {
				placed, sizes = append(placed, nil), append(sizes, 0)
			}
			b.at = gap(placed[b.chunk], b)
			fits := b.at+b.bytes() <= max(limit, sizes[b.chunk]) && b.at/int64(b.dtype.Size())+int64(b.n) <= math.MaxInt32 // kernels take an int
			if fits || len(placed[b.chunk]) == 0 {
				break
			}
		}
		where, _ := slices.BinarySearchFunc(placed[b.chunk], b, func(x, y *block) int { return cmp.Compare(x.at, y.at) })
		placed[b.chunk] = slices.Insert(placed[b.chunk], where, b)
		sizes[b.chunk] = max(sizes[b.chunk], b.at+b.bytes())
	}
	return sizes
}

// gap returns the lowest place for b among blocks that are sorted by theirs.
func gap(placed []*block, b *block) int64 {
	at := int64(0)
	for _, p := range placed {
		if p.last < b.first || b.last < p.first {
			continue
		}
		if at+b.bytes() <= p.at {
			break
		}
		at = max(at, (p.at+p.bytes()+align-1)/align*align)
	}
	return at
}
