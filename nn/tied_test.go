package nn_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// tiedNet is a model of which one parameter is the weight of two layers.
type tiedNet struct {
	Embedding *nn.Embedding
	Head      *nn.Linear
}

func newTied(d tensor.Device, seed uint64) *tiedNet {
	rng := tensor.NewRNG(seed)
	n := &tiedNet{Embedding: nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: 5, Size: 3})}
	n.Head = nn.NewLinear(d, rng, nn.LinearConfig{Tied: n.Embedding})
	return n
}

func (n *tiedNet) loss(words, next *tensor.Tensor) *autograd.Node {
	return autograd.CrossEntropy(n.Head.Forward(n.Embedding.Forward(words).Tanh()), next)
}

// TestTied: a layer that shares the weight of an embedding has the gradients of the formula, is one parameter for
// optimizers, two names in state dicts, which may have one of them, and is quantized once.
func TestTied(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		words, next := tensor.New(d, []int{0, 4, 2, 2}), tensor.New(d, []int{1, 0, 2, 3})
		n := newTied(d, 1)
		if names := slices.Collect(func(yield func(string) bool) {
			for _, p := range nn.Params(n) {
				yield(p.Name())
			}
		}); !slices.Equal(names, []string{"embedding.weight", "head.bias"}) {
			t.Errorf("the parameters are %q", names)
		}
		must(n.loss(words, next).Backward())
		table, bias := autograd.Param(n.Embedding.Weight.Value().Copy(), "table"), autograd.Param(n.Head.Bias.Value().Copy(), "bias")
		scores := table.Index(words).Tanh().MatMul(table.Transpose(1, 0)).Add(bias)
		must(autograd.CrossEntropy(scores, next).Backward())
		for _, c := range [][2]*autograd.Node{{n.Embedding.Weight, table}, {n.Head.Bias, bias}} {
			got, _ := c[0].Grad().Float64s()
			want, _ := c[1].Grad().Float64s()
			if !near(got, want) {
				t.Errorf("the gradient of %s is %v, want %v", c[0].Name(), got, want)
			}
		}

		opt := optim.NewAdamW(nn.Params(n), optim.AdamWDefaults(optim.Constant(0.1)))
		must(opt.Step())
		opt.ZeroGrad()
		rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) {
			loss := n.loss(words, next)
			err := loss.Backward()
			return []*tensor.Tensor{loss.Value()}, errors.Join(err, opt.Step(), func() error { opt.ZeroGrad(); return nil }())
		})
		must(err)
		must(rec.Run())
		dict := nn.StateDict(n)
		a, _ := dict["embedding.weight"].Float64s()
		b, _ := dict["head.weight"].Float64s()
		if len(dict) != 3 || !slices.Equal(a, b) {
			t.Fatalf("the state dict has %d tensors, %v and %v", len(dict), a, b)
		}
		path := filepath.Join(t.TempDir(), "tied.safetensors")
		must(tensor.SaveSafetensors(path, dict))
		for _, without := range []string{"", "head.weight", "embedding.weight"} {
			loaded, _, err := tensor.LoadSafetensors(d, path)
			must(err)
			delete(loaded, without)
			other := newTied(d, 2)
			must(nn.LoadStateDict(other, loaded))
			got, _ := other.Embedding.Weight.Value().Float64s()
			if !slices.Equal(got, a) {
				t.Errorf("without %q the table is %v, want %v", without, got, a)
			}
		}
		if err := nn.LoadStateDict(newTied(d, 2), tensor.Dict{"head.bias": dict["head.bias"]}); err == nil || !strings.Contains(err.Error(), `the dict has no "embedding.weight", "head.weight"`) {
			t.Errorf("without a table: %v", err)
		}

		rec.Free()
		opt.Free()
		if d.DefaultType() == tensor.Float64 {
			return
		}
		_, err = nn.QuantizeWeights(n, tensor.QuantizeOptions{})
		must(err)
		if n.Head.Quantized == nil || n.Head.Quantized != n.Embedding.Quantized || n.Head.Tied != nil {
			t.Error("the layers are not quantized as one")
		}
		n.loss(words, next)
		misuse := func(says string, cfg nn.LinearConfig) {
			err := tensor.Try(func() { nn.NewLinear(d, tensor.NewRNG(1), cfg) })
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("err = %v, want one that says %s", err, says)
			}
		}
		misuse("the embedding is quantized", nn.LinearConfig{Tied: n.Embedding})
		misuse("5 rows of 3", nn.LinearConfig{Tied: newTied(d, 3).Embedding, In: 5, Out: 3})
		misuse("leave one out", nn.LinearConfig{Tied: newTied(d, 3).Embedding, Weight: nn.Zeros})
		misuse("NewEmbedding makes one", nn.LinearConfig{Tied: &nn.Embedding{}})
	})
}
