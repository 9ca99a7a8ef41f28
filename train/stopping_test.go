package train_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/checkpoint"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
	"github.com/clgrad/clgrad/train"
)

// TestStops: the value at which training ends and the best one are those of the rule of Keras's EarlyStopping,
// written beside each case.
func TestStops(t *testing.T) {
	d := devtest.CPU(t)
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		cfg    train.EarlyStoppingConfig
		values []float64
		end    int // the index of the value that ends training; −1: none does
		best   int // the index of the best value; −1: there is none
	}{
		{train.EarlyStoppingConfig{Patience: 1}, []float64{3, 2, 2}, 2, 1},                                         // 2 is not < 2
		{train.EarlyStoppingConfig{Patience: 2}, []float64{3, 2, 2.5, 1, 1.5, 1.2}, 5, 3},                          // 2.5 alone does not end it
		{train.EarlyStoppingConfig{Patience: 2, MinDelta: 0.5}, []float64{3, 2.6, 2.5, 2.4}, 2, 0},                 // 2.6 and 2.5 are not < 3 − 0.5
		{train.EarlyStoppingConfig{Patience: 3, MinDelta: 0.5}, []float64{3, 2.6, 2.5, 2.4}, -1, 3},                // 2.4 is
		{train.EarlyStoppingConfig{Patience: 2, Rising: true}, []float64{0.5, 0.6, 0.6, 0.55}, 3, 1},               // upwards
		{train.EarlyStoppingConfig{Patience: 2, Rising: true, MinDelta: 0.2}, []float64{0.5, 0.6, 0.71, 0}, -1, 2}, // 0.71 > 0.5 + 0.2
		{train.EarlyStoppingConfig{Patience: 2}, []float64{nan, nan}, 1, -1},                                       // a NaN is no progress
		{train.EarlyStoppingConfig{Patience: 2}, []float64{nan, 5, nan, 4, inf, -inf}, 5, 3},                       // nor is an infinity
		{train.EarlyStoppingConfig{Patience: 1}, nil, -1, -1},
	} {
		net := &nn.Linear{Weight: autograd.Param(tensor.Full(d, -1, 1, 1), "w")}
		stop := train.NewEarlyStopping(net, c.cfg)
		end := -1
		for i, v := range c.values {
			net.Weight.Value().FillInPlace(float64(i))
			if stop.Measured(v) {
				end = i
				break
			}
		}
		value, ok := stop.Best()
		if end != c.end || stop.BestEpoch() != c.best || ok != (c.best >= 0) || ok && value != c.values[c.best] {
			t.Errorf("%+v of %v: ends at %d, best is %v at %d", c.cfg, c.values, end, value, stop.BestEpoch())
		}
		if err := stop.RestoreBest(); err != nil {
			t.Fatal(err)
		}
		if got := devtest.Float64s(t, net.Weight.Value())[0]; got != float64(c.best) {
			t.Errorf("%v: the weights are those of value %v, want %d", c.values, got, c.best)
		}
		stop.Free()
	}
}

// TestStoppingKeeps: the weights and the running statistics of the best epoch come back, in the memory where
// an optimizer has them; a checkpoint resumes all of it.
func TestStoppingKeeps(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(1)
		x := autograd.Const(rng.Normal(d, 1, 2, 16, 3))
		newRun := func() (net nn.Sequential, opt optim.Optimizer, stop *train.EarlyStopping) {
			net = nn.Sequential{nn.NewLinear(d, rng, nn.LinearConfig{In: 3, Out: 3}), nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: 3})}
			stop = train.NewEarlyStopping(net, train.EarlyStoppingConfig{Patience: 2}) // before the optimizer moves the parameters
			return net, optim.NewAdamW(nn.Params(net), optim.AdamWDefaults(optim.Constant(0.1))), stop
		}
		step := func(net nn.Sequential, opt optim.Optimizer) {
			if err := optim.Minimize(opt, net.Forward(x).Square().Mean()); err != nil {
				t.Fatal(err)
			}
		}
		numbers := func(net nn.Sequential) string {
			return fmt.Sprint(devtest.Float64s(t, nn.StateDict(net)["0.weight"]), devtest.Float64s(t, nn.StateDict(net)["1.running_mean"]))
		}
		net, opt, stop := newRun()
		best := ""
		for i, loss := range []float64{3, 1, 2} {
			step(net, opt)
			if stop.Measured(loss) {
				t.Fatal("ended early")
			}
			if i == 1 {
				best = numbers(net)
			}
		}
		var file bytes.Buffer
		if err := checkpoint.Write(&file, checkpoint.State{"model": nn.StateDict(net), "stop": stop, "best": stop.Weights()}); err != nil {
			t.Fatal(err)
		}
		if err := stop.RestoreBest(); err != nil || numbers(net) != best {
			t.Errorf("err %v; got %s, want %s", err, numbers(net), best)
		}
		other, _, resumed := newRun()
		parts := checkpoint.State{"model": nn.StateDict(other), "stop": resumed, "best": resumed.Weights()}
		if err := checkpoint.Read(bytes.NewReader(file.Bytes()), int64(file.Len()), parts); err != nil {
			t.Fatal(err)
		}
		if resumed.BestEpoch() != 1 || !resumed.Measured(1.5) {
			t.Errorf("resumed: best epoch %d, state %+v", resumed.BestEpoch(), resumed.State())
		}
		if err := resumed.RestoreBest(); err != nil || numbers(other) != best {
			t.Errorf("resumed: err %v; got %s, want %s", err, numbers(other), best)
		}
	})
}

// TestStoppingMisuse: settings and states out of range are named.
func TestStoppingMisuse(t *testing.T) {
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	net := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 1, Out: 1})
	panics(t, tensor.ErrValue, "Patience is 0", func() { train.NewEarlyStopping(net, train.EarlyStoppingConfig{}) })
	for _, delta := range []float64{-1, math.NaN(), math.Inf(1)} {
		panics(t, tensor.ErrValue, "MinDelta", func() { train.NewEarlyStopping(net, train.EarlyStoppingConfig{Patience: 1, MinDelta: delta}) })
	}
	stop := train.NewEarlyStopping(net, train.EarlyStoppingConfig{Patience: 1})
	stop.Measured(3)
	for _, s := range []train.EarlyStoppingState{{Bad: -1}, {Bad: 2, Measured: 1}, {Best: math.NaN(), Measured: 1}} {
		if err := stop.Restore(s); err == nil || stop.State() != (train.EarlyStoppingState{Best: 3, Measured: 1}) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	d.Close()
	if err := stop.RestoreBest(); !errors.Is(err, tensor.ErrClosed) {
		t.Errorf("of a closed device: %v", err)
	}
}
