package autograd_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// TestChangedOrRight changes an input or the output of every operation in place, before Backward:
// either Backward says so, or the gradients are those of the values that the operation saw.
func TestChangedOrRight(t *testing.T) {
	d := devtest.CPU(t)
	for _, c := range gradCases(d) {
		// run changes the value of input number change, of the output for one past them, or nothing
		// for −1.
		run := func(change int) (grads [][]float64, err error) {
			rng := tensor.NewRNG(5)
			var in []*node
			for i, s := range c.shapes {
				in = append(in, autograd.Param(rng.Uniform(d, c.low, c.high, s...), fmt.Sprint("p", i)))
			}
			y := c.f(in)
			seed := rng.Uniform(d, -1, 1, y.Shape()...)
			if change >= 0 {
				target := append(slices.Clone(in), y)[change].Value()
				if tensor.Try(func() { target.FillInPlace(0.7) }) != nil {
					return nil, autograd.ErrChanged // a non-contiguous view: it cannot be filled
				}
			}
			if err := y.Backward(autograd.BackwardOptions{Seed: seed}); err != nil {
				return nil, err
			}
			for _, p := range in {
				grads = append(grads, values(t, p.Grad()))
			}
			return grads, nil
		}
		right, err := run(-1)
		if err != nil {
			t.Errorf("%s%v: %v", c.op, c.shapes, err)
			continue
		}
		for change := range len(c.shapes) + 1 {
			grads, err := run(change)
			switch {
			case errors.Is(err, autograd.ErrChanged):
			case err != nil:
				t.Errorf("%s%v with value %d changed: %v", c.op, c.shapes, change, err)
			case fmt.Sprint(grads) != fmt.Sprint(right):
				t.Errorf("%s%v with value %d changed: the gradients are %v, not %v, without an error", c.op, c.shapes, change, grads, right)
			}
		}
	}
}

// TestTouch: a kernel that was launched on a tensor in place has changed it once that is said,
// through any view.
func TestTouch(t *testing.T) {
	d := devtest.CPU(t)
	p := param(d, 1, 2)
	y := p.Square().Sum()
	tensor.Launch(d, ops.Zero, p.Value().Arg(), kernels.IntArg(2))
	p.Value().View().MarkWritten()
	if err := y.Backward(); !errors.Is(err, autograd.ErrChanged) {
		t.Errorf("Backward from a value that a kernel changed: %v", err)
	}
}
