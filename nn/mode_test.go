package nn_test

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// TestBatchNormModes: in training the statistics are the batch's and the running ones follow, in
// evaluation these are taken and stay.
func TestBatchNormModes(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		l := nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: 2, Momentum: 0.5})
		x := autograd.Const(devtest.New(d, []float64{1, 10, 3, 30}, 2, 2))
		values := func(v *tensor.Tensor) []float64 {
			f, err := v.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		y := values(l.Forward(x).Value())
		if y[0] > -0.99 || y[2] < 0.99 {
			t.Errorf("in training %v, want the batch normalised", y)
		}
		// The running variance takes that with the correction: 2 and 200.
		mean, variance := values(l.Mean), values(l.Var)
		if !slices.Equal(mean, []float64{1, 10}) || !slices.Equal(variance, []float64{1.5, 100.5}) {
			t.Errorf("running mean %v and variance %v, want [1 10] and [1.5 100.5]", mean, variance)
		}
		nn.Eval(l)
		y = values(l.Forward(x).Value())
		if y[0] != 0 || y[1] != 0 || y[2] < 1.63 || y[2] > 1.64 {
			t.Errorf("in evaluation %v, want 0 at the running mean", y)
		}
		if !slices.Equal(values(l.Mean), mean) || !slices.Equal(values(l.Var), variance) {
			t.Error("the running statistics changed in evaluation")
		}
		nn.Train(l)
		if l.Forward(x); slices.Equal(values(l.Mean), mean) {
			t.Error("the running mean stayed in training")
		}
		if n := values(l.Batches.To(d.DefaultType())); n[0] != 0 {
			t.Errorf("%v batches were counted", n[0])
		}
	})
}

// TestDropoutModes: what a layer drops is scaled by what remains, nothing is drawn in evaluation or
// for P 0, and all is dropped for P 1.
func TestDropoutModes(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := autograd.Const(tensor.Full(d, 3, 1000))
		rng := tensor.NewRNG(4)
		before := *rng
		l := &nn.Dropout{P: 0.25, RNG: rng}
		l.SetTraining(false)
		if y := l.Forward(x); y != x {
			t.Error("evaluation does not return its input")
		}
		if y := (&nn.Dropout{}).Forward(x); y != x {
			t.Error("P 0 does not return its input")
		}
		if *rng != before {
			t.Error("numbers were drawn")
		}
		l.SetTraining(true)
		count := func(l *nn.Dropout) map[float32]int {
			v, err := l.Forward(x).Value().Float32s()
			if err != nil {
				t.Fatal(err)
			}
			n := map[float32]int{}
			for _, e := range v {
				n[e]++
			}
			return n
		}
		if n := count(l); len(n) != 2 || n[0] < 200 || n[0] > 300 || n[4] != 1000-n[0] {
			t.Errorf("P 0.25 of threes makes %v", n)
		}
		if n := count(&nn.Dropout{P: 1, RNG: rng}); n[0] != 1000 {
			t.Errorf("P 1 makes %v", n)
		}
	})
}
