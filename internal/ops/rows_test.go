package ops

import (
	"testing"

	"github.com/clgrad/clgrad/kernels"
)

// TestRuns: the rows whose gradients of weights are summed together, and the items of a batch whose moments are, fill a device
// and are whole groups of it.
func TestRuns(t *testing.T) {
	cpu, gpu := kernels.Limits{CPU: true, Units: 2}, kernels.Limits{Units: 100}
	for _, c := range []struct{ got, want int }{
		{NormRun(8192, 128, cpu), 1024}, {NormRun(10, 128, cpu), 32}, {NormRun(3, 100000, cpu), 1}, {NormRun(0, 0, cpu), 4096},
		{NormRun(8192, 128, gpu), 32}, {NormRun(10, 128, gpu), 16}, {NormRun(4096, 4096, gpu), 11}, {NormRun(1, 1, gpu), 256},
		{ChannelRun(50, 3, 1000, cpu), 50}, {ChannelRun(50, 400, 1000, gpu), 50}, {ChannelRun(50, 3, 1000, gpu), 4}, {ChannelRun(50, 3, 10, gpu), 50},
		{ChannelRun(100000, 16, 1, gpu), 4096}, {ChannelRun(5, 3, 100000, gpu), 1}, {ChannelRun(0, 3, 7, gpu), 1},
	} {
		if c.got != c.want {
			t.Errorf("%d, want %d", c.got, c.want)
		}
	}
}

// TestAttentionShapes: there are kernels for as many features as stay in the cache of a CPU, the same for the same shape.
func TestAttentionShapes(t *testing.T) {
	cpu := kernels.Limits{CPU: true, Units: 2}
	if k := Attention(AttentionShape{64, 128}, cpu); k == nil || k != Attention(AttentionShape{64, 128}, cpu) {
		t.Error("a shape has no kernels, or two")
	}
	for _, s := range []AttentionShape{{0, 1}, {1, 0}, {129, 1}, {1, 129}} {
		if Attention(s, cpu) != nil {
			t.Errorf("there are kernels for %+v", s)
		}
	}
	if Attention(AttentionShape{64, 64}, kernels.Limits{Units: 100}) != nil {
		t.Error("there are kernels for GPUs")
	}
}
