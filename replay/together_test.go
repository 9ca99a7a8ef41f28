package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestTwoOptimizers: small updates of parameters by several optimizers of one rule are one launch, with the bits of each.
func TestTwoOptimizers(t *testing.T) {
	train := func(t *testing.T, d tensor.Device, adam, record bool) (state string, updates int) {
		rng := tensor.NewRNG(3)
		x := rng.Normal(d, 0, 1, 20, 12)
		var params []*autograd.Node
		var opts []optim.Optimizer
		for i, n := range []int{12, 7, 30, 5} {
			p := autograd.Param(rng.Normal(d, 0, 1, 12, n), fmt.Sprint("p", i))
			params = append(params, p)
			rate := optim.Exponential(0.01*float64(i+1), 0.9)
			if adam {
				opts = append(opts, optim.NewAdamW([]*autograd.Node{p}, optim.AdamWDefaults(rate)))
			} else {
				opts = append(opts, optim.NewSGD([]*autograd.Node{p}, optim.SGDConfig{LR: rate, Momentum: 0.5, Nesterov: i == 1}))
			}
		}
		step := func() ([]*tensor.Tensor, error) {
			loss := autograd.Const(x).MatMul(params[0]).Tanh().Mean()
			for _, p := range params[1:] {
				loss = loss.Add(autograd.Const(x).MatMul(p).Tanh().Mean())
			}
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
		const steps = 5
		if record {
			rec, err := replay.Record(d, step)
			if err != nil {
				t.Fatal(err)
			}
			defer rec.Free()
			for range steps - 2 {
				if err := rec.Run(); err != nil {
					t.Fatal(err)
				}
			}
			for _, l := range rec.Launches() {
				if strings.Contains(strings.Join(l.Does, " "), "k_adamw") || strings.Contains(strings.Join(l.Does, " "), "k_sgd") {
					updates++
				}
			}
		} else {
			for range steps {
				if _, err := step(); err != nil {
					t.Fatal(err)
				}
			}
		}
		var all []*tensor.Tensor
		for _, p := range params {
			all = append(all, p.Value())
		}
		return bits(t, all), updates
	}
	check := func(t *testing.T, d tensor.Device) {
		for _, adam := range []bool{false, true} {
			want, _ := train(t, d, adam, false)
			got, updates := train(t, d, adam, true)
			if updates != 1 {
				t.Errorf("AdamW %t: %d launches update four parameters", adam, updates)
			}
			if got != want {
				t.Errorf("AdamW %t: replays leave\n%.300s\nwant\n%.300s", adam, got, want)
			}
		}
	}
	devtest.Each(t, false, check)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, tensor.Options{GPUKernels: true})) })
			t.Run(sel+"/checked", func(t *testing.T) { check(t, devtest.Open(t, sel, tensor.Options{Check: true})) })
		}
	}
}
