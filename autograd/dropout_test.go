package autograd_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestDropoutRefused: a probability that is none takes no number of the RNG, so that the next call
// drops what it would have.
func TestDropoutRefused(t *testing.T) {
	d := devtest.CPU(t)
	x := autograd.Param(tensor.Full(d, 1, 100), "x")
	rng := tensor.NewRNG(1)
	for _, train := range []bool{true, false} {
		if err := tensor.Try(func() { x.Dropout(1.5, rng, train) }); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("training %v: %v", train, err)
		}
	}
	got, _ := x.Dropout(0.5, rng, true).Float64s()
	if want, err := x.Dropout(0.5, tensor.NewRNG(1), true).Float64s(); err != nil || !slices.Equal(got, want) {
		t.Errorf("after a call that was refused %v is left, %v without (%v)", got, want, err)
	}
}

// TestDropoutOfOthers: integers become floats, in training and outside of it; of 16 bits they stay.
func TestDropoutOfOthers(t *testing.T) {
	d := devtest.CPU(t)
	for typ, want := range map[tensor.Type]tensor.Type{tensor.Uint8: tensor.Float64, tensor.Int32: tensor.Float64, tensor.Float16: tensor.Float16} {
		for _, train := range []bool{true, false} {
			if y := autograd.Const(tensor.FullOf(d, typ, 3, 2)).Dropout(0, tensor.NewRNG(1), train); y.Type() != want {
				t.Errorf("of %v, training %v: %v", typ, train, y.Type())
			}
		}
	}
	if x := autograd.Param(tensor.Full(d, 1, 2), "x"); x.Dropout(0.5, nil, false) != x {
		t.Error("evaluation makes another node of reals")
	}
}
