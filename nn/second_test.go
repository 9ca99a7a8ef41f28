package nn_test

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// TestSecondGradients: the gradients of layers have gradients, those that central differences of
// the gradients show.
func TestSecondGradients(t *testing.T) {
	d := devtest.CPU(t)
	for name, build := range map[string]func(rng *tensor.RNG) (model any, forward func(x *autograd.Node) *autograd.Node){
		"attention, causal": func(rng *tensor.RNG) (any, func(x *autograd.Node) *autograd.Node) {
			l := nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 2, Causal: true})
			return l, l.Forward
		},
		"attention to another, masked": func(rng *tensor.RNG) (any, func(x *autograd.Node) *autograd.Node) {
			l := nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 2})
			key := autograd.Const(rng.Uniform(d, -1, 1, 2, 2, 4))
			mask := autograd.Const(devtest.New(d, []uint8{1, 0, 1, 1, 0, 0}, 3, 2).To(tensor.Bool))
			return l, func(x *autograd.Node) *autograd.Node { return l.Attend(x, key, key, mask) }
		},
		"attention that drops": func(rng *tensor.RNG) (any, func(x *autograd.Node) *autograd.Node) {
			l := nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 2, Causal: true, Dropout: 1e-12})
			mask := autograd.Param(devtest.New(d, []float64{1, 0, math.Inf(-1), 1, 2, 0, math.Inf(-1), 0, 1}, 3, 3), "mask")
			return l, func(x *autograd.Node) *autograd.Node { return l.Attend(x, x, x, mask) }
		},
		"block": func(rng *tensor.RNG) (any, func(x *autograd.Node) *autograd.Node) {
			b := nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 4, Heads: 2, Hidden: 5, NormFirst: true, Activation: nn.Tanh})
			return b, b.Forward
		},
		"GRU": func(rng *tensor.RNG) (any, func(x *autograd.Node) *autograd.Node) {
			l := nn.NewGRU(d, rng, nn.RecurrentConfig{In: 4, Hidden: 3, Layers: 2, Bidirectional: true})
			first := autograd.Const(rng.Uniform(d, -1, 1, 4, 2, 3))
			return l, func(x *autograd.Node) *autograd.Node {
				y, last := l.Run(x, first.Mul(x.Mean()))
				return y.Sum().Add(last.Mul(last).Sum())
			}
		},
		"LSTM": func(rng *tensor.RNG) (any, func(x *autograd.Node) *autograd.Node) {
			l := nn.NewLSTM(d, rng, nn.RecurrentConfig{In: 4, Hidden: 3, Layers: 2, Bidirectional: true})
			first := autograd.Const(rng.Uniform(d, -1, 1, 4, 2, 3))
			return l, func(x *autograd.Node) *autograd.Node {
				y, last, cell := l.Run(x, first.Mul(x.Mean()), first.Mul(x.Square().Mean()))
				return y.Sum().Add(last.Mul(cell).Sum())
			}
		},
		"GRU without bias": func(rng *tensor.RNG) (any, func(x *autograd.Node) *autograd.Node) {
			l := nn.NewGRU(d, rng, nn.RecurrentConfig{In: 4, Hidden: 3, NoBias: true})
			return l, l.Forward
		},
		"LSTM without bias": func(rng *tensor.RNG) (any, func(x *autograd.Node) *autograd.Node) {
			l := nn.NewLSTM(d, rng, nn.RecurrentConfig{In: 4, Hidden: 3, NoBias: true})
			return l, l.Forward
		},
	} {
		t.Run(name, func(t *testing.T) {
			rng := tensor.NewRNG(8)
			model, forward := build(rng)
			x := autograd.Param(rng.Uniform(d, -1, 1, 2, 3, 4), "x")
			nodes := append(nn.Params(model), x)
			// norm is half the square of the gradient of a loss.
			norm := func(create bool) *autograd.Node {
				y := forward(x)
				grads, err := autograd.Grad(y.Mul(y).Sum(), nodes, autograd.GradOptions{CreateGraph: create})
				if err != nil {
					t.Fatal(err)
				}
				var sum *autograd.Node
				for _, g := range grads {
					if s := g.Square().Sum().MulScalar(0.5); sum == nil {
						sum = s
					} else {
						sum = sum.Add(s)
					}
				}
				return sum
			}
			seconds, err := autograd.Grad(norm(true), nodes)
			if err != nil {
				t.Fatal(err)
			}
			for i, p := range nodes {
				const h = 1e-5
				along := rng.Uniform(d, -1, 1, p.Shape()...)
				want := 0.0
				for _, side := range []float64{1, -1} {
					p.Value().SetInPlace(p.Value().Add(along.MulScalar(side * h)))
					v, err := norm(false).Item()
					if err != nil {
						t.Fatal(err)
					}
					want += side * v / (2 * h)
					p.Value().SetInPlace(p.Value().Sub(along.MulScalar(side * h)))
				}
				got, err := seconds[i].Value().Mul(along).Sum().Item()
				if err != nil {
					t.Fatal(err)
				}
				if math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
					t.Errorf("%s: the gradient of gradients is %v along a direction, of differences %v", p.Name(), got, want)
				}
			}
		})
	}
}
