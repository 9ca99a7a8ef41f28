package nn

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// Module is a layer, or a model, of one input and one output.
type Module interface {
	// Forward returns the output for x.
	Forward(x *autograd.Node) *autograd.Node
}

// Params returns the parameters of a model, frozen ones too: once each, in the order of its fields.
// Each that has no name, or one that its path ends with, takes its path for name: name parts of a
// model and the whole in any order. The package's comment says what a model is. It panics with
// tensor.ErrValue for a tag with a word that it does not know.
func Params(model any) []*autograd.Node {
	var params []*autograd.Node
	listed := map[*autograd.Node]bool{}
	for _, e := range named(entries(model, true)) {
		if e.param != nil && !listed[e.param] {
			listed[e.param] = true
			params = append(params, e.param)
		}
	}
	return params
}

// named gives parameters their paths for names, where they have none or one that the path ends with.
func named(list []entry) []entry {
	for _, e := range list {
		if e.param == nil {
			continue
		}
		if name := e.param.Name(); name == "" || strings.HasSuffix(e.path, "."+name) {
			e.param.Named(e.path)
		}
	}
	return list
}

// Freeze makes the parameters of a model constants until [Unfreeze]: see [autograd.Node.Freeze].
func Freeze(model any) {
	for _, p := range Params(model) {
		p.Freeze()
	}
}

// Unfreeze makes the parameters of a model gather gradients again.
func Unfreeze(model any) {
	for _, p := range Params(model) {
		p.Unfreeze()
	}
}

// TrainEvaler is a layer that goes another way in training than in evaluation, such as [Dropout].
type TrainEvaler interface {
	// SetTraining says which way. A layer that was just made is in training.
	SetTraining(on bool)
}

// Train puts the layers of a model in training: how they are made. It panics with tensor.ErrValue
// for a layer that is a copy, in a model that is no pointer, or in an interface or a map, and for a
// model that [QuantizeWeights] has quantized.
func Train(model any) { setTraining(model, true) }

// Eval puts the layers of a model in evaluation: [Dropout] passes everything, [BatchNorm] takes its
// running statistics. It panics as [Train] does, but takes a quantized model.
func Eval(model any) { setTraining(model, false) }

func setTraining(model any, on bool) {
	list := named(entries(model, true))
	if on {
		mustBeFloats("Train", list)
	}
	w := walker{once: true, module: func(_ string, part reflect.Value) {
		switch typ := reflect.PointerTo(part.Type()); {
		case !typ.Implements(trainEvalerType):
		case part.CanAddr():
			setMode(reflect.NewAt(part.Type(), part.Addr().UnsafePointer()).Interface().(TrainEvaler), on)
		case part.CanInterface() && part.Type().Implements(trainEvalerType):
			setMode(part.Interface().(TrainEvaler), on)
		default:
			misuse("SetTraining", tensor.ErrValue, "the model has a copy of %v, whose mode would be lost: pass a pointer to the model, and put pointers into interfaces and maps", part.Type())
		}
	}}
	w.value("", tag{}, reflect.ValueOf(model))
}

// setMode puts a layer in training or in evaluation. A step that is being recorded is notified of
// layers of other packages, which do not notify it themselves.
func setMode(l TrainEvaler, on bool) {
	switch l.(type) {
	case *Dropout, *BatchNorm, *SpectralNorm:
	default:
		tensorapi.SetsTraining(l, on)
	}
	l.SetTraining(on)
}

// entry is a parameter, a buffer or a quantized matrix of a model, and its path.
type entry struct {
	path       string
	param      *autograd.Node // or
	buffer     *tensor.Tensor // or
	quantized  *tensor.QuantizedTensor
	transposed bool // in state dicts
}

// value returns the tensor that a state dict holds.
func (e entry) value() *tensor.Tensor {
	t := e.buffer
	if e.param != nil {
		t = e.param.Value()
	}
	if e.transposed {
		return tensorapi.Impl.Transposed(t)
	}
	return t
}

// entries returns those of a model: at every path, or each of a part that several paths lead to
// once, at the first.
func entries(model any, once bool) []entry {
	var list []entry
	w := walker{once: once, entry: func(e entry) { list = append(list, e) }}
	w.value("", tag{}, reflect.ValueOf(model))
	return list
}

// walker goes through a model, in the order of fields, and calls what is not nil of its functions.
type walker struct {
	entry  func(entry)
	module func(path string, part reflect.Value) // with each struct
	end    func()                                // with each struct, after its fields; module and it get modules that are slices, too
	once   bool                                  // a part that several paths lead to is visited at the first alone
	seen   map[visited]bool                      // true: the value at hand is in it
	again  int                                   // how many parts were visited that had been before
}

// visited is where a pointer, a slice or a map leads.
type visited struct {
	typ reflect.Type
	at  uintptr
	len int // of a slice
}

// mostAgain is how many parts a walk visits again: more come only of parts that point to each
// other, whose paths double with every one of them.
const mostAgain = 1 << 16

// enter notes that the walk is in a pointer, a slice or a map, until leave, and reports whether it
// is to go there: not to a part that it is in already.
func (w *walker) enter(v reflect.Value) (p visited, ok bool) {
	p = visited{typ: v.Type(), at: v.Pointer()}
	if v.Kind() == reflect.Slice {
		p.len = v.Len()
	}
	in, before := w.seen[p]
	if in || before && w.once {
		return p, false
	}
	if before {
		if w.again++; w.again > mostAgain {
			misuse("StateDict", tensor.ErrValue, "parts that point to each other, such as %v, make more than %d paths: leave such fields out with the tag `nn:\"-\"`", v.Type(), mostAgain)
		}
	}
	if w.seen == nil {
		w.seen = map[visited]bool{}
	}
	w.seen[p] = true
	return p, true
}

func (w *walker) leave(p visited) { w.seen[p] = false }

var (
	nodeType        = reflect.TypeFor[*autograd.Node]()
	quantizedType   = reflect.TypeFor[*tensor.QuantizedTensor]()
	tensorType      = reflect.TypeFor[*tensor.Tensor]()
	deviceType      = reflect.TypeFor[tensor.Device]()
	trainEvalerType = reflect.TypeFor[TrainEvaler]()
	moduleType      = reflect.TypeFor[Module]()
)

// closed are packages whose types hold no part of a model.
var closed = map[string]bool{nodeType.Elem().PkgPath(): true, tensorType.Elem().PkgPath(): true, reflect.TypeFor[kernels.Function]().PkgPath(): true}

// mayHold reports whether a value of a type may have a part of a model in it. Numbers and text have
// none, be they many: a model may hold its data set.
func mayHold(typ reflect.Type) bool {
	if typ.Kind() == reflect.Interface {
		return !typ.Implements(deviceType)
	}
	for range 4 { // a type may be made of itself
		switch typ.Kind() {
		case reflect.Pointer:
			if typ == nodeType || typ == tensorType || typ == quantizedType {
				return true
			}
			typ = typ.Elem()
		case reflect.Slice, reflect.Array, reflect.Map:
			typ = typ.Elem()
		case reflect.Struct:
			return !closed[typ.PkgPath()]
		case reflect.Interface:
			return true
		default:
			return false
		}
	}
	return true
}

// value visits a value at a path, with the tag of its field. Unexported fields count, since a
// program's own model mostly has no others: reflection reads the pointers in them, and what these
// point to has no such mark.
func (w *walker) value(path string, t tag, v reflect.Value) {
	if !v.IsValid() || !mayHold(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if v.IsNil() {
			return
		}
		p, ok := w.enter(v)
		if !ok {
			return
		}
		defer w.leave(p)
	}
	switch v.Kind() {
	case reflect.Interface:
		w.value(path, t, v.Elem())
	case reflect.Pointer:
		w.pointer(path, t, v)
	case reflect.Struct:
		if w.module != nil {
			w.module(path, v)
		}
		w.fields(path, v)
		if w.end != nil {
			w.end()
		}
	case reflect.Slice, reflect.Array:
		if w.end != nil && v.Type().Implements(moduleType) {
			w.module(path, v)
			defer w.end()
		}
		for i := range v.Len() {
			w.value(t.element(path, strconv.Itoa(t.from+i)), t.within(), v.Index(i))
		}
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			return
		}
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			w.value(t.element(path, k.String()), t.within(), v.MapIndex(k))
		}
	}
}

func join(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}

func (w *walker) pointer(path string, t tag, v reflect.Value) {
	switch v.Type() {
	case nodeType:
		if p := (*autograd.Node)(v.UnsafePointer()); p.IsParam() && w.entry != nil {
			w.entry(entry{path: path, param: p, transposed: t.transposed})
		}
		return
	case tensorType:
		if t.name != "" && w.entry != nil {
			w.entry(entry{path: path, buffer: (*tensor.Tensor)(v.UnsafePointer()), transposed: t.transposed})
		}
		return
	case quantizedType:
		if w.entry != nil {
			w.entry(entry{path: path, quantized: (*tensor.QuantizedTensor)(v.UnsafePointer())})
		}
		return
	}
	w.value(path, t, reflect.NewAt(v.Type().Elem(), v.UnsafePointer()).Elem())
}

func (w *walker) fields(path string, v reflect.Value) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		t, ok := tagOf(v.Type(), field)
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(t.name, "#")
		if name == "" && !field.Anonymous {
			name = snake(field.Name)
		}
		w.value(join(path, name), t, v.Field(i))
	}
}

// snake returns a field's name as a path has it: LayerNorm2 is layer_norm2, qProj is q_proj, FCOut
// is fc_out.
func snake(name string) string {
	var out strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		if unicode.IsUpper(r) && i > 0 {
			before, after := letters[i-1], ' '
			if i+1 < len(letters) {
				after = letters[i+1]
			}
			if before != '_' && (!unicode.IsUpper(before) || unicode.IsLower(after)) {
				out.WriteByte('_')
			}
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
