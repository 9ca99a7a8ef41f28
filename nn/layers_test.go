package nn_test

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

var written = flag.String("layers", "", "folder to write what scripts/layers.py --check compares PyTorch with")

// A layer is one of scripts/layers.py. forward is called with the inputs of its file, and may
// return several outputs.
type layer struct {
	make    func(d tensor.Device, rng *tensor.RNG) any
	forward func(model any, in []*autograd.Node) []*autograd.Node // nil: of a Module
	eval    bool
}

var layers = map[string]layer{
	"linear": {make: func(d tensor.Device, rng *tensor.RNG) any {
		return nn.NewLinear(d, rng, nn.LinearConfig{In: 3, Out: 5})
	}},
	"linear_nobias": {make: func(d tensor.Device, rng *tensor.RNG) any {
		return nn.NewLinear(d, rng, nn.LinearConfig{In: 3, Out: 5, NoBias: true})
	}},
	"conv1": {make: func(d tensor.Device, rng *tensor.RNG) any {
		return nn.NewConv(d, rng, nn.ConvConfig{In: 4, Out: 6, Kernel: []int{3}, ConvOptions: tensor.ConvOptions{Stride: []int{2}, Padding: []int{1}, Groups: 2}})
	}},
	"conv2": {make: func(d tensor.Device, rng *tensor.RNG) any {
		return nn.NewConv(d, rng, nn.ConvConfig{In: 2, Out: 3, Kernel: []int{3, 2},
			ConvOptions: tensor.ConvOptions{Stride: []int{2, 1}, Padding: []int{1, 0}, Dilation: []int{1, 2}}})
	}},
	"conv3": {make: func(d tensor.Device, rng *tensor.RNG) any {
		return nn.NewConv(d, rng, nn.ConvConfig{In: 2, Out: 2, Kernel: []int{2, 2, 2}, NoBias: true})
	}},
	"conv_transpose1": {make: func(d tensor.Device, rng *tensor.RNG) any {
		return nn.NewConvTranspose(d, rng, nn.ConvTransposeConfig{In: 4, Out: 6, Kernel: []int{3},
			ConvTransposeOptions: tensor.ConvTransposeOptions{Stride: []int{2}, Padding: []int{1}, OutputPadding: []int{1}, Groups: 2}})
	}},
	"conv_transpose2": {make: func(d tensor.Device, rng *tensor.RNG) any {
		return nn.NewConvTranspose(d, rng, nn.ConvTransposeConfig{In: 3, Out: 2, Kernel: []int{3, 2},
			ConvTransposeOptions: tensor.ConvTransposeOptions{Stride: []int{2}, Dilation: []int{1, 2}}})
	}},
	"conv_transpose3": {make: func(d tensor.Device, rng *tensor.RNG) any {
		return nn.NewConvTranspose(d, rng, nn.ConvTransposeConfig{In: 2, Out: 2, Kernel: []int{2, 2, 2}, NoBias: true})
	}},
	"embedding": {make: func(d tensor.Device, rng *tensor.RNG) any {
		return nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: 6, Size: 3})
	}, forward: lookUp},
	"embedding_padded": {make: func(d tensor.Device, rng *tensor.RNG) any {
		return nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: 6, Size: 3, EmbeddingOptions: tensor.EmbeddingOptions{Padded: true, Padding: 2}})
	}, forward: lookUp},
	"layer_norm": {make: func(d tensor.Device, _ *tensor.RNG) any {
		return nn.NewLayerNorm(d, nn.LayerNormConfig{Shape: []int{3, 4}})
	}},
	"rms_norm": {make: func(d tensor.Device, _ *tensor.RNG) any { return nn.NewRMSNorm(d, nn.RMSNormConfig{Shape: []int{6}}) }},
	"group_norm": {make: func(d tensor.Device, _ *tensor.RNG) any {
		return nn.NewGroupNorm(d, nn.GroupNormConfig{Channels: 4, Groups: 2})
	}},
	"batch_norm": {make: func(d tensor.Device, _ *tensor.RNG) any {
		return nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: 3, Momentum: 0.2})
	}},
	"batch_norm_eval": {make: func(d tensor.Device, _ *tensor.RNG) any {
		return nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: 3})
	}, eval: true},
	"sequential": {make: func(d tensor.Device, rng *tensor.RNG) any {
		return nn.Sequential{
			nn.NewConv(d, rng, nn.ConvConfig{In: 1, Out: 2, Kernel: []int{3, 3}, ConvOptions: tensor.ConvOptions{Padding: []int{1}}}),
			nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: 2}), nn.ReLU, &nn.MaxPool{Window: []int{2, 2}}, &nn.Flatten{},
			nn.NewLinear(d, rng, nn.LinearConfig{In: 8, Out: 5}), nn.Tanh, nn.NewLinear(d, rng, nn.LinearConfig{In: 5, Out: 2}),
		}
	}},
	"attention": {make: heads(2)},
	"attention_causal": {make: func(d tensor.Device, rng *tensor.RNG) any {
		return nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 8, Heads: 4, NoBias: true, Causal: true})
	}},
	"attention_cross": {make: heads(2), forward: func(model any, in []*autograd.Node) []*autograd.Node {
		return []*autograd.Node{model.(*nn.MultiHeadAttention).Attend(in[0], in[1], in[1], nil)}
	}},
	"attention_three": {make: heads(2), forward: func(model any, in []*autograd.Node) []*autograd.Node {
		return []*autograd.Node{model.(*nn.MultiHeadAttention).Attend(in[0], in[1], in[2], nil)}
	}},
	"attention_masked": {make: heads(2), forward: masked},
	"attention_added":  {make: heads(2), forward: masked},
	"gru":              {make: gru(nn.RecurrentConfig{In: 3, Hidden: 4}), forward: runGRU},
	"gru_deep":         {make: gru(nn.RecurrentConfig{In: 3, Hidden: 4, Layers: 3, Bidirectional: true, TimeFirst: true}), forward: runGRU},
	"gru_nobias":       {make: gru(nn.RecurrentConfig{In: 3, Hidden: 1, NoBias: true}), forward: runGRU},
	"lstm":             {make: lstm(nn.RecurrentConfig{In: 3, Hidden: 4}), forward: runLSTM},
	"lstm_deep":        {make: lstm(nn.RecurrentConfig{In: 3, Hidden: 4, Layers: 3, Bidirectional: true, TimeFirst: true}), forward: runLSTM},
	"lstm_nobias":      {make: lstm(nn.RecurrentConfig{In: 3, Hidden: 1, NoBias: true}), forward: runLSTM},
	"block": {make: func(d tensor.Device, rng *tensor.RNG) any {
		return nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 8, Heads: 2, Hidden: 12})
	}},
	"block_first": {make: func(d tensor.Device, rng *tensor.RNG) any {
		return nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 8, Heads: 2, Hidden: 12, NormFirst: true, Activation: nn.GELU, Eps: 1e-3})
	}},
	"block_causal": {make: func(d tensor.Device, rng *tensor.RNG) any {
		return nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 8, Heads: 2, Hidden: 12, NormFirst: true, Causal: true})
	}},
}

func gru(cfg nn.RecurrentConfig) func(d tensor.Device, rng *tensor.RNG) any {
	return func(d tensor.Device, rng *tensor.RNG) any { return nn.NewGRU(d, rng, cfg) }
}

func lstm(cfg nn.RecurrentConfig) func(d tensor.Device, rng *tensor.RNG) any {
	return func(d tensor.Device, rng *tensor.RNG) any { return nn.NewLSTM(d, rng, cfg) }
}

func runGRU(model any, in []*autograd.Node) []*autograd.Node {
	in = append(in, nil)
	y, last := model.(*nn.GRU).Run(in[0], in[1])
	return []*autograd.Node{y, last}
}

func runLSTM(model any, in []*autograd.Node) []*autograd.Node {
	in = append(in, nil, nil)
	y, last, cell := model.(*nn.LSTM).Run(in[0], in[1], in[2])
	return []*autograd.Node{y, last, cell}
}

func heads(n int) func(d tensor.Device, rng *tensor.RNG) any {
	return func(d tensor.Device, rng *tensor.RNG) any {
		return nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 8, Heads: n})
	}
}

func masked(model any, in []*autograd.Node) []*autograd.Node {
	mask := in[1]
	if mask.Type() == tensor.Uint8 { // as the file has it
		mask = mask.To(tensor.Bool)
	}
	return []*autograd.Node{model.(*nn.MultiHeadAttention).Attend(in[0], in[0], in[0], mask)}
}

func lookUp(model any, in []*autograd.Node) []*autograd.Node {
	return []*autograd.Node{model.(*nn.Embedding).Forward(in[0].Value())}
}

// TestLayers: a state dict of each layer comes from PyTorch and goes back, with the outputs and
// gradients that PyTorch has: in float64, to rounding.
func TestLayers(t *testing.T) {
	files, err := filepath.Glob("../testdata/layers/*.npz")
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range files {
		files[i] = strings.TrimSuffix(filepath.Base(f), ".npz")
	}
	slices.Sort(files)
	if names := slices.Sorted(maps.Keys(layers)); !slices.Equal(names, files) {
		t.Fatalf("the layers here are %v, those of PyTorch %v", names, files)
	}
	d := devtest.CPU(t)
	for _, name := range files {
		t.Run(name, func(t *testing.T) { layers[name].compare(t, d, name, 1e-9) })
	}
}

// compare compares a layer with its file, to a part of each tensor's largest element.
func (l layer) compare(t *testing.T, d tensor.Device, name string, tolerance float64) {
	file, err := tensor.LoadNPZ(d, filepath.Join("../testdata/layers", name+".npz"))
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range file {
		if v.Type().Float() {
			file[name] = v.To(d.DefaultType())
		}
	}
	model := l.make(d, tensor.NewRNG(1))
	if err := nn.LoadStateDict(model, part(file, "state.")); err != nil {
		t.Fatal(err)
	}
	for name, v := range part(file, "state.") {
		same(t, "state."+name, nn.StateDict(model)[name], v, 0)
	}
	inputs, seeds := numbered(file, "x"), numbered(file, "seed")
	found := l.run(t, model, inputs, seeds)
	for name, v := range file {
		switch {
		case strings.HasPrefix(name, "state."):
		case strings.HasSuffix(name, "num_batches_tracked"): // which counts in PyTorch alone
		case found[name] == nil:
			t.Errorf("PyTorch has %s", name)
		default:
			same(t, name, found[name], v, tolerance)
		}
	}
	for name := range found {
		if file[name] == nil {
			t.Errorf("PyTorch has no %s", name)
		}
	}
	if *written != "" {
		l.write(t, d, name, inputs, seeds)
	}
}

// run returns what a file holds of a run, but for the state before it.
func (l layer) run(t *testing.T, model any, inputs, seeds []*tensor.Tensor) tensor.Dict {
	found := tensor.Dict{}
	var in, wanted []*autograd.Node
	for i, x := range inputs {
		found[fmt.Sprint("x", i)] = x
		if !x.Type().Float() {
			in = append(in, autograd.Const(x))
			continue
		}
		in = append(in, autograd.Param(x, fmt.Sprint("x", i)))
		wanted = append(wanted, in[i])
	}
	if l.eval {
		nn.Eval(model)
	}
	forward := l.forward
	if forward == nil {
		forward = func(model any, in []*autograd.Node) []*autograd.Node {
			return []*autograd.Node{model.(nn.Module).Forward(in[0])}
		}
	}
	var loss *autograd.Node
	for i, y := range forward(model, in) {
		found[fmt.Sprint("y", i)], found[fmt.Sprint("seed", i)] = y.Retain().Value(), seeds[i]
		if term := y.Mul(autograd.Const(seeds[i])).Sum(); loss == nil {
			loss = term
		} else {
			loss = loss.Add(term)
		}
	}
	if err := loss.Backward(); err != nil {
		t.Fatal(err)
	}
	for _, x := range wanted {
		found["d"+x.Name()] = x.Grad()
	}
	params := nn.Params(model)
	parameter := map[string]bool{}
	for _, p := range params {
		parameter[p.Name()] = true
	}
	for name, v := range nn.StateDict(model) {
		if !parameter[name] {
			found["after."+name] = v.Copy()
		}
	}
	// With its gradients in place of its parameters, the state dict of a model has them by
	// PyTorch's names and layouts.
	for _, p := range params {
		p.Value().SetInPlace(p.Grad())
	}
	for name, v := range nn.StateDict(model) {
		if parameter[name] {
			found["grad."+name] = v
		}
	}
	return found
}

// write makes the file of a layer that was drawn here.
func (l layer) write(t *testing.T, d tensor.Device, name string, inputs, seeds []*tensor.Tensor) {
	model := l.make(d, tensor.NewRNG(5))
	file := tensor.Dict{}
	for name, v := range nn.StateDict(model) {
		file["state."+name] = v.Copy()
	}
	maps.Copy(file, l.run(t, model, inputs, seeds))
	if err := os.MkdirAll(*written, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := tensor.SaveNPZ(filepath.Join(*written, name+".npz"), file); err != nil {
		t.Fatal(err)
	}
}

// part returns the tensors whose names begin with a prefix, by the rest.
func part(file tensor.Dict, prefix string) tensor.Dict {
	dict := tensor.Dict{}
	for name, v := range file {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			dict[rest] = v
		}
	}
	return dict
}

// numbered returns the tensors of a file whose names are what and a number.
func numbered(file tensor.Dict, what string) (list []*tensor.Tensor) {
	for v := file[fmt.Sprint(what, 0)]; v != nil; v = file[fmt.Sprint(what, len(list))] {
		list = append(list, v)
	}
	return list
}

// same compares two tensors, to a part of the largest element.
func same(t *testing.T, what string, got, want *tensor.Tensor, tolerance float64) {
	t.Helper()
	if !slices.Equal(got.Shape(), want.Shape()) {
		t.Errorf("%s has shape %v, want %v", what, got.Shape(), want.Shape())
		return
	}
	a, err := got.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	b, err := want.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	var largest, off float64
	for i := range b {
		largest = max(largest, math.Abs(b[i]))
		off = max(off, math.Abs(a[i]-b[i]))
	}
	if !(off <= tolerance*max(largest, 1)) {
		t.Errorf("%s is off by %v, its largest element being %v", what, off, largest)
	}
}

// TestSequentialJoins: an activation in the launch of the layer before it has the bits of one by
// itself. Its gradients are the same, too, but for the bias, whose terms are added in another
// order.
func TestSequentialJoins(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for name, a := range map[string]nn.Activation{"ReLU": nn.ReLU, "GELU": nn.GELU, "own": nn.Custom((*autograd.Node).Square), "none": nn.Identity} {
			l := nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 3, Out: 4})
			x := autograd.Param(tensor.NewRNG(2).Uniform(d, -1, 1, 5, 3), "x")
			results := func(model nn.Module) (launches int64, values []*autograd.Node) {
				before := d.Stats().Launches
				y := model.Forward(x).Retain()
				launches = d.Stats().Launches - before
				grads, err := autograd.Grad(y.Square().Sum(), []*autograd.Node{x, l.Weight, l.Bias})
				if err != nil {
					t.Fatal(err)
				}
				return launches, append(grads, y)
			}
			joined, got := results(nn.Sequential{l, a})
			apart, want := results(nn.Sequential{l, nn.Sequential{a}})
			for i := range want {
				tolerance := 0.0
				if i == 2 {
					tolerance = 1e-6
				}
				same(t, fmt.Sprintf("%s, %d of the gradients and the output", name, i), got[i].Value(), want[i].Value(), tolerance)
			}
			if name == "none" && joined != 1 || (name == "ReLU" || name == "GELU") && joined >= apart {
				t.Errorf("%s: %d launches, apart %d", name, joined, apart)
			}
		}
		x := autograd.Const(tensor.Zeros(d, 2))
		if y := (nn.Sequential)(nil).Forward(x); y != x {
			t.Error("no modules do not return their input")
		}
	})
}
