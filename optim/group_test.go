package optim_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// TestGroups: groups are one optimizer, with one count of steps, one state, and a launch for each.
func TestGroups(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		start := func() ([]*autograd.Node, optim.Optimizer) {
			var p []*autograd.Node
			for _, name := range []string{"a", "b", "c", "idle"} {
				p = append(p, autograd.Param(devtest.New(d, []float64{1, -2, 3}), name))
			}
			cfg := optim.AdamWDefaults(optim.Constant(0.1))
			own := cfg
			own.LR, own.WeightDecay = optim.Constant(0), 0
			empty := cfg
			cfg.Groups = []optim.Group[optim.AdamWConfig]{{Params: p[1:2], Config: own}, {Config: empty}}
			return p, optim.NewAdamW(p, cfg)
		}
		step := func(p []*autograd.Node, opt optim.Optimizer) {
			t.Helper()
			if err := p[0].Square().Add(p[1].Square()).Add(p[2]).Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			before := d.Stats().Launches
			if err := opt.Step(); err != nil {
				t.Fatal(err)
			}
			if n := d.Stats().Launches - before; n != 2 {
				t.Errorf("%d launches, want 2", n)
			}
			opt.ZeroGrad()
		}
		p, opt := start()
		for range 3 {
			step(p, opt)
		}
		all := func(p []*autograd.Node) (v []float64) {
			for _, p := range p {
				one, err := p.Float64s()
				if err != nil {
					t.Fatal(err)
				}
				v = append(v, one...)
			}
			return v
		}
		v := all(p)
		if !slices.Equal(v[3:6], []float64{1, -2, 3}) || !slices.Equal(v[9:], []float64{1, -2, 3}) || v[0] == 1 || v[6] == 1 {
			t.Errorf("the second group has the rate 0, the last parameter no gradient: %v", v)
		}
		if opt.LR() != 0.1 || opt.Steps() != 3 {
			t.Errorf("the rate is %v after %d steps", opt.LR(), opt.Steps())
		}
		state := opt.State()
		if len(state.Tensors) != 8 || state.Tensors["m.b"] == nil {
			t.Errorf("the state has %d tensors", len(state.Tensors))
		}
		q, resumed := start()
		for i := range q {
			q[i].Value().SetInPlace(p[i].Value())
		}
		if err := resumed.Restore(state); err != nil {
			t.Fatal(err)
		}
		step(p, opt)
		step(q, resumed)
		if !slices.Equal(all(p), all(q)) {
			t.Errorf("resumed: %v, want %v", all(q), all(p))
		}
	})
}

// TestGroupMisuse: groups that cannot be are named, with nothing moved.
func TestGroupMisuse(t *testing.T) {
	d := devtest.CPU(t)
	a, b := autograd.Param(tensor.Zeros(d, 1), "a"), autograd.Param(tensor.Zeros(d, 1), "b")
	cfg := optim.AdamWDefaults(optim.Constant(1))
	with := func(groups ...optim.Group[optim.AdamWConfig]) func() {
		c := cfg
		c.Groups = groups
		return func() { optim.NewAdamW([]*autograd.Node{a}, c) }
	}
	nested, bad, none := cfg, cfg, cfg
	nested.Groups = []optim.Group[optim.AdamWConfig]{{}}
	bad.Beta1 = 2
	none.LR = nil
	one := []*autograd.Node{b}
	for say, f := range map[string]func(){
		"group 0 has groups itself":     with(optim.Group[optim.AdamWConfig]{Params: one, Config: nested}),
		"Beta1 is 2":                    with(optim.Group[optim.AdamWConfig]{Params: one, Config: bad}),
		"the schedule is nil":           with(optim.Group[optim.AdamWConfig]{Params: one, Config: none}),
		`"b" is listed twice`:           with(optim.Group[optim.AdamWConfig]{Params: one, Config: cfg}, optim.Group[optim.AdamWConfig]{Params: one, Config: cfg}),
		"the Node is nil":               with(optim.Group[optim.AdamWConfig]{Params: []*autograd.Node{nil}, Config: cfg}),
		"there are 85 groups: 84 at mo": with(slices.Repeat([]optim.Group[optim.AdamWConfig]{{Config: cfg}}, 85)...),
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), say) {
			t.Errorf("err = %v, want %q", err, say)
		}
	}
	many := cfg
	many.Groups = slices.Repeat([]optim.Group[optim.AdamWConfig]{{Config: cfg}}, 84)
	optim.NewAdamW([]*autograd.Node{a}, many).Free()
	own := cfg
	own.LR = optim.Constant(math.Inf(1))
	cfg.Groups = []optim.Group[optim.AdamWConfig]{{Params: one, Config: own}}
	opt := optim.NewAdamW([]*autograd.Node{a}, cfg)
	if err := a.Add(b).Sum().Backward(); err != nil {
		t.Fatal(err)
	}
	if err := opt.Step(); err == nil || !strings.Contains(err.Error(), "+Inf at step 0 in group 1") || opt.Steps() != 0 {
		t.Errorf("an infinite rate in a group: err = %v", err)
	}
}

// TestFrozen: an optimizer leaves a frozen parameter and its moments as they are, and continues
// with it later.
func TestFrozen(t *testing.T) {
	for name, rule := range rules {
		d := devtest.CPU(t)
		a, b := autograd.Param(devtest.New(d, []float64{1, 2}), "a"), autograd.Param(devtest.New(d, []float64{3, 4}), "b")
		a.Freeze()
		opt := rule([]*autograd.Node{a, b})
		all := func() (v [][]float64) {
			for _, x := range []*tensor.Tensor{a.Value(), b.Value()} {
				one, err := x.Float64s()
				if err != nil {
					t.Fatal(err)
				}
				v = append(v, one)
			}
			for moment, x := range opt.State().Tensors {
				if one, err := x.Float64s(); strings.HasSuffix(moment, ".a") && (err != nil || slices.Max(one) != slices.Min(one)) {
					t.Errorf("%s: %s is %v (err %v)", name, moment, one, err)
				}
			}
			return v
		}
		step := func() {
			t.Helper()
			if err := a.Square().Mul(b).Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			if err := opt.Step(); err != nil {
				t.Fatal(err)
			}
			opt.ZeroGrad()
		}
		step()
		step()
		if v := all(); !slices.Equal(v[0], []float64{1, 2}) || v[1][0] == 3 {
			t.Errorf("%s: frozen and other are %v", name, v)
		}
		b.Freeze()
		a.Unfreeze()
		before := all()
		step()
		v, _ := a.Float64s()
		if w, _ := b.Float64s(); v[0] == 1 || !slices.Equal(w, before[1]) {
			t.Errorf("%s: unfrozen and frozen are %v, %v", name, v, w)
		}
		if err := a.Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		a.Freeze() // with its gradient
		if err := opt.Step(); !errors.Is(err, optim.ErrNoGradients) {
			t.Errorf("%s: all frozen: err = %v", name, err)
		}
	}
}
