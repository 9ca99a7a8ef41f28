package nn_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

func TestStateDict(t *testing.T) {
	d := devtest.CPU(t)
	cfg := nn.MLPConfig{Sizes: []int{2, 3, 1}}
	a, b := nn.NewMLP(d, tensor.NewRNG(1), cfg), nn.NewMLP(d, tensor.NewRNG(2), cfg)
	if err := nn.LoadStateDict(b, nn.StateDict(a)); err != nil {
		t.Fatal(err)
	}
	x := autograd.Const(tensor.Full(d, 0.3, 4, 2))
	if _, _, diff := spread(t, a.Forward(x).Sub(b.Forward(x)).Value()); diff != 0 {
		t.Errorf("loaded network differs by %v", diff)
	}
	if w := nn.StateDict(a)["layer0.weight"]; !slices.Equal(w.Shape(), []int{3, 2}) {
		t.Errorf("the weight has shape %v, not PyTorch's [out, in]", w.Shape())
	}

	refused := func(what string, dict tensor.Dict, say string) {
		t.Helper()
		before, _ := b.Layers[0].Weight.Float64s()
		if err := nn.LoadStateDict(b, dict); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: err = %v, want one that says %s", what, err, say)
		}
		if after, _ := b.Layers[0].Weight.Float64s(); !slices.Equal(before, after) {
			t.Errorf("%s: the weight changed", what)
		}
	}
	fresh := func() tensor.Dict { return nn.StateDict(nn.NewMLP(d, tensor.NewRNG(3), cfg)) }
	refused("another shape", nn.StateDict(nn.NewMLP(d, tensor.NewRNG(3), nn.MLPConfig{Sizes: []int{2, 4, 1}})), `"layer0.bias" has shape [4], in the model [3]`)
	short := fresh()
	delete(short, "layer1.bias")
	refused("a tensor missing", short, `the dict has no "layer1.bias"`)
	more := fresh()
	more["extra"] = tensor.Zeros(d, 1)
	refused("a tensor too many", more, `the model has no "extra"`)
	delete(more, "layer1.bias")
	refused("both", more, `the dict has no "layer1.bias"; the model has no "extra"`)
	integers := fresh()
	integers["layer1.bias"] = tensor.ZerosOf(d, tensor.Int32, 1)
	refused("integers", integers, `"layer1.bias" is of type int32, in the model of float64`)
	small := fresh()
	small["layer1.bias"] = small["layer1.bias"].To(tensor.Float8E4M3FN)
	refused("floats for storage", small, `"layer1.bias" is of type float8_e4m3fn, in the model of float64: convert it with To`)
	refused("six names more", tensor.Dict{"a": nil, "b": nil, "c": nil, "d": nil, "e": nil, "f": nil}, `; the model has no "a", "b", "c", "d", "e", "f"`)
	refused("seven names more", tensor.Dict{"a": nil, "b": nil, "c": nil, "d": nil, "e": nil, "f": nil, "g": nil}, `; the model has no "a", "b", "c", "d", "e" and 2 more`)
	refused("nothing", tensor.Dict{}, `the dict has no "layer0.bias", "layer0.weight", "layer1.bias", "layer1.weight"`)
	freed := fresh()
	freed["layer1.weight"] = tensor.Zeros(d, 1, 3)
	freed["layer1.weight"].Free()
	refused("a freed tensor", freed, `"layer1.weight" was freed`)
	none := fresh()
	none["layer1.weight"] = nil
	refused("nil", none, `"layer1.weight" is nil`)
	elsewhere := fresh()
	elsewhere["layer1.weight"] = tensor.Zeros(devtest.CPU(t), 1, 3)
	refused("another device", elsewhere, `"layer1.weight" is on `)

	if err := nn.LoadStateDict(b, more, nn.LoadOptions{Partial: true}); err != nil {
		t.Errorf("in part: %v", err)
	}
	got, _ := b.Layers[0].Weight.Value().T().Float64s()
	if want, _ := more["layer0.weight"].Float64s(); !slices.Equal(got, want) {
		t.Errorf("loaded in part: %v, want %v", got, want)
	}
	halves := tensor.Dict{}
	for name, v := range nn.StateDict(a) {
		halves[name] = v.To(tensor.Float16)
	}
	if err := nn.LoadStateDict(b, halves); err != nil {
		t.Fatal(err)
	}
	for name, v := range nn.StateDict(b) {
		got, _ := v.Float64s()
		if want, _ := halves[name].Float64s(); v.Type() != d.DefaultType() || !slices.Equal(got, want) {
			t.Errorf("%v loaded from Float16: %v, want %v", name, got, want)
		}
	}
	if err := nn.LoadStateDict(nn.Sequential{nn.ReLU}, tensor.Dict{}); err != nil {
		t.Errorf("a model without parameters: %v", err)
	}
	closed, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	c := nn.NewMLP(closed, tensor.NewRNG(1), cfg)
	dict := nn.StateDict(c)
	closed.Close()
	if err := nn.LoadStateDict(c, dict); err == nil || err.Error() != closed.Err().Error() {
		t.Errorf("on a device that is closed: err = %v, want %v", err, closed.Err())
	}
}

// TestStateDictPaths: two tensors of one path are refused; a parameter at two paths is there twice,
// as in PyTorch.
func TestStateDictPaths(t *testing.T) {
	d := devtest.CPU(t)
	l := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 2, Out: 2, NoBias: true})
	var twice struct {
		A, B *nn.Linear
	}
	twice.A, twice.B = l, l
	if dict := nn.StateDict(&twice); len(dict) != 2 || dict["a.weight"] == nil || dict["b.weight"] == nil {
		t.Errorf("a shared layer: %v", dict)
	}
	if n := len(nn.Params(&twice)); n != 1 {
		t.Errorf("a shared layer has %d parameters, want 1", n)
	}
	same := struct {
		A *nn.Linear
		B *nn.Linear `nn:"a"`
	}{l, nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 2, Out: 2, NoBias: true})}
	if err := tensor.Try(func() { nn.StateDict(&same) }); err == nil || !strings.Contains(err.Error(), `"a.weight"`) {
		t.Errorf("a path twice: err = %v", err)
	}
	if err := tensor.Try(func() { _ = nn.LoadStateDict(l, nn.StateDict(l), nn.LoadOptions{}, nn.LoadOptions{}) }); err == nil {
		t.Error("two LoadOptions were taken")
	}
}

// TestStateDictFollows: what StateDict returned stays the model's when optimizers move the
// parameters, and writing to it changes them.
func TestStateDictFollows(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		net := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{2, 3, 1}})
		dict := nn.StateDict(net)
		same := func(when string) {
			t.Helper()
			for i, l := range net.Layers {
				want, err := l.Weight.Value().T().Float64s()
				if err != nil {
					t.Fatal(err)
				}
				held := dict[fmt.Sprintf("layer%d.weight", i)]
				if got, err := held.Float64s(); err != nil || !slices.Equal(got, want) || !slices.Equal(held.Shape(), []int{l.Weight.Shape()[1], l.Weight.Shape()[0]}) {
					t.Errorf("%s: layer %d is %v, want %v (err %v)", when, i, got, want, err)
				}
			}
		}
		for range 2 { // the second optimizer moves them from the first one's memory
			opt := optim.NewSGD(nn.Params(net), optim.SGDConfig{LR: optim.Constant(0.1)})
			same("with an optimizer")
			if err := optim.Minimize(opt, net.Forward(autograd.Const(tensor.Full(d, 1, 4, 2))).Sum()); err != nil {
				t.Fatal(err)
			}
			same("after a step")
			opt.Free()
			same("after the optimizer")
			dict["layer1.weight"].FillInPlace(7)
			same("written")
		}
		if again := nn.StateDict(net); again["layer0.weight"] != dict["layer0.weight"] {
			t.Error("a second call made another view")
		}
		dict["layer0.weight"].Free()
		optim.NewSGD(nn.Params(net), optim.SGDConfig{LR: optim.Constant(0.1)})
		dict = nn.StateDict(net)
		same("after a view was freed")
	})
}

// TestLoadOwn: a dict may hold the model's own tensors under other names, in any order.
func TestLoadOwn(t *testing.T) {
	d := devtest.CPU(t)
	net := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{2, 2, 2, 2}})
	dict, want := nn.StateDict(net), map[string][]float64{}
	for _, kind := range []string{"weight", "bias"} {
		a, b, c := "layer0."+kind, "layer1."+kind, "layer2."+kind
		dict[a], dict[b], dict[c] = dict[b], dict[c], dict[a]
		for _, name := range []string{a, b, c} {
			want[name], _ = dict[name].Float64s()
		}
	}
	if err := nn.LoadStateDict(net, dict); err != nil {
		t.Fatal(err)
	}
	for name, v := range nn.StateDict(net) {
		if got, err := v.Float64s(); err != nil || !slices.Equal(got, want[name]) {
			t.Errorf("%s is %v, want %v (err %v)", name, got, want[name], err)
		}
	}
}

// TestLoadOwnViews: the same of views of the model's tensors, of one in itself too.
func TestLoadOwnViews(t *testing.T) {
	d := devtest.CPU(t)
	model := struct{ A, B, C *autograd.Node }{autograd.Param(devtest.New(d, []float64{1, 2}), ""), autograd.Param(devtest.New(d, []float64{3, 4}), ""),
		autograd.Param(devtest.New(d, []float64{1, 2, 3, 4}, 2, 2), "")}
	for i := range 2 { // with memory of their own, and with an optimizer's
		if i == 1 {
			optim.NewSGD(nn.Params(&model), optim.SGDConfig{LR: optim.Constant(0.1)})
		}
		dict := tensor.Dict{"a": model.B.Value().View(), "b": model.A.Value().View(), "c": model.C.Value().T()}
		want := map[*autograd.Node]tensor.Dict{}
		for n, name := range map[*autograd.Node]string{model.A: "a", model.B: "b", model.C: "c"} {
			want[n] = tensor.Dict{"v": dict[name].Copy()}
		}
		if err := nn.LoadStateDict(&model, dict); err != nil {
			t.Fatal(err)
		}
		for n, v := range want {
			got, err := n.Float64s()
			if w, _ := v["v"].Float64s(); err != nil || !slices.Equal(got, w) {
				t.Errorf("%s is %v, want %v (err %v)", n.Name(), got, w, err)
			}
		}
	}
}

// TestLoadRepeated: a parameter that cannot be written to is named before another changes.
func TestLoadRepeated(t *testing.T) {
	d := devtest.CPU(t)
	model := struct{ A, B *autograd.Node }{autograd.Param(tensor.Full(d, 1, 2), ""), autograd.Param(tensor.Full(d, 1, 1).Expand(3), "")}
	err := tensor.Try(func() {
		_ = nn.LoadStateDict(&model, tensor.Dict{"a": tensor.Full(d, 9, 2), "b": tensor.Full(d, 9, 3)})
	})
	if v, _ := model.A.Float64s(); !errors.Is(err, tensor.ErrValue) || !slices.Equal(v, []float64{1, 1}) {
		t.Errorf("%v, err = %v", v, err)
	}
}
