package nn_test

import (
	"errors"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// TestErrorPath: an error in a layer of a model has the path of the layer, once something has walked the model.
func TestErrorPath(t *testing.T) {
	d := devtest.CPU(t)
	rng := tensor.NewRNG(1)
	type net struct {
		Layers    []*nn.TransformerBlock
		Conv      *nn.Conv
		Up        *nn.ConvTranspose
		Norm      *nn.LayerNorm
		RMS       *nn.RMSNorm
		Batch     *nn.BatchNorm
		Group     *nn.GroupNorm
		LSTM      *nn.LSTM
		GRU       *nn.GRU
		MLP       *nn.MLP
		Embedding *nn.Embedding
		Head      *nn.Linear
	}
	model := func() *struct{ Encoder *net } {
		return &struct{ Encoder *net }{&net{
			Layers:    []*nn.TransformerBlock{nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 4, Heads: 2})},
			Conv:      nn.NewConv(d, rng, nn.ConvConfig{In: 2, Out: 3, Kernel: []int{3}}),
			Up:        nn.NewConvTranspose(d, rng, nn.ConvTransposeConfig{In: 2, Out: 3, Kernel: []int{3}}),
			Norm:      nn.NewLayerNorm(d, nn.LayerNormConfig{Shape: []int{4}}),
			RMS:       nn.NewRMSNorm(d, nn.RMSNormConfig{Shape: []int{4}}),
			Batch:     nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: 2}),
			Group:     nn.NewGroupNorm(d, nn.GroupNormConfig{Channels: 4, Groups: 2}),
			LSTM:      nn.NewLSTM(d, rng, nn.RecurrentConfig{In: 2, Hidden: 3}),
			GRU:       nn.NewGRU(d, rng, nn.RecurrentConfig{In: 2, Hidden: 3}),
			MLP:       nn.NewMLP(d, rng, nn.MLPConfig{Sizes: []int{2, 3, 1}}),
			Embedding: nn.NewEmbedding(d, rng, nn.EmbeddingConfig{Rows: 3, Size: 2}),
			Head:      nn.NewLinear(d, rng, nn.LinearConfig{In: 4, Out: 2}),
		}}
	}
	x := autograd.Const(tensor.Zeros(d, 2, 5, 5))
	layerOf := func(f func()) string {
		var e *tensor.Error
		if err := tensor.Try(f); !errors.As(err, &e) {
			t.Fatal("there is no error")
		}
		return e.Layer
	}
	for _, walk := range []func(any){func(m any) { nn.Params(m) }, func(m any) { nn.StateDict(m) }, nn.Eval} {
		m := model()
		walk(m)
		e := m.Encoder
		for want, f := range map[string]func(){
			"encoder.layers.0.self_attn": func() { e.Layers[0].Forward(x) },
			"encoder.conv":               func() { e.Conv.Forward(x) },
			"encoder.up":                 func() { e.Up.Forward(x) },
			"encoder.norm":               func() { e.Norm.Forward(x) },
			"encoder.rms":                func() { e.RMS.Forward(x) },
			"encoder.batch":              func() { e.Batch.Forward(x) },
			"encoder.group":              func() { e.Group.Forward(x) },
			"encoder.lstm":               func() { e.LSTM.Forward(x) },
			"encoder.gru":                func() { e.GRU.Forward(x) },
			"encoder.mlp.layer0":         func() { e.MLP.Forward(x) },
			"encoder.embedding":          func() { e.Embedding.Forward(tensor.New(d, []int{3})) },
			"encoder.head":               func() { e.Head.Forward(x) },
		} {
			if got := layerOf(f); got != want {
				t.Errorf("the layer is %q, want %q", got, want)
			}
		}
	}
	m := model()
	nn.Params(m)
	err := tensor.Try(func() { m.Encoder.Head.Forward(autograd.Const(tensor.Zeros(d, 1, 5))) })
	if want := "tensor: encoder.head: Linear: shape mismatch [1 5] [4 2]: "; len(err.Error()) < len(want) || err.Error()[:len(want)] != want {
		t.Errorf("err = %q, want one that begins with %q", err, want)
	}
	if got := layerOf(func() { model().Encoder.Head.Forward(x) }); got != "" {
		t.Errorf("of a model that nothing has walked the layer is %q", got)
	}
	alone := nn.NewLinear(d, rng, nn.LinearConfig{In: 4, Out: 2})
	nn.Params(alone)
	if got := layerOf(func() { alone.Forward(x) }); got != "" {
		t.Errorf("of a layer alone the layer is %q", got)
	}
}
