package nn_test

import (
	"fmt"
	"log"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// A perceptron of two inputs, forty hidden units and one output.
func Example() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	net := nn.NewMLP(d, tensor.NewRNG(1), nn.MLPConfig{Sizes: []int{2, 40, 1}, Activations: []nn.Activation{nn.Tanh}})
	y := net.Forward(autograd.Const(tensor.Zeros(d, 5, 2)))
	fmt.Println(y.Shape())
	for _, p := range nn.Params(net) {
		fmt.Println(p.Name(), p.Shape())
	}
	// Output:
	// [5 1]
	// layer0.weight [2 40]
	// layer0.bias [40]
	// layer1.weight [40 1]
	// layer1.bias [1]
}

// A layer by itself; what its config leaves out is the usual.
func ExampleNewLinear() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	l := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 3, Out: 2, Bias: nn.Zeros})
	for _, p := range nn.Params(l) {
		fmt.Println(p.Name(), p.Shape())
	}
	fmt.Println(l.Forward(autograd.Const(tensor.Zeros(d, 1, 3))).Value().Float32s())
	// Output:
	// weight [3 2]
	// bias [2]
	// [0 0] <nil>
}

// The values of a network by name, as they go to a file and come back.
func ExampleStateDict() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	cfg := nn.MLPConfig{Sizes: []int{2, 3, 1}}
	trained, fresh := nn.NewMLP(d, tensor.NewRNG(1), cfg), nn.NewMLP(d, tensor.NewRNG(2), cfg)
	if err := nn.LoadStateDict(fresh, nn.StateDict(trained)); err != nil {
		log.Fatal(err)
	}
	x := autograd.Const(tensor.Full(d, 1, 1, 2))
	fmt.Println(fresh.Forward(x).Sub(trained.Forward(x)).Item())
	// Output: 0 <nil>
}

// A batch of two sentences, the second of which ends after two of its four words: none of its words looks at what follows.
func ExampleMultiHeadAttention_Attend() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	l := nn.NewMultiHeadAttention(d, tensor.NewRNG(1), nn.MultiHeadAttentionConfig{Size: 8, Heads: 2})
	words := autograd.Const(tensor.NewRNG(2).Normal(d, 0, 1, 2, 4, 8))
	there := autograd.Const(tensor.New(d, []bool{true, true, true, true, true, true, false, false}, 2, 4))
	y := l.Attend(words, words, words, there.Reshape(2, 1, 1, 4))
	fmt.Println(y.Shape())
	for _, p := range nn.Params(l) {
		fmt.Println(p.Name(), p.Shape())
	}
	// Output:
	// [2 4 8]
	// in_proj_weight [8 24]
	// in_proj_bias [24]
	// out_proj.weight [8 8]
	// out_proj.bias [8]
}

// Two causal blocks, as a language model has them.
func ExampleTransformerBlock() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	rng := tensor.NewRNG(1)
	block := nn.TransformerBlockConfig{Size: 8, Heads: 2, Activation: nn.GELU, NormFirst: true, Causal: true, Dropout: 0.1}
	net := nn.Sequential{nn.NewTransformerBlock(d, rng, block), nn.NewTransformerBlock(d, rng, block), nn.NewLinear(d, rng, nn.LinearConfig{In: 8, Out: 3})}
	nn.Eval(net)
	fmt.Println(net.Forward(autograd.Const(tensor.Zeros(d, 2, 5, 8))).Shape())
	// Output: [2 5 3]
}

// The state after the last time of each of two sequences, from a layer that goes both ways.
func ExampleGRU_Run() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	l := nn.NewGRU(d, tensor.NewRNG(1), nn.RecurrentConfig{In: 3, Hidden: 4, Bidirectional: true})
	y, last := l.Run(autograd.Const(tensor.Zeros(d, 2, 10, 3)), nil)
	fmt.Println(y.Shape(), last.Shape())
	// Output: [2 10 8] [2 2 4]
}

// A sequence in two pieces: the second resumes from where the first ended.
func ExampleLSTM_Run() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	l := nn.NewLSTM(d, tensor.NewRNG(1), nn.RecurrentConfig{In: 3, Hidden: 4})
	x := autograd.Const(tensor.NewRNG(2).Normal(d, 0, 1, 1, 6, 3))
	_, state, cell := l.Run(x.Slice(1, 0, 3), nil, nil)
	y, _, _ := l.Run(x.Slice(1, 3, 6), state, cell)
	whole := l.Forward(x)
	fmt.Println(y.Sub(whole.Slice(1, 3, 6)).Abs().Max().Item())
	// Output: 0 <nil>
}

// A table of a model's layers.
func ExampleSummary() {
	d, err := tensor.Open("cpu")
	if err != nil {
		log.Fatal(err)
	}
	defer d.Close()
	rng := tensor.NewRNG(1)
	net := nn.Sequential{
		nn.NewConv(d, rng, nn.ConvConfig{In: 1, Out: 8, Kernel: []int{3, 3}}),
		&nn.MaxPool{Window: []int{2, 2}},
		&nn.Flatten{},
		nn.NewLinear(d, rng, nn.LinearConfig{In: 1352, Out: 10}),
	}
	fmt.Print(nn.Summary(net, autograd.Const(tensor.Zeros(d, 64, 1, 28, 28))))
	// Output:
	// ==============================================================
	// Layer    Type        Output shape  Params   FLOPs  Activations
	// --------------------------------------------------------------
	// (model)  Sequential  [64 10]            -       -            -
	//   0      Conv        [64 8 26 26]      80  6.23 M      1.38 MB
	//   1      MaxPool     [64 8 13 13]       -   346 k       346 kB
	//   2      Flatten     [64 1352]          -       -            -
	//   3      Linear      [64 10]       13,530  1.73 M      2.56 kB
	// ==============================================================
	// Params: 13,610, trainable 13,610, frozen 0
	// FLOPs: 8.31 M (a multiply-add is two)
	// Memory: input 201 kB, activations 1.73 MB, parameters 54.4 kB
	// ==============================================================
}
