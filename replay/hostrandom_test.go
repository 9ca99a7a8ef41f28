package replay_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// host is a training whose steps, and what is done between them, are drawn: what changes on the
// host above all. Two of one seed do the same.
type host struct {
	*layers
	rng   *tensor.RNG
	drop  *nn.Dropout
	norm  *nn.BatchNorm
	parts []int // what a step does
}

func newHost(t *testing.T, d tensor.Device, seed uint64) *host {
	r := rand.New(rand.NewPCG(seed, 21))
	h := &host{layers: newLayers(t, d, r.IntN(3) > 0), rng: tensor.NewRNG(seed)}
	h.drop = &nn.Dropout{P: 0.5, RNG: h.rng}
	h.norm = nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: 5, NoAffine: true})
	if r.IntN(4) > 0 {
		h.parts = append(h.parts, 0)
	}
	for range 1 + r.IntN(5) {
		h.parts = append(h.parts, r.IntN(12))
	}
	return h
}

// do does one thing that a program may do, in a step or between the steps.
func (h *host) do(what int) error {
	switch what % 16 {
	case 0:
		h.zeroGrad()
	case 1:
		h.head.Bias.ZeroGrad()
	case 2, 3, 4:
		y := h.drop.Forward(h.norm.Forward(h.x.Linear(h.first.Weight, h.first.Bias, fn.Tanh)))
		return y.Linear(h.head.Weight, h.head.Bias, nil).Square().Mean().Backward()
	case 5:
		return h.head.Weight.Square().Sum().Backward()
	case 6, 7:
		if h.opt == nil {
			h.update()
			return nil
		}
		if err := h.opt.Step(); !errors.Is(err, optim.ErrNoGradients) {
			return err
		}
	case 8:
		h.first.Weight.Freeze()
	case 9:
		h.first.Weight.Unfreeze()
	case 10:
		nn.Eval(&h.drop)
		nn.Eval(h.norm)
	case 11:
		nn.Train(&h.drop)
		nn.Train(h.norm)
	case 12:
		h.head.Weight.Freeze()
	case 13:
		h.head.Weight.Unfreeze()
	case 14:
		autograd.NoGrad(h.d, func() { h.drop.Forward(h.x) })
	case 15:
		h.head.Bias.Value().SetInPlace(h.head.Bias.Value().MulScalar(0.5))
	}
	return nil
}

func (h *host) step() ([]*tensor.Tensor, error) {
	for _, what := range h.parts {
		if err := h.do(what); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (h *host) state() string {
	text := h.layers.state() + bits(h.t, []*tensor.Tensor{h.norm.Mean, h.norm.Var}) + fmt.Sprint(h.rng.Calls)
	for _, p := range h.params {
		text += fmt.Sprint(" ", p.NeedsGrad(), p.GradNode() != nil)
	}
	drawn := h.rng.Calls
	h.drop.Forward(h.x) // the mode
	text += fmt.Sprint(h.rng.Calls - drawn)
	h.rng.Calls = drawn
	if h.opt != nil {
		text += fmt.Sprint(" ", h.opt.Steps())
	}
	return text
}

// TestRandomHosts: replays and what a program does between them leave what eager steps do, on the
// host and on the device; or a run is refused, and an eager step in its place does.
func TestRandomHosts(t *testing.T) {
	n := 300
	if devtest.Sweep() {
		n = 40000
	}
	d := devtest.CPU(t)
	runs, refusals := 0, 0
	for seed := range n {
		tensor.Scope(d, func() { randomHost(t, d, devtest.Seed(seed), &runs, &refusals) })
	}
	if runs < n || refusals < n/10 {
		t.Errorf("%d runs, %d refused, of %d programs", runs, refusals, n)
	}
}

func randomHost(t *testing.T, d tensor.Device, seed uint64, runs, refusals *int) {
	t.Helper()
	eager, recorded := newHost(t, d, seed), newHost(t, d, seed)
	for _, h := range []*host{eager, recorded} {
		if h.opt != nil {
			defer h.opt.Free()
		}
	}
	for range 2 {
		if _, err := eager.step(); err != nil {
			return // a step that no program does
		}
	}
	rec, err := replay.Record(d, recorded.step)
	if err != nil {
		return // which other tests look at
	}
	defer rec.Free()
	r := rand.New(rand.NewPCG(seed, 22))
	for time := range 6 {
		var between []int
		for range r.IntN(3) {
			what := r.IntN(16)
			between = append(between, what)
			a, b := eager.do(what), recorded.do(what)
			if (a == nil) != (b == nil) {
				t.Fatalf("seed %d, between %v: %v, eager %v", seed, between, b, a)
			}
		}
		_, want := eager.step()
		err := rec.Run()
		switch {
		case err == nil && want == nil:
			*runs++
		case err == nil:
			t.Fatalf("seed %d, step %v, between %v: the run is done where the eager step is %v", seed, recorded.parts, between, want)
		case errors.Is(err, tensor.ErrValue) || errors.Is(err, tensor.ErrFreed):
			*refusals++
			_, _ = recorded.step()
		default:
			t.Fatalf("seed %d: %v", seed, err)
		}
		if g, w := recorded.state(), eager.state(); g != w {
			t.Fatalf("seed %d, time %d, step %v, between %v, err %v:\n%s\nwant\n%s", seed, time, recorded.parts, between, err, g, w)
		}
	}
}
