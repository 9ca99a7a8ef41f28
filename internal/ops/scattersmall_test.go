package ops

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/kernels"
)

// TestLists: lists are for few indices and rows, whose product may be more than an int holds.
func TestLists(t *testing.T) {
	gpu := kernels.Target{Units: 100, MaxGroup: 1024, LocalMem: 32 << 10}
	for _, c := range []struct {
		n, rows int
		want    bool
	}{
		{0, 100, true}, {listMost, 512, true}, {listMost, 513, false}, {listMost + 1, 1, false}, {1, 1 << 20, true},
		{listMost, math.MaxInt/2 + 1, false}, {4, math.MaxInt, false},
	} {
		if got := Lists(c.n, c.rows, gpu); got != c.want {
			t.Errorf("%d indices and %d rows: %t", c.n, c.rows, got)
		}
	}
	if Lists(1, 1, kernels.Target{CPU: true, MaxGroup: 1024}) || Lists(1, 1, kernels.Target{MaxGroup: listGroup - 1}) {
		t.Error("lists for a device that has no such work-groups")
	}
}
