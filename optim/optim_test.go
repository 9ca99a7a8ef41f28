package optim_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// rules are the optimizers, with settings that exercise every term.
var rules = map[string]func(p []*autograd.Node) optim.Optimizer{
	"adamw": func(p []*autograd.Node) optim.Optimizer {
		return optim.NewAdamW(p, optim.AdamWConfig{LR: optim.Exponential(0.1, 0.9), Beta1: 0.9, Beta2: 0.99, Eps: 1e-8, WeightDecay: 0.1})
	},
	"adamw without correction": func(p []*autograd.Node) optim.Optimizer {
		return optim.NewAdamW(p, optim.AdamWConfig{LR: optim.Constant(0.1), Beta1: 0.9, Beta2: 0.99, Eps: 1e-3, NoBiasCorrect: true})
	},
	"sgd": func(p []*autograd.Node) optim.Optimizer {
		return optim.NewSGD(p, optim.SGDConfig{LR: optim.Constant(0.1), Momentum: 0.9, WeightDecay: 0.5})
	},
	"nesterov": func(p []*autograd.Node) optim.Optimizer {
		return optim.NewSGD(p, optim.SGDConfig{LR: optim.Constant(0.1), Momentum: 0.9, WeightDecay: 0.5, Nesterov: true})
	},
	"adam": func(p []*autograd.Node) optim.Optimizer {
		return optim.NewAdam(p, optim.AdamConfig{LR: optim.Constant(0.1), Beta1: 0.9, Beta2: 0.99, Eps: 1e-3, WeightDecay: 0.5})
	},
	"rmsprop": func(p []*autograd.Node) optim.Optimizer {
		return optim.NewRMSprop(p, optim.RMSpropConfig{LR: optim.Constant(0.1), Alpha: 0.9, Eps: 1e-3, WeightDecay: 0.5})
	},
	"rmsprop centered, with momentum": func(p []*autograd.Node) optim.Optimizer {
		return optim.NewRMSprop(p, optim.RMSpropConfig{LR: optim.Constant(0.1), Alpha: 0.9, Eps: 1e-3, WeightDecay: 0.5, Centered: true, Momentum: 0.8})
	},
	"adagrad": func(p []*autograd.Node) optim.Optimizer {
		return optim.NewAdagrad(p, optim.AdagradConfig{LR: optim.Constant(0.1), Eps: 1e-3, Initial: 0.25, WeightDecay: 0.5})
	},
	"lion": func(p []*autograd.Node) optim.Optimizer {
		return optim.NewLion(p, optim.LionConfig{LR: optim.Exponential(0.1, 0.9), Beta1: 0.9, Beta2: 0.99, WeightDecay: 0.5})
	},
	"lamb": func(p []*autograd.Node) optim.Optimizer {
		return optim.NewLAMB(p, optim.LAMBConfig{LR: optim.Constant(0.1), Beta1: 0.9, Beta2: 0.99, Eps: 1e-3, WeightDecay: 0.5})
	},
}

// scalarSteps is each rule for one weight whose gradient is always g, written out by hand.
func scalarSteps(rule string, p, g float64, steps int) float64 {
	var m, v, square float64
	if rule == "adagrad" {
		square = 0.25
	}
	for t := 1; t <= steps; t++ {
		switch rule {
		case "adamw":
			lr := 0.1 * math.Pow(0.9, float64(t-1))
			p -= lr * 0.1 * p
			m, v = 0.9*m+0.1*g, 0.99*v+0.01*g*g
			p -= lr * (m / (1 - math.Pow(0.9, float64(t)))) / (math.Sqrt(v/(1-math.Pow(0.99, float64(t)))) + 1e-8)
		case "adamw without correction":
			m, v = 0.9*m+0.1*g, 0.99*v+0.01*g*g
			p -= 0.1 * m / (math.Sqrt(v) + 1e-3)
		case "sgd":
			v = 0.9*v + g + 0.5*p
			p -= 0.1 * v
		case "nesterov":
			d := g + 0.5*p
			v = 0.9*v + d
			p -= 0.1 * (d + 0.9*v)
		case "adam":
			d := g + 0.5*p
			m, v = 0.9*m+0.1*d, 0.99*v+0.01*d*d
			p -= 0.1 * (m / (1 - math.Pow(0.9, float64(t)))) / (math.Sqrt(v/(1-math.Pow(0.99, float64(t)))) + 1e-3)
		case "rmsprop":
			d := g + 0.5*p
			square = 0.9*square + 0.1*d*d
			p -= 0.1 * d / (math.Sqrt(square) + 1e-3)
		case "rmsprop centered, with momentum":
			d := g + 0.5*p
			square, m = 0.9*square+0.1*d*d, 0.9*m+0.1*d
			v = 0.8*v + d/(math.Sqrt(square-m*m)+1e-3)
			p -= 0.1 * v
		case "adagrad":
			d := g + 0.5*p
			square += d * d
			p -= 0.1 * d / (math.Sqrt(square) + 1e-3)
		case "lion":
			lr := 0.1 * math.Pow(0.9, float64(t-1))
			p -= lr * (math.Copysign(1, 0.9*m+0.1*g) + 0.5*p)
			m = 0.99*m + 0.01*g
		}
	}
	return p
}

func TestRules(t *testing.T) {
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			d := devtest.CPU(t)
			p := autograd.Param(devtest.New(d, []float64{1, -2}), "p")
			first, last := autograd.Param(devtest.New(d, []float64{5}), "first"), autograd.Param(devtest.New(d, []float64{5, 5, 5}), "last")
			opt := rule([]*autograd.Node{first, p, last})
			for range 3 {
				if err := p.MulScalar(3).Sum().Backward(); err != nil {
					t.Fatal(err)
				}
				if err := opt.Step(); err != nil {
					t.Fatal(err)
				}
				opt.ZeroGrad()
			}
			got, err := p.Value().Float64s()
			if err != nil {
				t.Fatal(err)
			}
			for i, start := range []float64{1, -2} {
				if name == "lamb" {
					continue // its weights are not apart: see TestNumbers
				}
				if want := scalarSteps(name, start, 3, 3); math.Abs(got[i]-want) > 1e-12 {
					t.Errorf("weight %d is %v, want %v", i, got[i], want)
				}
			}
			for _, idle := range []*autograd.Node{first, last} {
				if v, err := idle.Value().Float64s(); err != nil || slices.Min(v) != 5 || slices.Max(v) != 5 {
					t.Errorf("a parameter without a gradient moved to %v (err %v)", v, err)
				}
			}
		})
	}
}

// TestResume: an optimizer restored from a state resumes with the same bits.
func TestResume(t *testing.T) {
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
				start := func(values []float64) (*autograd.Node, optim.Optimizer) {
					p := autograd.Param(devtest.New(d, values), "p")
					return p, rule([]*autograd.Node{p})
				}
				step := func(p *autograd.Node, opt optim.Optimizer) {
					t.Helper()
					if err := p.Square().Add(p).Sum().Backward(); err != nil {
						t.Fatal(err)
					}
					if err := opt.Step(); err != nil {
						t.Fatal(err)
					}
					opt.ZeroGrad()
				}
				p, opt := start([]float64{1, 2, 3})
				for range 5 {
					step(p, opt)
				}
				state := opt.State()
				for name, v := range state.Tensors {
					state.Tensors[name] = v.Copy()
				}
				at, err := p.Value().Float64s()
				if err != nil {
					t.Fatal(err)
				}
				q, resumed := start(at)
				if err := resumed.Restore(state); err != nil {
					t.Fatal(err)
				}
				for range 5 {
					step(p, opt)
					step(q, resumed)
				}
				a, _ := p.Value().Float64s()
				b, _ := q.Value().Float64s()
				if !reflect.DeepEqual(a, b) || resumed.Steps() != 10 || resumed.LR() != opt.LR() {
					t.Errorf("resumed: %v after %d steps, want %v after 10", b, resumed.Steps(), a)
				}
				_, other := start([]float64{1, 2})
				if err := other.Restore(state); err == nil || !strings.Contains(err.Error(), "[3]") {
					t.Errorf("a state of another shape: err = %v", err)
				}
				typed := optim.State{Steps: state.Steps, Tensors: tensor.Dict{}}
				for name, m := range state.Tensors {
					typed.Tensors[name] = m.To(tensor.Float16)
				}
				if err := resumed.Restore(typed); err == nil && len(typed.Tensors) > 0 || err != nil && !strings.Contains(err.Error(), fmt.Sprintf("is of type float16 in the state, %v in the optimizer", d.DefaultType())) {
					t.Errorf("a state of another type: err = %v", err)
				}
				if err := other.Restore(optim.State{}); err == nil {
					t.Error("an empty state was restored")
				}
			})
		})
	}
}

// TestStateNames: parameters that share a name, or have none, keep their moments apart.
func TestStateNames(t *testing.T) {
	d := devtest.CPU(t)
	var params []*autograd.Node
	for _, name := range []string{"w", "w", "", ""} {
		params = append(params, autograd.Param(tensor.Zeros(d, 2), name))
	}
	opt := rules["adamw"](params)
	if n := len(opt.State().Tensors); n != 8 {
		t.Errorf("%d tensors for two moments of four parameters", n)
	}
	if err := opt.Restore(opt.State()); err != nil {
		t.Error(err)
	}
}

func TestMisuse(t *testing.T) {
	d := devtest.CPU(t)
	p := []*autograd.Node{autograd.Param(tensor.Zeros(d, 1), "p")}
	for what, f := range map[string]func(){
		"Beta1":           func() { optim.NewAdamW(p, optim.AdamWConfig{LR: optim.Constant(1), Beta1: 1}) },
		"AdamDefaults":    func() { optim.NewAdam(p, optim.AdamConfig{LR: optim.Constant(1)}) },
		"Alpha":           func() { optim.NewRMSprop(p, optim.RMSpropConfig{LR: optim.Constant(1), Alpha: 1}) },
		"RMSpropDefaults": func() { optim.NewRMSprop(p, optim.RMSpropConfig{LR: optim.Constant(1), Momentum: 0.5}) },
		"AdagradDefaults": func() { optim.NewAdagrad(p, optim.AdagradConfig{LR: optim.Constant(1)}) },
		"Initial":         func() { optim.NewAdagrad(p, optim.AdagradConfig{LR: optim.Constant(1), Initial: -1}) },
		"LionDefaults":    func() { optim.NewLion(p, optim.LionConfig{LR: optim.Constant(1)}) },
		"LAMBDefaults":    func() { optim.NewLAMB(p, optim.LAMBConfig{LR: optim.Constant(1)}) },
		"WeightDecay":     func() { optim.NewLAMB(p, optim.LAMBConfig{LR: optim.Constant(1), Eps: 1, WeightDecay: math.Inf(1)}) },
		"Eps":             func() { optim.NewAdamW(p, optim.AdamWConfig{LR: optim.Constant(1), Eps: -1}) },
		"AdamWDefaults":   func() { optim.NewAdamW(p, optim.AdamWConfig{LR: optim.Constant(1), WeightDecay: 0.1}) },
		"Momentum":        func() { optim.NewSGD(p, optim.SGDConfig{LR: optim.Constant(1), Momentum: math.NaN()}) },
		"every 0 steps":   func() { optim.StepLR(1, 0.5, 0) },
		"schedule":        func() { optim.NewSGD(p, optim.SGDConfig{}) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: err = %v", what, err)
		}
	}
	opt := optim.NewSGD(p, optim.SGDConfig{LR: optim.Constant(math.NaN())})
	if err := opt.Step(); err == nil || !strings.HasSuffix(err.Error(), "NaN at step 0") {
		t.Errorf("a learning rate of NaN: err = %v", err)
	}
}

// TestEdgesOfRanges: settings at the ends of their ranges that are inside are taken, and one of
// Beta2 and Eps may be 0.
func TestEdgesOfRanges(t *testing.T) {
	d := devtest.CPU(t)
	for i, cfg := range []optim.AdamWConfig{{Beta2: 0.9}, {Eps: 1e-8}, {Beta1: 0, Beta2: 0.9, Eps: 0, WeightDecay: 0}, {Beta1: 1 - 0x1p-53, Beta2: 1 - 0x1p-53, Eps: math.MaxFloat64, WeightDecay: math.MaxFloat64}} {
		cfg.LR = optim.Constant(1)
		if err := tensor.Try(func() { optim.NewAdamW([]*autograd.Node{autograd.Param(tensor.Zeros(d, 1), "p")}, cfg) }); err != nil {
			t.Errorf("case %d: %v", i, err)
		}
	}
	one := func() []*autograd.Node { return []*autograd.Node{autograd.Param(tensor.Zeros(d, 1), "p")} }
	rate := optim.Constant(1)
	for what, f := range map[string]func(){
		"Lion without Beta2":      func() { optim.NewLion(one(), optim.LionConfig{LR: rate, Beta1: 0.9}) },
		"Lion without Beta1":      func() { optim.NewLion(one(), optim.LionConfig{LR: rate, Beta2: 0.9}) },
		"RMSprop without Eps":     func() { optim.NewRMSprop(one(), optim.RMSpropConfig{LR: rate, Alpha: 0.9}) },
		"RMSprop without Alpha":   func() { optim.NewRMSprop(one(), optim.RMSpropConfig{LR: rate, Eps: 1e-8}) },
		"Adagrad without Eps":     func() { optim.NewAdagrad(one(), optim.AdagradConfig{LR: rate, Initial: 1}) },
		"Adagrad without Initial": func() { optim.NewAdagrad(one(), optim.AdagradConfig{LR: rate, Eps: 1e-8}) },
	} {
		if err := tensor.Try(f); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i, cfg := range []optim.AdamWConfig{{}, {Beta1: 0.9}, {Beta2: 1, Eps: 1}, {Beta2: -0x1p-1074, Eps: 1}, {Beta2: 0.9, Eps: math.Inf(1)}, {Beta2: 0.9, WeightDecay: -1}, {Beta2: 0.9, Eps: math.NaN()}} {
		cfg.LR = optim.Constant(1)
		err := tensor.Try(func() { optim.NewAdamW([]*autograd.Node{autograd.Param(tensor.Zeros(d, 1), "p")}, cfg) })
		if !errors.Is(err, tensor.ErrValue) {
			t.Errorf("bad case %d: err = %v", i, err)
		}
	}
}

// TestOneLaunch: a step is one launch, however many parameters there are.
func TestOneLaunch(t *testing.T) {
	for name, rule := range rules {
		d := devtest.CPU(t)
		var params []*autograd.Node
		sum := autograd.Const(tensor.Scalar(d, 0))
		for i := range 20 {
			p := autograd.Param(tensor.Full(d, 1, i+1), fmt.Sprint("p", i))
			params = append(params, p)
			sum = sum.Add(p.Sum())
		}
		opt := rule(params)
		if err := sum.Backward(); err != nil {
			t.Fatal(err)
		}
		before := d.Stats().Launches
		if err := opt.Step(); err != nil {
			t.Fatal(err)
		}
		most := int64(1)
		if name == "lamb" {
			most = 9
		}
		if n := d.Stats().Launches - before; n < 1 || n > most {
			t.Errorf("%s: %d launches", name, n)
		}
	}
}

// TestStepChanges: a step changes values that graphs from before it need, and that is an error of
// their Backward.
func TestStepChanges(t *testing.T) {
	for name, rule := range rules {
		d := devtest.CPU(t)
		p := autograd.Param(devtest.New(d, []float64{1, 2}), "p")
		opt := rule([]*autograd.Node{p})
		before := p.Square().Sum()
		if err := p.Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		if err := opt.Step(); err != nil {
			t.Fatal(err)
		}
		if err := before.Backward(); !errors.Is(err, autograd.ErrChanged) {
			t.Errorf("%s: a graph from before the step: err = %v", name, err)
		}
	}
}

// TestHalfParameters: parameters of 16 bits are updated as those of float32 are, and rounded; the
// moments are of float32.
func TestHalfParameters(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for name, rule := range rules {
			for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
				var results [2][]float64
				for i, of := range []tensor.Type{typ, tensor.Float32} {
					p := autograd.Param(tensor.NewOf(d, of, []float64{1, -2, 0.5, 4}), "p")
					opt := rule([]*autograd.Node{p})
					if err := p.Square().Sum().Backward(); err != nil {
						t.Fatal(err)
					}
					if err := opt.Step(); err != nil {
						t.Fatal(err)
					}
					if p.Type() != of {
						t.Errorf("%s: a parameter of %v is of %v after a step", name, of, p.Type())
					}
					for moment, m := range opt.State().Tensors {
						if m.Type() != tensor.Float32 {
							t.Errorf("%s of %v: %s is of %v", name, of, moment, m.Type())
						}
					}
					var err error
					if results[i], err = p.Value().To(typ).Float64s(); err != nil {
						t.Fatal(err)
					}
					opt.Free()
				}
				if !slices.Equal(results[0], results[1]) {
					t.Errorf("%s of %v: %v, in float32 %v", name, typ, results[0], results[1])
				}
			}
		}
		p := autograd.Param(tensor.ZerosOf(d, tensor.BFloat16, 2), "p")
		opt := optim.NewSGD([]*autograd.Node{p}, optim.SGDConfig{LR: optim.Constant(1)})
		if err := tensor.Try(func() { optim.NewLossScaler(opt, optim.LossScalerDefaults()) }); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), "Autocast") {
			t.Errorf("a loss scaler of 16 bits: err = %v", err)
		}
	})
}
