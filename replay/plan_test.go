package replay

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/kernels"
)

// TestPlan: blocks that are needed at the same time lie apart, each within its chunk and where it
// may begin; and the chunks are no larger than all blocks together, nor than what is needed at one
// time by more than fits between.
func TestPlan(t *testing.T) {
	types := []kernels.DType{kernels.Float32, kernels.Float64, kernels.Int32, kernels.Uint8, kernels.Float16}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		limit := []int64{4096, 1 << 20}[seed%2]
		var blocks []*block
		total, largest := int64(0), int64(0)
		for range r.IntN(60) {
			b := &block{dtype: types[r.IntN(len(types))], n: r.IntN(1500), first: r.IntN(50)}
			b.last = b.first + r.IntN(10)
			blocks = append(blocks, b)
			total += (b.bytes() + align - 1) / align * align
			largest = max(largest, b.bytes())
		}
		sizes := plan(blocks, limit)
		sum := int64(0)
		for _, s := range sizes {
			sum += s
			if s > max(limit, largest) {
				t.Fatalf("seed %d: a chunk of %d bytes, limit %d", seed, s, limit)
			}
		}
		if sum > total {
			t.Fatalf("seed %d: %d bytes planned for %d", seed, sum, total)
		}
		for i, a := range blocks {
			if a.at%align != 0 || a.at < 0 || a.at+a.bytes() > sizes[a.chunk] {
				t.Fatalf("seed %d: block %+v in a chunk of %d", seed, a, sizes[a.chunk])
			}
			for _, b := range blocks[:i] {
				apart := a.chunk != b.chunk || a.last < b.first || b.last < a.first || a.at+a.bytes() <= b.at || b.at+b.bytes() <= a.at
				if !apart {
					t.Fatalf("seed %d: %+v and %+v overlap", seed, a, b)
				}
			}
		}
	}
}

// TestPlanShares: a chain of equal blocks, each needed by the next launch alone, takes the place of
// two.
func TestPlanShares(t *testing.T) {
	var blocks []*block
	for i := range 100 {
		blocks = append(blocks, &block{dtype: kernels.Float32, n: 1000, first: i, last: i + 1})
	}
	if sizes := plan(blocks, chunkBytes); len(sizes) != 1 || sizes[0] > 2*4096 {
		t.Errorf("%v bytes", sizes)
	}
	if sizes := plan(nil, chunkBytes); len(sizes) != 0 {
		t.Errorf("nothing takes %v", sizes)
	}
}

// TestPlanOffsets: kernels take the place of an element as an int. Small elements do not follow
// where that would not hold it.
func TestPlanOffsets(t *testing.T) {
	huge := &block{dtype: kernels.Float64, n: math.MaxInt32, first: 0, last: 3}
	small := &block{dtype: kernels.Uint8, n: 1 << 30, first: 1, last: 2}
	later := &block{dtype: kernels.Uint8, n: 1 << 20, first: 5, last: 6}
	plan([]*block{huge, small, later}, math.MaxInt64)
	if small.chunk == huge.chunk || later.chunk != huge.chunk || later.at != 0 {
		t.Errorf("%+v, %+v, %+v", huge, small, later)
	}
}
