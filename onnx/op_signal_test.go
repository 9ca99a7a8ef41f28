package onnx

import (
	"math"
	"math/cmplx"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

// TestLongTransforms compares transforms that are no product with one matrix with their definition: of factors, of a
// prime, of a prime times two, longer and shorter than the signal.
func TestLongTransforms(t *testing.T) {
	d := cpu(t)
	for _, c := range []struct{ signal, n int }{{1024, 1024}, {1000, 1500}, {1009, 1009}, {700, 1142}, {2000, 600}} {
		x := normal(d, 1, 1, c.signal, 2)
		numbers, err := x.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		want := make([]complex128, c.n)
		for k := range want {
			for j := range min(c.n, c.signal) {
				angle := -2 * math.Pi * float64(j*k%c.n) / float64(c.n)
				want[k] += complex(numbers[2*j], numbers[2*j+1]) * cmplx.Rect(1, angle)
			}
		}
		out := mustRun(t, d, "", "DFT", 20, nil, 1, x, []int64{int64(c.n)})
		pairs := make([]float64, 0, 2*c.n)
		for _, z := range want {
			pairs = append(pairs, real(z), imag(z))
		}
		wantTensor(t, out[0], tensor.Float32, []int{1, c.n, 2}, pairs, 3e-4)

		back := mustRun(t, d, "", "DFT", 20, attrs{"inverse": 1}, 1, out[0].Tensor())
		padded := make([]float64, 2*c.n)
		copy(padded, numbers)
		wantTensor(t, back[0], tensor.Float32, []int{1, c.n, 2}, padded, 1e-4)

		re := x.Slice(2, 0, 1).Slice(1, 0, min(c.n, c.signal))
		half := mustRun(t, d, "", "DFT", 20, attrs{"onesided": 1}, 1, re, []int64{int64(c.n)})
		whole := mustRun(t, d, "", "DFT", 20, nil, 1, re, []int64{int64(c.n)})
		wantSame(t, half[0], whole[0].Tensor().Slice(1, 0, c.n/2+1), 1e-4)
		signal := mustRun(t, d, "", "DFT", 20, attrs{"onesided": 1, "inverse": 1}, 1, half[0].Tensor(), []int64{int64(c.n)})
		wantSame(t, signal[0], re.Pad([][2]int{{0, c.n - re.Shape()[1]}, {0, 0}}), 1e-4)
	}
}

// TestSignalTypes: 16 bits are transformed in float32, Float64 in itself.
func TestSignalTypes(t *testing.T) {
	d := cpu(t)
	x := tensor.New(d, []float64{1, 2, 3, 4}, 1, 4, 1)
	want := []float64{10, 0, -2, 2, -2, 0}
	for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64} {
		out := mustRun(t, d, "", "DFT", 17, attrs{"onesided": 1}, 1, x.To(typ))
		wantTensor(t, out[0], typ, []int{1, 3, 2}, want, 1e-6)
	}
	for _, c := range []struct {
		attrs attrs
		size  int64
		typ   tensor.Type
		want  []float64
	}{
		{attrs{"output_datatype": 7, "periodic": 0}, 3, tensor.Int64, []float64{0, 1, 0}},
		{attrs{"output_datatype": 10}, 4, tensor.Float16, []float64{0, 0.5, 1, 0.5}},
		{attrs{"periodic": 0}, 1, tensor.Float32, []float64{1}},
		{nil, 1, tensor.Float32, []float64{0}},
		{nil, 0, tensor.Float32, nil},
	} {
		out := mustRun(t, d, "", "HannWindow", 17, c.attrs, 1, tensor.New(d, []int64{c.size}).Reshape([]int{}...))
		wantTensor(t, out[0], c.typ, []int{int(c.size)}, c.want, 1e-6)
	}
}

func TestSignalErrors(t *testing.T) {
	d := cpu(t)
	z := func(shape ...int) *tensor.Tensor { return tensor.Zeros(d, shape...) }
	for _, c := range []struct {
		op     string
		opset  int
		attrs  attrs
		inputs []any
		want   string
	}{
		{"DFT", 17, attrs{"axis": 2}, []any{z(2, 4, 1)}, "axis 2"},
		{"DFT", 17, attrs{"axis": -1}, []any{z(2, 4, 1)}, "axis"},
		{"DFT", 17, nil, []any{z(2)}, "axis"},
		{"DFT", 17, nil, []any{z(2, 4, 3)}, "imaginary"},
		{"DFT", 20, nil, []any{z(2, 4, 1), []int64{0}}, "dft_length"},
		{"DFT", 20, nil, []any{z(2, 4, 1), []int64{1 << 40}}, "dft_length"},
		{"DFT", 20, nil, []any{z(2, 0, 1)}, "dft_length"},
		{"DFT", 20, attrs{"onesided": 1, "inverse": 1}, []any{z(2, 1, 2)}, "dft_length"},
		{"STFT", 17, nil, []any{z(2, 4), []int64{1}}, "3 axes"},
		{"STFT", 17, nil, []any{z(2, 4, 1), []int64{0}}, "frames"},
		{"STFT", 17, nil, []any{z(2, 4, 1), []int64{1}, nil, []int64{5}}, "frames"},
		{"STFT", 17, nil, []any{z(2, 4, 1), []int64{1}, z(3), []int64{4}}, "frames"},
		{"HannWindow", 17, nil, []any{[]int64{-1}}, "size"},
		{"HannWindow", 17, nil, []any{[]int64{1 << 40}}, "size"},
		{"HannWindow", 17, nil, []any{[]int64{1, 2}}, "one"},
		{"MelWeightMatrix", 17, nil, []any{[]int64{1 << 40}, []int64{8}, []int64{8}, []float32{0}, []float32{4}}, "bins"},
		{"MelWeightMatrix", 17, nil, []any{[]int64{4}, []int64{16}, []int64{8192}, []float32{0}, []float32{90000}}, "beyond"},
		{"MelWeightMatrix", 17, nil, []any{[]int64{4}, []int64{16}, []int64{0}, []float32{0}, []float32{9}}, "rate"},
	} {
		_, err := runNode(t, d, c.op, c.opset, c.attrs, 1, c.inputs...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: the error is %v, want one of %q", c.op, c.attrs, err, c.want)
		}
	}
}
