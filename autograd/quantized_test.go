package autograd_test

import (
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// quantizedOf returns weights of a shape on a device.
func quantizedOf(d tensor.Device, shape ...int) *tensor.QuantizedTensor {
	q, err := tensor.Quantize(tensor.NewRNG(9).Uniform(d, -1, 1, shape...), tensor.QuantizeOptions{ZeroPoints: true})
	if err != nil {
		panic(err)
	}
	return q
}

// TestMatMulQuantized: the gradient of a product by a quantized matrix is that by the matrix as floats in float64, also
// of views, of floats of 16 bits, of batches and of nothing, and has a gradient in turn.
func TestMatMulQuantized(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(2)
		for i, c := range []struct {
			x   []int
			typ tensor.Type
			o   tensor.QuantizeOptions
		}{
			{[]int{7}, tensor.Float32, tensor.QuantizeOptions{}},
			{[]int{3, 40}, tensor.Float32, tensor.QuantizeOptions{Bits: 4, Group: 32, ZeroPoints: true}},
			{[]int{2, 5, 33}, tensor.Float32, tensor.QuantizeOptions{ZeroPoints: true}},
			{[]int{2, 0, 33}, tensor.Float32, tensor.QuantizeOptions{}},
			{[]int{2, 3, 33}, tensor.BFloat16, tensor.QuantizeOptions{}},
			{[]int{9, 33}, tensor.Float16, tensor.QuantizeOptions{Bits: 4}},
			{[]int{3, 40}, tensor.Float32, tensor.QuantizeOptions{Type: tensor.BFloat16}},
			{[]int{9, 33}, tensor.BFloat16, tensor.QuantizeOptions{Type: tensor.BFloat16}},
		} {
			k := c.x[len(c.x)-1]
			q, err := tensor.Quantize(rng.Normal(d, 0, 1, k, 11), c.o)
			if err != nil {
				t.Fatal(err)
			}
			x := autograd.Param(rng.Normal(d, 0, 1, c.x...).To(c.typ), "x")
			y := autograd.MatMulQuantized(x, q).Retain()
			if err := y.Square().Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			if y.Value().Type() != c.typ || x.Grad().Type() != c.typ || !slices.Equal(x.Grad().Shape(), c.x) {
				t.Errorf("case %d: %v of %v, gradient %v of %v", i, y.Shape(), y.Value().Type(), x.Grad().Shape(),
					x.Grad().Type())
			}
			host := devtest.CPU(t)
			float64Of := func(v *tensor.Tensor) *autograd.Node {
				return autograd.Param(tensor.New(host, devtest.Float64s(t, v), v.Shape()...), "")
			}
			wide := float64Of(x.Value())
			want := wide.MatMul(float64Of(q.Dequantize())).Retain()
			if err := want.Square().Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			eps := map[tensor.Type]float64{tensor.Float32: 1e-5, tensor.Float16: 0.01, tensor.BFloat16: 0.06}[c.typ]
			got, should := devtest.Float64s(t, x.Grad()), devtest.Float64s(t, wide.Grad())
			for at, v := range should {
				if !(math.Abs(got[at]-v) <= eps*(10+math.Abs(v))) {
					t.Fatalf("case %d: element %d is %v, want %v", i, at, got[at], v)
				}
			}
			if c.typ != tensor.Float32 || len(got) == 0 {
				continue
			}
			// Σ (x·W)⁴ has the second gradients of a graph of floats.
			second := func(product func(x *autograd.Node) *autograd.Node, x *autograd.Node) []float64 {
				x.ZeroGrad()
				y := product(x)
				gs, err := autograd.Grad(y.Square().Square().Sum(), []*autograd.Node{x},
					autograd.GradOptions{CreateGraph: true})
				if err != nil {
					t.Fatal(err)
				}
				if err := gs[0].Square().Sum().Backward(); err != nil {
					t.Fatal(err)
				}
				return devtest.Float64s(t, x.Grad())
			}
			w := float64Of(q.Dequantize())
			w.Freeze()
			got = second(func(x *autograd.Node) *autograd.Node { return autograd.MatMulQuantized(x, q) }, x)
			should = second(func(x *autograd.Node) *autograd.Node { return x.MatMul(w) }, wide)
			largest := 0.0
			for _, v := range should {
				largest = max(largest, math.Abs(v))
			}
			for at, v := range should {
				if !(math.Abs(got[at]-v) <= 1e-4*largest) {
					t.Fatalf("case %d, second gradient: element %d is %v, want %v", i, at, got[at], v)
				}
			}
		}
		// A matrix that was freed before Backward is an error of it.
		q, err := tensor.Quantize(rng.Normal(d, 0, 1, 3, 4), tensor.QuantizeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		x := autograd.Param(rng.Normal(d, 0, 1, 2, 3).To(tensor.Float32), "x")
		loss := autograd.MatMulQuantized(x, q).Sum()
		q.Free()
		fails(t, loss.Backward(), tensor.ErrFreed, "MatMulQuantized")
	})
}

// TestMatMulQuantizedReplay: a recorded step of products and convolutions by quantized weights, with its gradients,
// gives the bits of the eager one for inputs that changed.
func TestMatMulQuantizedReplay(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(6)
		input := rng.Normal(d, 0, 1, 6, 40).To(tensor.Float32)
		var layers [2]*tensor.QuantizedTensor
		for i, o := range []tensor.QuantizeOptions{{Type: tensor.Float16}, {ZeroPoints: true}} {
			var err error
			if layers[i], err = tensor.Quantize(rng.Normal(d, 0, 0.3, []int{40, 70}[i], []int{70, 3}[i]),
				o); err != nil {
				t.Fatal(err)
			}
		}
		kernel := quantizedOf(d, 1, 1, 3)
		bias := autograd.Param(rng.Normal(d, 0, 1, 70).To(tensor.Float32), "bias")
		step := func() ([]*tensor.Tensor, error) {
			bias.ZeroGrad()
			hidden := autograd.MatMulQuantized(autograd.Const(input), layers[0]).Add(bias).Tanh()
			hidden = autograd.ConvQuantized(hidden.Reshape(6, 1, 70), kernel, nil,
				tensor.ConvOptions{Padding: []int{1}})
			y := autograd.MatMulQuantized(hidden, layers[1]).Retain()
			if err := y.Square().Mean().Backward(); err != nil {
				return nil, err
			}
			return []*tensor.Tensor{y.Value(), bias.Grad()}, nil
		}
		rec, err := replay.Record(d, step)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			input.SetInPlace(rng.Normal(d, 0, 1, 6, 40).To(tensor.Float32))
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
			var got [][]float64
			for _, y := range rec.Outputs() {
				got = append(got, devtest.Float64s(t, y))
			}
			eager, err := step()
			if err != nil {
				t.Fatal(err)
			}
			for i, y := range eager {
				if want := devtest.Float64s(t, y); !slices.Equal(got[i], want) {
					t.Errorf("output %d: the replay gives %v, the step %v", i, got[i][:3], want[:3])
				}
			}
		}
	})
}
