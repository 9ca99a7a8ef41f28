package replay_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// graph is a random function of parameters in training. Two of one seed do the same.
type graph struct {
	seed   uint64
	d      tensor.Device
	params []*autograd.Node
	input  *tensor.Tensor
	index  *tensor.Tensor
	rng    *tensor.RNG
	opt    optim.Optimizer
	ops    map[string]int
}

func newGraph(d tensor.Device, seed uint64) *graph {
	g := &graph{seed: seed, d: d, rng: tensor.NewRNG(seed), ops: map[string]int{}}
	r := rand.New(rand.NewPCG(seed, 3))
	shapes := shapesOf[r.IntN(len(shapesOf))]
	for i := range 2 + r.IntN(4) {
		g.params = append(g.params, autograd.Param(g.rng.Uniform(d, -1, 1, shapes[r.IntN(len(shapes))]...), fmt.Sprint("p", i)))
	}
	g.input = tensor.Empty(d, shapes[0]...)
	g.index = devtest.New(d, []int32{0, 2, 1, 2})
	if rate := optim.Exponential(0.1, 0.9); seed%2 == 0 {
		g.opt = optim.NewAdamW(g.params, optim.AdamWDefaults(rate))
	} else {
		g.opt = optim.NewSGD(g.params, optim.SGDConfig{LR: rate, Momentum: 0.5})
	}
	g.set(0)
	return g
}

func (g *graph) set(time int) {
	g.input.SetInPlace(tensor.NewRNG(g.seed+uint64(time)<<32).Uniform(g.d, -1, 1, g.input.Shape()...))
}

type node = autograd.Node

var graphOps = []struct {
	name string
	do   func(g *graph, r *rand.Rand, x, y *node) *node
}{
	{"add", func(_ *graph, _ *rand.Rand, x, y *node) *node { return x.Add(y) }},
	{"sub", func(_ *graph, _ *rand.Rand, x, y *node) *node { return x.Sub(y) }},
	{"mul", func(_ *graph, _ *rand.Rand, x, y *node) *node { return x.Mul(y) }},
	{"maximum", func(_ *graph, _ *rand.Rand, x, y *node) *node { return x.Maximum(y) }},
	{"tanh", func(_ *graph, _ *rand.Rand, x, _ *node) *node { return x.Tanh() }},
	{"leaky", func(_ *graph, _ *rand.Rand, x, _ *node) *node { return x.LeakyReLU(0.1) }},
	{"square", func(_ *graph, _ *rand.Rand, x, _ *node) *node { return x.Square() }},
	{"twice", func(_ *graph, _ *rand.Rand, x, _ *node) *node { return x.Mul(x).Add(x) }},
	{"matmul", func(_ *graph, _ *rand.Rand, x, y *node) *node { return x.MatMul(y) }},
	{"gram", func(_ *graph, _ *rand.Rand, x, _ *node) *node { return x.T().MatMul(x) }},
	{"linear", func(_ *graph, _ *rand.Rand, x, y *node) *node { return x.Linear(y, nil, fn.Tanh) }},
	{"slice", func(_ *graph, r *rand.Rand, x, _ *node) *node { return x.Slice(axis(r, x.Value()), 0, 1) }},
	{"step", func(_ *graph, r *rand.Rand, x, _ *node) *node { return x.Step(axis(r, x.Value()), 2) }},
	{"transpose", func(_ *graph, _ *rand.Rand, x, _ *node) *node { return x.Transpose() }},
	{"reshape", func(_ *graph, _ *rand.Rand, x, _ *node) *node { return x.Reshape(-1) }},
	{"expand", func(_ *graph, _ *rand.Rand, x, y *node) *node { return x.Expand(y.Shape()...) }},
	{"sum", func(_ *graph, r *rand.Rand, x, _ *node) *node { return x.Sum(axis(r, x.Value())) }},
	{"mean", func(_ *graph, r *rand.Rand, x, _ *node) *node { return x.Mean(axis(r, x.Value()), tensor.Keepdims) }},
	{"max", func(_ *graph, r *rand.Rand, x, _ *node) *node { return x.Max(axis(r, x.Value())) }},
	{"gather", func(g *graph, _ *rand.Rand, x, _ *node) *node { return x.GatherRows(g.index) }},
	{"dropout", func(g *graph, _ *rand.Rand, x, _ *node) *node {
		return x.Mul(autograd.Const(g.rng.Uniform(g.d, 0, 1, x.Shape()...).SubScalar(0.5).Sign().ReLU()))
	}},
	{"float16", func(_ *graph, _ *rand.Rand, x, _ *node) *node { return x.To(tensor.Float16) }},
	{"bfloat16", func(_ *graph, _ *rand.Rand, x, _ *node) *node { return x.To(tensor.BFloat16) }},
	{"float32", func(_ *graph, _ *rand.Rand, x, _ *node) *node { return x.To(tensor.Float32) }},
	{"detach", func(_ *graph, _ *rand.Rand, x, y *node) *node { return x.Detach().Mul(y) }},
}

// step computes a function of the parameters, its gradients, and an update.
func (g *graph) step() ([]*tensor.Tensor, error) {
	r := rand.New(rand.NewPCG(g.seed, 4))
	g.opt.ZeroGrad()
	values := append([]*node{autograd.Const(g.input)}, g.params...)
	for range 3 + r.IntN(15) {
		x, y := values[r.IntN(len(values))], values[r.IntN(len(values))]
		op := graphOps[r.IntN(len(graphOps))]
		if tensor.Try(func() { values = append(values, op.do(g, r, x, y)) }) == nil {
			g.ops[op.name]++
		}
	}
	loss := values[len(values)-1].Tanh().Sum()
	for range r.IntN(3) {
		loss = loss.Add(values[r.IntN(len(values))].Tanh().Sum())
	}
	out := []*tensor.Tensor{loss.Value()}
	if err := loss.Backward(); errors.Is(err, autograd.ErrNotOnGraph) {
		return out, nil
	} else if err != nil {
		return nil, err
	}
	for _, p := range g.params {
		if p.Grad() != nil {
			out = append(out, p.Grad())
		}
	}
	return out, g.opt.Step()
}

func (g *graph) state(t *testing.T, outputs []*tensor.Tensor) string {
	t.Helper()
	all := append([]*tensor.Tensor{}, outputs...)
	for _, p := range g.params {
		all = append(all, p.Value())
	}
	return fmt.Sprint(g.rng.Calls, g.opt.Steps(), g.opt.LR()) + bits(t, all)
}

// TestRandomGraphs: training of random functions continues with the same bits, gradients too,
// whether its steps are replayed or not.
func TestRandomGraphs(t *testing.T) {
	for _, sel := range devtest.Selected() {
		for _, f64 := range []bool{false, true} {
			if f64 && sel != "cpu" && !devtest.Sweep() {
				continue
			}
			n := 500
			if sel != "cpu" {
				n = 25
			}
			if !devtest.Sweep() {
				n = min(n/5, 100)
			}
			d := devtest.Open(t, sel, tensor.Options{DefaultType: devtest.Floats(f64)})
			ops := map[string]int{}
			for seed := range n {
				tensor.Scope(d, func() { randomGraph(t, d, devtest.Seed(seed), ops) })
			}
			for _, op := range graphOps {
				if ops[op.name] == 0 && n >= 100 {
					t.Errorf("no step did %q", op.name)
				}
			}
		}
	}
}

func randomGraph(t *testing.T, d tensor.Device, seed uint64, ops map[string]int) {
	t.Helper()
	eager, recorded := newGraph(d, seed), newGraph(d, seed)
	for range 2 {
		if _, err := eager.step(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
	rec, err := replay.Record(d, recorded.step)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	defer rec.Free()
	for time := 1; time <= 5; time++ {
		eager.set(time)
		recorded.set(time)
		want, err := eager.step()
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		got := rec.Outputs()
		if time == 3 {
			got, err = recorded.step()
		} else {
			err = rec.Run()
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if g, w := recorded.state(t, got), eager.state(t, want); g != w {
			t.Fatalf("seed %d, step %d:\n%.500s\nwant\n%.500s", seed, time, g, w)
		}
	}
	for name, n := range recorded.ops {
		ops[name] += n
	}
	for _, g := range []*graph{eager, recorded} {
		g.opt.Free()
	}
}
