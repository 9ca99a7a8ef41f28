package optim_test

import (
	"errors"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// TestMinimize: it is Backward, Step and ZeroGrad, with their errors, and leaves no gradient
// behind, whatever happens.
func TestMinimize(t *testing.T) {
	d := devtest.CPU(t)
	p := autograd.Param(devtest.New(d, []float64{3, -4}), "p")
	o := optim.NewSGD([]*autograd.Node{p}, optim.SGDConfig{LR: optim.Constant(0.25)})
	square := func() *autograd.Node { return p.Square().Sum() }
	loss := square()
	if err := optim.Minimize(o, loss); err != nil {
		t.Fatal(err)
	}
	if v, err := loss.Item(); err != nil || v != 25 {
		t.Errorf("loss %v, %v", v, err)
	}
	if v, _ := p.Value().Float64s(); v[0] != 1.5 || v[1] != -2 || p.Grad() != nil || o.Steps() != 1 {
		t.Errorf("p %v, gradient %v after %d steps", v, p.Grad(), o.Steps())
	}
	if err := optim.Minimize(o, loss); !errors.Is(err, autograd.ErrGraphFreed) {
		t.Errorf("twice: %v", err)
	}
	if err := optim.Minimize(o, autograd.Const(tensor.Scalar(d, 1))); !errors.Is(err, autograd.ErrNotOnGraph) {
		t.Errorf("of nothing: %v", err)
	}
	other := autograd.Param(tensor.Scalar(d, 1), "other")
	if err := optim.Minimize(o, other.Square()); !errors.Is(err, optim.ErrNoGradients) {
		t.Errorf("of another parameter: %v", err)
	}
	if err := square().Backward(); err != nil {
		t.Fatal(err)
	}
	if err := optim.Minimize(o, p.Add(p)); !errors.Is(err, autograd.ErrSeed) || p.Grad() != nil || o.Steps() != 1 {
		t.Errorf("of two elements: %v, gradient %v after %d steps", err, p.Grad(), o.Steps())
	}
}
