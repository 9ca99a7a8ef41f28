package replay_test

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// descend ends a step of training: gradients of a loss, and what each optimizer makes of them. The
// step has no outputs.
func descend(loss *autograd.Node, opts ...optim.Optimizer) ([]*tensor.Tensor, error) {
	if err := loss.Backward(); err != nil {
		return nil, err
	}
	for _, o := range opts {
		if err := o.Step(); err != nil {
			return nil, err
		}
		o.ZeroGrad()
	}
	return nil, nil
}

// doSteps does n steps: eagerly, or by a recording with options, whose launches it returns.
func doSteps(t *testing.T, d tensor.Device, n int, step func() ([]*tensor.Tensor, error), opt *replay.Options) []replay.Launch {
	t.Helper()
	if opt == nil {
		for range n {
			if _, err := step(); err != nil {
				t.Fatal(err)
			}
		}
		return nil
	}
	rec, err := replay.Record(d, step, *opt) // which does two
	if err != nil {
		t.Fatal(err)
	}
	defer rec.Free()
	for range n - 2 {
		if err := rec.Run(); err != nil {
			t.Fatal(err)
		}
	}
	return rec.Launches()
}
