package onnx

import (
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/onnxpb"
	"github.com/clgrad/clgrad/tensor"
)

// TestRandom: moments of what is drawn, within five standard deviations, types and seeds.
func TestRandom(t *testing.T) {
	d := cpu(t)
	const n = 1 << 16
	draw := func(op string, a attrs, inputs ...any) (*tensor.Tensor, []float64) {
		t.Helper()
		for i, in := range inputs {
			inputs[i] = testCaseValue(d, in)
		}
		out, err := runNode(t, d, op, 22, a, 1, inputs...)
		if err != nil {
			t.Fatalf("%s: %v", op, err)
		}
		x, err := out[0].Tensor().Float64s()
		if err != nil {
			t.Fatal(err)
		}
		return out[0].Tensor(), x
	}
	moments := func(x []float64) (mean, deviation float64) {
		for _, v := range x {
			mean += v / float64(len(x))
		}
		for _, v := range x {
			deviation += (v - mean) * (v - mean) / float64(len(x))
		}
		return mean, math.Sqrt(deviation)
	}
	check := func(what string, x []float64, mean, deviation float64) {
		t.Helper()
		m, s := moments(x)
		if e := 5 * deviation / math.Sqrt(n); math.Abs(m-mean) > e || math.Abs(s-deviation) > e {
			t.Errorf("%s: mean %v and deviation %v, want %v and %v", what, m, s, mean, deviation)
		}
	}
	big := func(c string) attrs { return attrs{"shape": []int{2, n / 2}, "seed": 1.0, c: 3.0} }

	y, x := draw("RandomNormal", big("mean"))
	if y.Type() != tensor.Float32 || !slices.Equal(y.Shape(), []int{2, n / 2}) {
		t.Errorf("%v", y)
	}
	check("normal", x, 3, 1)
	_, x = draw("RandomNormal", big("scale"))
	check("normal", x, 0, 3)
	_, x = draw("RandomUniform", big("high"))
	check("uniform", x, 1.5, 3/math.Sqrt(12))
	_, again := draw("RandomUniform", big("high"))
	if !slices.Equal(x, again) {
		t.Error("two runs of one seed differ")
	}
	_, other := draw("RandomUniform", attrs{"shape": []int{2, n / 2}, "seed": 2.0, "high": 3.0})
	if slices.Equal(x, other) {
		t.Error("two seeds agree")
	}
	y, _ = draw("RandomUniform", attrs{"shape": []int{}, "dtype": int(onnxpb.BFloat16)})
	if y.Type() != tensor.BFloat16 || y.Rank() != 0 {
		t.Errorf("%v", y)
	}
	y, x = draw("RandomNormalLike", attrs{"scale": 2.0}, as(tensor.Float16, make([]float64, n), n))
	if y.Type() != tensor.Float16 {
		t.Errorf("%v", y)
	}
	check("normal", x, 0, 2)
	y, x = draw("RandomUniformLike", attrs{"low": -1.0, "dtype": int(onnxpb.Double)}, FromStrings(make([]string, n)))
	if y.Type() != tensor.Float64 {
		t.Errorf("%v", y)
	}
	check("uniform", x, 0, 2/math.Sqrt(12))

	y, x = draw("Bernoulli", attrs{"dtype": int(onnxpb.Int32)}, of(slices.Repeat([]float32{0.25}, n), n))
	if y.Type() != tensor.Int32 {
		t.Errorf("%v", y)
	}
	check("Bernoulli", x, 0.25, math.Sqrt(0.25*0.75))
	y, x = draw("Bernoulli", nil, []float64{0, 1, 1, 0})
	if y.Type() != tensor.Float64 || !slices.Equal(x, []float64{0, 1, 1, 0}) {
		t.Errorf("%v %v", y, x)
	}

	// Classes of probabilities 1/4 and 3/4, and only the first.
	y, x = draw("Multinomial", attrs{"sample_size": n, "dtype": int(onnxpb.Int64)},
		as(tensor.Float32, []float64{5, 5 + math.Log(3), 0, math.Inf(-1)}, 2, 2))
	if y.Type() != tensor.Int64 || !slices.Equal(y.Shape(), []int{2, n}) {
		t.Errorf("%v", y)
	}
	check("Multinomial", x[:n], 0.75, math.Sqrt(0.25*0.75))
	if slices.Max(x[n:]) != 0 {
		t.Error("a class of probability 0 was drawn")
	}
	y, _ = draw("Multinomial", nil, of([]float32{1, 2}, 1, 2))
	if y.Type() != tensor.Int32 || !slices.Equal(y.Shape(), []int{1, 1}) {
		t.Errorf("%v", y)
	}
	checkNodes(t, []nodeCase{
		{"Bernoulli", 15, nil, []any{[]int32{1}}, nil, "should be of floats"},
		{"Multinomial", 7, nil, []any{[]float32{1}}, nil, "samples"},
		{"Multinomial", 7, attrs{"sample_size": -1}, []any{count(1, 2)}, nil, "-1 samples"},
		{"RandomNormal", 1, attrs{"shape": []int{-1}}, nil, nil, "shape"},
		{"RandomUniform", 1, attrs{"shape": []int{math.MaxInt, math.MaxInt}}, nil, nil, "shape"},
	})
}
