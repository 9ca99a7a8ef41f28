package autograd_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestLongLosses: losses of three million elements, whose terms are of one sign, are those of float64 to a
// part in a million. Sums one term after the other are off by a part in a thousand.
func TestLongLosses(t *testing.T) {
	const n = 3_000_017
	rng := rand.New(rand.NewPCG(3, 4))
	x, w := make([]float32, n), make([]float32, n)
	var squares, absolute, products float64
	for i := range n {
		x[i], w[i] = 2+rng.Float32(), 1-rng.Float32()
		difference := float64(x[i]) - float64(w[i])
		squares += difference * difference
		absolute += difference
		products += float64(x[i]) * float64(w[i])
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		a, b := autograd.Const(devtest.New(d, x, n)), autograd.Const(devtest.New(d, w, n))
		for _, c := range []struct {
			name string
			loss *autograd.Node
			want float64
		}{
			{"SquaredError", a.SquaredError(b), squares},
			{"MSE", autograd.MSE(a, b), squares / n},
			{"L1", autograd.L1(a, b), absolute / n},
			{"Huber", autograd.Huber(a, b, 0.5), (absolute - 0.25*n) / 2 / n},
			{"SmoothL1", autograd.SmoothL1(a, b, 0.5), absolute/n - 0.25},
			{"Dot", a.Dot(b), products},
		} {
			got, err := c.loss.Value().Item()
			if err != nil {
				t.Fatal(err)
			}
			if !(math.Abs(got-c.want) <= 1e-6*c.want) {
				t.Errorf("%s is %v, want %v", c.name, got, c.want)
			}
		}
	})
}
