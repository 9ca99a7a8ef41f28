package nn

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/tensor"
)

// QuantizeReport says what [QuantizeWeights] did.
type QuantizeReport struct {
	Layers []QuantizedLayer // in the order of the model
	// Kept is the paths of the other parameters of two axes and more, such as those of transposed convolutions and of
	// recurrent layers.
	Kept []string
}

// QuantizedLayer is what became of the weights of a layer.
type QuantizedLayer struct {
	Name          string  // the path of the weights
	Shape         []int   // of the weights: [in, out], [out, in/groups, kernel…], [rows, size]
	Before, After int     // bytes
	Error         float64 // the root of the mean square of what each weight is off, in parts of that of the weights
}

// Bytes returns the memory of the weights of all layers, before and after.
func (r QuantizeReport) Bytes() (before, after int) {
	for _, l := range r.Layers {
		before, after = before+l.Before, after+l.After
	}
	return before, after
}

// String returns a table of the layers, and the parameters that were kept.
func (r QuantizeReport) String() string {
	var b strings.Builder
	for _, l := range r.Layers {
		fmt.Fprintf(&b, "%-40s %v: %d bytes become %d, off by %.3g %%\n", l.Name, l.Shape, l.Before, l.After,
			100*l.Error)
	}
	if len(r.Kept) > 0 {
		fmt.Fprintf(&b, "kept as they are: %s\n", strings.Join(r.Kept, ", "))
	}
	return b.String()
}

// QuantizeWeights replaces the weights of every [Linear], [Conv] and [Embedding] of a model, and the maps to queries,
// keys and values of every [MultiHeadAttention], by integers of 8 or 4 bits or by floats of 16 bits, as [tensor.Quantize]
// rounds them: for inference, in a quarter, an eighth or half of the memory. Each output of a layer, and each row of an
// embedding, of integers has a scale, or one for each Group of its weights. Outputs and rows are filled up to a multiple of 64, so that small layers
// may grow. Embeddings give Float32.
//
//	report, err := nn.QuantizeWeights(model, tensor.QuantizeOptions{})                    // 8 bits
//	report, err := nn.QuantizeWeights(model, tensor.QuantizeOptions{Bits: 4, Group: 32})
//	report, err := nn.QuantizeWeights(model, tensor.QuantizeOptions{Type: tensor.BFloat16})
//	fmt.Print(report)
//
// Biases, norms, transposed convolutions and recurrent layers stay as they are. All parameters that are left are
// frozen, as [Freeze] does it, so that Backward says that there is nothing to train; a parameter made later, such as
// that of an adapter, gets gradients through the quantized layers. [Train], [StateDict] and [LoadStateDict] panic with
// tensor.ErrValue: a file holds the model from before, and is quantized again after it was loaded. A weight of two
// layers is quantized once. The memory of the floats returns to the device when nothing refers to them.
//
// The error is that of a weight which is NaN or infinite, or the device's first failure; then nothing has changed. It
// panics with tensor.ErrValue for a model that is quantized already, for weights that have an optimizer, for layers
// that are copies, as [Train] does, and for options that [tensor.Quantize] does not take.
func QuantizeWeights(model any, o tensor.QuantizeOptions) (QuantizeReport, error) {
	defer tensorapi.Rename("nn", "QuantizeWeights")
	const op = "QuantizeWeights"
	mustBeFloats(op, entries(model, true))
	q := quantizing{options: o, made: map[quantizedKey][]*tensor.QuantizedTensor{}}
	w := walker{once: true, module: q.module}
	w.value("", tag{}, reflect.ValueOf(model))
	for _, l := range q.layers {
		if tensorapi.Impl.InFlatBuffer(l.weight.Value()) {
			misuse(op, tensor.ErrValue, "%q has an optimizer: quantize the model after that was freed with Free",
				l.path)
		}
	}
	for _, l := range q.layers {
		if err := q.quantize(l); err != nil {
			q.free()
			return QuantizeReport{}, fmt.Errorf("nn: quantize %s: %w", l.path, err)
		}
	}
	for _, l := range q.layers {
		l.replace(q.made[l.key()])
	}
	Freeze(model)
	for _, e := range entries(model, true) {
		if e.param != nil && e.param.Rank() > 1 {
			q.report.Kept = append(q.report.Kept, e.path)
		}
	}
	return q.report, nil
}

// mustBeFloats panics with tensor.ErrValue if a model has quantized weights.
func mustBeFloats(op string, list []entry) {
	for _, e := range list {
		if e.quantized != nil {
			misuse(op, tensor.ErrValue, "%q is quantized, for inference: take the model from before", e.path)
		}
	}
}

// quantizing is a model whose weights are being quantized.
type quantizing struct {
	options tensor.QuantizeOptions
	layers  []quantizedWeight
	made    map[quantizedKey][]*tensor.QuantizedTensor
	report  QuantizeReport
}

// quantizedWeight is the weight of a layer that is to be quantized.
type quantizedWeight struct {
	path       string
	weight     *autograd.Node
	columns    []int // of matrices that lie beside each other, and are quantized apart; nil: it is one
	transposed bool  // it is quantized as its transpose
	replace    func([]*tensor.QuantizedTensor)
}

// quantizedKey is a weight, and how it is quantized.
type quantizedKey struct {
	weight     *autograd.Node
	transposed bool
}

func (w quantizedWeight) key() quantizedKey { return quantizedKey{w.weight, w.transposed} }

// parts returns views of what is quantized apart.
func (w quantizedWeight) parts() []*tensor.Tensor {
	value := w.weight.Value()
	if w.transposed {
		return []*tensor.Tensor{value.T()}
	}
	if w.columns == nil {
		return []*tensor.Tensor{value.Reshape(value.Shape()...)}
	}
	return value.SplitWithSizes(1, w.columns...)
}

var linearType, attentionType = reflect.TypeFor[Linear](), reflect.TypeFor[MultiHeadAttention]()
var convType, embeddingType = reflect.TypeFor[Conv](), reflect.TypeFor[Embedding]()

// module adds a layer to those that are to be quantized.
func (q *quantizing) module(path string, part reflect.Value) {
	switch part.Type() {
	case linearType, attentionType, convType, embeddingType:
	default:
		return
	}
	if !part.CanAddr() {
		misuse("QuantizeWeights", tensor.ErrValue,
			"the model has a copy of %v, whose weights would stay: pass a pointer to the model, and put pointers into "+
				"interfaces and maps", part.Type())
	}
	at := part.Addr().UnsafePointer()
	w := quantizedWeight{path: join(path, "weight")}
	switch part.Type() {
	case attentionType:
		l := (*MultiHeadAttention)(at)
		if w.path, w.weight = join(path, "in_proj_weight"), l.InWeight; w.weight != nil {
			w.columns = []int{l.columns(1), l.columns(2) - l.columns(1), l.columns(3) - l.columns(2)}
		}
		w.replace = func(m []*tensor.QuantizedTensor) { l.InWeight, l.InQuantized = nil, m }
	case linearType:
		l := (*Linear)(at)
		w.weight, w.replace = l.Weight, func(m []*tensor.QuantizedTensor) { l.Weight, l.Tied, l.Quantized = nil, nil, m[0] }
		if l.Tied != nil {
			w.weight, w.transposed = l.Tied, true
		}
	case convType:
		l := (*Conv)(at)
		w.weight, w.replace = l.Weight, func(m []*tensor.QuantizedTensor) { l.Weight, l.Quantized = nil, m[0] }
	case embeddingType:
		l := (*Embedding)(at)
		w.weight, w.replace = l.Weight, func(m []*tensor.QuantizedTensor) { l.Weight, l.Quantized = nil, m[0] }
		w.transposed = true
	}
	q.add(w)
}

// add adds a layer, unless it is a zero value.
func (q *quantizing) add(w quantizedWeight) {
	if w.weight != nil {
		q.layers = append(q.layers, w)
	}
}

// quantize quantizes the weight of a layer, unless that was done, and reports it.
func (q *quantizing) quantize(l quantizedWeight) error {
	value := l.weight.Value()
	layer := QuantizedLayer{Name: l.path, Shape: value.Shape(), Before: value.Len() * value.Type().Size()}
	parts := l.parts()
	defer func() {
		for _, part := range parts {
			part.Free()
		}
	}()
	if had := q.made[l.key()]; len(had) == 0 {
		for _, part := range parts {
			m, err := tensor.Quantize(part, q.options)
			if err != nil {
				return err
			}
			q.made[l.key()] = append(q.made[l.key()], m)
		}
	} else {
		layer.Before = 0
	}
	var off, sum float64
	for i, m := range q.made[l.key()] {
		o, s, err := squares(parts[i], m)
		if err != nil {
			return err
		}
		off, sum = off+o, sum+s
		if layer.Before > 0 {
			layer.After += m.Bytes()
		}
	}
	if sum > 0 {
		layer.Error = math.Sqrt(off / sum)
	}
	q.report.Layers = append(q.report.Layers, layer)
	return nil
}

// squares returns the sums of the squares of what quantized weights are off, and of the weights.
func squares(w *tensor.Tensor, m *tensor.QuantizedTensor) (off, sum float64, err error) {
	floats := m.Dequantize()
	defer floats.Free()
	got, err := floats.Float32s()
	if err != nil {
		return 0, 0, err
	}
	want, err := w.Float32s()
	for i, v := range want {
		d := float64(got[i]) - float64(v)
		off, sum = off+d*d, sum+float64(v)*float64(v)
	}
	return off, sum, err
}

// free frees what was made.
func (q *quantizing) free() {
	for _, list := range q.made {
		for _, m := range list {
			m.Free()
		}
	}
}

// quantizedLinear returns x·W + b, b being nil for none.
func quantizedLinear(x *autograd.Node, w *tensor.QuantizedTensor, b *autograd.Node) *autograd.Node {
	y := autograd.MatMulQuantized(x, w)
	if b != nil {
		y = y.Add(b)
	}
	return y
}
