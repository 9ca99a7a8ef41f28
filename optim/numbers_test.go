package optim_test

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

const lr = 0.05

// asInScript has the settings of scripts/optimizers.py, for parameters a and b.
var asInScript = map[string]func(a, b *autograd.Node) optim.Optimizer{
	"adam": func(a, b *autograd.Node) optim.Optimizer {
		return optim.NewAdam([]*autograd.Node{a, b}, optim.AdamConfig{LR: optim.Constant(lr), Beta1: 0.9, Beta2: 0.99, Eps: 1e-6, WeightDecay: 0.1})
	},
	"adam_defaults": func(a, b *autograd.Node) optim.Optimizer {
		return optim.NewAdam([]*autograd.Node{a, b}, optim.AdamDefaults(optim.Constant(lr)))
	},
	"rmsprop": func(a, b *autograd.Node) optim.Optimizer {
		cfg := optim.RMSpropDefaults(optim.Constant(lr))
		cfg.WeightDecay = 0.1
		return optim.NewRMSprop([]*autograd.Node{a, b}, cfg)
	},
	"rmsprop_centered": func(a, b *autograd.Node) optim.Optimizer {
		return optim.NewRMSprop([]*autograd.Node{a, b}, optim.RMSpropConfig{LR: optim.Constant(lr), Alpha: 0.9, Eps: 1e-3, Centered: true})
	},
	"rmsprop_momentum": func(a, b *autograd.Node) optim.Optimizer {
		return optim.NewRMSprop([]*autograd.Node{a, b}, optim.RMSpropConfig{LR: optim.Constant(lr), Alpha: 0.9, Eps: 1e-8, Momentum: 0.9})
	},
	"rmsprop_all": func(a, b *autograd.Node) optim.Optimizer {
		return optim.NewRMSprop([]*autograd.Node{a, b}, optim.RMSpropConfig{LR: optim.Constant(lr), Alpha: 0.9, Eps: 1e-8, Momentum: 0.9, Centered: true, WeightDecay: 0.1})
	},
	"adagrad": func(a, b *autograd.Node) optim.Optimizer {
		return optim.NewAdagrad([]*autograd.Node{a, b}, optim.AdagradConfig{LR: optim.Constant(lr), Eps: 1e-10, Initial: 0.5, WeightDecay: 0.1})
	},
	"adagrad_defaults": func(a, b *autograd.Node) optim.Optimizer {
		return optim.NewAdagrad([]*autograd.Node{a, b}, optim.AdagradDefaults(optim.Constant(lr)))
	},
	"adagrad_decay": func(a, b *autograd.Node) optim.Optimizer {
		return optim.NewAdagrad([]*autograd.Node{a, b}, optim.AdagradDefaults(func(step int) float64 { return lr / (1 + 0.1*float64(step)) }))
	},
	"lion": func(a, b *autograd.Node) optim.Optimizer {
		cfg := optim.LionDefaults(optim.Constant(lr))
		cfg.WeightDecay = 0.1
		return optim.NewLion([]*autograd.Node{a, b}, cfg)
	},
	"lamb": func(a, b *autograd.Node) optim.Optimizer {
		cfg := optim.LAMBDefaults(optim.Constant(lr))
		cfg.WeightDecay = 0.1
		return optim.NewLAMB([]*autograd.Node{a, b}, cfg)
	},
	"group_adamw": func(a, b *autograd.Node) optim.Optimizer {
		cfg := optim.AdamWDefaults(optim.Constant(lr))
		own := cfg
		own.LR, own.Beta1, own.Beta2, own.WeightDecay = optim.Constant(0.01), 0.8, 0.9, 0
		cfg.Groups = []optim.Group[optim.AdamWConfig]{{Params: []*autograd.Node{b}, Config: own}}
		return optim.NewAdamW([]*autograd.Node{b, a}, cfg)
	},
	"group_sgd": func(a, b *autograd.Node) optim.Optimizer {
		cfg := optim.SGDConfig{LR: optim.Constant(lr), WeightDecay: 0.1}
		own := cfg
		own.LR, own.Momentum = optim.Constant(0.01), 0.5
		cfg.Groups = []optim.Group[optim.SGDConfig]{{Params: []*autograd.Node{b}, Config: own}}
		return optim.NewSGD([]*autograd.Node{a}, cfg)
	},
	"group_rmsprop": func(a, b *autograd.Node) optim.Optimizer {
		cfg := optim.RMSpropDefaults(optim.Constant(lr))
		own := cfg
		own.LR, own.Momentum, own.Centered = optim.Constant(0.01), 0.5, true
		cfg.Groups = []optim.Group[optim.RMSpropConfig]{{Params: []*autograd.Node{a}, Config: cfg}, {Params: []*autograd.Node{b}, Config: own}}
		return optim.NewRMSprop(nil, cfg)
	},
}

// TestNumbers repeats 20 steps of PyTorch's update rules, and of the papers' Lion and LAMB, with
// given gradients.
func TestNumbers(t *testing.T) {
	ref := numbers(t, "optimizers.npz")
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for name, rule := range asInScript {
			a, b := autograd.Param(devtest.New(d, ref["a0"], 3, 50), "a"), autograd.Param(devtest.New(d, ref["b0"]), "b")
			opt := rule(a, b)
			for step := range 20 {
				gradient := func(p *autograd.Node, all []float64) *autograd.Node {
					return p.Mul(autograd.Const(devtest.New(d, all[step*p.Len():(step+1)*p.Len()], p.Shape()...))).Sum()
				}
				if err := gradient(a, ref["a_grads"]).Add(gradient(b, ref["b_grads"])).Backward(); err != nil {
					t.Fatal(err)
				}
				if err := opt.Step(); err != nil {
					t.Fatal(err)
				}
				opt.ZeroGrad()
			}
			tol := 1e-9
			if d.DefaultType() == kernels.Float32 {
				tol = 2e-4 // rounding may turn the sign of a direction, or lie in a difference that a root is taken of
			}
			for _, p := range []*autograd.Node{a, b} {
				got, err := p.Float64s()
				if err != nil {
					t.Fatal(err)
				}
				closeTo(t, p.Name()+" of "+name, got, ref[p.Name()+"_"+name], tol)
			}
			opt.Free()
		}
	})
}
