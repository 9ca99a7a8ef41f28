package replay_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestConstants: what is made of tensors that stay as they are is made once, parts of one tensor too, with
// the bits of the eager step; what an input is part of is not.
func TestConstants(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(3)
		x, w, v := rng.Uniform(d, -1, 1, 5, 48), rng.Uniform(d, -1, 1, 20, 48), rng.Uniform(d, -1, 1, 12, 48)
		image, filter := rng.Uniform(d, -1, 1, 1, 16, 20, 20), rng.Uniform(d, -1, 1, 16, 16, 3, 3)
		step := func() ([]*tensor.Tensor, error) {
			both := tensor.Concat(0, w.Tanh(), v)
			conv := image.Conv(filter, nil, tensor.ConvOptions{Padding: []int{1, 1}})
			return []*tensor.Tensor{x.MatMul(both.T()), x.Mul(v.Sum(0)), conv, w.Neg(), w}, nil
		}
		rec, err := replay.Record(d, step, replay.Options{Constants: []*tensor.Tensor{w, v.T(), filter, w}})
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		plain, err := replay.Record(d, step)
		if err != nil {
			t.Fatal(err)
		}
		defer plain.Free()
		if got := rec.Report(); got.Hoisted < 3 || got.Launches >= plain.Report().Launches {
			t.Errorf("%d launches were done once, %d in each run; without constants %d",
				got.Hoisted, got.Launches, plain.Report().Launches)
		}
		for range 3 {
			x.SetInPlace(x.AddScalar(0.25))
			image.SetInPlace(image.AddScalar(0.25))
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
			want, _ := step()
			for i, out := range rec.Outputs() {
				a, _ := out.Float64s()
				b, _ := want[i].Float64s()
				if fmt.Sprint(a) != fmt.Sprint(b) {
					t.Errorf("output %d differs from the eager step", i)
				}
			}
		}
	})
}

// TestConstantOfNothing: what is made of a tensor without elements, which the step makes, is made once.
func TestConstantOfNothing(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := tensor.Full(d, 2, 3)
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			return []*tensor.Tensor{x.Add(tensor.Zeros(d, 0, 3).Sum(0).Exp())}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		if rec.Report().Hoisted == 0 {
			t.Error("nothing was done once")
		}
		x.FillInPlace(5)
		if err := rec.Run(); err != nil {
			t.Fatal(err)
		}
		for _, v := range devtest.Float64s(t, rec.Outputs()[0]) {
			if v != 6 {
				t.Errorf("%v, not 5 + 1", v)
			}
		}
	})
}

// TestConstantsMisused: a tensor that is none, was freed, is on another device, or that the step writes.
func TestConstantsMisused(t *testing.T) {
	d, other := devtest.Open(t, "cpu", tensor.Options{}), devtest.Open(t, "cpu", tensor.Options{})
	x, freed := tensor.Full(d, 1, 4), tensor.Full(d, 1, 4)
	freed.Free()
	for _, c := range []struct {
		constant *tensor.Tensor
		want     error
	}{
		{nil, tensor.ErrValue},
		{freed, tensor.ErrFreed},
		{tensor.Full(other, 1, 4), tensor.ErrDevice},
		{x.Slice(0, 1, 2), tensor.ErrValue},
	} {
		_, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			x.FillInPlace(1)
			return nil, nil
		}, replay.Options{Constants: []*tensor.Tensor{c.constant}})
		if !errors.Is(err, c.want) {
			t.Errorf("%v: %v, want %v", c.constant, err, c.want)
		}
	}
}
