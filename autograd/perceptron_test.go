package autograd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// perceptron draws the parameters of a network with the given sizes, each from a stream of its own.
func perceptron(d tensor.Device, sizes ...int) []*node {
	var params []*node
	rng := tensor.NewRNG(11)
	for i := range len(sizes) - 1 {
		sd := 1 / math.Sqrt(float64(sizes[i]))
		params = append(params, autograd.Param(rng.Normal(d, 0, sd, sizes[i], sizes[i+1]), fmt.Sprint("w", i)))
		if i < len(sizes)-2 {
			params = append(params, autograd.Param(rng.Normal(d, 0, sd, sizes[i+1]), fmt.Sprint("b", i)))
		}
	}
	return params
}

func compareGradients(t *testing.T, what string, got, want *tensor.Tensor, tol float64) {
	t.Helper()
	g, w := values(t, got), values(t, want)
	scale := 0.0
	for _, v := range w {
		scale = max(scale, math.Abs(v))
	}
	for i := range w {
		if math.Abs(g[i]-w[i]) > tol*scale {
			t.Fatalf("%s: gradient %d is %v, layer by layer %v", what, i, g[i], w[i])
		}
	}
}
