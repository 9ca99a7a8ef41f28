package onnx

import (
	"strings"
	"testing"

	"github.com/clgrad/clgrad/tensor"
)

// TestOptimizers: numbers of the reference implementation of the specification, and for counts of 0 of its formulas.
func TestOptimizers(t *testing.T) {
	d := cpu(t)
	r := []float32{0.1}
	count := func(n int64) any { return scalar(d, n) }
	list := func(x ...float32) any { return x }
	x, g, v, h := list(1.2, 2.8), list(-0.94, -2.5), list(1.7, 3.6), list(0.1, 0.1)
	nag := attrs{"norm_coefficient": 0.01, "alpha": 0.95, "beta": 1.0, "mode": "nesterov"}
	for _, c := range []struct {
		op     string
		attrs  attrs
		inputs []any
		want   [][]float64 // nil: an error
	}{
		{"Adagrad", attrs{"norm_coefficient": 0.001, "decay_factor": 0.1, "epsilon": 1e-5},
			[]any{r, count(0), list(1), list(-1), list(2)}, [][]float64{{1.0576962}, {2.998001}}},
		{"Adagrad", attrs{"decay_factor": 0.1}, []any{r, count(10), list(1), list(-1), list(0)}, [][]float64{{1.05}, {1}}},
		{"Adam", attrs{"norm_coefficient": 0.001, "alpha": 0.95, "beta": 0.1, "epsilon": 1e-7},
			[]any{r, count(0), x, g, v, h}, [][]float64{{1.0250363, 2.6610327}, {1.56806, 3.2951398}, {.8032108, 5.622407}}},
		{"Adam", nil, []any{r, count(2), list(1), list(.5), list(0), list(0)}, [][]float64{{.9255910}, {.05}, {.00025}}},
		{"Adam", attrs{"norm_coefficient_post": 0.5}, []any{r, count(0), list(1), list(.5), list(0), list(0)},
			[][]float64{{.3418950}, {.05}, {.00025}}},
		{"Momentum", nag.with(attrs{"mode": "standard", "norm_coefficient": 0.001, "beta": 0.1}),
			[]any{r, count(0), x, g, v}, [][]float64{{1.13238, 2.70772}, {.6762, .9228}}},
		{"Momentum", nag.with(attrs{"mode": "standard", "norm_coefficient": 0.0, "beta": 0.1}), []any{r, count(1), x, g, v},
			[][]float64{{1.0479, 2.483}, {1.521, 3.17}}},
		{"Momentum", nag, []any{r, count(0), x, g, v}, [][]float64{{1.227535, 2.95714}, {.687, .948}}},
		{"Momentum", nag.with(attrs{"mode": "other"}), []any{r, count(0), x, g, v}, nil},
		{"Momentum", nag, []any{r, count(0), x, g}, nil},
		{"Adam", nil, []any{r, count(0)}, nil},
	} {
		out, err := runNodeOf(t, d, training, c.op, 1, c.attrs, max(len(c.want), 1), c.inputs...)
		if c.want == nil {
			if err == nil || strings.Contains(err.Error(), "runtime error") {
				t.Errorf("%s: %v, want an error", c.op, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.op, err)
			continue
		}
		for i, w := range c.want {
			wantTensor(t, out[i], tensor.Float32, []int{len(w)}, w, 1e-5)
		}
		if t.Failed() {
			t.Fatalf("%s %v", c.op, c.attrs)
		}
	}
	// Two tensors of different shapes are stepped alike: all x, all gradients, all momenta.
	out, err := runNodeOf(t, d, training, "Momentum", 1, nag, 4, r, count(0), x, list(1.2), g, list(-0.94), v, list(1.7))
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range [][]float64{{1.227535, 2.95714}, {1.227535}, {.687, .948}, {.687}} {
		wantTensor(t, out[i], tensor.Float32, []int{len(w)}, w, 1e-5)
	}
}

// TestGradient: of the sum of y = a·b + a with respect to a; with respect to what is on the way; at other values than
// those of the run; of a gradient; and of what y does not depend on.
func TestGradient(t *testing.T) {
	d := cpu(t)
	g := body("a b", "y da db dc at zero dab",
		op("c = Mul a b", nil),
		op("y = Add c a", nil),
		op("da db = ai.onnx.preview.training.Gradient a b", attrs{"xs": []string{"a", "b"}, "y": "y"}),
		op("dc = ai.onnx.preview.training.Gradient c a", attrs{"xs": []string{"c"}, "zs": []string{"a"}, "y": "y"}),
		op("at = ai.onnx.preview.training.Gradient a y", attrs{"xs": []string{"a"}, "zs": []string{"b"}, "y": "y"}),
		op("square = Mul b b", nil),
		op("zero = ai.onnx.preview.training.Gradient a b", attrs{"xs": []string{"a"}, "zs": []string{"b"}, "y": "square"}),
		op("dab = ai.onnx.preview.training.Gradient b a", attrs{"xs": []string{"b"}, "zs": []string{"a"}, "y": "da"}))
	out, err := runModel(t, d, modelOf(13, g), []float32{2, 3}, []float32{5, 7})
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range [][]float64{
		{12, 24},
		{6, 8},   // 1 + b
		{2, 3},   // a
		{1, 1},   // of c
		{13, 25}, // 1 + y, which is in the place of b
		{0, 0},
		{1, 1}, // of 1 + b
	} {
		wantTensor(t, out[i], tensor.Float32, []int{2}, w, 0)
	}
	for _, bad := range []attrs{{"xs": []string{"a"}, "y": "nothing"}, {"xs": []string{"a", "b"}, "y": "y"}, {"y": "y"}} {
		g := body("a", "da", op("y = Mul a a", nil), op("da = ai.onnx.preview.training.Gradient a", bad))
		if _, err := runModel(t, d, modelOf(13, g), []float32{2, 3}); err == nil ||
			strings.Contains(err.Error(), "runtime error") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

// TestGradientThroughLoop: of what a loop within a branch makes, from inside of the branch.
func TestGradientThroughLoop(t *testing.T) {
	d := cpu(t)
	square := body("i c v", "c w", op("w = Mul v v", nil))
	g := body("x k", "dx", constInt("n", 2), op("y = Loop n - x", attrs{"body": square}), op("dx = If k", attrs{
		"then_branch": body("", "g", op("g = ai.onnx.preview.training.Gradient x", attrs{"xs": []string{"x"}, "y": "y"})),
		"else_branch": body("", "x"),
	}))
	out, err := runModel(t, d, modelOf(16, g), []float32{2, -1}, []bool{true})
	if err != nil {
		t.Fatal(err)
	}
	wantTensor(t, out[0], tensor.Float32, []int{2}, []float64{32, -4}, 0) // 4·x³
}
