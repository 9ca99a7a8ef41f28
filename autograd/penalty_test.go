package autograd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/flatparams"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// critics are the network of scripts/golden.py: a launch for each layer, and one for each
// operation.
var critics = map[string]func(x *node, p []*node) *node{
	"layers": func(x *node, p []*node) *node {
		h := x.Linear(p[0], p[1], fn.LeakyReLU, 0.2).Linear(p[2], p[3], fn.Tanh)
		return h.Linear(p[4], p[5], nil)
	},
	"operations": func(x *node, p []*node) *node {
		h := x.MatMul(p[0]).Add(p[1]).LeakyReLU(0.2).MatMul(p[2]).Add(p[3]).Tanh()
		return h.MatMul(p[4]).Add(p[5])
	},
}

// TestGradientPenalty repeats ten steps that PyTorch made of a critic with the gradient penalty of
// WGAN-GP (Gulrajani et al., "Improved Training of Wasserstein GANs", NIPS 2017): the gradient of a
// loss that reads a gradient.
func TestGradientPenalty(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for name, critic := range critics {
			t.Run(name, func(t *testing.T) { gradientPenalty(t, d, critic) })
		}
	})
}

func gradientPenalty(t *testing.T, d tensor.Device, critic func(x *node, p []*node) *node) {
	ref, err := tensor.LoadNPZ(devtest.CPU(t), "../testdata/golden/wgan_gp.npz")
	if err != nil {
		t.Fatal(err)
	}
	tol := 1e-9
	if d.DefaultType() == kernels.Float32 {
		tol = 1e-3
	}
	compare := func(what string, got, want []float64) {
		t.Helper()
		scale := 1.0
		for _, w := range want {
			scale = max(scale, math.Abs(w))
		}
		for i := range want {
			if !(math.Abs(got[i]-want[i]) <= tol*scale) {
				t.Fatalf("%s[%d] is %v, PyTorch has %v", what, i, got[i], want[i])
			}
		}
	}
	on := func(name string) *tensor.Tensor { return devtest.New(d, values(t, ref[name]), ref[name].Shape()...) }
	data, fake, mix := autograd.Const(on("real")), autograd.Const(on("fake")), autograd.Const(on("mix"))
	var params []*node
	for _, name := range []string{"w0", "b0", "w1", "b1", "w2", "b2"} {
		params = append(params, autograd.Param(on(name), name))
	}
	losses, penalties := values(t, ref["losses"]), values(t, ref["penalties"])
	for step := range losses {
		between := autograd.Param(data.Mul(mix).Add(fake.Mul(mix.RSubScalar(1))).Value(), "between")
		slope := grad(t, critic(between, params).Sum(), []*node{between}, autograd.GradOptions{CreateGraph: true})[0]
		penalty := slope.Square().Sum(1).Sqrt().SubScalar(1).Square().Mean().Retain()
		loss := critic(fake, params).Mean().Sub(critic(data, params).Mean()).Add(penalty.MulScalar(10))
		if step == 0 {
			compare("slope", values(t, slope.Value()), values(t, ref["slope"]))
		}
		if err := loss.Backward(); err != nil {
			t.Fatal(err)
		}
		compare(fmt.Sprint("loss of step ", step), values(t, loss.Value()), losses[step:step+1])
		compare(fmt.Sprint("penalty of step ", step), values(t, penalty.Value()), penalties[step:step+1])
		for _, p := range params {
			if step == 0 {
				compare("gradient of "+p.Name(), values(t, p.Grad()), values(t, ref["grad_"+p.Name()]))
			}
			p.Value().SetInPlace(p.Value().Sub(p.Grad().MulScalar(0.004)))
			p.ZeroGrad()
		}
	}
	for _, p := range params {
		compare("final "+p.Name(), values(t, p.Value()), values(t, ref["final_"+p.Name()]))
	}
}

// TestFlatMemoryOfPenalty: steps of gradients of gradients leave nothing behind in a tensor.Scope,
// with the collector off.
func TestFlatMemoryOfPenalty(t *testing.T) {
	devtest.Uncollected(t)
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(3)
		params := []*node{autograd.Param(rng.Normal(d, 0, 1, 4, 8), "w0"), autograd.Param(rng.Normal(d, 0, 1, 8), "b0"),
			autograd.Param(rng.Normal(d, 0, 1, 8, 8), "w1"), autograd.Param(rng.Normal(d, 0, 1, 8), "b1"),
			autograd.Param(rng.Normal(d, 0, 1, 8, 1), "w2"), autograd.Param(rng.Normal(d, 0, 1, 1), "b2")}
		buffer := flatparams.New(params)
		var after int64
		for i := range 20 {
			tensor.Scope(d, func() {
				between := autograd.Param(rng.Uniform(d, 0, 1, 6, 4), "between")
				slope := grad(t, critics["layers"](between, params).Sum(), []*node{between}, autograd.GradOptions{CreateGraph: true})[0]
				if err := slope.Square().Sum(1).Sqrt().SubScalar(1).Square().Mean().Backward(); err != nil {
					t.Fatal(err)
				}
				between.Value().Free()
				between.ZeroGrad()
			})
			buffer.ZeroGrad()
			if live := d.Stats().LiveBytes; i == 0 {
				after = live
			} else if live != after {
				t.Fatalf("%d bytes live after step 1, %d after step %d", after, live, i+1)
			}
		}
	})
}
