package autograd_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// TestGradientsOfMixedFloats: a gradient has the type of its parameter, whatever it was computed in, and
// so have those that are recorded, and their gradients.
func TestGradientsOfMixedFloats(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		single := autograd.Param(tensor.NewOf(d, tensor.Float32, []float64{0.5, -1, 2, 3}, 2, 2), "single")
		double := autograd.Param(tensor.NewOf(d, tensor.Float64, []float64{1. / 3, 2, -1, 4}, 2, 2), "double")
		for name, f := range map[string]func() *node{
			"product":   func() *node { return single.MatMul(double).Square().Sum() },
			"map":       func() *node { return single.Mul(double).Exp().Sum() },
			"layer":     func() *node { return single.Linear(double, nil, fn.Tanh).Sum() },
			"broadcast": func() *node { return single.Slice(0, 0, 1).Mul(double).Square().Mean() },
			"both":      func() *node { return single.Square().Sum().Add(double.Square().Sum()) },
			"converted": func() *node { return double.To(tensor.Float32).Mul(single).Square().Sum() },
		} {
			for _, record := range []bool{false, true} {
				if err := f().Backward(autograd.BackwardOptions{CreateGraph: record}); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for _, p := range []*node{single, double} {
					if p.Grad().Type() != p.Value().Type() {
						t.Errorf("%s: the gradient of %s is of %v", name, p.Name(), p.Grad().Type())
					}
					checkDerivative(t, name, f, p)
					p.ZeroGrad()
				}
			}
			slopes := grad(t, f(), []*node{single, double}, autograd.GradOptions{CreateGraph: true})
			second := grad(t, slopes[0].Square().Sum().Add(slopes[1].Square().Sum()), []*node{single, double}, autograd.GradOptions{})
			for i, p := range []*node{single, double} {
				if slopes[i].Type() != p.Type() || second[i].Type() != p.Type() {
					t.Errorf("%s: recorded gradients of %s are of %v and %v", name, p.Name(), slopes[i].Type(), second[i].Type())
				}
			}
		}
	})
}

// checkDerivative compares the first element of a gradient with a difference quotient.
func checkDerivative(t *testing.T, name string, f func() *node, p *node) {
	t.Helper()
	values, err := p.Value().Float64s()
	if err != nil {
		t.Fatal(err)
	}
	const step = 1e-3
	at := func(by float64) float64 {
		moved := slices.Clone(values)
		moved[0] += by
		tensor.Upload(p.Value(), moved)
		v, err := f().Item()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	want := (at(step) - at(-step)) / (2 * step)
	tensor.Upload(p.Value(), values)
	got, err := p.Grad().Float64s()
	if err != nil || math.Abs(got[0]-want) > 1e-2*max(1, math.Abs(want)) {
		t.Errorf("%s: the gradient of %s begins with %v, want about %v (%v)", name, p.Name(), got[0], want, err)
	}
}

// TestTrainingInFloat64: a model of float64 trains on a device whose default is float32, in float64.
func TestTrainingInFloat64(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		weights := autograd.Param(tensor.NewOf(d, tensor.Float64, []float64{0.1, 0.2}, 2, 1), "w")
		opt := optim.NewSGD([]*node{weights}, optim.SGDConfig{LR: optim.Constant(0.02), Momentum: 0.9})
		x := autograd.Const(tensor.New(d, []float64{1, 2, 3, -1, 0.5, 2}, 3, 2))
		target := autograd.Const(tensor.New(d, []float64{1. / 3, -2. / 3}, 2, 1))
		var loss *node
		for range 1500 {
			loss = x.MatMul(weights).Sub(x.MatMul(target)).Square().Mean()
			if err := loss.Backward(); err != nil {
				t.Fatal(err)
			}
			if err := opt.Step(); err != nil {
				t.Fatal(err)
			}
			opt.ZeroGrad()
		}
		if v, err := loss.Item(); err != nil || loss.Type() != tensor.Float64 || !(v < 1e-25) {
			t.Errorf("loss %v of %v, %v", v, loss.Type(), err)
		}
		for name, m := range opt.State().Tensors {
			if m.Type() != tensor.Float64 {
				t.Errorf("%s is of %v", name, m.Type())
			}
		}
		other := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 2, Out: 1})
		err := tensor.Try(func() {
			optim.NewSGD(append(nn.Params(other), autograd.Param(tensor.ZerosOf(d, tensor.Float64, 1), "d")), optim.SGDConfig{LR: optim.Constant(1)})
		})
		if !errors.Is(err, tensor.ErrType) {
			t.Errorf("parameters of two types: %v", err)
		}
	})
}

// TestLayersOfMixedFloats: with operands of either float type, layers compute in float64 if one of
// them is of it.
func TestLayersOfMixedFloats(t *testing.T) {
	layers := map[string]struct {
		shapes [][]int
		f      func(in []*node) *node
	}{
		"convolution": {[][]int{{2, 3, 6}, {4, 3, 2}, {4}}, func(in []*node) *node { return in[0].Conv(in[1], in[2]) }},
		"transposed":  {[][]int{{2, 3, 6}, {3, 4, 2}, {4}}, func(in []*node) *node { return in[0].ConvTranspose(in[1], in[2]) }},
		"without":     {[][]int{{1, 1, 4, 4}, {1, 1, 3, 3}}, func(in []*node) *node { return in[0].Conv(in[1], nil) }},
		"batch norm":  {[][]int{{5, 3, 2}, {3}, {3}}, func(in []*node) *node { return in[0].BatchNorm(in[1], in[2], 1e-5) }},
		"layer norm":  {[][]int{{5, 6}, {6}, {6}}, func(in []*node) *node { return in[0].LayerNorm(-1, in[1], in[2], 1e-5) }},
		"group norm":  {[][]int{{2, 4, 3}, {4}, {4}}, func(in []*node) *node { return in[0].GroupNorm(2, in[1], in[2], 1e-5) }},
	}
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		for name, layer := range layers {
			n := len(layer.shapes)
			var want [][]float64
			for form := range 1 << n { // the first is all float64
				for _, record := range []bool{false, true} {
					in := make([]*node, n)
					for i, shape := range layer.shapes {
						size := 1
						for _, dim := range shape {
							size *= dim
						}
						data := make([]float64, size)
						for j := range data {
							data[j] = float64((7*j+3*i)%11-5) / 4
						}
						in[i] = autograd.Param(tensor.NewOf(d, []tensor.Type{tensor.Float64, tensor.Float32}[form>>i&1], data, shape...), "p")
					}
					y := layer.f(in)
					if err := y.MulScalar(1. / 3).Sin().Sum().Backward(autograd.BackwardOptions{CreateGraph: record}); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					if mixed := form != 1<<n-1; mixed != (y.Type() == tensor.Float64) {
						t.Errorf("%s: form %b is of %v", name, form, y.Type())
					}
					for i, p := range in {
						got, err := p.Grad().Float64s()
						if err != nil {
							t.Fatal(err)
						}
						if form == 0 && !record {
							want = append(want, got)
						}
						tolerance := 1e-10
						if p.Type() == tensor.Float32 {
							tolerance = 6e-8 // half a unit in the last place
							if strings.HasSuffix(name, "norm") {
								tolerance = 5e-7 // the gradients of weights are sums in their type
							}
						}
						if form == 1<<n-1 {
							tolerance = 1e-4
						}
						for j, w := range want[i] {
							if p.Grad().Type() != p.Type() || math.Abs(got[j]-w) > tolerance*max(1, math.Abs(w)) {
								t.Fatalf("%s, form %b, recorded %v: gradient %d is %v of %v, want %v", name, form, record, i, got[j], p.Grad().Type(), w)
							}
						}
					}
				}
			}
		}
	})
}

// TestLargeFactorsOfConvolutions: a convolution of float64 is not computed in the type of its weights.
func TestLargeFactorsOfConvolutions(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		x := autograd.Const(tensor.New(d, []float64{1e200, 2e200, 3e200}, 1, 1, 3))
		w := autograd.Param(tensor.NewOf(d, tensor.Float32, []float64{1, 1}, 1, 1, 2), "w")
		for _, y := range []*node{x.Conv(w, nil), x.ConvTranspose(w, nil)} {
			if err := y.MulScalar(1e-200).Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			want := []float64{3, 5}
			if y.Len() == 4 {
				want = []float64{6, 6}
			}
			if got, err := w.Grad().Float64s(); err != nil || !slices.Equal(got, want) {
				t.Errorf("%v, want %v, err = %v", got, want, err)
			}
			w.ZeroGrad()
		}
	})
}

// TestMasksOfNodesAreFreed: what Index and its like make of a mask is freed with the graph.
func TestMasksOfNodesAreFreed(t *testing.T) {
	devtest.Uncollected(t)
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		p := autograd.Param(tensor.Full(d, 2, 30, 40), "p")
		mask := p.Value().GtScalar(1)
		before := d.Stats().LiveBytes
		put := p.IndexPut([]*tensor.Tensor{mask}, autograd.Const(tensor.Scalar(d, 3)))
		loss := p.Index(mask).Sum().Add(put.Sum()).Add(p.MaskedSelect(autograd.Const(mask)).Sum())
		if err := loss.Backward(); err != nil {
			t.Fatal(err)
		}
		p.ZeroGrad()
		x := autograd.Const(p.Value())
		x.Index(mask).Free()
		x.IndexPut([]*tensor.Tensor{mask}, x.Select(0, 0).Select(0, 0)).Free()
		if live := d.Stats().LiveBytes; live > before+1024 {
			t.Errorf("%d bytes are live, %d were before", live, before)
		}
	})
}
