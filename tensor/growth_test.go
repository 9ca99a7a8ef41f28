package tensor_test

import (
	"fmt"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestCollectionsFollowGrowth: a collection comes when the bytes in tensors have grown by half
// since the last one, and by 64 MiB at least: of tensors of 1 MiB that are all held, with those of
// these numbers. Beside them, the device holds a few bytes for One, half of which make those from
// the third on come a tensor later than 3/2 of the one before.
func TestCollectionsFollowGrowth(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	var held []*tensor.Tensor
	var at []int
	for i := range 440 {
		before := d.Stats().Collections
		held = append(held, tensor.Empty(d, 1<<18))
		if d.Stats().Collections > before {
			at = append(at, i)
		}
	}
	if got := fmt.Sprint(at); got != "[64 128 193 290 436]" {
		t.Errorf("collections with tensors %v", got)
	}
	for _, x := range held {
		x.Free()
	}
	// What was freed is room: it takes as much again until the next collection.
	before := d.Stats().Collections
	for range 440 {
		tensor.Empty(d, 1<<18).Free()
	}
	if n := d.Stats().Collections - before; n != 0 {
		t.Errorf("%d collections of memory that was freed", n)
	}
}
