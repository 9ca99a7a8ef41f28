//go:build !race

package vec

import (
	"math/rand/v2"
	"testing"
)

// The race detector makes a sync.Pool forget.

// TestProductAllocates: nothing, once its scratch is there.
func TestProductAllocates(t *testing.T) {
	for _, set := range Sets() {
		for _, size := range [][3]int{{130, 65, 300}, {130, 3, 64}} {
			p := form[float32](rand.New(rand.NewPCG(9, 10)), 3, size[0], size[1], size[2], 0)
			l := On[float32](set)
			if n := testing.AllocsPerRun(20, func() { l.Product(*p, nil) }); n > 0 {
				t.Errorf("%v, %v: %v allocations", set, size, n)
			}
		}
	}
}
