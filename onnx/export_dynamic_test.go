package onnx_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/onnxtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
)

// language is a model of texts: of tokens [batch, length].
type language struct {
	Tokens, Places *nn.Embedding
	Block          *nn.TransformerBlock
	Head           *nn.Linear
}

func newLanguage(d tensor.Device) *language {
	rng := tensor.NewRNG(1)
	m := &language{
		Tokens: nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: 11, Size: 8}),
		Places: nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: 64, Size: 8}),
		Block:  nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 8, Heads: 2, Causal: true}),
		Head:   nn.NewLinear(d, rng, nn.LinearConfig{In: 8, Out: 11}),
	}
	nn.Eval(m)
	return m
}

func (m *language) Forward(tokens *tensor.Tensor) *autograd.Node {
	places := tensor.ArangeOf(tokens.Device(), tensor.Int64, 0, float64(tokens.Shape()[1]), 1)
	x := m.Tokens.Forward(tokens).Add(m.Places.Forward(places))
	return m.Head.Forward(m.Block.Forward(x))
}

// TestExportLanguage: batch and length are open, positions follow from the length, and names are those of the state
// dict.
func TestExportLanguage(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		r := onnxtest.NewRuntime(t)
		defer r.Check(t)
		m := newLanguage(d)
		tokens := func(batch, length int) *tensor.Tensor {
			list := make([]int64, batch*length)
			for i := range list {
				list[i] = int64(i * 7 % 11)
			}
			return tensor.New(d, list, batch, length)
		}
		f := exported(t, d, m, []*tensor.Tensor{tokens(2, 5)}, onnx.ExportOptions{
			Inputs: []string{"tokens"}, Outputs: []string{"logits"}, Opset: 20, Metadata: map[string]string{"a": "b"},
			Dynamic: []map[int]string{{0: "batch", 1: "length"}},
		})
		for _, shape := range [][2]int{{1, 1}, {2, 5}, {3, 17}, {1, 64}} {
			f.wantSame(t, r, func(in []*tensor.Tensor) []*autograd.Node { return []*autograd.Node{m.Forward(in[0])} },
				tokens(shape[0], shape[1]))
		}
		if got := f.model.Inputs()[0].String(); got != "tokens: int64[batch,length]" {
			t.Errorf("the input is %s", got)
		}
		if got := strings.Join(f.model.Outputs()[0].Dims, ","); got != "batch,length,11" ||
			f.model.Outputs()[0].Name != "logits" {
			t.Errorf("the output is %v", f.model.Outputs()[0])
		}
		if got := f.model.Metadata()["a"]; got != "b" || f.model.Producer() != "clgrad 0.1.0" ||
			f.model.Opsets()[0].Version != 20 {
			t.Errorf("metadata %v, producer %q, opsets %v", f.model.Metadata(), f.model.Producer(), f.model.Opsets())
		}
		weights, err := f.model.Weights(d)
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range nn.StateDict(m) {
			got := weights[name]
			if got == nil {
				t.Errorf("the file has no %q", name)
				continue
			}
			wantClose(t, got.To(want.Type()), want.Copy())
		}
	})
}

// TestExportSizes: sizes that follow from open ones.
func TestExportSizes(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	r := onnxtest.NewRuntime(t)
	defer r.Check(t)
	rng := tensor.NewRNG(1)
	conv := nn.NewConv(d, rng, nn.ConvConfig{In: 3, Out: 4, Kernel: []int{3, 3},
		ConvOptions: tensor.ConvOptions{Stride: []int{2}, Padding: []int{1}}})
	node := func(f func(x *autograd.Node) *autograd.Node) forwardFunc {
		return func(in []*tensor.Tensor) []*autograd.Node { return []*autograd.Node{f(autograd.Const(in[0]))} }
	}
	for _, c := range []struct {
		name    string
		f       forwardFunc
		shape   []int
		dynamic map[int]string
		others  [][]int
	}{
		{"upsampled", node(func(x *autograd.Node) *autograd.Node {
			s := x.Shape()
			return x.Interpolate([]int{2 * s[2], s[3] + 3}, tensor.InterpolateOptions{Linear: true})
		}), []int{1, 2, 4, 5}, map[int]string{0: "n", 2: "h", 3: "w"}, [][]int{{3, 2, 7, 2}}},
		{"convolved", node(conv.Forward), []int{1, 3, 8, 8}, map[int]string{2: "h", 3: "w"}, [][]int{{1, 3, 5, 11}}},
		{"skipped", node(func(x *autograd.Node) *autograd.Node { // the size of another operation's result, rounded
			y := x.MaxPool([]int{2}, tensor.MaxPoolOptions{Ceil: true})
			return y.Interpolate(x.Shape()[2:]).Add(x)
		}), []int{1, 2, 6}, map[int]string{2: "t"}, [][]int{{1, 2, 7}, {1, 2, 9}}},
		{"flattened", node(func(x *autograd.Node) *autograd.Node { return x.Flatten(0, 1).Transpose(1, 0) }), []int{2, 3, 4},
			map[int]string{0: "n", 1: "t"}, [][]int{{5, 7, 4}}},
		{"heads", node(func(x *autograd.Node) *autograd.Node {
			s := x.Shape()
			return x.Reshape(s[0]*s[1], 2, 3).Transpose(1, 0, 2).Reshape(2, s[0], s[1]*3)
		}), []int{2, 5, 6}, map[int]string{0: "n", 1: "t"}, [][]int{{3, 4, 6}, {1, 1, 6}}},
		{"last", node(func(x *autograd.Node) *autograd.Node {
			n := x.Shape()[1]
			return x.Slice(1, n-2, n).Add(x.Select(1, n-1).Unsqueeze(1)).Sub(x.Mean(1, tensor.Keepdims))
		}), []int{2, 4, 3}, map[int]string{1: "t"}, [][]int{{2, 9, 3}, {2, 2, 3}}},
		{"ones", node(func(x *autograd.Node) *autograd.Node {
			return autograd.Concat(1, x, autograd.Const(tensor.FullLike(x.Value(), 2)))
		}), []int{2, 3}, map[int]string{0: "n"}, [][]int{{5, 3}}},
		{"statistics", node(func(x *autograd.Node) *autograd.Node { return x.Std(1, 0, 1) }), []int{2, 4, 3},
			map[int]string{0: "n", 1: "t"},
			[][]int{{3, 5, 3}}},
		{"pooled", node(func(x *autograd.Node) *autograd.Node { return x.AdaptiveAvgPool([]int{1, 1}).Flatten(1, -1) }),
			[]int{1, 2, 4, 4},
			map[int]string{0: "n", 2: "h", 3: "w"}, [][]int{{3, 2, 5, 1}}},
		{"sorted", node(func(x *autograd.Node) *autograd.Node { y, _ := x.Sort(1); return y.CumSum(1).Flip(1).Roll(1, 1) }),
			[]int{2, 4},
			map[int]string{1: "t"}, [][]int{{2, 9}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := rng.Normal(d, 0, 1, c.shape...)
			f := exported(t, d, nil, []*tensor.Tensor{x}, onnx.ExportOptions{Forward: c.f, Dynamic: []map[int]string{c.dynamic}})
			for _, shape := range append([][]int{c.shape}, c.others...) {
				f.wantSame(t, r, c.f, rng.Normal(d, 0, 1, shape...))
			}
		})
	}
}

// TestExportInputs: several inputs and outputs, one that is a parameter, an input, or there twice.
func TestExportInputs(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	w := autograd.Param(tensor.New(d, []float32{1, 2, 3}), "w")
	m := struct{ W *autograd.Node }{w}
	forward := func(in []*tensor.Tensor) []*autograd.Node {
		x, mask := autograd.Const(in[0]), autograd.Const(in[1])
		y := x.Mul(w).Detach()
		values, at := y.TopK(2, -1)
		rows := w.IndexSelect(0, tensor.New(d, []int64{2, 0}))
		return []*autograd.Node{y, y, x, w, x.Where(mask, w), values, autograd.Const(at), rows}
	}
	inputs := []*tensor.Tensor{tensor.New(d, []float32{3, 1, 2, 0, 5, 4}, 2, 3), tensor.New(d, []bool{true, false, true})}
	outputs := []string{"a", "Mul", "c", "d", "Where", "TopK", "constant", "Gather"} // as nodes would be named
	exported(t, d, m, inputs, onnx.ExportOptions{Forward: forward, Outputs: outputs}).wantSame(t, nil, forward, inputs...)
	f := exported(t, d, m, inputs, onnx.ExportOptions{Forward: forward})
	f.wantSame(t, nil, forward, inputs...)
	if in := f.model.Inputs(); len(in) != 2 || in[0].Name != "input0" || in[1].Name != "input1" {
		t.Errorf("inputs %v", in)
	}
	if !slices.Equal(f.model.Outputs()[4].Dims, []string{"2", "3"}) {
		t.Errorf("outputs %v", f.model.Outputs())
	}
}

// TestExportModes: models that free what they compute, that are frozen, or that compute in 16 bits.
func TestExportModes(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	rng := tensor.NewRNG(1)
	m := nn.NewMLP(d, rng, nn.MLPConfig{Sizes: []int{3, 8, 2}, Activations: []nn.Activation{nn.SiLU}})
	plain := moduleOf(m)
	x := rng.Normal(d, 0, 1, 4, 3)
	for name, forward := range map[string]forwardFunc{
		"scope": func(in []*tensor.Tensor) (out []*autograd.Node) {
			tensor.Scope(d, func() { out = []*autograd.Node{plain(in)[0].Retain()} })
			return out
		},
		"frozen": func(in []*tensor.Tensor) []*autograd.Node {
			nn.Freeze(m)
			defer nn.Unfreeze(m)
			return plain(in)
		},
		"autocast": func(in []*tensor.Tensor) (out []*autograd.Node) {
			autograd.Autocast(d, tensor.Float16, func() { out = []*autograd.Node{plain(in)[0].To(tensor.Float32)} })
			return out
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := exported(t, d, m, []*tensor.Tensor{x}, onnx.ExportOptions{Forward: forward, Dynamic: batch.Dynamic})
			f.half = name == "autocast"
			f.wantSame(t, nil, forward, rng.Normal(d, 0, 1, 7, 3))
			if weights, err := f.model.Weights(d); err != nil || weights["layer0.weight"] == nil {
				t.Errorf("weights %v, %v", weights, err)
			}
		})
	}
}
