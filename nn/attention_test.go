package nn_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// TestAttentionOnDevices: the layers have PyTorch's numbers on every device.
func TestAttentionOnDevices(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		layers["attention_masked"].compare(t, d, "attention_masked", 1e-5)
		layers["block_first"].compare(t, d, "block_first", 1e-5)
	})
}

// TestAttentionDrops: where the softmax is dropped from, it is that of the layer without, for every
// mask: seen with a probability at which nothing is dropped. A query that attends to nothing stays
// 0, and its gradients too.
func TestAttentionDrops(t *testing.T) {
	d := devtest.CPU(t)
	never := math.Inf(-1)
	added := []float64{0, 1, never, 0.5, never, 2, never, never, never}
	for name, mask := range map[string]*tensor.Tensor{
		"none": nil, "a query without keys": devtest.New(d, []uint8{0, 1, 1, 1, 0, 1, 0, 0, 0}, 3, 3).To(tensor.Bool), "added": devtest.New(d, added, 3, 3),
		"a key without queries": devtest.New(d, []uint8{0, 1, 1, 1, 1, 1}, 2, 1, 1, 3).To(tensor.Bool),
	} {
		for _, causal := range []bool{false, true} {
			var results [2]tensor.Dict
			for i, p := range []float64{0, 1e-12} {
				rng := tensor.NewRNG(1)
				l := nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 2, Causal: causal, Dropout: p})
				x := autograd.Param(tensor.NewRNG(2).Uniform(d, -1, 1, 2, 3, 4), "x")
				wanted := append(nn.Params(l), x)
				var m *autograd.Node
				switch {
				case mask != nil && mask.Type() == d.DefaultType():
					m = autograd.Param(mask, "mask")
					wanted = append(wanted, m)
				case mask != nil:
					m = autograd.Const(mask)
				}
				y := l.Attend(x, x, x, m).Retain()
				results[i] = tensor.Dict{"y": y.Value()}
				if err := y.Square().Sum().Backward(); err != nil {
					t.Fatal(err)
				}
				for _, p := range wanted {
					results[i][p.Name()] = p.Grad()
				}
			}
			for what, v := range results[0] {
				same(t, fmt.Sprintf("%s, causal %v, %s", name, causal, what), results[1][what], v, 1e-10)
			}
		}
	}
}

// TestAttentionModes: of an attention and of a block everything is dropped at probability 1 until
// evaluation.
func TestAttentionModes(t *testing.T) {
	d := devtest.CPU(t)
	rng := tensor.NewRNG(1)
	x := autograd.Const(rng.Uniform(d, -1, 1, 3, 4))
	l := nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 4, Heads: 1, Dropout: 1})
	if _, _, largest := spread(t, l.Forward(x).Value()); largest != 0 {
		t.Errorf("an attention that drops everything is up to %v", largest)
	}
	nn.Eval(l)
	if _, _, largest := spread(t, l.Forward(x).Value()); largest == 0 {
		t.Error("an attention drops in evaluation")
	}
	b := nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 4, Heads: 2, Dropout: 1, NormFirst: true})
	if _, _, off := spread(t, b.Forward(x).Sub(x).Value()); off != 0 {
		t.Errorf("a block that drops everything differs from its input by %v", off)
	}
	nn.Eval(b)
	if _, _, off := spread(t, b.Forward(x).Sub(x).Value()); off == 0 {
		t.Error("a block drops in evaluation")
	}
	if n := b.Linear1.Weight.Shape()[1]; n != 16 {
		t.Errorf("a block of 4 has %d hidden units, want 16", n)
	}
}

// TestAttentionLaunches: queries, keys and values that are one Node are one product, and none of
// the views between is copied but the one before the last product.
func TestAttentionLaunches(t *testing.T) {
	d := devtest.CPU(t)
	l := nn.NewMultiHeadAttention(d, tensor.NewRNG(1), nn.MultiHeadAttentionConfig{Size: 4, Heads: 2})
	x, z := autograd.Const(tensor.Full(d, 1, 2, 3, 4)), autograd.Const(tensor.Full(d, 1, 2, 3, 4))
	heads := autograd.Const(tensor.Full(d, 1, 2, 2, 3, 2))
	count := func(f func()) int64 {
		before := d.Stats().Launches
		f()
		return d.Stats().Launches - before
	}
	attention := count(func() { heads.ScaledDotProductAttention(heads, heads, nil) })
	for i, f := range []func(){
		func() { l.Forward(x) },
		func() { l.Attend(z, x, x, nil) },
		func() { l.Attend(z, x, z, nil) },
	} {
		if n, want := count(f), attention+3+int64(i); n != want {
			t.Errorf("%d launches with %d Nodes, want %d", n, i+1, want)
		}
	}
}

// TestAttentionShapes: leading axes may be any, none and empty.
func TestAttentionShapes(t *testing.T) {
	d := devtest.CPU(t)
	b := nn.NewTransformerBlock(d, tensor.NewRNG(1), nn.TransformerBlockConfig{Size: 4, Heads: 2, Causal: true})
	x := tensor.NewRNG(2).Uniform(d, -1, 1, 2, 3, 5, 4)
	whole := b.Forward(autograd.Const(x)).Value()
	one := b.Forward(autograd.Const(x.Select(0, 1).Select(0, 2))).Value()
	same(t, "a part by itself", one, whole.Select(0, 1).Select(0, 2), 1e-12)
	gaps := b.Forward(autograd.Const(x.Transpose(1, 0, 2, 3).Copy().Transpose(1, 0, 2, 3))).Value()
	same(t, "of a view", gaps, whole, 1e-12)
	for _, shape := range [][]int{{0, 3, 4}, {2, 0, 4}, {0, 4}} {
		y := autograd.Param(tensor.Zeros(d, shape...), "x")
		if err := b.Forward(y).Sum().Backward(); err != nil {
			t.Errorf("%v: %v", shape, err)
		}
	}
}
