package optim_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// TestSchedules: the learning rates of steps, before, at and after the ends.
func TestSchedules(t *testing.T) {
	cosine := optim.Cosine(1, 0.2, 10)
	warm := optim.Warmup(4, optim.Exponential(1, 0.5))
	for _, c := range []struct {
		name string
		s    optim.Schedule
		want map[int]float64
	}{
		{"Constant", optim.Constant(3), map[int]float64{0: 3, 99: 3}},
		{"Exponential", optim.Exponential(2, 0.5), map[int]float64{0: 2, 1: 1, 3: 0.25}},
		{"Cosine", cosine, map[int]float64{0: 1, 5: 0.6, 10: 0.2, 11: 0.2}},
		{"Cosine of no steps", optim.Cosine(1, 0.2, 0), map[int]float64{0: 0.2, 7: 0.2}},
		{"StepLR", optim.StepLR(8, 0.5, 3), map[int]float64{0: 8, 2: 8, 3: 4, 6: 2}},
		{"WarmupHoldDecay", optim.WarmupHoldDecay(6, 2, 4, 10), map[int]float64{0: 2, 1: 4, 2: 6, 4: 6, 7: 3, 9: 1, 10: 0, 11: 0}},
		{"WarmupHoldDecay of no steps", optim.WarmupHoldDecay(6, 0, 0, 0), map[int]float64{0: 0}},
		{"Polynomial", optim.Polynomial(3, 1, 4, 1), map[int]float64{0: 3, 1: 2.5, 4: 1, 9: 1}},
		{"Polynomial of no power", optim.Polynomial(3, 1, 4, 0), map[int]float64{0: 3, 3: 3, 4: 1}},
		{"CosineRestarts of one step", optim.CosineRestarts(1, 0, 1, 1), map[int]float64{0: 1, 1: 1, 5: 1}},
		{"Polynomial of no steps", optim.Polynomial(3, 1, 0, 2), map[int]float64{0: 1}},
		{"CosineRestarts", optim.CosineRestarts(1, 0, 2, 3), map[int]float64{0: 1, 1: 0.5, 2: 1, 5: 0.5, 8: 1, math.MaxInt: optim.CosineRestarts(1, 0, 2, 3)(math.MaxInt)}},
		{"CosineRestarts, huge", optim.CosineRestarts(1, 0, math.MaxInt, 7), map[int]float64{0: 1, math.MaxInt: 1}},
		{"OneCycle", optim.OneCycle(1, 10, optim.OneCycleOptions{Rise: 0.5, Div: 5, Final: 4, Linear: true}), map[int]float64{0: 0.2, 2: 0.6, 4: 1, 9: 0.05, 10: 0.05, 99: 0.05}},
		{"OneCycle that only rises", optim.OneCycle(1, 5, optim.OneCycleOptions{Rise: 1, Div: 5, Linear: true}), map[int]float64{0: 0.2, 2: 0.6, 4: 1}},
		{"OneCycle of three halves", optim.OneCycle(1, 10, optim.OneCycleOptions{Rise: 0.5, Div: 5, Final: 4, Linear: true, Three: true}), map[int]float64{0: 0.2, 4: 1, 6: 0.6, 8: 0.2, 9: 0.05}},
		{"OneCycle of one step", optim.OneCycle(1, 1), map[int]float64{1: 4e-6, 7: 4e-6}},
		{"OneCycle of no steps", optim.OneCycle(1, 0), map[int]float64{0: 4e-6}},
		{"OneCycle without a rise", optim.OneCycle(1, 10, optim.OneCycleOptions{Rise: 0.1}), map[int]float64{0: 0.04, 9: 4e-6}},
		{"Warmup", warm, map[int]float64{0: 0.25, 3: 1, 4: 1, 5: 0.5}},
		{"Warmup of no steps", optim.Warmup(0, optim.Exponential(1, 0.5), optim.WarmupOptions{Start: 0.5}), map[int]float64{0: 1, 1: 0.5}},
		{"Warmup from 1", optim.Warmup(3, optim.Constant(2), optim.WarmupOptions{Start: 1}), map[int]float64{0: 2, 2: 2, 3: 2}},
	} {
		for step, want := range c.want {
			if got := c.s(step); !(math.Abs(got-want) <= 1e-12) {
				t.Errorf("%s at step %d is %v, want %v", c.name, step, got, want)
			}
		}
	}
}

// TestScheduleNumbers: schedules give PyTorch's learning rates.
func TestScheduleNumbers(t *testing.T) {
	ref := numbers(t, "schedules.npz")
	plateau := func(change func(cfg *optim.PlateauConfig)) optim.Schedule {
		cfg := optim.PlateauDefaults(0.1)
		if change != nil {
			change(&cfg)
		}
		p := optim.NewPlateau(cfg)
		return func(step int) float64 {
			rate := p.LR(step)
			p.Measured(ref["losses"][step])
			return rate
		}
	}
	for name, s := range map[string]optim.Schedule{
		"onecycle":        optim.OneCycle(0.1, 40),
		"onecycle_linear": optim.OneCycle(0.1, 33, optim.OneCycleOptions{Rise: 0.45, Linear: true, Div: 10, Final: 100}),
		"onecycle_three":  optim.OneCycle(0.1, 37, optim.OneCycleOptions{Rise: 0.4, Three: true}),
		"polynomial":      optim.Polynomial(0.1, 0, 20, 2),
		"restarts":        optim.CosineRestarts(0.1, 0.001, 7, 2),
		"restarts_equal":  optim.CosineRestarts(0.1, 0, 8, 1),
		"warmup_lambda":   optim.Warmup(5, optim.Constant(0.1)),
		"warmup_linear":   optim.Warmup(5, optim.Exponential(0.1, 0.5), optim.WarmupOptions{Start: 0.01}),
		"plateau":         plateau(nil),
		"plateau_all": plateau(func(cfg *optim.PlateauConfig) {
			cfg.Factor, cfg.Patience, cfg.Threshold, cfg.Cooldown, cfg.Least = 0.5, 2, 0.05, 3, 0.002
		}),
		"plateau_max": plateau(func(cfg *optim.PlateauConfig) {
			cfg.Rising, cfg.Patience, cfg.Factor, cfg.Threshold, cfg.Absolute = true, 0, 0.7, 0.3, true
		}),
	} {
		var got []float64
		for step := range ref[name] {
			got = append(got, s(step))
		}
		closeTo(t, name, got, ref[name], 1e-12)
	}
}

// TestStairs: a stair may be one step.
func TestStairs(t *testing.T) {
	for step, want := range []float64{8, 4, 2, 1} {
		if got := optim.StepLR(8, 0.5, 1)(step); got != want {
			t.Errorf("step %d: %v, want %v", step, got, want)
		}
	}
}

// TestScheduleMisuse: settings out of range are named.
func TestScheduleMisuse(t *testing.T) {
	for what, f := range map[string]func(){
		"PlateauDefaults": func() { optim.NewPlateau(optim.PlateauConfig{LR: 1}) },
		"Patience":        func() { optim.NewPlateau(optim.PlateauConfig{LR: 1, Factor: 0.5, Patience: -1}) },
		"Least":           func() { optim.NewPlateau(optim.PlateauConfig{LR: 1, Factor: 0.5, Least: math.NaN()}) },
		"LR is +Inf":      func() { optim.NewPlateau(optim.PlateauDefaults(math.Inf(1))) },
		"every 0 steps":   func() { optim.StepLR(1, 0.5, 0) },
		"a cycle of 0":    func() { optim.CosineRestarts(1, 0, 0, 1) },
		"0 times as long": func() { optim.CosineRestarts(1, 0, 1, 0) },
		"one set":         func() { optim.OneCycle(1, 10, optim.OneCycleOptions{}, optim.OneCycleOptions{}) },
		"Rise is 1.5":     func() { optim.OneCycle(1, 10, optim.OneCycleOptions{Rise: 1.5}) },
		"Rise is 0.6":     func() { optim.OneCycle(1, 10, optim.OneCycleOptions{Rise: 0.6, Three: true}) },
		"Final is -1":     func() { optim.OneCycle(1, 10, optim.OneCycleOptions{Final: -1}) },
		"schedule is nil": func() { optim.Warmup(3, nil) },
		"Start is 1.1":    func() { optim.Warmup(3, optim.Constant(1), optim.WarmupOptions{Start: 1.1}) },
		"Start is NaN":    func() { optim.Warmup(3, optim.Constant(1), optim.WarmupOptions{Start: math.NaN()}) },
		"2 WarmupOptions": func() { optim.Warmup(3, optim.Constant(1), optim.WarmupOptions{}, optim.WarmupOptions{}) },
		"LR is 0":         func() { optim.NewPlateau(optim.PlateauDefaults(0)) },
		"Factor is 1":     func() { optim.NewPlateau(optim.PlateauConfig{LR: 1, Factor: 1}) },
		"Cooldown is -1":  func() { optim.NewPlateau(optim.PlateauConfig{LR: 1, Factor: 0.5, Cooldown: -1}) },
		"Threshold is":    func() { optim.NewPlateau(optim.PlateauConfig{LR: 1, Factor: 0.5, Threshold: math.Inf(1)}) },
		"Eps is -1":       func() { optim.NewPlateau(optim.PlateauConfig{LR: 1, Factor: 0.5, Eps: -1}) },
		"Div is NaN":      func() { optim.OneCycle(1, 10, optim.OneCycleOptions{Div: math.NaN()}) },
		"Rise is -0.1":    func() { optim.OneCycle(1, 10, optim.OneCycleOptions{Rise: -0.1}) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: err = %v", what, err)
		}
	}
}

// TestPlateauState: a restored plateau resumes as the first; what no plateau can be in is refused.
func TestPlateauState(t *testing.T) {
	cfg := optim.PlateauDefaults(0.1)
	cfg.Patience, cfg.Cooldown = 1, 2
	p := optim.NewPlateau(cfg)
	for _, loss := range []float64{3, math.NaN(), 3, 3} {
		p.Measured(loss)
	}
	q := optim.NewPlateau(cfg)
	if err := q.Restore(p.State()); err != nil {
		t.Fatal(err)
	}
	for i, loss := range []float64{2, 2, 5, 5, 5, 5, 1, math.Inf(1), math.Inf(-1)} {
		p.Measured(loss)
		q.Measured(loss)
		if p.State() != q.State() || p.LR(i) != q.LR(99) {
			t.Errorf("after value %d the restored one is %+v, the first %+v", i, q.State(), p.State())
		}
	}
	for _, good := range []optim.PlateauState{{LR: 0}, {LR: 1, Best: -1, Seen: true, Bad: 1, Cool: 1}} {
		if err := q.Restore(good); err != nil || q.State() != good {
			t.Errorf("%+v: err = %v, and the state is %+v", good, err, q.State())
		}
	}
	before := q.State()
	for _, bad := range []optim.PlateauState{{LR: -1}, {LR: math.NaN()}, {LR: math.Inf(1)}, {LR: 1, Bad: -1}, {LR: 1, Cool: -1}, {LR: 1, Best: math.NaN()}} {
		if err := q.Restore(bad); err == nil || q.State() != before {
			t.Errorf("%+v: err = %v, and the state is %+v", bad, err, q.State())
		}
	}
}

// TestPlateauOfZeros: without patience, threshold, cooldown and eps a value as good as the best one
// is no progress.
func TestPlateauOfZeros(t *testing.T) {
	for _, rising := range []bool{false, true} {
		for _, absolute := range []bool{false, true} {
			p := optim.NewPlateau(optim.PlateauConfig{LR: 8, Factor: 0.5, Rising: rising, Absolute: absolute, Least: 1})
			var rates []float64
			for _, value := range []float64{5, 5, 5, 5, 5, 5} {
				p.Measured(value)
				rates = append(rates, p.LR(0))
			}
			if want := []float64{8, 4, 2, 1, 1, 1}; !slices.Equal(rates, want) {
				t.Errorf("rising %v, absolute %v: the rates are %v, want %v", rising, absolute, rates, want)
			}
		}
	}
}

// TestPlateauEdges: a first value that is infinitely bad is no progress, and a reduction by Eps is
// left out.
func TestPlateauEdges(t *testing.T) {
	for _, c := range []struct {
		eps, value, rate float64
		rising           bool
	}{{0, math.Inf(1), 4, false}, {0, math.Inf(-1), 8, false}, {0, math.Inf(-1), 4, true}, {0, math.Inf(1), 8, true}, {3, math.NaN(), 4, false}, {4, math.NaN(), 8, false}} {
		p := optim.NewPlateau(optim.PlateauConfig{LR: 8, Factor: 0.5, Eps: c.eps, Rising: c.rising})
		if p.Measured(c.value); p.LR(0) != c.rate {
			t.Errorf("eps %v, rising %v: after %v the rate is %v, want %v", c.eps, c.rising, c.value, p.LR(0), c.rate)
		}
	}
}

// TestPlateauThreshold: what is better than the best value by the threshold, and no more, is no
// progress.
func TestPlateauThreshold(t *testing.T) {
	for _, c := range []struct {
		rising, absolute bool
		same, better     float64 // than 8, by a threshold of ½
	}{{false, false, 4, 3.9}, {false, true, 7.5, 7.4}, {true, false, 12, 12.1}, {true, true, 8.5, 8.6}} {
		for value, want := range map[float64]float64{c.same: 0.5, c.better: 1} {
			p := optim.NewPlateau(optim.PlateauConfig{LR: 1, Factor: 0.5, Threshold: 0.5, Rising: c.rising, Absolute: c.absolute})
			p.Measured(8)
			if p.Measured(value); p.LR(0) != want {
				t.Errorf("rising %v, absolute %v: after %v the rate is %v, want %v", c.rising, c.absolute, value, p.LR(0), want)
			}
		}
	}
}
