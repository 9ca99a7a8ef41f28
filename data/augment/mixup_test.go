package augment

import (
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
	"gonum.org/v1/gonum/mathext"
)

// TestMixUp: pictures and labels are mixed by one weight with those before them.
func TestMixUp(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		x := tensor.NewRNG(1).Uniform(d, 0, 1, 3, 1, 2, 2)
		y := devtest.New(d, []int32{0, 2, 1}).OneHot(3)
		mixed, labels := NewMixUp(1).Apply(x, y, tensor.NewRNG(6))
		weight := devtest.Float64s(t, NewMixUp(1).weight(x, tensor.NewRNG(6)))[0]
		if weight < 0.01 || weight > 0.99 || labels.Type() != x.Type() {
			t.Fatalf("weight %v, labels of %v", weight, labels.Type())
		}
		for _, pair := range [][2]*tensor.Tensor{{x, mixed}, {y, labels}} {
			from, to := devtest.Float64s(t, pair[0]), devtest.Float64s(t, pair[1])
			line := len(from) / 3
			for i, got := range to {
				other := from[(i+2*line)%len(from)]
				if want := weight*from[i] + (1-weight)*other; math.Abs(got-want) > 1e-6 {
					t.Errorf("number %d is %v, want %v", i, got, want)
				}
			}
		}
		one, _ := NewMixUp(1).Apply(x.Slice(0, 0, 1), y.Slice(0, 0, 1), tensor.NewRNG(6))
		for i, got := range devtest.Float64s(t, one) {
			if want := devtest.Float64s(t, x)[i]; math.Abs(got-want) > 1e-6 {
				t.Errorf("a batch of one is mixed with others: %v, want %v", got, want)
			}
		}
	})
}

// TestWeights: weights have the distribution Beta(alpha, alpha), by the distance of Kolmogorov and
// Smirnov.
func TestWeights(t *testing.T) {
	d := devtest.CPU(t)
	x := tensor.Zeros(d, 1)
	for _, alpha := range []float64{0.01, 0.2, 1, 2, 50, 1000} {
		m, rng, n := NewMixUp(alpha), tensor.NewRNG(3), 2000
		if !slices.IsSorted(m.quantiles) || m.quantiles[0] != 0 || m.quantiles[quantileCount-1] != 1 {
			t.Fatalf("alpha %v: quantiles from %v to %v", alpha, m.quantiles[0], m.quantiles[quantileCount-1])
		}
		var weights []float64
		for range n {
			w := m.weight(x, rng)
			weights = append(weights, devtest.Float64s(t, w)[0])
			w.Free()
		}
		slices.Sort(weights)
		most := 0.0
		for i, w := range weights {
			p := mathext.RegIncBeta(alpha, alpha, w)
			if alpha < 0.1 { // most lie nearer to 0 and 1 than float32 can say
				continue
			}
			most = max(most, math.Abs(p-float64(i)/float64(n)), math.Abs(p-float64(i+1)/float64(n)))
		}
		if alpha < 0.1 && (weights[n*4/10] > 1e-6 || weights[n*6/10] < 1-1e-6) {
			t.Errorf("alpha %v: the weights are not near 0 and 1", alpha)
		}
		if most > 1.95/math.Sqrt(float64(n)) { // exceeded once in a thousand
			t.Errorf("alpha %v: the distance is %v", alpha, most)
		}
	}
}
