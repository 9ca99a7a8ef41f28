package nn_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

type inner struct {
	proj   *nn.Linear // unexported fields count
	QNorm2 *nn.LayerNorm
	parent *outer
}

type base struct{ Head *nn.Linear }

type outer struct {
	base
	device tensor.Device
	Blocks []*inner `nn:"block#"`
	Any    nn.Module
	Seq    nn.Sequential
	ByName map[string]*nn.Linear
	Left   *nn.Linear `nn:"-"`
	None   *nn.Linear
	Scale  *autograd.Node      `nn:"s"`
	Fixed  *autograd.Node      // a constant
	Table  *tensor.Tensor      `nn:"table"`
	Tables []*tensor.Tensor    `nn:"table#_of"`
	Turned [2][]*autograd.Node `nn:"turned#_way,transposed"`
	cache  *tensor.Tensor
	slope  *kernels.Function
	rng    *tensor.RNG
	drop   nn.Dropout // parts that are no pointers count
}

func newOuter(d tensor.Device) *outer {
	rng := tensor.NewRNG(1)
	lin := func() *nn.Linear { return nn.NewLinear(d, rng, nn.LinearConfig{In: 2, Out: 2, NoBias: true}) }
	o := &outer{base: base{lin()}, device: d, Any: lin(), Seq: nn.Sequential{nn.ReLU, lin(), &nn.Dropout{P: 0.5, RNG: rng}},
		ByName: map[string]*nn.Linear{"z": lin(), "a": lin()}, Left: lin(), Scale: autograd.Param(tensor.Scalar(d, 1), ""),
		Fixed: autograd.Const(tensor.Scalar(d, 1)), Table: tensor.Zeros(d, 3), Tables: []*tensor.Tensor{tensor.Zeros(d, 1)},
		Turned: [2][]*autograd.Node{{autograd.Param(tensor.Zeros(d, 2, 3), "")}}, cache: tensor.Zeros(d, 3), slope: fn.ReLU, rng: rng, drop: nn.Dropout{P: 0.5, RNG: rng}}
	for range 2 {
		o.Blocks = append(o.Blocks, &inner{proj: lin(), QNorm2: nn.NewLayerNorm(d, nn.LayerNormConfig{Shape: []int{2}, NoBias: true}), parent: o})
	}
	return o
}

// TestPaths: the fields of a model, its parts and their elements make the paths, in their order.
func TestPaths(t *testing.T) {
	d := devtest.CPU(t)
	o := newOuter(d)
	var names []string
	for _, p := range nn.Params(o) {
		names = append(names, p.Name())
	}
	want := "head.weight block0.proj.weight block0.q_norm2.weight block1.proj.weight block1.q_norm2.weight any.weight seq.1.weight by_name.a.weight by_name.z.weight s turned0_way.0"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("parameters %s\nwant       %s", got, want)
	}
	dict := nn.StateDict(o)
	if dict["table"] != o.Table || dict["table0_of"] != o.Tables[0] || len(dict) != len(names)+2 {
		t.Errorf("the state dict has %d tensors, and %v and %v for the tables", len(dict), dict["table"], dict["table0_of"])
	}
	if turned := dict["turned0_way.0"]; !slices.Equal(turned.Shape(), []int{3, 2}) {
		t.Errorf("a transposed element has shape %v", turned.Shape())
	}
	if n := len(nn.Params(*o)); n != len(names) {
		t.Errorf("a model by value has %d parameters, want %d", n, len(names))
	}
	if n := len(nn.Params(nil)) + len(nn.Params((*outer)(nil))) + len(nn.Params(3)); n != 0 {
		t.Errorf("nothing has %d parameters", n)
	}
}

// TestNames: a part that was named before the whole takes the longer path, and keeps it; a name of
// the program's stays.
func TestNames(t *testing.T) {
	d := devtest.CPU(t)
	o := newOuter(d)
	o.Seq[1].(*nn.Linear).Weight.Named("mine")
	nn.Params(o.Head)
	nn.Params(o)
	nn.Params(o.base)
	if a, b := o.Head.Weight.Name(), o.Seq[1].(*nn.Linear).Weight.Name(); a != "head.weight" || b != "mine" {
		t.Errorf("names %q and %q", a, b)
	}
	for field, want := range map[string]string{"LayerNorm2": "layer_norm2", "qProj": "q_proj", "FCOut": "fc_out", "W": "w", "FC1": "fc1", "A_B": "a_b", "ÄÖ": "äö", "WIh": "w_ih"} {
		if got := nn.Snake(field); got != want {
			t.Errorf("field %s is %q in a path, want %q", field, got, want)
		}
	}
}

// TestModes: Train and Eval reach the layers of a model.
func TestModes(t *testing.T) {
	d := devtest.CPU(t)
	o := newOuter(d)
	x := autograd.Const(tensor.Full(d, 1, 100))
	dropped := func() bool {
		var zeros [2]bool
		for i, drop := range []nn.Module{o.Seq[2], &o.drop} {
			v, err := drop.Forward(x).Float64s()
			if err != nil {
				t.Fatal(err)
			}
			zeros[i] = slices.Contains(v, 0)
		}
		if zeros[0] != zeros[1] {
			t.Error("only one of two layers drops")
		}
		return zeros[0]
	}
	if !dropped() {
		t.Error("a new layer is not in training")
	}
	if nn.Eval(o); dropped() {
		t.Error("dropout in evaluation")
	}
	if nn.Train(o); !dropped() {
		t.Error("no dropout in training again")
	}
}

// TestFreeze: what is frozen gets no gradient until it is unfrozen.
func TestFreeze(t *testing.T) {
	d := devtest.CPU(t)
	o := newOuter(d)
	grads := func() string {
		o.Head.Forward(o.Any.Forward(autograd.Const(tensor.Full(d, 1, 1, 2)))).Sum().Backward()
		return fmt.Sprint(o.Head.Weight.Grad() != nil, o.Any.(*nn.Linear).Weight.Grad() != nil)
	}
	nn.Freeze(o.Head)
	if got := grads(); got != "false true" {
		t.Errorf("frozen head: gradients %s", got)
	}
	nn.Unfreeze(o)
	if got := grads(); got != "true true" {
		t.Errorf("unfrozen: gradients %s", got)
	}
	if n := len(nn.Params(o)); n != 11 {
		t.Errorf("%d parameters, want 11", n)
	}
}
