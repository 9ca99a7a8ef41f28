package autograd_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// perceptron draws the parameters of a network with the given sizes, each from a stream of its own.
func perceptron(d tensor.Device, sizes ...int) []*node {
	var params []*node
	rng := tensor.NewRNG(11)
	for i := range len(sizes) - 1 {
		sd := 1 / math.Sqrt(float64(sizes[i]))
		params = append(params, autograd.Param(rng.Normal(d, 0, sd, sizes[i], sizes[i+1]), fmt.Sprint("w", i)))
		if i < len(sizes)-2 {
			params = append(params, autograd.Param(rng.Normal(d, 0, sd, sizes[i+1]), fmt.Sprint("b", i)))
		}
	}
	return params
}

// layers is the same network one operation at a time.
func layers(x *node, params []*node, slope float64) *node {
	for len(params) > 1 {
		x = x.MatMul(params[0]).Add(params[1]).LeakyReLU(slope)
		params = params[2:]
	}
	return x.MatMul(params[0])
}

// TestFusedMLP: the fused pass is a drop-in for the graph of layers, on every device and in both variants of
// its kernel: loss and every gradient agree to 1e-5 relative (1e-12 in float64), it accumulates, takes a
// seed, and repeats bit for bit.
func TestFusedMLP(t *testing.T) {
	check := func(t *testing.T, d tensor.Device) {
		tol := 1e-5
		if d.Real() == kernels.Float64 {
			tol = 1e-12
		}
		for _, c := range []struct {
			n     int
			sizes []int
		}{{512, []int{64, 64, 64, 64, 3}}, {1, []int{8, 16, 1}}, {333, []int{12, 32, 32, 5}}} {
			rng := tensor.NewRNG(5)
			x := autograd.Const(rng.Uniform(d, -1, 1, c.n, c.sizes[0]))
			y := autograd.Const(rng.Uniform(d, 0, 1, c.n, c.sizes[len(c.sizes)-1]))
			want, got := perceptron(d, c.sizes...), perceptron(d, c.sizes...)
			fused, err := autograd.NewFusedMLP(autograd.NewArena(got), 0.1, autograd.SquaredLoss)
			if err != nil {
				t.Fatal(err)
			}
			for pass := range 2 { // the second accumulates
				a, b := layers(x, want, 0.1).Sub(y).Square().Sum(), fused.Loss(x, y)
				la, err := a.Item()
				if err != nil {
					t.Fatal(err)
				}
				if lb, err := b.Item(); err != nil || math.Abs(la-lb) > tol*la {
					t.Fatalf("%v: loss %v, layer by layer %v (err %v)", c.sizes, lb, la, err)
				}
				seed := autograd.BackwardOptions{Seed: tensor.Scalar(d, 0.5)}
				if err := a.Backward(seed); err != nil {
					t.Fatal(err)
				}
				if err := b.Backward(seed); err != nil {
					t.Fatal(err)
				}
				for i := range want {
					compareGradients(t, fmt.Sprint(c.sizes, " pass ", pass, " ", want[i].Name()), got[i].Grad(), want[i].Grad(), tol)
				}
			}
			first := bits(t, got)
			for _, p := range got {
				p.ZeroGrad()
			}
			for range 2 {
				if err := fused.Loss(x, y).MulScalar(0.5).Backward(); err != nil {
					t.Fatal(err)
				}
			}
			if fmt.Sprint(first) != fmt.Sprint(bits(t, got)) {
				t.Errorf("%v: repeated passes differ in their bits", c.sizes)
			}
		}
	}
	devtest.Each(t, true, check)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, tensor.Options{GPUKernels: true})) })
		}
	}
}

func bits(t *testing.T, params []*node) (all [][]float64) {
	for _, p := range params {
		all = append(all, values(t, p.Grad()))
	}
	return all
}

func compareGradients(t *testing.T, what string, got, want *tensor.Tensor, tol float64) {
	t.Helper()
	g, w := values(t, got), values(t, want)
	scale := 0.0
	for _, v := range w {
		scale = max(scale, math.Abs(v))
	}
	for i := range w {
		if math.Abs(g[i]-w[i]) > tol*scale {
			t.Fatalf("%s: gradient %d is %v, layer by layer %v", what, i, g[i], w[i])
		}
	}
}

func TestFusedMLPMemoryAndMisuse(t *testing.T) {
	devtest.Uncollected(t)
	d := devtest.CPU(t)
	params := perceptron(d, 8, 16, 2)
	fused, err := autograd.NewFusedMLP(autograd.NewArena(params), 0.1, autograd.SquaredLoss)
	if err != nil {
		t.Fatal(err)
	}
	x, y := autograd.Const(tensor.Zeros(d, 5, 8)), autograd.Const(tensor.Zeros(d, 5, 2))
	live := d.Stats().LiveBytes
	for range 3 {
		loss := fused.Loss(x, y)
		if err := loss.Backward(); err != nil {
			t.Fatal(err)
		}
		loss.Free()
		autograd.NoGrad(d, func() { fused.Loss(x, y).Free() })
	}
	if now := d.Stats().LiveBytes; now != live {
		t.Errorf("%d bytes live before, %d after", live, now)
	}
	twice := fused.Loss(x, y)
	for _, opt := range [][]autograd.BackwardOptions{{{Retain: true}}, nil} {
		if err := twice.Backward(opt...); err != nil {
			t.Fatal(err)
		}
	}
	twice.Free()
	if now := d.Stats().LiveBytes; now != live {
		t.Errorf("%d bytes live before, %d after two passes through one graph", live, now)
	}
	loss := fused.Loss(x, y)
	params[0].Value().FillInPlace(1)
	fails(t, loss.Backward(), autograd.ErrChanged, "MLPLoss")
	fails(t, tensor.Maybe(func() { fused.Loss(y, y) }), tensor.ErrShape, "[5 2]", "8 inputs")
	fails(t, tensor.Maybe(func() { fused.Loss(x, autograd.Param(tensor.Zeros(d, 5, 2), "y")) }), tensor.ErrValue, "layer by layer")
	for name, sizes := range map[string][]int{
		"width 20": {8, 20, 2}, "4 inputs": {4, 16, 2}, "17 outputs": {8, 16, 17}, "one width": {8, 16, 32, 2},
		"local memory": {64, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 3},
	} {
		if _, err := autograd.NewFusedMLP(autograd.NewArena(perceptron(d, sizes...)), 0.1, autograd.SquaredLoss); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v: err = %v, want one about %q", sizes, err, name)
		}
	}
}
