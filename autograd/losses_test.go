package autograd_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// near fails unless numbers are those that are wanted, to the digits of a float32.
func near(t *testing.T, what string, x *tensor.Tensor, want ...float64) {
	t.Helper()
	got := values(t, x)
	ok, tol := len(got) == len(want), 1e-5
	if eps, _ := x.Type().Epsilon(); x.Type().Half() {
		tol = eps // it is rounded
	}
	for i := 0; ok && i < len(want); i++ {
		ok = got[i] == want[i] || math.Abs(got[i]-want[i]) <= tol*math.Abs(want[i]) || math.IsNaN(got[i]) && math.IsNaN(want[i])
	}
	if !ok {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// TestBinaryCrossEntropyOfInfinities: a score that is infinite, on the wrong side or between, has
// an infinite loss, with weights of positive targets and without.
func TestBinaryCrossEntropyOfInfinities(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		inf := math.Inf(1)
		x := autograd.Const(devtest.New(d, []float64{inf, -inf, inf, -inf, inf, 1 << 20, -1 << 20}))
		target := autograd.Const(devtest.New(d, []float64{0, 1, 0.5, 0.25, 1, 1 - 0x1p-20, 0x1p-20}))
		every := autograd.BinaryOptions{Reduction: autograd.EveryLoss}
		near(t, "plain", autograd.BCEWithLogits(x, target, every).Value(), inf, inf, inf, inf, math.NaN(), 1, 1)
		every.Positive = autograd.Const(tensor.Full(d, 3))
		near(t, "weighted", autograd.BCEWithLogits(x, target, every).Value(), inf, inf, inf, inf, math.NaN(), 1, 3)
	})
}

// TestTripletMarginOfEquals: an anchor at no distance from its example has a gradient, of 0 on that
// side.
func TestTripletMarginOfEquals(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		a := autograd.Param(devtest.New(d, []float64{0, 0}), "a")
		p := autograd.Param(devtest.New(d, []float64{1e-6, 1e-6}), "p") // the difference plus 1e−6 is 0
		n := autograd.Const(devtest.New(d, []float64{3, 4}))
		for _, recorded := range []bool{false, true} {
			g := grad(t, autograd.TripletMargin(a, p, n, autograd.MarginOptions{Margin: 10}), []*node{a, p}, autograd.GradOptions{CreateGraph: recorded})
			near(t, fmt.Sprint("anchor, recorded ", recorded), g[0].Value(), 0.6, 0.8)
			near(t, fmt.Sprint("example, recorded ", recorded), g[1].Value(), 0, 0)
		}
	})
}

// TestCosineSimilarityOfSmall: an eps whose square is no number of the device divides all the same,
// and a vector of zeros has a similarity of 0.
func TestCosineSimilarityOfSmall(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		x := autograd.Param(devtest.New(d, []float64{0, 0, 3, 4}, 2, 2), "x")
		w := autograd.Const(devtest.New(d, []float64{0.6, 0.8}))
		for _, eps := range []float64{1e-8, 1e-30, 1e-200} {
			y := autograd.CosineSimilarity(x, w, 1, eps)
			near(t, fmt.Sprint("eps ", eps), y.Value(), 0, 1)
			for i, g := range values(t, grad(t, y.Sum(), []*node{x})[0].Value()) {
				if math.IsNaN(g) || i > 1 && math.Abs(g) > 1e-6 {
					t.Errorf("eps %v: gradient %d is %v", eps, i, g)
				}
			}
		}
	})
}

// TestLossesOfInts: losses that are made of other operations take integers for floats: bytes do not
// wrap around.
func TestLossesOfInts(t *testing.T) {
	d := devtest.CPU(t)
	for _, typ := range []tensor.Type{tensor.Uint8, tensor.Int32, tensor.Float16} {
		of := func(v ...float64) *node { return autograd.Const(devtest.New(d, v).To(typ)) }
		near(t, fmt.Sprint("cosine of ", typ), autograd.CosineSimilarity(of(30, 40), of(200, 0), 0, 1e-8).Value(), 0.6)
		near(t, fmt.Sprint("triplet of ", typ), autograd.TripletMargin(of(0, 0), of(30, 40), of(60, 80)).Value(), 0)
		near(t, fmt.Sprint("triplet of ", typ, ", the other way"), autograd.TripletMargin(of(0, 0), of(60, 80), of(30, 40)).Value(), 51)
		near(t, fmt.Sprint("MSE of ", typ), autograd.MSE(of(0, 200), of(200, 0)).Value(), 40000)
		near(t, fmt.Sprint("L1 of ", typ), autograd.L1(of(0, 200), of(200, 0)).Value(), 200)
	}
}
