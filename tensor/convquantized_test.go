package tensor_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestConvQuantized: the weights of a convolution are rounded as those of the matrix [in·kernel…, out], bit by bit, and
// convolutions are those with the weights as floats.
func TestConvQuantized(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(5)
		for i, c := range []struct {
			x, w []int
			o    tensor.ConvOptions
		}{
			{[]int{1, 1, 1}, []int{1, 1, 1}, tensor.ConvOptions{}},
			{[]int{2, 7, 11}, []int{5, 7, 3}, tensor.ConvOptions{Padding: []int{1}, Dilation: []int{2}}},
			{[]int{2, 5, 9, 8}, []int{67, 5, 3, 3}, tensor.ConvOptions{Padding: []int{1}, PaddingEnd: []int{0, 2}}},
			{[]int{8, 9, 8}, []int{6, 4, 3, 2}, tensor.ConvOptions{Groups: 2, Stride: []int{2, 1}}},
			{[]int{2, 6, 9, 8}, []int{6, 1, 3, 3}, tensor.ConvOptions{Groups: 6}},
			{[]int{1, 3, 4, 5, 6}, []int{4, 3, 2, 1, 3}, tensor.ConvOptions{}},
			{[]int{0, 3, 5}, []int{4, 3, 2}, tensor.ConvOptions{}},
			{[]int{2, 0, 5}, []int{4, 0, 2}, tensor.ConvOptions{}},
		} {
			w := rng.Normal(d, 0.3, 1, c.w...)
			matrix := w.Reshape(c.w[0], w.Len()/c.w[0]).T()
			for j, o := range quantizations {
				q, err := tensor.Quantize(w, o)
				if err != nil {
					t.Fatal(err)
				}
				flat, err := tensor.Quantize(matrix, o)
				if err != nil {
					t.Fatal(err)
				}
				floats := q.Dequantize()
				want := devtest.Float64s(t, flat.Dequantize().T().Reshape(c.w...))
				if !slices.Equal(floats.Shape(), c.w) || !slices.Equal(q.Shape(), c.w) ||
					!sameNumbers(devtest.Float64s(t, floats), want) {
					t.Errorf("case %d, options %d: weights %v differ from the matrix", i, j, floats.Shape())
				}
				x, bias := rng.Normal(d, 0, 1, c.x...), rng.Normal(d, 0, 1, c.w[0])
				for _, x := range []*tensor.Tensor{x, x.To(tensor.BFloat16), float64Of(d, x)} {
					for _, b := range []*tensor.Tensor{nil, bias} {
						got := tensor.ConvQuantized(x, q, b, c.o)
						want := x.To(x.Type().Computed()).Conv(floats, b, c.o).To(x.Type())
						if got.Type() != x.Type() || !slices.Equal(got.Shape(), want.Shape()) ||
							!sameNumbers(devtest.Float64s(t, got), devtest.Float64s(t, want)) {
							t.Errorf("case %d, options %d, of %v: %v, want %v", i, j, x.Type(), got, want)
						}
					}
				}
			}
		}
	})
}

// TestEmbeddingQuantized: rows of a quantized table are those of the table as floats, bit by bit, for indices of all
// types and shapes.
func TestEmbeddingQuantized(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(5)
		for i, size := range [][2]int{{1, 1}, {9, 33}, {130, 70}} {
			for j, o := range quantizations {
				q, err := tensor.Quantize(rng.Normal(d, 0.3, 1, size[0], size[1]).T(), o)
				if err != nil {
					t.Fatal(err)
				}
				table := q.Dequantize().T()
				index := rng.Uniform(d, 0, float64(size[0]), 3, 5)
				for _, at := range []*tensor.Tensor{index.To(tensor.Int64), index.To(tensor.Int32).T(),
					index.To(tensor.Uint8), tensor.FullOf(d, tensor.Int32, float64(size[0]-1)), tensor.ZerosOf(d, tensor.Int64, 2, 0)} {
					got, want := tensor.EmbeddingQuantized(q, at), table.Embedding(at)
					if got.Type() != tensor.Float32 || !slices.Equal(got.Shape(), want.Shape()) ||
						!sameNumbers(devtest.Float64s(t, got), devtest.Float64s(t, want)) {
						t.Errorf("case %d, options %d, at %v: %v, want %v", i, j, at, got, want)
					}
				}
			}
		}
	})
}

// TestQuantizedKinds: weights that are not of the kind that an operation takes name the one that does.
func TestQuantizedKinds(t *testing.T) {
	d := devtest.CPU(t)
	quantize := func(w *tensor.Tensor) *tensor.QuantizedTensor {
		q, err := tensor.Quantize(w, tensor.QuantizeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	ones := tensor.Full(d, 1, 4, 3, 2)
	matrix, kernel, gone := quantize(tensor.Full(d, 1, 3, 4)), quantize(ones), quantize(ones)
	gone.Free()
	x := tensor.Full(d, 1, 2, 3, 5)
	index := tensor.New(d, []int64{1, 4})
	product := func(x *tensor.Tensor) func() { return func() { tensor.MatMulQuantized(x, kernel) } }
	conv := func(x *tensor.Tensor, w *tensor.QuantizedTensor, bias *tensor.Tensor, o ...tensor.ConvOptions) func() {
		return func() { tensor.ConvQuantized(x, w, bias, o...) }
	}
	rows := func(w *tensor.QuantizedTensor, index *tensor.Tensor) func() {
		return func() { tensor.EmbeddingQuantized(w, index) }
	}
	for name, c := range map[string]struct {
		f    func()
		kind error
		say  string
	}{
		"a product":        {product(x.Transpose(0, 2, 1)), tensor.ErrShape, "see ConvQuantized"},
		"a convolution":    {conv(x, matrix, nil), tensor.ErrShape, "see MatMulQuantized"},
		"rows":             {rows(kernel, index), tensor.ErrShape, "EmbeddingQuantized"},
		"no such row":      {rows(matrix, index), tensor.ErrIndex, "EmbeddingQuantized"},
		"rows of floats":   {rows(matrix, x), tensor.ErrType, "indices are of integers"},
		"freed":            {conv(x, gone, nil), tensor.ErrFreed, "ConvQuantized: tensor was freed [4 3 2]"},
		"other channels":   {conv(x.Transpose(0, 2, 1), kernel, nil), tensor.ErrShape, "ConvQuantized"},
		"two options":      {conv(x, kernel, nil, make([]tensor.ConvOptions, 2)...), tensor.ErrValue, "given once"},
		"integers":         {conv(x.To(tensor.Int8), kernel, nil), tensor.ErrType, "it takes floats"},
		"a bias too short": {conv(x, kernel, tensor.Zeros(d, 3)), tensor.ErrShape, "ConvQuantized"},
		"six axes": {func() { _, _ = tensor.Quantize(tensor.Zeros(d, 1, 1, 1, 1, 1, 1), tensor.QuantizeOptions{}) },
			tensor.ErrShape, "3 to 5 axes"},
	} {
		if err := tensor.Try(c.f); !errors.Is(err, c.kind) || !strings.Contains(fmt.Sprint(err), c.say) {
			t.Errorf("%s: %v", name, err)
		}
	}
	bad := tensor.Full(d, 1, 4, 3, 2)
	bad.Select(0, 2).Select(0, 1).FillInPlace(math.Inf(1))
	if _, err := tensor.Quantize(bad, tensor.QuantizeOptions{}); err == nil ||
		!strings.Contains(err.Error(), "element [2 1 0] is +Inf") {
		t.Error(err)
	}
}

func ExampleConvQuantized() {
	d, err := tensor.Open("cpu")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	w, err := tensor.Quantize(tensor.New(d, []float32{127, -64, 32}, 1, 1, 3), tensor.QuantizeOptions{})
	if err != nil {
		panic(err)
	}
	fmt.Println(w.Shape(), w.Bits())
	fmt.Println(tensor.ConvQuantized(tensor.New(d, []float32{1, 0, 0, 2}, 1, 1, 4), w, nil).Float32s())
	// Output:
	// [1 1 3] 8
	// [127 64] <nil>
}
