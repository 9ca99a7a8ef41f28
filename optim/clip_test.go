package optim_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// given returns parameters whose gradients are given numbers, and one that has none.
func given(t *testing.T, d tensor.Device, grads ...[]float64) []*autograd.Node {
	t.Helper()
	var params []*autograd.Node
	for i, g := range grads {
		p := autograd.Param(tensor.Zeros(d, len(g)), fmt.Sprint("p", i))
		if err := p.Mul(autograd.Const(devtest.New(d, g))).Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		params = append(params, p)
	}
	return append(params, autograd.Param(tensor.Zeros(d, 3), "none"))
}

func expectGrads(t *testing.T, what string, params []*autograd.Node, want ...float64) {
	t.Helper()
	var got []float64
	for _, p := range params {
		if g := p.Grad(); g != nil {
			v, err := g.Float64s()
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, v...)
		}
	}
	same := len(got) == len(want)
	for i := 0; same && i < len(got); i++ {
		same = math.Abs(got[i]-want[i]) < 1e-5*(1+math.Abs(want[i])) || math.IsNaN(got[i]) && math.IsNaN(want[i])
	}
	if !same {
		t.Errorf("%s: gradients %v, want %v", what, got, want)
	}
}

// TestClip: gradients are clipped to PyTorch's numbers, with and without an optimizer that keeps
// them.
func TestClip(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, c := range []struct {
			p, most, norm float64
			want          []float64
		}{
			{0, 5, 13.009611831257688, []float64{1.1529935744098463, -1.537324765879795, 4.611974297639385, 0.19216559573497438}},
			{1, 5, 19.5, []float64{0.7692307297830394, -1.0256409730440526, 3.0769229191321577, 0.12820512163050657}},
			{math.Inf(1), 5, 12, []float64{1.249999895833342, -1.6666665277777895, 4.999999583333368, 0.20833331597222368}},
			{2, 100, 13.009611831257688, []float64{3, -4, 12, 0.5}},
			{3, 1, 12.207334566596549, []float64{0.24575387345040534, -0.3276718312672071, 0.9830154938016213, 0.04095897890840089}},
		} {
			for _, kept := range []bool{false, true} {
				params := given(t, d, []float64{3, -4}, []float64{12, 0.5})
				if kept {
					opt := optim.NewSGD(params, optim.SGDConfig{LR: optim.Constant(0.1)})
					defer opt.Free()
				}
				norm, err := optim.ClipNorm(params, c.most, optim.ClipOptions{P: c.p}).Item()
				if err != nil || math.Abs(norm-c.norm) > 1e-5*c.norm {
					t.Errorf("p = %v: the norm is %v, want %v (err %v)", c.p, norm, c.norm, err)
				}
				expectGrads(t, fmt.Sprint("p = ", c.p, ", at most ", c.most), params, c.want...)
			}
		}
		params := given(t, d, []float64{3, -4, math.NaN()}, []float64{math.Inf(1), 0.5, -1})
		optim.ClipValue(params, 1)
		expectGrads(t, "by value", params, 1, -1, math.NaN(), 1, 0.5, -1)
		params = given(t, d, []float64{3, math.NaN()}, []float64{1})
		optim.ClipNorm(params, 1)
		expectGrads(t, "with a NaN", params, math.NaN(), math.NaN(), math.NaN())
		params = given(t, d, []float64{3, math.Inf(1)}, []float64{1})
		optim.ClipNorm(params, 1)
		expectGrads(t, "with an infinity", params, 0, math.NaN(), 0)
		params = given(t, d)
		if norm, err := optim.ClipNorm(params, 1).Item(); norm != 0 || err != nil {
			t.Errorf("without a gradient the norm is %v (err %v)", norm, err)
		}
		params = given(t, d, []float64{})
		if norm, err := optim.ClipNorm(params, 1, optim.ClipOptions{P: math.Inf(1)}).Item(); norm != 0 || err != nil {
			t.Errorf("of no elements the norm is %v (err %v)", norm, err)
		}
		sum := autograd.Param(tensor.Zeros(d, 2, 3), "sum") // its gradient is one number, repeated
		if err := sum.Sum().Backward(); err != nil {
			t.Fatal(err)
		}
		optim.ClipValue([]*autograd.Node{sum}, 0.5)
		expectGrads(t, "repeated", []*autograd.Node{sum}, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
	})
}

// TestClipMisuse: what cannot be clipped is named.
func TestClipMisuse(t *testing.T) {
	d := devtest.CPU(t)
	params := given(t, d, []float64{1})
	for say, f := range map[string]func(){
		"there are no parameters":  func() { optim.ClipNorm(nil, 1) },
		"the bound is 0":           func() { optim.ClipNorm(params, 0) },
		"the bound is NaN":         func() { optim.ClipValue(params, math.NaN()) },
		"the P of the norm is -1":  func() { optim.ClipNorm(params, 1, optim.ClipOptions{P: -1}) },
		"parameter 2 is nil":       func() { optim.ClipValue(append(params[:2:2], params[0]), 1) },
		"parameter 0 is nil":       func() { optim.ClipNorm([]*autograd.Node{nil}, 1) },
		"takes one set of options": func() { optim.ClipNorm(params, 1, optim.ClipOptions{}, optim.ClipOptions{}) },
	} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), say) {
			t.Errorf("err = %v, want %q", err, say)
		}
	}
}

// TestClipHalves: the norm of gradients of 16 bits is a float32, so that one above 65504 does not make them 0; infinite
// ones become NaN, and the others 0, as PyTorch's do.
func TestClipHalves(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, c := range []struct {
			typ  tensor.Type
			grad []float64
			norm float64
			want []float64
		}{
			{tensor.Float16, []float64{30000, 0, 40000, 49984}, 70699.366, []float64{0.42426, 0, 0.56569, 0.70711}},
			{tensor.Float16, []float64{3, math.Inf(1), 4}, math.Inf(1), []float64{0, math.NaN(), 0}},
			{tensor.Float16, []float64{1, math.NaN()}, math.NaN(), []float64{math.NaN(), math.NaN()}},
			{tensor.BFloat16, []float64{0x1p70, 0x1p70}, math.Inf(1), []float64{0, 0}}, // of squares that overflow
			{tensor.BFloat16, []float64{0.5, 0}, 0.5, []float64{0.5, 0}},
		} {
			p := autograd.Param(tensor.ZerosOf(d, c.typ, len(c.grad)), "p")
			if err := p.Mul(autograd.Const(tensor.NewOf(d, c.typ, c.grad))).Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			norm := optim.ClipNorm([]*autograd.Node{p}, 1)
			got := devtest.Float64s(t, norm)[0]
			if norm.Type() != tensor.Float32 || !(math.Abs(got-c.norm) <= 1e-5*c.norm || got == c.norm || math.IsNaN(got) && math.IsNaN(c.norm)) {
				t.Errorf("%v of %v: norm %v %v, want %v", c.grad, c.typ, norm.Type(), got, c.norm)
			}
			eps, _ := c.typ.Epsilon()
			for i, v := range devtest.Float64s(t, p.Grad()) {
				if w := c.want[i]; !(math.Abs(v-w) <= eps || math.IsNaN(v) && math.IsNaN(w)) {
					t.Errorf("%v of %v: gradient %d is %v, want %v", c.grad, c.typ, i, v, w)
				}
			}
		}
	})
}
