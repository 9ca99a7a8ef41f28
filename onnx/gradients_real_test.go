package onnx_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
)

// TestRealGradients compares gradients of models that others trained, by every weight and input of floats, with central
// differences in double, along a direction of ones and minus ones.
//
// A step h moves the signs of a share of the activations, which grows with h, and with a sign the slope of a ReLU or the
// place of a maximum; and it divides what the loss is rounded by. So there are three steps, and a gradient should agree at
// one of them: one that is wrong is off at all.
func TestRealGradients(t *testing.T) {
	for _, c := range []struct {
		name    string
		log     bool // of the outputs, probabilities: those of classes that are almost certain have no slope
		reached int  // how many weights and inputs have gradients
		more    bool // it takes long
	}{
		{"face_detection_front_128x128_barracuda", false, 59, false}, // convolutions, MaxPool
		{"silero_vad_v6", false, 16, false},                          // LSTM in a branch of If
		{"magika_standard_v3_3", true, 19, false},                    // an embedding by a product, LayerNorm, GELU
		{"ch_ppocr_mobile_v2.0_cls_infer", true, 144, true},
		{"ch_PP-OCRv4_det_infer", false, 124, true},
		{"ultraface_version-RFB-320", false, 143, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.more && os.Getenv("CLGRAD_MORE") == "" {
				t.Skip("CLGRAD_MORE is not set")
			}
			path := "../../shared/onnx/models/" + c.name + ".onnx"
			if _, err := os.Stat(path); err != nil {
				t.Skip("../shared/onnx has no models")
			}
			d := devtest.Open(t, "cpu", tensor.Options{DefaultType: tensor.Float64})
			r := newRealLoss(t, d, path, "../../shared/onnx/pairs/"+c.name+".npz", c.log)
			r.gradients(t)
			reached := 0
			for _, name := range slices.Sorted(maps.Keys(r.params)) {
				if p := r.params[name]; p.Grad() != nil {
					reached++
				}
				r.compare(t, name)
			}
			if reached != c.reached {
				t.Errorf("%d weights and inputs have gradients, want %d", reached, c.reached)
			}
		})
	}
}

// realLoss is a random sum of the outputs of a model, with its weights and inputs as parameters.
type realLoss struct {
	d       tensor.Device
	session *onnx.Session
	inputs  []*autograd.Node
	params  map[string]*autograd.Node
	log     bool
	factors []*autograd.Node // of each output
	rng     *rand.Rand
	loss    float64
}

// newRealLoss loads a model, and the arrays in:NAME of an npz file.
func newRealLoss(t *testing.T, d tensor.Device, model, pairs string, log bool) *realLoss {
	t.Helper()
	m, err := onnx.Open(model)
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Load(d, onnx.Options{Training: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	nn.Eval(s)
	dict, err := tensor.LoadNPZ(d, pairs)
	if err != nil {
		t.Fatal(err)
	}
	r := &realLoss{d: d, session: s, params: maps.Clone(s.Weights), log: log, rng: rand.New(rand.NewPCG(1, 2))}
	for _, info := range m.Inputs() {
		x := dict["in:"+info.Name]
		if !x.Type().Float() {
			r.inputs = append(r.inputs, autograd.Const(x))
			continue
		}
		p := autograd.Param(x.To(tensor.Float64), info.Name)
		r.inputs, r.params["input "+info.Name] = append(r.inputs, p), p
	}
	return r
}

func (r *realLoss) node() *autograd.Node {
	var sum *autograd.Node
	for i, y := range r.session.Forward(r.inputs...) {
		if i == len(r.factors) {
			f := make([]float64, y.Len())
			for k := range f {
				f[k] = r.rng.NormFloat64() / math.Sqrt(float64(len(f)))
			}
			r.factors = append(r.factors, autograd.Const(tensor.New(r.d, f, y.Shape()...).Retain()))
		}
		if r.log {
			y = y.Log()
		}
		if y = y.Mul(r.factors[i]).Sum(); sum != nil {
			y = y.Add(sum)
		}
		sum = y
	}
	return sum
}

// gradients computes those of all parameters.
func (r *realLoss) gradients(t *testing.T) {
	t.Helper()
	tensor.Scope(r.d, func() {
		y := r.node()
		var err error
		if r.loss, err = y.Item(); err == nil {
			err = y.Backward()
		}
		if err != nil {
			t.Fatal(err)
		}
	})
}

// value returns the loss of now.
func (r *realLoss) value(t *testing.T) (y float64) {
	t.Helper()
	var err error
	tensor.Scope(r.d, func() { autograd.NoGrad(r.d, func() { y, err = r.node().Item() }) })
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// compare compares the gradient of a parameter with differences: within 10⁻⁵ of its norm, and what a hundred roundings of
// the loss make of a difference.
func (r *realLoss) compare(t *testing.T, name string) {
	t.Helper()
	p := r.params[name]
	w := devtest.Float64s(t, p.Value())
	grad := make([]float64, len(w))
	if g := p.Grad(); g != nil {
		grad = devtest.Float64s(t, g)
	}
	direction := make([]float64, len(w))
	var size, norm, along float64
	for i := range w {
		direction[i] = float64(2*r.rng.IntN(2) - 1)
		size, norm, along = size+w[i]*w[i], norm+grad[i]*grad[i], along+grad[i]*direction[i]
	}
	if math.IsInf(size, 1) {
		return // what a maximum begins with
	}
	size, norm = max(1e-2, math.Sqrt(size/float64(len(w)))), math.Sqrt(norm)
	at := func(h float64) float64 {
		moved := slices.Clone(w)
		for i := range moved {
			moved[i] += h * direction[i]
		}
		tensor.Upload(p.Value(), moved)
		return r.value(t)
	}
	defer tensor.Upload(p.Value(), w)
	var differences []float64
	for _, step := range []float64{1e-5, 1e-6, 1e-7} {
		h := step * size
		y := (at(h) - at(-h)) / (2 * h)
		if math.Abs(y-along) <= 1e-5*norm+100*0x1p-53*math.Abs(r.loss)/h {
			return
		}
		differences = append(differences, y)
	}
	t.Errorf("%s %v: along a direction the gradient is %v, and differences say %v; its norm is %v", name, p.Shape(), along,
		differences, norm)
}
