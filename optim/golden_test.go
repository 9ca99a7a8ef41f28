package optim_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// TestGolden repeats 50 full-batch steps that PyTorch made in float64: every loss, the first
// gradients and the final weights.
func TestGolden(t *testing.T) {
	for name, newOpt := range map[string]func(p []*autograd.Node) optim.Optimizer{
		"mlp_adamw": func(p []*autograd.Node) optim.Optimizer {
			return optim.NewAdamW(p, optim.AdamWConfig{LR: optim.Constant(5e-3), Beta1: 0.92, Beta2: 0.95, Eps: 1e-8, WeightDecay: 0.01})
		},
		"mlp_sgd": func(p []*autograd.Node) optim.Optimizer {
			return optim.NewSGD(p, optim.SGDConfig{LR: optim.Constant(1e-4), Momentum: 0.9, WeightDecay: 0.01})
		},
	} {
		t.Run(name, func(t *testing.T) {
			// scripts/golden.py made the first; the second are used where they are found.
			for _, dir := range []string{"../testdata/golden", "../../shared/golden"} {
				path := filepath.Join(dir, name+".npz")
				t.Run(dir, func(t *testing.T) {
					if _, err := os.Stat(path); err != nil && dir != "../testdata/golden" {
						t.Skip("no reference numbers: ", err)
					}
					devtest.Both(t, func(t *testing.T, d tensor.Device) { golden(t, d, path, newOpt) })
				})
			}
		})
	}
}

func golden(t *testing.T, d tensor.Device, path string, newOpt func(p []*autograd.Node) optim.Optimizer) {
	ref, err := tensor.LoadNPZ(devtest.CPU(t), path)
	if err != nil {
		t.Fatal(err)
	}
	data := func(name string) []float64 {
		v, err := ref[name].Float64s()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	// A relative error is one against the largest value: single weights may be near 0.
	tol := 1e-9
	if d.DefaultType() == kernels.Float32 {
		tol = 1e-4
	}
	compare := func(what string, got, want []float64) {
		t.Helper()
		scale := 0.0
		for _, w := range want {
			scale = max(scale, math.Abs(w))
		}
		for i := range want {
			if math.Abs(got[i]-want[i]) > tol*scale {
				t.Fatalf("%s[%d] is %v, PyTorch has %v", what, i, got[i], want[i])
			}
		}
	}
	x := autograd.Const(devtest.New(d, data("X"), ref["X"].Shape()...))
	y := autograd.Const(devtest.New(d, data("Y"), ref["Y"].Shape()...))
	var layers []*nn.Linear
	var params []*autograd.Node
	for _, i := range []string{"0", "1", "2"} {
		w := devtest.New(d, data("w"+i), ref["w"+i].Shape()...) // PyTorch keeps [out, in]
		l := &nn.Linear{Weight: autograd.Param(w.T().Copy(), "w"+i)}
		if b := ref["b"+i]; b != nil {
			l.Bias = autograd.Param(devtest.New(d, data("b"+i)), "b"+i)
		}
		layers = append(layers, l)
		params = append(params, nn.Params(l)...)
	}
	opt := newOpt(params)
	losses := data("losses")
	for step, want := range losses {
		h := x
		for i, l := range layers {
			h = l.Forward(h)
			if i < len(layers)-1 {
				h = h.LeakyReLU(0.1)
			}
		}
		loss := h.Sub(y).Square().Sum()
		if err := loss.Backward(); err != nil {
			t.Fatal(err)
		}
		got, err := loss.Item()
		if err != nil {
			t.Fatal(err)
		}
		loss.Free()
		if math.Abs(got-want) > tol*want {
			t.Fatalf("step %d: loss %v, PyTorch has %v", step, got, want)
		}
		if step == 0 {
			for _, p := range params {
				g := p.Grad()
				if len(p.Shape()) == 2 {
					g = g.T()
				}
				v, err := g.Float64s()
				if err != nil {
					t.Fatal(err)
				}
				compare("grad_"+p.Name(), v, data("grad_"+p.Name()))
			}
		}
		if err := opt.Step(); err != nil {
			t.Fatal(err)
		}
		opt.ZeroGrad()
	}
	if opt.Steps() != len(losses) {
		t.Errorf("%d steps counted", opt.Steps())
	}
	for _, p := range params {
		v := p.Value()
		if len(p.Shape()) == 2 {
			v = v.T()
		}
		got, err := v.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		compare("final_"+p.Name(), got, data("final_"+p.Name()))
	}
}
