package optim_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// TestStateKeys: a moment is called by its parameter's name, and by its place too where the name is
// not enough.
func TestStateKeys(t *testing.T) {
	d := devtest.CPU(t)
	for _, c := range []struct {
		names []string
		want  string
	}{
		{[]string{"w"}, "velocity.w"},
		{[]string{"w", "b"}, "velocity.b velocity.w"},
		{[]string{""}, "velocity.#0"},
		{[]string{"w", "b", "w", "", ""}, "velocity.#3 velocity.#4 velocity.b velocity.w#0 velocity.w#2"},
		{[]string{"w", "w", "w#1", "w#1#1"}, "velocity.w#0 velocity.w#1 velocity.w#1#1 velocity.w#1#1#1"},
	} {
		var params []*autograd.Node
		for _, name := range c.names {
			params = append(params, autograd.Param(tensor.Zeros(d, 2), name))
		}
		state := rules["sgd"](params).State()
		if got := strings.Join(slices.Sorted(maps.Keys(state.Tensors)), " "); got != c.want {
			t.Errorf("parameters %q: the state has %q, want %q", c.names, got, c.want)
		}
	}
}

// TestRestoreRefuses: a state that is not this optimizer's changes nothing of it.
func TestRestoreRefuses(t *testing.T) {
	d := devtest.CPU(t)
	p := autograd.Param(devtest.New(d, []float64{1, 2}), "p")
	opt := rules["adamw"]([]*autograd.Node{p})
	if err := p.Square().Sum().Backward(); err != nil {
		t.Fatal(err)
	}
	if err := opt.Step(); err != nil {
		t.Fatal(err)
	}
	moments := func() (v []float64) {
		for _, name := range []string{"m.p", "v.p"} {
			m, err := opt.State().Tensors[name].Float64s()
			if err != nil {
				t.Fatal(err)
			}
			v = append(v, m...)
		}
		return v
	}
	before := moments()
	for what, change := range map[string]func(tensors tensor.Dict, steps *int){
		"negative steps":        func(_ tensor.Dict, steps *int) { *steps = -1 },
		"a tensor more":         func(tensors tensor.Dict, _ *int) { tensors["more"] = tensor.Zeros(d, 2) },
		"a tensor less":         func(tensors tensor.Dict, _ *int) { delete(tensors, "v.p") },
		"a tensor renamed":      func(tensors tensor.Dict, _ *int) { tensors["v.q"] = tensors["v.p"]; delete(tensors, "v.p") },
		"a tensor of [1 2]":     func(tensors tensor.Dict, _ *int) { tensors["v.p"] = tensor.Zeros(d, 1, 2) },
		"a shorter tensor":      func(tensors tensor.Dict, _ *int) { tensors["v.p"] = tensor.Zeros(d, 1) },
		"a tensor of no values": func(tensors tensor.Dict, _ *int) { tensors["v.p"] = tensor.Zeros(d, 0) },
	} {
		state := opt.State()
		state.Tensors = tensor.Dict{"m.p": tensor.Full(d, 7, 2), "v.p": tensor.Full(d, 7, 2)}
		change(state.Tensors, &state.Steps)
		if err := opt.Restore(state); err == nil {
			t.Errorf("%s: restored", what)
		}
		if after := moments(); !slices.Equal(before, after) || opt.Steps() != 1 {
			t.Errorf("%s: the moments are %v after %d steps, want %v after 1", what, after, opt.Steps(), before)
		}
	}
}

// TestRestoreHostile: a tensor of a state that is nil, freed, or on another device is an error, and
// nothing is changed.
func TestRestoreHostile(t *testing.T) {
	d, other := devtest.CPU(t), devtest.CPU(t)
	for say, bad := range map[string]func() *tensor.Tensor{
		"is nil":    func() *tensor.Tensor { return nil },
		"was freed": func() *tensor.Tensor { x := tensor.Zeros(d, 2); x.Free(); return x },
		"is on ":    func() *tensor.Tensor { return tensor.Zeros(other, 2) },
	} {
		for _, name := range []string{"velocity.a", "velocity.b"} {
			a, b := autograd.Param(tensor.Zeros(d, 2), "a"), autograd.Param(tensor.Zeros(d, 2), "b")
			o := optim.NewSGD([]*autograd.Node{a, b}, optim.SGDConfig{LR: optim.Constant(1), Momentum: 0.5})
			s := optim.State{Steps: 7, Tensors: tensor.Dict{}}
			for own := range o.State().Tensors {
				s.Tensors[own] = tensor.Full(d, 3, 2)
			}
			if _, ok := s.Tensors[name]; !ok {
				t.Fatalf("the state has no %q: %v", name, s.Tensors)
			}
			s.Tensors[name] = bad()
			err := o.Restore(s)
			if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), say) {
				t.Errorf("%s %s: err = %v", name, say, err)
			}
			for own, x := range o.State().Tensors {
				if v, err := x.Float64s(); err != nil || v[0] != 0 || o.Steps() != 0 {
					t.Errorf("%s %s: %s became %v, %v", name, say, own, v, err)
				}
			}
			o.Free()
		}
	}
}

// TestRestoreOwn: a state may hold the optimizer's own tensors under other names.
func TestRestoreOwn(t *testing.T) {
	d := devtest.CPU(t)
	o := optim.NewSGD([]*autograd.Node{autograd.Param(tensor.Zeros(d, 2), "a"), autograd.Param(tensor.Zeros(d, 2), "b")}, optim.SGDConfig{LR: optim.Constant(1), Momentum: 0.5})
	s := o.State()
	a, b := s.Tensors["velocity.a"], s.Tensors["velocity.b"]
	a.FillInPlace(1)
	b.FillInPlace(2)
	if err := o.Restore(optim.State{Tensors: tensor.Dict{"velocity.a": b, "velocity.b": a}}); err != nil {
		t.Fatal(err)
	}
	if va, vb := read(t, a), read(t, b); va[0] != 2 || vb[0] != 1 {
		t.Errorf("%v and %v, want 2 and 1", va, vb)
	}
	before := d.Stats().Launches
	if err := o.Restore(o.State()); err != nil || d.Stats().Launches != before {
		t.Errorf("its own state is restored by %d launches, err = %v", d.Stats().Launches-before, err)
	}
}

// TestStateKeysStay: a parameter that gets a longer name later, as nn.Params of a larger model
// gives it, keeps its key: a run that continues loads the state before that.
func TestStateKeysStay(t *testing.T) {
	d := devtest.CPU(t)
	p := autograd.Param(tensor.Zeros(d, 2), "weight")
	ema := optim.NewEMA([]*autograd.Node{p}, 0.9)
	for name, rule := range rules {
		opt := rule([]*autograd.Node{p})
		p.Named("head.weight")
		for key := range opt.State().Tensors {
			if !strings.HasSuffix(key, ".weight") || strings.HasSuffix(key, "head.weight") {
				t.Errorf("%s: the state has %q", name, key)
			}
		}
		opt.Free()
		p.Named("weight")
	}
	p.Named("head.weight")
	if keys := slices.Collect(maps.Keys(ema.State().Tensors)); !slices.Equal(keys, []string{"average.weight"}) {
		t.Errorf("the averages have %q", keys)
	}
}
