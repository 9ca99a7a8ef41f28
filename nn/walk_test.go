package nn_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

type onDevice struct {
	tensor.Device // whose methods the model has, without being a device
	Head          *nn.Linear
}

type held[T any] struct{ V T }

// TestPartsReached: every way in which Go holds a value leads to the parts of a model.
func TestPartsReached(t *testing.T) {
	d := devtest.CPU(t)
	l := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 2, Out: 2, NoBias: true})
	seq, list := nn.Sequential{l, nn.ReLU}, []*nn.Linear{nil, l}
	var module nn.Module = l
	inner := &l
	for name, c := range map[string]struct {
		model any
		path  string
	}{
		"a pointer to a Sequential":  {&seq, "0.weight"},
		"a Sequential":               {seq, "0.weight"},
		"one in an interface":        {&held[nn.Module]{&seq}, "v.0.weight"},
		"an embedded device":         {&onDevice{d, l}, "head.weight"},
		"a pointer to a pointer":     {&inner, "weight"},
		"a pointer to an interface":  {&module, "weight"},
		"a slice with nil":           {&held[*[]*nn.Linear]{&list}, "v.1.weight"},
		"a map by a type of strings": {map[keyName]any{"a": [1]any{l}}, "a.0.weight"},
		"deep":                       {&held[map[string][1][]**nn.Linear]{map[string][1][]**nn.Linear{"k": {{&l}}}}, "v.k.0.0.weight"},
		"a struct in an interface":   {&held[any]{held[*nn.Linear]{l}}, "v.v.weight"},
		"a parameter":                {&held[*autograd.Node]{l.Weight}, "v"},
	} {
		dict := nn.StateDict(c.model)
		if _, ok := dict[c.path]; !ok || len(dict) != 1 || len(nn.Params(c.model)) != 1 {
			t.Errorf("%s: state dict %v and %d parameters, want %q", name, dict, len(nn.Params(c.model)), c.path)
		}
	}
	for name, model := range map[string]any{"a device": d, "a node that is no parameter": autograd.Const(tensor.Zeros(d, 1)), "a tensor": tensor.Zeros(d, 1),
		"a node by value": &held[any]{*l.Weight.Add(l.Weight)}} {
		if n := len(nn.StateDict(model)); n != 0 {
			t.Errorf("%s has %d parameters", name, n)
		}
	}
}

type keyName string

// TestCycles: a part that leads back to itself ends there.
func TestCycles(t *testing.T) {
	d := devtest.CPU(t)
	l := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 2, Out: 2, NoBias: true})
	list := []any{nil, l}
	list[0] = list
	byName := map[string]any{"l": l}
	byName["self"] = byName
	var any1 any
	any1 = &any1
	type node struct {
		next *node
		*nn.Linear
	}
	ring := &node{Linear: l}
	ring.next = &node{next: ring, Linear: l}
	for name, model := range map[string]any{"slice": list, "map": byName, "ring": ring, "interface": &held[[2]any]{[2]any{any1, l}}} {
		if n := len(nn.Params(model)); n != 1 {
			t.Errorf("%s: %d parameters, want 1", name, n)
		}
		nn.Eval(model)
	}
}

// TestNeighbours: of parts that point to each other, each is visited once for its parameters and
// its mode; a state dict, which would have every path, refuses them.
func TestNeighbours(t *testing.T) {
	d := devtest.CPU(t)
	type block struct {
		others []*block
		Lin    *nn.Linear
		Drop   *nn.Dropout
	}
	model := &held[[]*block]{}
	rng := tensor.NewRNG(1)
	for range 40 {
		model.V = append(model.V, &block{Lin: nn.NewLinear(d, rng, nn.LinearConfig{In: 2, Out: 2, NoBias: true}), Drop: &nn.Dropout{P: 1, RNG: rng}})
	}
	for _, b := range model.V {
		b.others = append(b.others, model.V...) // a slice of its own
	}
	if n := len(nn.Params(model)); n != 40 {
		t.Errorf("%d parameters, want 40", n)
	}
	nn.Eval(model)
	for i, b := range model.V {
		if x := autograd.Const(tensor.Scalar(d, 1)); b.Drop.Forward(x) != x {
			t.Errorf("block %d is still in training", i)
		}
	}
	if err := tensor.Try(func() { nn.StateDict(model) }); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), "the tag `nn:\"-\"`") {
		t.Errorf("the state dict: err = %v", err)
	}
}

// TestSharedParts: the path of a part that several lead to is the first, also where it was reached
// first within another.
func TestSharedParts(t *testing.T) {
	d := devtest.CPU(t)
	type block struct {
		Next *block
		Lin  *nn.Linear
	}
	lin := func() *nn.Linear {
		return nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 2, Out: 2, NoBias: true})
	}
	last := &block{Lin: lin()}
	first := &block{Next: last, Lin: lin()}
	last.Next = first
	model := &held[[]*block]{[]*block{first, last}}
	var names []string
	for _, p := range nn.Params(model) {
		names = append(names, p.Name())
	}
	if got, want := strings.Join(names, " "), "v.0.next.lin.weight v.0.lin.weight"; got != want {
		t.Errorf("parameters %s, want %s", got, want)
	}
	if dict := nn.StateDict(model); len(dict) != 4 || dict["v.1.next.lin.weight"] == nil {
		t.Errorf("the state dict is %v", dict)
	}
}

// TestManyNumbers: a data set in a model is not looked through.
func TestManyNumbers(t *testing.T) {
	model := struct {
		Rows  [][]float32
		Words map[string][]string
		Pixel []struct{ v any }
	}{Rows: make([][]float32, 1<<20), Words: map[string][]string{}}
	if n := testing.AllocsPerRun(1, func() { nn.Params(&model) }); n > 100 {
		t.Errorf("Params allocates %v times", n)
	}
}

type byValue struct{ on *bool }

func (b byValue) SetTraining(on bool) { *b.on = on }

// TestModeOfCopies: a layer whose mode would be set in a copy alone is refused; one that has its
// mode elsewhere is not.
func TestModeOfCopies(t *testing.T) {
	for name, model := range map[string]any{
		"a model that is no pointer": held[nn.Dropout]{},
		"in an interface":            &held[any]{nn.Dropout{}},
		"in a map":                   &held[map[string]nn.Dropout]{map[string]nn.Dropout{"a": {}}},
	} {
		if err := tensor.Try(func() { nn.Eval(model) }); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%s: err = %v", name, err)
		}
	}
	on := true
	if nn.Eval(map[string]any{"a": byValue{&on}}); on {
		t.Error("a layer by value is still in training")
	}
}

// TestUnknownTag: a word that a tag does not have is not passed over, since a state dict would have
// another layout.
func TestUnknownTag(t *testing.T) {
	d := devtest.CPU(t)
	model := struct {
		W *autograd.Node `nn:"weight,transpose"`
	}{autograd.Param(tensor.Zeros(d, 2, 2), "")}
	if err := tensor.Try(func() { nn.StateDict(&model) }); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), "field W") {
		t.Errorf("err = %v", err)
	}
}
