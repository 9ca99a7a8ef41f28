package replay_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestBeside: updates by optimizers of different rules are one launch on GPUs, with the bits of
// each; on CPUs, and where it is switched off, they are not.
func TestHorizontal(t *testing.T) {
	train := func(t *testing.T, d tensor.Device, opt *replay.Options) (state string, launches []replay.Launch) {
		rng := tensor.NewRNG(3)
		x := rng.Normal(d, 0, 1, 20, 12)
		p, q := autograd.Param(rng.Normal(d, 0, 1, 12, 30), "p"), autograd.Param(rng.Normal(d, 0, 1, 12, 7), "q")
		opts := []optim.Optimizer{optim.NewAdamW([]*autograd.Node{p}, optim.AdamWDefaults(optim.Constant(0.01))),
			optim.NewSGD([]*autograd.Node{q}, optim.SGDConfig{LR: optim.Constant(0.02), Momentum: 0.5})}
		step := func() ([]*tensor.Tensor, error) {
			loss := autograd.Const(x).MatMul(p).Tanh().Mean().Add(autograd.Const(x).MatMul(q).Tanh().Mean())
			return descend(loss, opts...)
		}
		launches = doSteps(t, d, 5, step, opt)
		return bits(t, []*tensor.Tensor{p.Value(), q.Value()}), launches
	}
	updates := func(list []replay.Launch) (n int) {
		for _, l := range list {
			if slices.Contains(l.Does, "k_adamw") || slices.Contains(l.Does, "k_sgd") {
				n++
			}
		}
		return n
	}
	check := func(t *testing.T, d tensor.Device, gpu bool) {
		want, _ := train(t, d, nil)
		for _, without := range [][]string{nil, {"horizontal-fusion"}} {
			var explained bytes.Buffer
			got, launches := train(t, d, &replay.Options{Without: without, Explain: &explained})
			if got != want {
				t.Errorf("without %v: replays leave\n%.300s\nwant\n%.300s", without, got, want)
			}
			one := gpu && without == nil
			if n := updates(launches); n != map[bool]int{true: 1, false: 2}[one] || strings.Contains(explained.String(), "replay: horizontal-fusion: ") != one {
				t.Errorf("without %v: %d launches update two parameters\n%s", without, n, explained.String())
			}
		}
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) { check(t, d, !d.Target().CPU) })
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			for _, opt := range []tensor.Options{devtest.GPUKernels(), devtest.GPUKernels(tensor.Options{Check: true})} {
				t.Run(fmt.Sprintf("%s %+v", sel, opt), func(t *testing.T) { check(t, devtest.Open(t, sel, opt), true) })
			}
		}
	}
}
