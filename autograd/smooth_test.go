package autograd_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestSecondOfBCE: the second derivative by scores is that of the sigmoid, w·(p·t + 1 −
// t)·σ(x)·σ(−x), at 0 and −0 too.
func TestSecondOfBCE(t *testing.T) {
	d := devtest.CPU(t)
	scores := []float64{0, math.Copysign(0, -1), 1e-9, -2, 30}
	targets, weights, positive := []float64{1, 0, 0.25, 1, 0}, []float64{2, 1, 0.5, 3, 1}, []float64{4, 0.5, 1, 2, 3}
	of := func(list []float64) *node { return autograd.Const(devtest.New(d, list)) }
	for _, options := range []autograd.BinaryOptions{{Reduction: autograd.SumLoss},
		{Weights: of(weights), Positive: of(positive), Reduction: autograd.SumLoss}} {
		x := autograd.Param(devtest.New(d, scores), "x")
		loss := autograd.BCEWithLogits(x, of(targets), options)
		first := grad(t, loss, []*node{x}, autograd.GradOptions{CreateGraph: true})
		got, err := grad(t, first[0].Sum(), []*node{x}, autograd.GradOptions{})[0].Value().Float64s()
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range scores {
			p, w := 1.0, 1.0
			if options.Positive != nil {
				p, w = positive[i], weights[i]
			}
			want := w * (p*targets[i] + 1 - targets[i]) / (1 + math.Exp(-s)) / (1 + math.Exp(s))
			if math.Abs(got[i]-want) > 1e-14 {
				t.Errorf("at %v: %v, want %v", s, got[i], want)
			}
		}
	}
}

// TestSecondOfScatteredProduct: the second derivatives of products of which factors are 0 are the
// products of the other factors.
func TestSecondOfScatteredProduct(t *testing.T) {
	d := devtest.CPU(t)
	const factors = 3 // x, and two of src
	for _, list := range [][]float64{{2, 3, 5}, {0, 3, 5}, {2, 0, 5}, {0, 0, 5}, {2, 0, 0}, {0, 0, 0}} {
		x := autograd.Param(devtest.New(d, list[:1]), "x")
		src := autograd.Param(devtest.New(d, list[1:]), "src")
		y := x.ScatterReduce(0, devtest.New(d, []int32{0, 0}), src, tensor.ScatterProd)
		first := grad(t, y.Sum(), []*node{x, src}, autograd.GradOptions{CreateGraph: true})
		slopes := []*node{first[0], first[1].Slice(0, 0, 1), first[1].Slice(0, 1, 2)}
		for i, slope := range slopes {
			second := grad(t, slope.Sum(), []*node{x, src}, autograd.GradOptions{CreateGraph: true})
			var got []float64
			for _, g := range second {
				v, err := g.Value().Float64s()
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, v...)
			}
			for j := range factors {
				want := 0.0
				if i != j {
					want = list[factors-i-j] // the third
				}
				if math.Abs(got[j]-want) > 1e-14 {
					t.Errorf("of %v: the derivative by %d of that by %d is %v, want %v", list, j, i, got[j], want)
				}
			}
		}
	}
}
