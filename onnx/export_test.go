package onnx_test

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
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

// file is a model that was written, and loaded.
type file struct {
	bytes   []byte
	model   *onnx.Model
	session *onnx.Session
	half    bool // it computes in 16 bits
}

// exported writes a model and loads what was written.
func exported(t *testing.T, d tensor.Device, model any, inputs []*tensor.Tensor, o onnx.ExportOptions) (f file) {
	t.Helper()
	var b bytes.Buffer
	if err := onnx.Export(&b, model, inputs, o); err != nil {
		t.Fatal(err)
	}
	f.bytes = b.Bytes()
	var err error
	if f.model, err = onnx.Parse(f.bytes); err != nil {
		t.Fatal(err)
	}
	if f.session, err = f.model.Load(d); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.session.Close() })
	return f
}

// forwardFunc computes the outputs of a model.
type forwardFunc = func(in []*tensor.Tensor) []*autograd.Node

// wantSame runs the file and the program on inputs, and compares the outputs: those of onnxruntime, too, with r.
func (f file) wantSame(t *testing.T, r *onnxtest.Runtime, forward forwardFunc, inputs ...*tensor.Tensor) {
	t.Helper()
	s := f.session
	var given []*onnx.Value
	for _, x := range inputs {
		given = append(given, onnx.FromTensor(x))
	}
	got, err := s.Run(given...)
	if err != nil {
		t.Fatal(err)
	}
	d := inputs[0].Device()
	if d.DefaultType() == tensor.Float32 {
		r.Add(t, fmt.Sprint(t.Name(), inputs[0].Shape()), f.bytes, f.model, inputs, got)
	}
	tensor.Scope(d, func() {
		autograd.NoGrad(d, func() {
			for i, want := range forward(inputs) {
				if f.half {
					wantWithin(t, got[i].Tensor(), want.Value(), 1e-2)
				} else {
					wantClose(t, got[i].Tensor(), want.Value())
				}
			}
		})
	})
}

func wantClose(t *testing.T, got, want *tensor.Tensor) {
	t.Helper()
	wantWithin(t, got, want, 1e-4)
}

func wantWithin(t *testing.T, got, want *tensor.Tensor, part float64) {
	t.Helper()
	if got.Type() != want.Type() || !slices.Equal(got.Shape(), want.Shape()) {
		t.Fatalf("it is %v %v, want %v %v", got.Type(), got.Shape(), want.Type(), want.Shape())
	}
	a, err := got.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	b, err := want.Float64s()
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		if a[i] != b[i] && !(math.Abs(a[i]-b[i]) <= part/10+part*math.Abs(b[i])) && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			t.Fatalf("element %d is %v, want %v", i, a[i], b[i])
		}
	}
}

// moduleOf returns the function of a module.
func moduleOf(m nn.Module) forwardFunc {
	return func(in []*tensor.Tensor) []*autograd.Node {
		return []*autograd.Node{m.Forward(autograd.Const(in[0]))}
	}
}

// batch says that the first axis of the one input is open.
var batch = onnx.ExportOptions{Dynamic: []map[int]string{{0: "batch"}}}

// TestExportModules writes each module with an open batch, and runs it in sizes that the example has not.
func TestExportModules(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		r := onnxtest.NewRuntime(t)
		defer r.Check(t)
		rng := tensor.NewRNG(1)
		linear := func(in, out int) *nn.Linear { return nn.NewLinear(d, rng, nn.LinearConfig{In: in, Out: out}) }
		bn := nn.NewBatchNorm(d, nn.BatchNormConfig{Channels: 3})
		layers := layersOf(t)
		for _, m := range []any{&nn.Embedding{}, &nn.Flatten{}, nn.Tanh} { // in TestExportDynamic, and within others here
			delete(layers, typeName(m))
		}
		for _, c := range []struct {
			name  string
			m     nn.Module
			shape []int
		}{
			{"Linear", linear(5, 4), []int{2, 5}},
			{"Linear of rows", linear(5, 4), []int{2, 3, 5}},
			{"Linear without bias", nn.NewLinear(d, rng, nn.LinearConfig{In: 5, Out: 5, NoBias: true}), []int{2, 5}},
			{"MLP", nn.NewMLP(d, rng, nn.MLPConfig{Sizes: []int{5, 7, 3}, Activations: []nn.Activation{nn.GELU}}), []int{2, 5}},
			{"Sequential", nn.Sequential{linear(5, 4), nn.Tanh, nn.Custom((*autograd.Node).Softplus), nn.LeakyReLU(0.2),
				nn.Sine(3)}, []int{2, 5}},
			{"Conv", nn.NewConv(d, rng, nn.ConvConfig{In: 3, Out: 4, Kernel: []int{3, 2},
				ConvOptions: tensor.ConvOptions{Padding: []int{1, 2}, Stride: []int{2}}}), []int{2, 3, 7, 6}},
			{"ConvTranspose", nn.NewConvTranspose(d, rng, nn.ConvTransposeConfig{In: 3, Out: 4, Kernel: []int{3},
				ConvTransposeOptions: tensor.ConvTransposeOptions{Stride: []int{2}, OutputPadding: []int{1}}}), []int{2, 3, 7}},
			{"LayerNorm", nn.NewLayerNorm(d, nn.LayerNormConfig{Shape: []int{3, 4}}), []int{2, 3, 4}},
			{"RMSNorm", nn.NewRMSNorm(d, nn.RMSNormConfig{Shape: []int{4}}), []int{2, 3, 4}},
			{"GroupNorm", nn.NewGroupNorm(d, nn.GroupNormConfig{Channels: 4, Groups: 2}), []int{2, 4, 3, 3}},
			{"BatchNorm", bn, []int{2, 3, 4, 4}},
			{"Dropout", &nn.Dropout{P: 0.5, RNG: rng}, []int{2, 3}},
			{"MaxPool", &nn.MaxPool{Window: []int{2, 2}}, []int{2, 3, 6, 6}},
			{"AvgPool", &nn.AvgPool{Window: []int{2, 2}}, []int{2, 3, 6, 6}},
			{"AdaptiveMaxPool", &nn.AdaptiveMaxPool{Size: []int{2, 3}}, []int{2, 3, 5, 6}},
			{"AdaptiveAvgPool", &nn.AdaptiveAvgPool{Size: []int{2, 3}}, []int{2, 3, 5, 6}},
			{"Flatten", nn.Sequential{&nn.Flatten{}, linear(12, 2)}, []int{2, 3, 4}},
			{"MultiHeadAttention", nn.NewMultiHeadAttention(d, rng, nn.MultiHeadAttentionConfig{Size: 6, Heads: 2}),
				[]int{2, 5, 6}},
			{"TransformerBlock", nn.NewTransformerBlock(d, rng, nn.TransformerBlockConfig{Size: 6, Heads: 2, Causal: true,
				NormFirst: true, Dropout: 0.1, Activation: nn.GELU}), []int{2, 5, 6}},
			{"LSTM", nn.NewLSTM(d, rng, nn.RecurrentConfig{In: 3, Hidden: 4, Layers: 2, Bidirectional: true}), []int{2, 5, 3}},
			{"GRU", nn.NewGRU(d, rng, nn.RecurrentConfig{In: 3, Hidden: 4, Layers: 2, Bidirectional: true, TimeFirst: true}),
				[]int{2, 5, 3}},
			{"GRU without bias", nn.NewGRU(d, rng, nn.RecurrentConfig{In: 3, Hidden: 4, NoBias: true}), []int{2, 5, 3}},
		} {
			delete(layers, typeName(c.m))
			t.Run(c.name, func(t *testing.T) {
				nn.Eval(c.m)
				x := rng.Normal(d, 0, 1, c.shape...)
				f := exported(t, d, c.m, []*tensor.Tensor{x}, batch)
				for _, n := range []int{1, 2, 7} {
					c.shape[0] = n
					f.wantSame(t, r, moduleOf(c.m), rng.Normal(d, 0, 1, c.shape...))
				}
			})
		}
		if len(layers) > 0 {
			t.Errorf("layers of nn that no test writes: %v", slices.Sorted(maps.Keys(layers)))
		}
	})
}

// typeName returns the name of a type, or of what a pointer points to.
func typeName(v any) string {
	typ := reflect.TypeOf(v)
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	return typ.Name()
}

// layersOf returns the types of package nn that have a method Forward.
func layersOf(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("../nn/*.go")
	if err != nil {
		t.Fatal(err)
	}
	layers := map[string]bool{}
	receiver := regexp.MustCompile(`(?m)^func \(\w+ \*?([A-Z]\w*)\) Forward\(`)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range receiver.FindAllSubmatch(text, -1) {
			layers[string(m[1])] = true
		}
	}
	if !layers["Linear"] || !layers["Sequential"] {
		t.Fatalf("layers %v", layers)
	}
	return layers
}

// TestExportPage: docs/onnx.md lists the layers.
func TestExportPage(t *testing.T) {
	page, err := os.ReadFile("../docs/onnx.md")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(layersOf(t))) {
		names = append(names, "`"+name+"`")
	}
	if want := "| layers of `nn` | all: " + strings.Join(names, " ") + "; "; !strings.Contains(string(page), want) {
		t.Errorf("the page has no %q", want)
	}
}
