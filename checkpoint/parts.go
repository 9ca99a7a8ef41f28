package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
)

// part is one of the parts of a checkpoint.
type part interface {
	// kind names what it is, for people too.
	kind() string
	// state returns what is kept of it beside its tensors, nil if nothing is.
	state() (json.RawMessage, error)
	// prepare reads that. What can refuse it is restored now, and undo takes that back; the rest
	// waits for commit.
	prepare(state json.RawMessage) (undo func(), err error)
	// commit restores what prepare has read, when the tensors have their new values.
	commit() error
}

// opened is parts that were found to be parts.
type opened struct {
	names   []string // sorted
	parts   map[string]part
	device  tensor.Device
	tensors tensor.Dict // of all parts, by the names that they have in the file
	views   tensor.Dict // those that an optimizer made for this call
}

// open looks at the parts, and panics for what is none.
func open(op string, parts State) *opened {
	all := &opened{names: slices.Sorted(maps.Keys(parts)), parts: map[string]part{}, tensors: tensor.Dict{}, views: tensor.Dict{}}
	for _, name := range all.names {
		if name == "" || !utf8.ValidString(name) {
			misuse(op, tensor.ErrValue, "the name of a part is %q: it is not empty, and UTF-8", name)
		}
		switch p := parts[name].(type) {
		case tensor.Dict:
			all.parts[name] = dictPart{}
			all.add(op, name, p)
		case func() tensor.Dict:
			if p == nil {
				misuse(op, tensor.ErrValue, "part %q is nil", name)
			}
			all.parts[name] = dictPart{}
			all.add(op, name, p())
		case stepped:
			if isNil(p) {
				misuse(op, tensor.ErrValue, "part %q is nil", name)
			}
			state := p.State()
			for key, t := range state.Tensors {
				all.views[name+"."+key] = t
			}
			all.parts[name] = &steppedPart{of: p, now: state}
			all.add(op, name, state.Tensors)
		case *tensor.RNG:
			if p == nil {
				misuse(op, tensor.ErrValue, "part %q is nil", name)
			}
			all.parts[name] = &rngPart{of: p}
		default:
			all.parts[name] = other(op, name, p)
		}
	}
	if all.device == nil {
		misuse(op, tensor.ErrValue, "no part has a tensor: encoding/json keeps values alone")
	}
	return all
}

// add takes the tensors of a part.
func (all *opened) add(op, name string, dict tensor.Dict) {
	for _, key := range slices.Sorted(maps.Keys(dict)) {
		full, t := name+"."+key, dict[key]
		switch {
		case t == nil:
			misuse(op, tensor.ErrValue, "tensor %q is nil", full)
		case t.Freed():
			misuse(op, tensor.ErrFreed, "%s", tensorapi.Impl.WhoFreed(t, fmt.Sprintf("tensor %q", full)))
		case all.tensors[full] != nil:
			misuse(op, tensor.ErrValue, "two tensors are named %q: call a part otherwise", full)
		case all.device != nil && t.Device() != all.device:
			misuse(op, tensor.ErrDevice, "tensor %q and another are on %s: a checkpoint is of one device", full, tensorapi.Impl.BothNames(t.Device(), all.device))
		}
		all.device = t.Device()
		all.tensors[full] = t
	}
}

// free releases the views that optimizers made.
func (all *opened) free() {
	for _, t := range all.views {
		t.Free()
	}
}

func misuse(op string, kind error, format string, args ...any) {
	panic(&tensor.Error{Pkg: "checkpoint", Op: op, Kind: kind, Detail: fmt.Sprintf(format, args...)})
}

func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return r.Kind() == reflect.Pointer && r.IsNil()
}

var errDamaged = errors.New("what is kept of it is damaged")

// none is the state of parts that are tensors alone, and of those that restore nothing late.
type none struct{}

func (none) state() (json.RawMessage, error)         { return nil, nil }
func (none) prepare(json.RawMessage) (func(), error) { return nil, nil }
func (none) commit() error                           { return nil }

type dictPart struct{ none }

func (dictPart) kind() string { return "tensors" }

// stepped is an optimizer, or what is kept as one is.
type stepped interface {
	State() optim.State
	Restore(optim.State) error
}

type steppedPart struct {
	of   stepped
	now  optim.State // whose tensors are written to before Restore is given them
	next optim.State
}

func (*steppedPart) kind() string { return "an optimizer" }

func (p *steppedPart) state() (json.RawMessage, error) {
	s := p.now
	s.Tensors = nil // they are in the file as tensors
	return json.Marshal(s)
}

func (p *steppedPart) prepare(state json.RawMessage) (func(), error) {
	if json.Unmarshal(state, &p.next) != nil || p.next.Steps < 0 {
		return nil, errDamaged
	}
	p.next.Tensors = p.now.Tensors
	return nil, nil
}

func (p *steppedPart) commit() error { return p.of.Restore(p.next) }

type rngPart struct {
	of   *tensor.RNG
	next struct {
		Seed  uint64
		Calls uint32
	}
}

func (*rngPart) kind() string { return "a random stream" }

func (p *rngPart) state() (json.RawMessage, error) {
	p.next.Seed, p.next.Calls = p.of.Seed, p.of.Calls
	return json.Marshal(p.next)
}

func (p *rngPart) prepare(state json.RawMessage) (func(), error) {
	if json.Unmarshal(state, &p.next) != nil {
		return nil, errDamaged
	}
	return nil, nil
}

func (p *rngPart) commit() error {
	p.of.Seed, p.of.Calls = p.next.Seed, p.next.Calls
	return nil
}

// decoded reads JSON as a new value of a type. What the type has no field for is an error.
func decoded(state json.RawMessage, typ reflect.Type) (reflect.Value, error) {
	v := reflect.New(typ)
	d := json.NewDecoder(bytes.NewReader(state))
	d.DisallowUnknownFields()
	if err := d.Decode(v.Interface()); err != nil {
		return v, fmt.Errorf("it does not fit %v: %w", typ, err)
	}
	return v.Elem(), nil
}

// jsonPart is a value of the program's.
type jsonPart struct {
	of   reflect.Value // a pointer
	next reflect.Value
}

func (*jsonPart) kind() string { return "a value" }

func (p *jsonPart) state() (json.RawMessage, error) { return json.Marshal(p.of.Interface()) }

func (p *jsonPart) prepare(state json.RawMessage) (undo func(), err error) {
	p.next, err = decoded(state, p.of.Type().Elem())
	return nil, err
}

func (p *jsonPart) commit() error {
	p.of.Elem().Set(p.next)
	return nil
}

// statePart is what has a state that is a value.
type statePart struct {
	none
	get, set reflect.Value // the methods
}

func (statePart) kind() string { return "a state" }

func (p statePart) now() reflect.Value { return p.get.Call(nil)[0] }

func (p statePart) restore(state reflect.Value) error {
	err, _ := p.set.Call([]reflect.Value{state})[0].Interface().(error)
	return err
}

func (p statePart) state() (json.RawMessage, error) { return json.Marshal(p.now().Interface()) }

func (p statePart) prepare(state json.RawMessage) (undo func(), err error) {
	next, err := decoded(state, p.get.Type().Out(0))
	if err != nil {
		return nil, err
	}
	was := p.now()
	if err := p.restore(next); err != nil {
		return nil, err
	}
	return func() { _ = p.restore(was) }, nil // it took that state before
}

// other returns the part that v is by its methods, or as a value.
func other(op, name string, v any) part {
	r := reflect.ValueOf(v)
	if !r.IsValid() || isNil(v) {
		misuse(op, tensor.ErrValue, "part %q is %s", name, said(r))
	}
	get, set := r.MethodByName("State"), r.MethodByName("Restore")
	if get.IsValid() && set.IsValid() && pair(get.Type(), set.Type()) {
		if at := opaque(get.Type().Out(0), nil); at != nil {
			misuse(op, tensor.ErrValue, "part %q has a state of type %v, and JSON keeps nothing of a %v in it", name, get.Type().Out(0), at)
		}
		return statePart{get: get, set: set}
	}
	if r.Kind() != reflect.Pointer {
		misuse(op, tensor.ErrValue, "part %q is %s: a part is a tensor.Dict, a function that returns one, an optimizer, a *tensor.RNG, or a pointer to a value that JSON holds", name, said(r))
	}
	if at := opaque(r.Type().Elem(), nil); at != nil {
		misuse(op, tensor.ErrValue, "part %q is of type %v, and JSON keeps nothing of a %v in it: give tensors as a tensor.Dict, such as nn.StateDict(model)", name, r.Type(), at)
	}
	return &jsonPart{of: r}
}

// said names what is no part.
func said(r reflect.Value) string {
	if !r.IsValid() {
		return "nil"
	}
	if r.Kind() == reflect.Pointer {
		return "a nil " + r.Type().String()
	}
	return "of type " + r.Type().String()
}

// pair reports whether the methods State and Restore are of types func() S and func(S) error.
func pair(get, set reflect.Type) bool {
	return get.NumIn() == 0 && get.NumOut() == 1 && set.NumIn() == 1 && set.NumOut() == 1 && !set.IsVariadic() &&
		get.Out(0) == set.In(0) && set.Out(0) == reflect.TypeFor[error]()
}

// opaque returns a type inside of typ of which JSON keeps nothing, without an error. Such are a
// struct without exported fields, as a tensor is; the type of an unexported field that leads to
// one, unless its tag says that JSON is to pass over it; and what JSON does not read again, an
// interface with methods, a channel or a function.
func opaque(typ reflect.Type, seen map[reflect.Type]bool) reflect.Type {
	if seen[typ] {
		return nil
	}
	if seen == nil {
		seen = map[reflect.Type]bool{}
	}
	seen[typ] = true
	if reflect.PointerTo(typ).Implements(reflect.TypeFor[json.Marshaler]()) || reflect.PointerTo(typ).Implements(reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()) {
		return nil
	}
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return opaque(typ.Elem(), seen)
	case reflect.Chan, reflect.Func:
		return typ
	case reflect.Interface:
		if typ.NumMethod() > 0 {
			return typ
		}
	case reflect.Struct:
		exported, hidden := false, reflect.Type(nil)
		for i := range typ.NumField() {
			f := typ.Field(i)
			if f.Tag.Get("json") == "-" {
				continue
			}
			if !f.IsExported() && !f.Anonymous {
				if hidden == nil && hasTensor(f.Type, map[reflect.Type]bool{}) {
					hidden = f.Type
				}
				continue
			}
			exported = true
			if at := opaque(f.Type, seen); at != nil {
				return at
			}
		}
		if !exported && typ.NumField() > 0 {
			return typ
		}
		return hidden
	}
	return nil
}

// hasTensor reports whether a tensor may be found in a value of a type, in whatever fields.
func hasTensor(typ reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[typ] {
		return false
	}
	seen[typ] = true
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return hasTensor(typ.Elem(), seen)
	case reflect.Struct:
		if typ == reflect.TypeFor[tensor.Tensor]() {
			return true
		}
		for i := range typ.NumField() {
			if hasTensor(typ.Field(i).Type, seen) {
				return true
			}
		}
	}
	return false
}
