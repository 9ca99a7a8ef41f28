package flatparams_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/flatparams"
	"github.com/clgrad/clgrad/tensor"
)

func param(d tensor.Device, name string, v ...float64) *autograd.Node {
	return autograd.Param(devtest.New(d, v), name)
}

func want(t *testing.T, what string, x *tensor.Tensor, v ...float64) {
	t.Helper()
	if x == nil {
		t.Errorf("%s is nil", what)
		return
	}
	if got, err := x.Float64s(); err != nil || !slices.Equal(got, v) {
		t.Errorf("%s is %v, not %v (err %v)", what, got, v, err)
	}
}

// TestBuffer: parameters keep their values and gradients where they move to a buffer and leave it,
// and gather gradients there.
func TestBuffer(t *testing.T) {
	d := devtest.CPU(t)
	a, b, c := param(d, "a", 1, 2), autograd.Param(devtest.New(d, []float64{1, 2, 3, 4}, 2, 2), "b"), param(d, "c", 9)
	x := autograd.Const(devtest.New(d, []float64{1, 0, 0, 1, 1, 1}, 3, 2))
	backward := func(loss *autograd.Node) {
		t.Helper()
		if err := loss.Backward(); err != nil {
			t.Fatal(err)
		}
	}
	pass := func() { backward(x.MatMul(b).Add(a).Sum()) }
	pass()
	buffer := flatparams.New([]*autograd.Node{a, b, c})
	want(t, "a", a.Value(), 1, 2)
	want(t, "gradient of a, moved", a.Grad(), 3, 3)
	pass()
	want(t, "gradient of a", a.Grad(), 6, 6)
	want(t, "gradient of b", b.Grad(), 4, 4, 4, 4)
	var runs [][2]int
	buffer.Runs(func(from, to int) { runs = append(runs, [2]int{from, to}) })
	if !slices.Equal(runs, [][2]int{{0, 2 * flatparams.Align}}) { // c has no gradient
		t.Errorf("runs %v", runs)
	}
	if n := buffer.Used(0, flatparams.Align); n != 2 {
		t.Errorf("an update of a alone computes %d elements", n)
	}
	if n := buffer.Used(0, 2*flatparams.Align); n != 2*flatparams.Align {
		t.Errorf("an update of a and b computes %d elements", n)
	}
	buffer.ZeroGrad()
	if a.Grad() != nil {
		t.Error("ZeroGrad left a gradient")
	}
	pass()
	want(t, "gradient of a after ZeroGrad", a.Grad(), 3, 3)
	backward(a.Mul(a).Add(a).Sum())
	want(t, "gradient of a, used twice", a.Grad(), 3+3, 3+5)
	values := a.Value()
	buffer.Free()
	buffer.Free()
	want(t, "a without its buffer", values, 1, 2)
	flatparams.New([]*autograd.Node{a}).Free()
}

func TestOf(t *testing.T) {
	d := devtest.CPU(t)
	a, b, c := param(d, "a", 1), param(d, "b", 2), param(d, "c", 3)
	buffer := flatparams.New([]*autograd.Node{a, b})
	for _, test := range []struct {
		params []*autograd.Node
		want   *flatparams.Buffer
	}{{[]*autograd.Node{a, b}, buffer}, {[]*autograd.Node{b, a}, buffer}, {[]*autograd.Node{a}, nil}, {[]*autograd.Node{a, c}, nil}, {[]*autograd.Node{c}, nil}, {nil, nil}} {
		if got := flatparams.Of(test.params); got != test.want {
			t.Errorf("the buffer of %v is %v", test.params, got)
		}
	}
	buffer.Free()
	if flatparams.Of([]*autograd.Node{a, b}) != nil {
		t.Error("parameters lie in a buffer that was freed")
	}
}

func TestMisuse(t *testing.T) {
	d := devtest.CPU(t)
	held, p, freed := param(d, "held", 1), param(d, "p", 1, 2), param(d, "freed", 1)
	flatparams.New([]*autograd.Node{held})
	freed.Value().Free()
	for _, c := range []struct {
		kind   error
		detail string
		params []*autograd.Node
	}{
		{tensor.ErrValue, "no parameters", nil},
		{tensor.ErrValue, "nil", []*autograd.Node{p, nil}},
		{tensor.ErrValue, `"Neg" is no parameter`, []*autograd.Node{p.Neg()}},
		{tensor.ErrValue, `"p" is listed twice`, []*autograd.Node{p, p}},
		{tensor.ErrValue, `"held" already has an optimizer`, []*autograd.Node{p, held}},
		{tensor.ErrValue, `"q" is made of the tensor of another`, []*autograd.Node{p, autograd.Param(p.Value(), "q")}},
		{tensor.ErrValue, `"q" is made of the tensor of another`, []*autograd.Node{autograd.Param(held.Value(), "q")}},
		{tensor.ErrFreed, `"freed"`, []*autograd.Node{p, freed}},
		{tensor.ErrDevice, `"other"`, []*autograd.Node{p, param(devtest.CPU(t), "other", 1)}},
	} {
		if err := tensor.Try(func() { flatparams.New(c.params) }); !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.detail) {
			t.Errorf("%v: %v", c.params, err)
		}
	}
	flatparams.New([]*autograd.Node{p}) // nothing has changed
}
