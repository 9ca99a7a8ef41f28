package nn_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// scale is a layer of a program.
type scale struct{ Weight *autograd.Node }

func (s *scale) Forward(x *autograd.Node) *autograd.Node { return x.Mul(s.Weight) }

// block is a part of a program's model, which nn does not call.
type block struct {
	Conv *nn.Conv
	Norm *nn.BatchNorm
	Gain *scale
}

func (b *block) Forward(x *autograd.Node) *autograd.Node {
	return b.Gain.Forward(b.Norm.Forward(b.Conv.Forward(x)).ReLU()).Add(x)
}

type summed struct {
	Blocks []*block
	Pool   *nn.MaxPool
	Head   nn.Sequential
	Spare  *nn.Linear
	Config struct{ Size int }
}

func (s *summed) Forward(x *autograd.Node) *autograd.Node {
	for _, b := range s.Blocks {
		x = b.Forward(x)
	}
	return s.Head.Forward(s.Pool.Forward(x))
}

func TestSummary(t *testing.T) {
	d := devtest.CPU(t)
	rng := tensor.NewRNG(1)
	conv := func() *nn.Conv {
		return nn.NewConv(d, rng, nn.ConvConfig{In: 2, Out: 2, Kernel: []int{3, 3}, ConvOptions: tensor.ConvOptions{Padding: []int{1, 1}}})
	}
	shared := conv()
	of := func(c *nn.Conv) *block {
		return &block{Conv: c, Norm: nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: 2}), Gain: &scale{autograd.Param(tensor.Full(d, 1, 1), "")}}
	}
	net := &summed{Blocks: []*block{of(shared), of(shared), of(conv())}, Pool: &nn.MaxPool{Window: []int{2, 2}},
		Head: nn.Sequential{&nn.Flatten{}, &nn.Dropout{}, nn.NewLinear(d, rng, nn.LinearConfig{In: 32, Out: 10}), nn.Tanh,
			&scale{autograd.Param(tensor.Full(d, 1, 10), "")}},
		Spare: nn.NewLinear(d, rng, nn.LinearConfig{In: 5, Out: 5})}
	nn.Eval(net)
	net.Blocks[0].Norm.Weight.Freeze()
	x := autograd.Const(tensor.Zeros(d, 3, 2, 8, 8))
	if got := "\n" + nn.Summary(net, x).String(); got != summaryTable {
		t.Error(got)
	}
}

const summaryTable = `
==============================================================================
Layer              Type        Output shape        Params   FLOPs  Activations
------------------------------------------------------------------------------
(model)            summed      [3 10]                   -   2.3 k      18.4 kB
  blocks.0         block       -                        -       -            -
    blocks.0.conv  Conv        [3 2 8 8] ×2            38  27.6 k      6.14 kB
    blocks.0.norm  BatchNorm   [3 2 8 8]     4 (2 frozen)     384      3.07 kB
    blocks.0.gain  scale       [3 2 8 8]                1     384      3.07 kB
  blocks.1         block       -                        -       -            -
    blocks.1.norm  BatchNorm   [3 2 8 8]                4     384      3.07 kB
    blocks.1.gain  scale       [3 2 8 8]                1     384      3.07 kB
  blocks.2         block       -                        -       -            -
    blocks.2.conv  Conv        [3 2 8 8]               38  13.8 k      3.07 kB
    blocks.2.norm  BatchNorm   [3 2 8 8]                4     384      3.07 kB
    blocks.2.gain  scale       [3 2 8 8]                1     384      3.07 kB
  pool             MaxPool     [3 2 4 4]                -     384        768 B
  head             Sequential  [3 10]                   -       -            -
    head.0         Flatten     [3 32]                   -       -            -
    head.1         Dropout     [3 32]                   -       -            -
    head.2         Linear      [3 10]                 330  1.92 k        240 B
    head.4         scale       [3 10]                  10      30        240 B
  spare            Linear      not run                 30       -            -
==============================================================================
Params: 461, trainable 459, frozen 2
FLOPs: 48.4 k (a multiply-add is two)
Memory: input 3.07 kB, activations 47.3 kB, parameters 3.69 kB
==============================================================================
`

// TestSummaryOfLayers: every layer of the package says what it returns, and its products are counted.
func TestSummaryOfLayers(t *testing.T) {
	d := devtest.CPU(t)
	rng := tensor.NewRNG(1)
	of := func(shape ...int) *autograd.Node { return autograd.Const(tensor.Zeros(d, shape...)) }
	linear := nn.NewLinear(d, rng, nn.LinearConfig{In: 3, Out: 5})
	quantized := nn.NewLinear(d, rng, nn.LinearConfig{In: 3, Out: 5})
	if _, err := nn.QuantizeWeights(quantized, tensor.QuantizeOptions{}); err != nil {
		t.Fatal(err)
	}
	attention := nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 8, Heads: 2})
	recurrent := nn.RecurrentConfig{In: 3, Hidden: 4, Layers: 2, Bidirectional: true}
	for _, c := range []struct {
		name    string
		model   any
		input   any
		output  string
		params  int
		flops   float64 // of products
		outputs int     // elements of what is not a product
	}{
		{"Linear", linear, of(2, 7, 3), "[2 7 5]", 20, 2 * 14 * 3 * 5, 0},
		{"quantized", quantized, of(2, 3), "[2 5]", 20, 2 * 2 * 3 * 5, 10},
		{"MLP", nn.NewMLP(d, rng, nn.MLPConfig{Sizes: []int{3, 4, 2}}), of(6, 3), "[6 2]", 26, 2 * 6 * (12 + 8), 0},
		{"Conv", nn.NewConv(d, rng, nn.ConvConfig{In: 4, Out: 6, Kernel: []int{3}, ConvOptions: tensor.ConvOptions{Groups: 2}}), of(2, 4, 9), "[2 6 7]", 42, 2 * 84 * 2 * 3, 0},
		{"ConvTranspose", nn.NewConvTranspose(d, rng, nn.ConvTransposeConfig{In: 2, Out: 3, Kernel: []int{2, 2}}), of(1, 2, 4, 4), "[1 3 5 5]", 27, 2 * 32 * 3 * 4, 0},
		{"Embedding", nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: 9, Size: 4}), tensor.New(d, []int{1, 2}), "[2 4]", 36, 0, 0},
		{"LayerNorm", nn.NewLayerNorm(d, nn.LayerNormConfig{Shape: []int{4}}), of(2, 4), "[2 4]", 8, 0, 8},
		{"RMSNorm", nn.NewRMSNorm(d, nn.RMSNormConfig{Shape: []int{4}}), of(2, 4), "[2 4]", 4, 0, 8},
		{"GroupNorm", nn.NewGroupNorm(d, nn.GroupNormConfig{Groups: 2, Channels: 4}), of(2, 4), "[2 4]", 8, 0, 8},
		{"AvgPool", &nn.AvgPool{Window: []int{3}}, of(1, 1, 9), "[1 1 3]", 0, 0, 9},
		{"AdaptiveAvgPool", &nn.AdaptiveAvgPool{Size: []int{1}}, of(1, 2, 9), "[1 2 1]", 0, 0, 18},
		{"AdaptiveMaxPool", &nn.AdaptiveMaxPool{Size: []int{1}}, of(1, 2, 9), "[1 2 1]", 0, 0, 18},
		{"attention", attention, of(5, 6, 8), "[5 6 8]", 288, 2*30*8*32 + 4*30*8*6, 0},
		{"LSTM", nn.NewLSTM(d, rng, recurrent), of(5, 6, 3), "[5 6 8]", 528 - 96, 2 * 30 * 2 * ((3 + 4) + (8 + 4)) * 16, 0},
		{"GRU", nn.NewGRU(d, rng, recurrent), of(5, 6, 3), "[5 6 8]", 0, 2 * 30 * 2 * ((3 + 4) + (8 + 4)) * 12, 0},
		{"empty", linear, of(0, 3), "[0 5]", 20, 0, 0},
	} {
		s := nn.Summary(c.model, c.input)
		root := s.Layers[0]
		params := 0
		for _, p := range nn.Params(c.model) {
			params += p.Value().Len()
		}
		if c.name != "quantized" {
			c.params = params
		}
		if fmt.Sprint(root.Outputs) != "["+c.output+"]" || !root.Ran || root.Calls != 1 || s.Params != c.params {
			t.Errorf("%s: %+v, %d parameters, want %d", c.name, root, s.Params, c.params)
		}
		if s.FLOPs != c.flops+float64(c.outputs) {
			t.Errorf("%s: %v FLOPs, want %v", c.name, s.FLOPs, c.flops+float64(c.outputs))
		}
		if s.String() == "" || s.Activations == 0 && c.name != "empty" {
			t.Errorf("%s: no memory", c.name)
		}
	}
	block := nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 8, Heads: 2, Hidden: 16, Activation: nn.GELU})
	s := nn.Summary(block, of(5, 6, 8))
	var ran []string
	for _, l := range s.Layers {
		ran = append(ran, fmt.Sprint(l.Path, l.Outputs))
	}
	if got := strings.Join(ran, " "); got != "[[5 6 8]] self_attn[[5 6 8]] self_attn.out_proj[[5 6 8]] self_attn.dropout[] linear1[[5 6 16]] linear2[[5 6 8]] norm1[[5 6 8]] norm2[[5 6 8]] dropout[[5 6 8]]" {
		t.Error(got)
	}
	if once, run := nn.Summary(&tied{Table: autograd.Param(tensor.Zeros(d, 4, 3), "")}, of(2, 3)), 2*2*3*4*2; once.Params != 12 || once.FLOPs != float64(run) {
		t.Errorf("a parameter that is used twice: %+v", once)
	}
}

// tied has one parameter under two names.
type tied struct{ Table, Again *autograd.Node }

func (l *tied) Forward(x *autograd.Node) *autograd.Node {
	l.Again = l.Table
	return x.MatMul(l.Table.Reshape(3, 4)).MatMul(l.Again)
}

// TestSummaryChangesNothing: no graph is left, nor memory, and a model in evaluation computes the same after it.
func TestSummaryChangesNothing(t *testing.T) {
	d := devtest.CPU(t)
	net := nn.Sequential{nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 2, Out: 3}), &nn.Dropout{P: 0.5}}
	nn.Eval(net)
	x := autograd.Param(tensor.Full(d, 1, 4, 2), "x")
	before := d.Stats().LiveBytes
	s := nn.Summary(net, x)
	if after := d.Stats().LiveBytes; after != before {
		t.Errorf("%d bytes are left", after-before)
	}
	if got := fmt.Sprint(s.Inputs, s.InputBytes); got != "[[4 2]] 64" {
		t.Errorf("inputs: %s", got)
	}
}

// TestSummaryOfTensor: a tensor stands for a constant.
func TestSummaryOfTensor(t *testing.T) {
	d := devtest.CPU(t)
	l := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 2, Out: 3})
	x := tensor.Zeros(d, 4, 2)
	if got, want := nn.Summary(l, x).String(), nn.Summary(l, autograd.Const(x)).String(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestSummaryMisuse(t *testing.T) {
	d := devtest.CPU(t)
	l := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 2, Out: 3})
	x := autograd.Const(tensor.Zeros(d, 4, 2))
	for want, f := range map[string]func(){
		"nn: Summary: bad value: int has no method Forward":                                                  func() { nn.Summary(7, x) },
		"nn: Summary: bad value: <nil> has no method Forward":                                                func() { nn.Summary(nil, x) },
		"0 inputs are given, of types []":                                                                    func() { nn.Summary(l) },
		"Forward of *nn.Linear is a func(*autograd.Node) *autograd.Node: 1 inputs are given, of types [int]": func() { nn.Summary(l, 4) },
		"tensor: Linear: shape mismatch [4 3] [2 3]":                                                         func() { nn.Summary(l, autograd.Const(tensor.Zeros(d, 4, 3))) },
	} {
		if err := tensor.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	nn.Summary(l, x) // nobody listens after a failure
}
