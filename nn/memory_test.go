package nn_test

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// TestMemory: what a layer makes on its way is freed by Backward, or by a scope where nothing is
// recorded, without the collector.
func TestMemory(t *testing.T) {
	d := devtest.CPU(t)
	devtest.Uncollected(t)
	rng := tensor.NewRNG(1)
	x := autograd.Const(rng.Uniform(d, -1, 1, 2, 5, 4))
	first := autograd.Const(rng.Uniform(d, -1, 1, 4, 2, 3))
	gru := nn.NewGRU(d, rng, nn.RecurrentConfig{In: 4, Hidden: 3, Layers: 2, Bidirectional: true, Dropout: 0.5})
	lstm := nn.NewLSTM(d, rng, nn.RecurrentConfig{In: 4, Hidden: 3, Layers: 2, Bidirectional: true, Dropout: 0.5})
	block := nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 4, Heads: 2, Dropout: 0.5, Causal: true})
	for name, forward := range map[string]func() *autograd.Node{
		"GRU":   func() *autograd.Node { y, last := gru.Run(x, first); return y.Sum().Add(last.Sum()) },
		"LSTM":  func() *autograd.Node { y, h, c := lstm.Run(x, first, first); return y.Sum().Add(h.Mul(c).Sum()) },
		"block": func() *autograd.Node { return block.Forward(x).Sum() },
	} {
		live := func() int64 { return d.Stats().LiveBytes }
		step := func() {
			y := forward()
			if err := y.Backward(); err != nil {
				t.Fatal(err)
			}
			y.Free()
		}
		step()
		before := live()
		step()
		step()
		if n := live() - before; n != 0 {
			t.Errorf("%s: two steps leave %d bytes", name, n)
		}
		autograd.NoGrad(d, func() {
			tensor.Scope(d, func() { forward() })
		})
		if n := live() - before; n != 0 {
			t.Errorf("%s: NoGrad in a scope leaves %d bytes", name, n)
		}
	}
}
