package nn

import (
	"reflect"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/tensor"
)

// ModelSummary is what [Summary] found. Its String is a table.
//
// FLOPs are counted by shapes: a multiplication and an addition are two in products, convolutions, attention and
// recurrent layers; an operation that moves elements has none; each other has one for each element of its largest
// operand or result, of a pool for each element of a window. onnx.Session.SetTrace counts products in the same way.
type ModelSummary struct {
	Layers      []LayerSummary // the model, and behind each layer those within it
	Inputs      [][]int        // shapes
	Params      int            // elements of parameters, each once; of quantized weights those that they stand for
	Trainable   int            // those that are not frozen
	FLOPs       float64        // of one forward pass
	InputBytes  int64          // memory of the inputs
	ParamBytes  int64          // memory of the parameters
	Activations int64          // bytes that operations make, views aside: what training keeps until Backward, at most
}

// LayerSummary is a layer. What is counted in layers within it is not counted in it.
type LayerSummary struct {
	Path        string  // as in state dicts; "" for the model
	Type        string  // "Conv"
	Depth       int     // in how many layers it is
	Ran         bool    // whether Forward called it, or a layer within it
	Calls       int     // how often, as far as is known: 0 for a struct of the program that no layer of nn calls
	Outputs     [][]int // shapes of what it returned last; empty where Calls is 0
	Params      int     // as in ModelSummary, of this layer alone
	Trainable   int     // the same
	FLOPs       float64 // of all calls
	ParamBytes  int64   // the same
	Activations int64   // the same
}

// Summary runs Forward of a model on inputs, without a graph, and returns its layers by their paths: output shapes,
// parameters, FLOPs and memory, as Python's torchinfo does.
//
//	fmt.Println(nn.Summary(net, x))
//
// A tensor stands for a constant where Forward takes a Node, and nil for a pointer that is nil, such as a cache.
// A layer that several paths lead to is listed at the first. An [Activation] counts to the layer around it. Call [Eval]
// before: in training [BatchNorm] moves its statistics and [Dropout] draws numbers. It panics with tensor.ErrValue for a
// model without a method Forward that takes the inputs, and as Forward does.
func Summary(model any, inputs ...any) *ModelSummary {
	const op = "Summary"
	forward := reflect.ValueOf(model)
	if forward.IsValid() {
		forward = forward.MethodByName("Forward")
	}
	if !forward.IsValid() {
		misuse(op, tensor.ErrValue, "%T has no method Forward", model)
	}
	args := arguments(op, model, forward.Type(), inputs)
	s := &summing{sum: &ModelSummary{}, at: map[layerKey]int{}, owner: map[*autograd.Node]int{}}
	var d tensor.Device
	for _, x := range operands(inputs) {
		s.sum.Inputs = append(s.sum.Inputs, x.Shape())
		t := valueOf(x)
		if t == nil {
			continue
		}
		d, s.sum.InputBytes = t.Device(), s.sum.InputBytes+bytesOf(t)
	}
	if d == nil {
		misuse(op, tensor.ErrValue, "no input is a Node or a Tensor")
	}
	s.list(model)
	autograd.NoGrad(d, func() {
		tensor.Scope(d, func() {
			calls, layers := trace.During(func() {
				trace.Enter(model)
				var results []any
				for _, y := range forward.Call(args) {
					results = append(results, y.Interface())
				}
				trace.Leave(results...)
			}, func(any) uint64 { return 0 }, func(any) {})
			s.count(calls, layers)
		})
	})
	return s.finish()
}

// arguments returns what Forward is called with.
func arguments(op string, model any, forward reflect.Type, inputs []any) []reflect.Value {
	fits := forward.NumIn() == len(inputs) && !forward.IsVariadic()
	args := make([]reflect.Value, len(inputs))
	for i, x := range inputs {
		if args[i] = reflect.ValueOf(x); fits && x == nil {
			args[i] = reflect.Zero(forward.In(i))
		}
		if t, is := x.(*tensor.Tensor); is && t != nil && fits && forward.In(i) == reflect.TypeFor[*autograd.Node]() {
			args[i] = reflect.ValueOf(autograd.Const(t))
		}
		fits = fits && args[i].Type().AssignableTo(forward.In(i))
	}
	if !fits {
		misuse(op, tensor.ErrValue, "Forward of %T is a %v: %d inputs are given, of types %v", model, forward, len(inputs), typesOf(inputs))
	}
	return args
}

func typesOf(list []any) (types []reflect.Type) {
	for _, x := range list {
		types = append(types, reflect.TypeOf(x))
	}
	return types
}

func valueOf(x any) *tensor.Tensor {
	switch x := x.(type) {
	case *autograd.Node:
		return x.Value()
	case *tensor.Tensor:
		return x
	}
	return nil
}

func bytesOf(t *tensor.Tensor) int64 { return int64(t.Len()) * int64(t.Type().Size()) }

// layerKey tells one layer from another.
type layerKey struct {
	typ reflect.Type
	at  uintptr
}

func keyOf(v reflect.Value) (layerKey, bool) {
	switch {
	case v.Kind() == reflect.Pointer:
		return layerKey{v.Type().Elem(), v.Pointer()}, true
	case v.Kind() == reflect.Slice:
		return layerKey{v.Type(), v.Pointer()}, true
	case v.CanAddr():
		return layerKey{v.Type(), v.Addr().Pointer()}, true
	}
	return layerKey{}, false
}

// summing makes a summary.
type summing struct {
	sum    *ModelSummary
	parent []int // of each layer; -1 of the model
	keep   []bool
	at     map[layerKey]int
	owner  map[*autograd.Node]int // of parameters
	open   []int                  // the layers that the walk is in
}

var activationType = reflect.TypeFor[Activation]()

// list lists the layers of a model and their parameters.
func (s *summing) list(model any) {
	w := walker{once: true, module: s.begin, entry: s.add, end: func() { s.open = s.open[:len(s.open)-1] }}
	w.value("", tag{}, reflect.ValueOf(model))
}

func (s *summing) begin(path string, part reflect.Value) {
	top := len(s.open) - 1
	if top >= 0 && s.sum.Layers[s.open[top]].Path == path { // it is embedded
		s.open = append(s.open, s.open[top])
		return
	}
	i, parent := len(s.sum.Layers), -1
	if top >= 0 {
		parent = s.open[top]
	}
	if key, ok := keyOf(part); ok {
		s.at[key] = i
	}
	_, forward := reflect.PointerTo(part.Type()).MethodByName("Forward")
	s.sum.Layers = append(s.sum.Layers, LayerSummary{Path: path, Type: part.Type().Name(), Depth: len(s.open)})
	s.parent, s.keep = append(s.parent, parent), append(s.keep, forward && part.Type() != activationType)
	s.open = append(s.open, i)
}

func (s *summing) add(e entry) {
	i := s.open[len(s.open)-1]
	l := &s.sum.Layers[i]
	switch {
	case e.param != nil:
		t := e.param.Value()
		s.owner[e.param] = i
		l.Params, l.ParamBytes = l.Params+t.Len(), l.ParamBytes+bytesOf(t)
		if e.param.NeedsGrad() {
			l.Trainable += t.Len()
		}
	case e.quantized != nil:
		l.Params, l.ParamBytes = l.Params+int(elements(e.quantized)), l.ParamBytes+int64(e.quantized.Bytes())
	default:
		return
	}
	s.keep[i] = true
}

// within reports whether layer i is in layer outer.
func (s *summing) within(i, outer int) bool {
	for i = s.parent[i]; i >= 0; i = s.parent[i] {
		if i == outer {
			return true
		}
	}
	return false
}

// count counts what a run did.
func (s *summing) count(calls []trace.Call, layers []trace.Layer) {
	of := make([]int, len(calls)) // the layer that called
	var open []layerKey
	for _, e := range layers {
		key, known := keyOf(reflect.ValueOf(e.Layer))
		i, listed := s.at[key]
		again := e.Depth > 0 && known && open[e.Depth-1] == key // a Sequential says it of its modules, and they do
		open = append(open[:e.Depth], key)
		if !listed || again {
			continue
		}
		for c := e.From; c < e.To; c++ {
			of[c] = i
		}
		l := &s.sum.Layers[i]
		l.Calls, l.Outputs = l.Calls+1, nil
		for _, y := range operands(e.Results) {
			l.Outputs = append(l.Outputs, y.Shape())
		}
		s.ran(i)
	}
	for _, c := range needed(calls, layers) {
		i := of[c]
		for _, x := range operands(calls[c].Args) {
			n, _ := x.(*autograd.Node)
			if owner, is := s.owner[n]; is && s.within(owner, i) { // a layer that is not of this package
				i = owner
				s.sum.Layers[i].Outputs = [][]int{calls[c].Results[0].(shaped).Shape()}
				s.ran(i)
			}
		}
		l := &s.sum.Layers[i]
		n, _ := flops(calls[c])
		l.FLOPs += n
		if !viewOperations[calls[c].Op] {
			for _, y := range calls[c].Results {
				if t := valueOf(y); t != nil {
					l.Activations += bytesOf(t)
				}
			}
		}
	}
}

// ran says that a layer ran, and so those that it is in.
func (s *summing) ran(i int) {
	for ; i >= 0; i = s.parent[i] {
		s.sum.Layers[i].Ran = true
	}
}

// needed returns the calls that results of layers were computed by. Of several for one result, an operation and those
// that it is made of, it is the last whose FLOPs are known, or else the first.
func needed(calls []trace.Call, layers []trace.Layer) (list []int) {
	by := map[any]int{}
	for c, call := range calls {
		for _, y := range call.Results {
			_, exact := flops(call)
			if _, before := by[y]; !before || exact {
				by[y] = c
			}
		}
	}
	seen := map[int]bool{}
	var visit func(x shaped)
	visit = func(x shaped) {
		c, made := by[x]
		if !made || seen[c] {
			return
		}
		seen[c] = true
		for _, in := range operands(calls[c].Args) {
			visit(in)
		}
		list = append(list, c)
	}
	for _, l := range layers {
		for _, y := range operands(l.Results) {
			visit(y)
		}
	}
	return list
}

// finish adds up what is in the layers, and drops structs that are none.
func (s *summing) finish() *ModelSummary {
	sum := s.sum
	for i, l := range sum.Layers {
		if s.keep[i] || l.Ran {
			for p := s.parent[i]; p >= 0; p = s.parent[p] {
				s.keep[p] = true
			}
		}
	}
	all := sum.Layers
	sum.Layers = nil
	for i, l := range all {
		if !s.keep[i] && !l.Ran {
			continue
		}
		sum.Layers = append(sum.Layers, l)
		sum.Params, sum.Trainable, sum.ParamBytes = sum.Params+l.Params, sum.Trainable+l.Trainable, sum.ParamBytes+l.ParamBytes
		sum.FLOPs, sum.Activations = sum.FLOPs+l.FLOPs, sum.Activations+l.Activations
	}
	return sum
}
