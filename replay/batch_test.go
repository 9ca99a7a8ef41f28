package replay_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestTwoOptimizers: small updates of parameters by several optimizers of one rule are one launch,
// with the bits of each.
func TestTwoOptimizers(t *testing.T) {
	train := func(t *testing.T, d tensor.Device, adam bool, opt *replay.Options) (state string, updates int) {
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
			return descend(loss, opts...)
		}
		for _, l := range doSteps(t, d, 5, step, opt) {
			if strings.Contains(strings.Join(l.Does, " "), "k_adamw") || strings.Contains(strings.Join(l.Does, " "), "k_sgd") {
				updates++
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
			want, _ := train(t, d, adam, nil)
			got, updates := train(t, d, adam, &replay.Options{})
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
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, devtest.GPUKernels())) })
			t.Run(sel+"/checked", func(t *testing.T) { check(t, devtest.Open(t, sel, tensor.Options{Check: true})) })
		}
	}
}

// onGPUs calls check with each OpenCL device that is selected, in the forms of kernels for GPUs.
func onGPUs(t *testing.T, check func(t *testing.T, d tensor.Device)) {
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel, func(t *testing.T) { check(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}

// TestBatchedProducts: the gradients of the weights of several layers are one launch, and the sums
// of their shares and of the biases' gradients another, with the bits of the step; without the
// rewrite each is one of its own.
func TestBatchedProducts(t *testing.T) {
	onGPUs(t, func(t *testing.T, d tensor.Device) {
		train := func(opt *replay.Options) (state string, products, sums int) {
			rng := tensor.NewRNG(7)
			x, y := rng.Normal(d, 0, 1, 600, 20), rng.Normal(d, 0, 1, 600, 5)
			var params []*autograd.Node
			var layers [][2]*autograd.Node
			for i, w := range [][2]int{{20, 60}, {60, 17}, {17, 40}, {40, 5}} {
				l := [2]*autograd.Node{autograd.Param(rng.Normal(d, 0, 0.3, w[0], w[1]), fmt.Sprint("w", i)), autograd.Param(tensor.Zeros(d, w[1]), fmt.Sprint("b", i))}
				layers, params = append(layers, l), append(params, l[0], l[1])
			}
			adam := optim.NewAdamW(params, optim.AdamWDefaults(optim.Constant(0.01)))
			step := func() ([]*tensor.Tensor, error) {
				h := autograd.Const(x)
				for _, l := range layers {
					h = h.Linear(l[0], l[1], fn.Tanh)
				}
				return descend(h.SquaredError(autograd.Const(y)), adam)
			}
			for _, l := range doSteps(t, d, 4, step, opt) {
				if strings.HasPrefix(l.Kernel, "k_gemm_tn") {
					products++
				}
				if strings.HasPrefix(l.Kernel, "k_sum_axis") {
					sums++
				}
			}
			var all []*tensor.Tensor
			for _, p := range params {
				all = append(all, p.Value())
			}
			return bits(t, all), products, sums
		}
		want, _, _ := train(nil)
		got, products, sums := train(&replay.Options{Without: []string{"fused-training-step", "split-k-into-adam"}})
		if got != want {
			t.Errorf("replays leave\n%.300s\nwant\n%.300s", got, want)
		}
		apart, all, each := train(&replay.Options{Without: []string{"fused-training-step", "split-k-into-adam", "batch-launches"}})
		if apart != want {
			t.Errorf("replays without leave\n%.300s\nwant\n%.300s", apart, want)
		}
		if products != 1 || all != 4 || sums >= each {
			t.Errorf("%d launches of products and %d of sums, and %d and %d apart; want 1 of 4 products, and fewer sums", products, sums, all, each)
		}
	})
}

// combinedOps make steps of products and sums that depend on each other or not, on what is changed
// in place between them.
var combinedOps = append([]randomOp{
	{"product", func(_ *world, _ *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor { return x.MatMul(y) }},
	{"product of a transpose", func(_ *world, _ *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor { return x.T().MatMul(y) }},
	{"product onto what is there", func(w *world, r *rand.Rand, x, y *tensor.Tensor) *tensor.Tensor {
		p := w.older[r.IntN(len(w.older))]
		p.SetInPlace(x.MatMul(y).SumTo(p.Shape()...))
		return p.View()
	}},
	{"sum of rows", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.Sum(-1, tensor.Keepdims) }},
	{"sum of columns", func(_ *world, _ *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.Sum(0) }},
	{"part", func(_ *world, r *rand.Rand, x, _ *tensor.Tensor) *tensor.Tensor { return x.Slice(axis(r, x), 1, 3) }},
}, slices.DeleteFunc(slices.Clone(randomOps), func(op randomOp) bool {
	return !slices.Contains([]string{"matmul", "gram", "in place", "update", "set", "set view", "transpose", "copy"}, op.name)
})...)

// TestRandomBatches: steps of products and sums, of views, and of memory that is written between
// them, have the bits of eager ones.
func TestRandomBatches(t *testing.T) {
	onGPUs(t, func(t *testing.T, d tensor.Device) {
		n := 6
		if devtest.Sweep() {
			n = 300
		}
		var explained bytes.Buffer
		for seed := range n {
			randomSteps(t, d, devtest.Seed(seed), map[string]int{}, func(w *world) { w.table, w.most = combinedOps, true }, replay.Options{Explain: &explained})
		}
		if !strings.Contains(explained.String(), "one launch") {
			t.Error("no launches were together")
		}
	})
}
