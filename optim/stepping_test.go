package optim_test

import (
	"testing"

	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// stepping does a step twice, as recording it does, and returns what does it once more: eagerly, or
// as it was recorded.
func stepping(t *testing.T, d tensor.Device, step func() ([]*tensor.Tensor, error), recorded bool) func() error {
	t.Helper()
	if recorded {
		rec, err := replay.Record(d, step)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(rec.Free)
		return rec.Run
	}
	next := func() error { _, err := step(); return err }
	for range 2 {
		if err := next(); err != nil {
			t.Fatal(err)
		}
	}
	return next
}
