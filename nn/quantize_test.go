package nn_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// spirals returns n points of three spirals [n, 2], with their labels.
func spirals(d tensor.Device, rng *tensor.RNG, n int) (x, labels *tensor.Tensor) {
	points, classes := make([]float32, 2*n), make([]int32, n)
	noise := rng.Normal(d, 0, 0.1, n)
	offsets, err := noise.Float64s()
	if err != nil {
		panic(err)
	}
	for i := range n {
		c, r := i%3, float64(i)/float64(n)
		angle := 4*r + 2*math.Pi*float64(c)/3 + offsets[i]
		points[2*i], points[2*i+1], classes[i] = float32(r*math.Sin(angle)), float32(r*math.Cos(angle)), int32(c)
	}
	return devtest.New(d, points, n, 2), tensor.New(d, classes)
}

// TestQuantizeTrained: a classifier that was trained is as accurate with weights of 8 bits, within one in a hundred, and
// hardly less so with 4, and its report says the memory and the error of each layer.
func TestQuantizeTrained(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(8)
		x, labels := spirals(d, rng, 300)
		accuracy := func(model nn.Module) float64 {
			right := 0
			for i, v := range devtest.Float64s(t, model.Forward(autograd.Const(x)).Value().ArgMax(1)) {
				if int(v) == i%3 {
					right++
				}
			}
			return float64(right) / 300
		}
		for _, c := range []struct {
			o     tensor.QuantizeOptions
			worse float64    // accuracy that it may lose
			error [2]float64 // of each layer, at least and at most
		}{
			{tensor.QuantizeOptions{}, 0.01, [2]float64{0.001, 0.01}},
			{tensor.QuantizeOptions{ZeroPoints: true}, 0.01, [2]float64{0.001, 0.01}},
			{tensor.QuantizeOptions{Bits: 4, Group: 32}, 0.05, [2]float64{0.02, 0.2}},
			{tensor.QuantizeOptions{Type: tensor.BFloat16}, 0.01, [2]float64{0.001, 0.003}},
			{tensor.QuantizeOptions{Type: tensor.Float16}, 0.01, [2]float64{0.0001, 0.0004}},
		} {
			model := nn.NewMLP(d, tensor.NewRNG(4), nn.MLPConfig{Sizes: []int{2, 64, 64, 3},
				Activations: []nn.Activation{nn.ReLU}})
			opt := optim.NewAdamW(nn.Params(model), optim.AdamWDefaults(optim.Constant(0.02)))
			for range 150 {
				if err := autograd.CrossEntropy(model.Forward(autograd.Const(x)), labels).Backward(); err != nil {
					t.Fatal(err)
				}
				if err := opt.Step(); err != nil {
					t.Fatal(err)
				}
				opt.ZeroGrad()
			}
			misuse(t, tensor.Try(func() { _, _ = nn.QuantizeWeights(model, c.o) }), "has an optimizer")
			opt.Free()
			before := accuracy(model)
			report, err := nn.QuantizeWeights(model, c.o)
			if err != nil {
				t.Fatal(err)
			}
			after := accuracy(model)
			if before < 0.95 || after < before-c.worse {
				t.Errorf("%+v: accuracy %v, was %v", c.o, after, before)
			}
			names := []string{"layer0.weight", "layer1.weight", "layer2.weight"}
			if len(report.Layers) != 3 || report.Kept != nil {
				t.Fatalf("%+v", report)
			}
			for i, l := range report.Layers {
				sizes := []int{2, 64, 64, 3}
				q := model.Layers[i].Quantized
				if l.Name != names[i] || l.Before != sizes[i]*sizes[i+1]*d.DefaultType().Size() ||
					l.After != q.Bytes() || !slices.Equal(l.Shape, q.Shape()) ||
					!(l.Error >= c.error[0] && l.Error <= c.error[1]) || model.Layers[i].Weight != nil {
					t.Errorf("%+v: layer %d: %+v", c.o, i, l)
				}
			}
			if b, a := report.Bytes(); b != 4416*d.DefaultType().Size() ||
				a != report.Layers[0].After+report.Layers[1].After+report.Layers[2].After {
				t.Errorf("%d bytes become %d", b, a)
			}
			if s := report.String(); strings.Count(s, "\n") != 3 || !strings.Contains(s, "layer1.weight") {
				t.Error(s)
			}
		}
	})
}

// misuse fails unless err is ErrValue and says something.
func misuse(t *testing.T, err error, say string) {
	t.Helper()
	if !errors.Is(err, tensor.ErrValue) || !strings.Contains(fmt.Sprint(err), say) {
		t.Errorf("err = %v, want one that says %q", err, say)
	}
}

// rounded sets the weights of a model that QuantizeWeights changes to what it makes of them.
func rounded(t *testing.T, model any, o tensor.QuantizeOptions) {
	t.Helper()
	for _, p := range nn.Params(model) {
		value := p.Value()
		if !strings.HasSuffix(p.Name(), "weight") || p.Rank() < 2 {
			continue
		}
		if table := strings.HasSuffix(p.Name(), "embedding.weight"); table {
			value = value.T()
		}
		q, err := tensor.Quantize(value, o)
		if err != nil {
			t.Fatal(err)
		}
		value.SetInPlace(q.Dequantize())
	}
}

// TestQuantizedLayers: quantized layers compute what layers of the rounded weights compute, of all inputs that they take,
// and pass gradients on.
func TestQuantizedLayers(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(3)
		x, y, z := rng.Normal(d, 0, 1, 2, 5, 8), rng.Normal(d, 0, 1, 2, 7, 8), rng.Normal(d, 0, 1, 2, 7, 8)
		attend := func(of ...*tensor.Tensor) func(m any, x *autograd.Node) *autograd.Node {
			return func(m any, x *autograd.Node) *autograd.Node {
				nodes := make([]*autograd.Node, len(of))
				for i, v := range of {
					nodes[i] = autograd.Const(v)
					for j := range i {
						if of[j] == v {
							nodes[i] = nodes[j]
						}
					}
				}
				return m.(*nn.MultiHeadAttention).Attend(x, nodes[0], nodes[1], nil)
			}
		}
		forward := func(m any, x *autograd.Node) *autograd.Node { return m.(nn.Module).Forward(x) }
		for name, c := range map[string]struct {
			build   func(rng *tensor.RNG) any
			forward func(m any, x *autograd.Node) *autograd.Node
		}{
			"linear": {func(rng *tensor.RNG) any {
				return nn.NewLinear(d, rng, nn.LinearConfig{In: 8, Out: 5})
			}, forward},
			"without a bias": {func(rng *tensor.RNG) any {
				return nn.NewLinear(d, rng, nn.LinearConfig{In: 8, Out: 5, NoBias: true})
			}, forward},
			"sequential": {func(rng *tensor.RNG) any {
				return &nn.Sequential{nn.NewLinear(d, rng, nn.LinearConfig{In: 8, Out: 70}), nn.GELU,
					nn.NewLinear(d, rng, nn.LinearConfig{In: 70, Out: 3}),
					nn.Custom((*autograd.Node).Exp)}
			}, forward},
			"transformer": {func(rng *tensor.RNG) any {
				return nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 8, Heads: 2, Causal: true})
			}, forward},
			"convolution": {func(rng *tensor.RNG) any {
				cfg := nn.ConvConfig{In: 5, Out: 10, Kernel: []int{3}}
				cfg.Padding, cfg.Stride, cfg.Groups = []int{1}, []int{2}, 5
				return nn.NewConv(d, rng, cfg)
			}, forward},
			"embedding": {func(rng *tensor.RNG) any {
				cfg := nn.EmbeddingConfig{Rows: 9, Size: 8}
				cfg.Padded, cfg.Padding = true, 2
				return &looker{nn.NewEmbedding(d, rng, cfg), tensor.New(d, []int64{8, 2, 0, 8, 3})}
			}, forward},
			"two inputs": {func(rng *tensor.RNG) any {
				return nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 8, Heads: 2, NoBias: true})
			}, attend(y, y)},
			"three inputs": {func(rng *tensor.RNG) any {
				return nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 8, Heads: 4})
			}, attend(y, z)},
		} {
			for _, o := range []tensor.QuantizeOptions{{}, {Bits: 4, ZeroPoints: true}} {
				floats, model := c.build(tensor.NewRNG(5)), c.build(tensor.NewRNG(5))
				rounded(t, floats, o)
				if _, err := nn.QuantizeWeights(model, o); err != nil {
					t.Fatal(err)
				}
				nn.Eval(model)
				nn.Eval(floats)
				run := func(m any) (y, dx []float64) {
					in := autograd.Param(x, "x")
					out := c.forward(m, in).Retain()
					if err := out.Square().Sum().Backward(); err != nil {
						t.Fatal(err)
					}
					return devtest.Float64s(t, out.Value()), devtest.Float64s(t, in.Grad())
				}
				got, gotDX := run(model)
				want, wantDX := run(floats)
				near := func(what string, got, want []float64) {
					if len(got) != len(want) {
						t.Fatalf("%s, %+v: %d elements, want %d", name, o, len(got), len(want))
					}
					for i, v := range want {
						if !(math.Abs(got[i]-v) <= 1e-4*(1+math.Abs(v))) {
							t.Fatalf("%s, %+v: %s: element %d is %v, want %v", name, o, what, i, got[i], v)
						}
					}
				}
				near("output", got, want)
				near("gradient", gotDX, wantDX)
			}
		}
	})
}

// looker adds rows of a table.
type looker struct {
	Embedding *nn.Embedding
	index     *tensor.Tensor
}

func (l *looker) Forward(x *autograd.Node) *autograd.Node { return x.Add(l.Embedding.Forward(l.index)) }

// zoo has a layer of each kind that is quantized, and that is not.
type zoo struct {
	Embedding  *nn.Embedding
	Conv       *nn.Conv
	Transposed *nn.ConvTranspose
	LSTM       *nn.LSTM
	Block      *nn.TransformerBlock
	First      *nn.Linear
	Again      *nn.Linear // of the weight of First
	Unmade     nn.Linear
}

func newZoo(d tensor.Device) *zoo {
	rng := tensor.NewRNG(1)
	z := &zoo{
		Embedding:  nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: 3, Size: 4}),
		Conv:       nn.NewConv(d, rng, nn.ConvConfig{In: 1, Out: 2, Kernel: []int{3}}),
		Transposed: nn.NewConvTranspose(d, rng, nn.ConvTransposeConfig{In: 2, Out: 1, Kernel: []int{3}}),
		LSTM:       nn.NewLSTM(d, rng, nn.RecurrentConfig{In: 3, Hidden: 4}),
		Block:      nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 4, Heads: 2}),
		First:      nn.NewLinear(d, rng, nn.LinearConfig{In: 4, Out: 3}),
	}
	z.Again = &nn.Linear{Weight: z.First.Weight}
	return z
}

// TestQuantizeWeightsReport: the report names what was quantized and what was not, and a weight of two layers is
// quantized once.
func TestQuantizeWeightsReport(t *testing.T) {
	d := devtest.CPU(t)
	z := newZoo(d)
	report, err := nn.QuantizeWeights(z, tensor.QuantizeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, l := range report.Layers {
		names = append(names, l.Name)
	}
	if want := []string{"embedding.weight", "conv.weight", "block.self_attn.in_proj_weight",
		"block.self_attn.out_proj.weight", "block.linear1.weight",
		"block.linear2.weight", "first.weight", "again.weight"}; !slices.Equal(names, want) {
		t.Errorf("layers %q, want %q", names, want)
	}
	if want := []string{"transposed.weight", "lstm.weight_ih_l0",
		"lstm.weight_hh_l0"}; !slices.Equal(report.Kept, want) {
		t.Errorf("kept %q, want %q", report.Kept, want)
	}
	if again := report.Layers[7]; z.First.Quantized != z.Again.Quantized || again.Before != 0 || again.After != 0 ||
		again.Error != report.Layers[6].Error {
		t.Errorf("of the shared weight: %+v", again)
	}
	before, after := 0, 0
	for _, l := range report.Layers {
		before, after = before+l.Before, after+l.After
	}
	if b, a := report.Bytes(); b != before || a != after || before != d.DefaultType().Size()*(12+6+48+16+64+64+12) {
		t.Errorf("%d bytes become %d, want %d and %d", b, a, before, after)
	}
	if s := report.String(); !strings.Contains(s, "kept as they are: transposed.weight, lstm.weight_ih_l0") {
		t.Error(s)
	}
	for _, p := range nn.Params(z) {
		if p.NeedsGrad() {
			t.Errorf("%q is not frozen", p.Name())
		}
	}
}

// TestQuantizeWeightsMisuse: a quantized model is not trained, saved, loaded nor quantized again, and one that cannot be
// quantized stays as it is.
func TestQuantizeWeightsMisuse(t *testing.T) {
	d := devtest.CPU(t)
	z := newZoo(d)
	dict := nn.StateDict(newZoo(d))
	if _, err := nn.QuantizeWeights(z, tensor.QuantizeOptions{}); err != nil {
		t.Fatal(err)
	}
	const say = `"embedding.weight" is quantized`
	misuse(t, tensor.Try(func() { _, _ = nn.QuantizeWeights(z, tensor.QuantizeOptions{}) }),
		"QuantizeWeights: bad value: "+say)
	misuse(t, tensor.Try(func() { nn.Train(z) }), "Train: bad value: "+say)
	misuse(t, tensor.Try(func() { nn.StateDict(z) }), "StateDict: bad value: "+say)
	misuse(t, tensor.Try(func() { _ = nn.LoadStateDict(z, dict) }), "StateDict: bad value: "+say)
	nn.Eval(z)
	nn.To(z, tensor.BFloat16)
	x := autograd.Const(tensor.Full(d, 1, 2, 4).To(tensor.BFloat16))
	if y := z.First.Forward(x); z.First.Bias.Value().Type() != tensor.BFloat16 || y.Value().Type() != tensor.BFloat16 {
		t.Errorf("in 16 bits it gives %v", y.Value().Type())
	}
	loss := z.First.Forward(x).Sum()
	if err := loss.Backward(); !errors.Is(err, autograd.ErrNotOnGraph) {
		t.Errorf("Backward: %v", err)
	}

	whole := newZoo(d)
	misuse(t, tensor.Try(func() { _, _ = nn.QuantizeWeights(whole, tensor.QuantizeOptions{Bits: 3}) }),
		"QuantizeWeights: bad value [4 3]: Bits is 3")
	misuse(t, tensor.Try(func() {
		_, _ = nn.QuantizeWeights(struct{ L nn.Linear }{*whole.First}, tensor.QuantizeOptions{})
	}), "a copy of nn.Linear")
	whole.First.Weight.Value().Select(0, 2).FillInPlace(math.Inf(1))
	_, err := nn.QuantizeWeights(whole, tensor.QuantizeOptions{})
	misuse(t, err, "nn: quantize first.weight: tensor: Quantize: bad value [4 3]: element [2 0] is +Inf")
	if whole.Block.Linear1.Weight == nil || whole.Block.Linear1.Quantized != nil || !whole.First.Bias.NeedsGrad() ||
		len(nn.StateDict(whole)) != len(dict) {
		t.Error("the model has changed")
	}
}

func ExampleQuantizeWeights() {
	d, err := tensor.Open("cpu")
	if err != nil {
		panic(err)
	}
	defer d.Close()
	model := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{128, 256, 64},
		Activations: []nn.Activation{nn.ReLU}})
	report, err := nn.QuantizeWeights(model, tensor.QuantizeOptions{})
	if err != nil {
		panic(err)
	}
	before, after := report.Bytes()
	fmt.Println(before, "bytes become", after)
	// Output: 196608 bytes become 50432
}
