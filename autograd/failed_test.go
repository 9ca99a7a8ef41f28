package autograd_test

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestFailedDevice: on a device that has failed, operations go through the motions, and what
// returns an error returns the failure.
func TestFailedDevice(t *testing.T) {
	for _, sel := range devtest.Selected() {
		d, err := tensor.Open(sel, tensor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		p := param(d, 1, 2)
		before, launched := p.Neg(), tensor.Map(fn.Neg, nil, p.Value())
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		own := autograd.NewOp("own", launched, []*node{p}, func(g *autograd.Node, in *autograd.Grads) { in.AccumulateNode(0, g) })
		for name, y := range map[string]*node{"made before": before, "launched before": own, "made after": p.Square().MulScalar(2).Sum(), "of no launch": p.Reshape(1, 2).Slice(0, 0, 1)} {
			if err := y.Backward(autograd.BackwardOptions{Seed: tensorapi.Impl.One(d).Expand(y.Shape()...)}); err == nil || err.Error() != d.Err().Error() {
				t.Errorf("%s, %s: Backward returns %v, want %v", sel, name, err, d.Err())
			}
			if p.Grad() != nil {
				t.Errorf("%s, %s: there is a gradient", sel, name)
			}
		}
	}
}
