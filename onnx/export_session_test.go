package onnx_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// TestExportSession: a model that was loaded and trained is written as its file has it, with the new weights.
func TestExportSession(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		m, err := onnx.Open("../testdata/onnx/perceptron.onnx")
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Load(d, onnx.Options{Training: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		x := tensor.New(d, []float32{1, 2, 3, 1, 1, 1}, 2, 3).To(d.DefaultType())
		opt := optim.NewAdamW(nn.Params(s), optim.AdamWDefaults(optim.Constant(0.01)))
		if err := optim.Minimize(opt, s.Forward(autograd.Const(x))[0].Sum()); err != nil {
			t.Fatal(err)
		}
		err = onnx.Export(io.Discard, s, nil, onnx.ExportOptions{Opset: 9})
		if err == nil || !strings.Contains(err.Error(), "a Session is written as its file has it") {
			t.Errorf("with another opset: %v", err)
		}
		var b bytes.Buffer
		if err := onnx.Export(&b, s, nil, onnx.ExportOptions{Metadata: map[string]string{"epoch": "1"}}); err != nil {
			t.Fatal(err)
		}
		again, err := onnx.Parse(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if got, want := again.Inputs()[0].String(), m.Inputs()[0].String(); got != want || again.Metadata()["epoch"] != "1" {
			t.Errorf("the input is %s, want %s; metadata %v", got, want, again.Metadata())
		}
		loaded, err := again.Load(d)
		if err != nil {
			t.Fatal(err)
		}
		defer loaded.Close()
		got, err := loaded.Run(onnx.FromTensor(x.To(tensor.Float32)))
		if err != nil {
			t.Fatal(err)
		}
		wantClose(t, got[0].Tensor().To(d.DefaultType()), s.Forward(autograd.Const(x))[0].Value())

		// One that is not for training has the weights of the file.
		kept, err := m.Load(d)
		if err != nil {
			t.Fatal(err)
		}
		defer kept.Close()
		b.Reset()
		if err := onnx.Export(&b, kept, nil); err != nil {
			t.Fatal(err)
		}
		if again, err = onnx.Parse(b.Bytes()); err != nil {
			t.Fatal(err)
		}
		before, _ := m.Weights(d)
		after, err := again.Weights(d)
		if err != nil || len(after) != len(before) {
			t.Fatalf("%d weights, want %d, %v", len(after), len(before), err)
		}
		wantClose(t, after["w"], before["w"])
	})
}

// TestExportHead: a session with another head is a model like any other.
func TestExportHead(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	m, err := onnx.Open("../testdata/onnx/perceptron.onnx")
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Load(d, onnx.Options{Training: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	model := struct {
		Base *onnx.Session
		Head *nn.Linear
	}{s, nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 2, Out: 5})}
	nn.Eval(&model)
	forward := func(in []*tensor.Tensor) []*autograd.Node {
		return []*autograd.Node{model.Head.Forward(s.Forward(autograd.Const(in[0]))[0])}
	}
	x := tensor.New(d, []float32{1, 2, 3, 1, 1, 1}, 2, 3)
	f := exported(t, d, &model, []*tensor.Tensor{x}, onnx.ExportOptions{Forward: forward, Dynamic: batch.Dynamic})
	f.wantSame(t, nil, forward, tensor.New(d, []float32{1, -2, 3, 0, 1, 1, 5, 5, -5}, 3, 3))
	weights, err := f.model.Weights(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"base.w", "base.b", "head.weight", "head.bias"} {
		if weights[name] == nil {
			t.Errorf("the file has no %q", name)
		}
	}
}

// TestExportFile: weights lie beside the file, and what was there is replaced.
func TestExportFile(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	rng := tensor.NewRNG(1)
	m := nn.NewMLP(d, rng, nn.MLPConfig{Sizes: []int{3, 500, 2}, Activations: []nn.Activation{nn.ReLU}})
	x := rng.Normal(d, 0, 1, 4, 3)
	path := filepath.Join(t.TempDir(), "model.onnx")
	for _, external := range []bool{false, true} {
		o := batch
		o.External = external
		if err := onnx.ExportFile(path, m, []*tensor.Tensor{x}, o); err != nil {
			t.Fatal(err)
		}
		model, err := onnx.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := model.Load(d)
		if err != nil {
			t.Fatal(err)
		}
		file{model: model, session: s}.wantSame(t, nil, moduleOf(m), x)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		_, err = os.Stat(path + ".data")
		info, _ := os.Stat(path)
		if external != (err == nil) || external != (info.Size() < 4*500*3) {
			t.Errorf("external %v: the file has %d bytes, the one beside it %v", external, info.Size(), err)
		}
	}
}

// TestExportQuantized: quantized weights are written as the floats that they stand for.
func TestExportQuantized(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	m := newLanguage(d)
	conv := nn.NewConv(d, tensor.NewRNG(1), nn.ConvConfig{In: 3, Out: 4, Kernel: []int{3}})
	for _, model := range []any{m, conv} {
		if _, err := nn.QuantizeWeights(model, tensor.QuantizeOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	tokens := tensor.New(d, []int64{1, 2, 3, 4, 5, 6}, 2, 3)
	f := exported(t, d, m, []*tensor.Tensor{tokens}, onnx.ExportOptions{Dynamic: []map[int]string{{0: "n", 1: "t"}}})
	forward := func(in []*tensor.Tensor) []*autograd.Node { return []*autograd.Node{m.Forward(in[0])} }
	f.wantSame(t, nil, forward, tensor.New(d, []int64{7, 2, 9, 4}, 1, 4))
	x := tensor.NewRNG(2).Normal(d, 0, 1, 2, 3, 7)
	exported(t, d, conv, []*tensor.Tensor{x}, batch).wantSame(t, nil, moduleOf(conv), x)
}

// TestExportRecurrentStates: first and last states of recurrent layers.
func TestExportRecurrentStates(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	rng := tensor.NewRNG(1)
	cfg := nn.RecurrentConfig{In: 3, Hidden: 4, Layers: 2, Bidirectional: true}
	lstm, gru := nn.NewLSTM(d, rng, cfg), nn.NewGRU(d, rng, cfg)
	m := struct {
		L *nn.LSTM
		G *nn.GRU
	}{lstm, gru}
	nn.Eval(&m)
	forward := func(in []*tensor.Tensor) []*autograd.Node {
		x, h, c := autograd.Const(in[0]), autograd.Const(in[1]), autograd.Const(in[2])
		y, last, cell := lstm.Run(x, h, c)
		z, of := gru.Run(x, h)
		w, _, _ := lstm.Run(x, nil, c)
		return []*autograd.Node{y, last, cell, z, of, w}
	}
	inputs := func(batch, time int) []*tensor.Tensor {
		return []*tensor.Tensor{rng.Normal(d, 0, 1, batch, time, 3), rng.Normal(d, 0, 1, 4, batch, 4),
			rng.Normal(d, 0, 1, 4, batch, 4)}
	}
	f := exported(t, d, &m, inputs(2, 3), onnx.ExportOptions{Forward: forward,
		Dynamic: []map[int]string{{0: "n", 1: "t"}, {1: "n"}, {1: "n"}}})
	for _, size := range [][2]int{{2, 3}, {1, 1}, {5, 9}} {
		f.wantSame(t, nil, forward, inputs(size[0], size[1])...)
	}
}
