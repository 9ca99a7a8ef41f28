package ops

import (
	"testing"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// ofWidth is a perceptron of as many layers of a width.
func ofWidth(layers, width int) *Perceptron {
	p := &Perceptron{Error: expr.X(0), Slope: expr.X(0)}
	for i := range layers {
		l := PerceptronLayer{Inputs: width, Outputs: width, Weights: i * width * width, Bias: -1}
		if i < layers-1 {
			l.Value, l.Slope = expr.X(0).Tanh(), expr.X(2)
		}
		p.Layers = append(p.Layers, l)
	}
	return p
}

// TestPerceptronLimits: what there is no room for is refused, on a GPU also where many samples would go through small tiles; shares
// of the gradient take a bounded number of elements.
func TestPerceptronLimits(t *testing.T) {
	gpu, cpu := kernels.Limits{Units: 100, LocalMem: 48 << 10}, kernels.Limits{CPU: true, Units: 4}
	for _, c := range []struct {
		p       *Perceptron
		samples int
		l       kernels.Limits
		ok      bool
	}{
		{ofWidth(3, 64), 100000, gpu, true}, {ofWidth(3, 128), 100, gpu, true}, {ofWidth(6, 128), 100, gpu, true}, {ofWidth(6, 128), 100000, gpu, false},
		{ofWidth(6, 128), 100000, cpu, true}, {ofWidth(9, 16), 10, cpu, false}, {ofWidth(2, 129), 10, cpu, false}, {ofWidth(3, 64), 100, kernels.Limits{Units: 9, LocalMem: 32 << 10}, false},
	} {
		if err := c.p.CheckSamples(c.samples, kernels.Float32, c.l); (err == nil) != c.ok {
			t.Errorf("%d layers of %d, %d samples, %+v: %v", len(c.p.Layers), c.p.Layers[0].Inputs, c.samples, c.l, err)
		}
	}
	for _, p := range []*Perceptron{ofWidth(2, 16), ofWidth(8, 128)} {
		groups := p.Groups(1<<20, 8, gpu)
		if groups*p.Size() > perceptronShares || groups < gpu.Units {
			t.Errorf("%d groups of %d elements", groups, p.Size())
		}
	}
}
