package main

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

// functions are those that are called by name, as operations that are no methods are.
var functions = map[string]any{
	"autograd.BCE":            autograd.BCE,
	"autograd.BCEWithLogits":  autograd.BCEWithLogits,
	"autograd.Concat":         autograd.Concat,
	"autograd.CrossEntropy":   autograd.CrossEntropy,
	"autograd.CrossEntropyOf": autograd.CrossEntropyOf,
	"autograd.Einsum":         autograd.Einsum,
	"autograd.MaxUnpool":      autograd.MaxUnpool,
	"autograd.Meshgrid":       autograd.Meshgrid,
	"autograd.NLL":            autograd.NLL,
	"autograd.Stack":          autograd.Stack,
	"tensor.ArangeOf":         tensor.ArangeOf,
	"tensor.EmptyOf":          tensor.EmptyOf,
	"tensor.Eye":              tensor.Eye,
	"tensor.Bitcast":          tensor.Bitcast,
	"tensor.FullOf":           tensor.FullOf,
	"tensor.LinspaceOf":       tensor.LinspaceOf,
	"tensor.ZerosOf":          tensor.ZerosOf,
}

// constants are the arguments that are written by name.
var constants = map[string]any{
	"tensor.Keepdims":     tensor.Keepdims,
	"tensor.PadConstant":  tensor.PadConstant,
	"tensor.PadReflect":   tensor.PadReflect,
	"tensor.PadReplicate": tensor.PadReplicate,
	"tensor.PadCircular":  tensor.PadCircular,
	"tensor.ScatterSum":   tensor.ScatterSum,
	"tensor.ScatterProd":  tensor.ScatterProd,
	"tensor.ScatterMean":  tensor.ScatterMean,
	"tensor.ScatterMax":   tensor.ScatterMax,
	"tensor.ScatterMin":   tensor.ScatterMin,
	"autograd.MeanLoss":   autograd.MeanLoss,
	"autograd.SumLoss":    autograd.SumLoss,
	"autograd.EveryLoss":  autograd.EveryLoss,
}

// machine holds the results of the steps so far.
type machine struct {
	device  tensor.Device
	results [][]any
}

var (
	nodeType   = reflect.TypeFor[*autograd.Node]()
	tensorType = reflect.TypeFor[*tensor.Tensor]()
	deviceType = reflect.TypeFor[tensor.Device]()
	typeType   = reflect.TypeFor[tensor.Type]()
	errorType  = reflect.TypeFor[error]()
)

// call calls a function, or the method of a Node, or where it has none, of its value.
func (m *machine) call(s step) ([]any, error) {
	f, args := reflect.ValueOf(functions[s.Call]), s.Args
	if !strings.Contains(s.Call, ".") {
		x, err := m.node(args[0])
		if err != nil {
			return nil, err
		}
		if f = reflect.ValueOf(x).MethodByName(s.Call); !f.IsValid() {
			f = reflect.ValueOf(x.Value()).MethodByName(s.Call)
		}
		args = args[1:]
	}
	if !f.IsValid() {
		return nil, fmt.Errorf("there is no %s", s.Call)
	}
	in, err := m.arguments(f.Type(), args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Call, err)
	}
	var results []any
	for _, v := range f.Call(in) {
		switch {
		case v.Type() == errorType && !v.IsNil():
			return nil, v.Interface().(error)
		case v.Kind() == reflect.Slice:
			for i := range v.Len() {
				results = append(results, v.Index(i).Interface())
			}
		default:
			results = append(results, v.Interface())
		}
	}
	return results, nil
}

func (m *machine) arguments(f reflect.Type, args []any) (in []reflect.Value, err error) {
	for i := range f.NumIn() {
		t := f.In(i)
		if t == deviceType {
			in = append(in, reflect.ValueOf(m.device))
			continue
		}
		count := 1
		if f.IsVariadic() && i == f.NumIn()-1 {
			t, count = t.Elem(), len(args)
		}
		for range count {
			if len(args) == 0 {
				return nil, fmt.Errorf("there are too few arguments")
			}
			v := reflect.New(t).Elem()
			if err := m.set(v, args[0]); err != nil {
				return nil, err
			}
			in, args = append(in, v), args[1:]
		}
	}
	if len(args) > 0 {
		return nil, fmt.Errorf("there are too many arguments")
	}
	return in, nil
}

// set converts what JSON says to the type of v.
func (m *machine) set(v reflect.Value, said any) error {
	if said == nil {
		return nil
	}
	if s, ok := said.(string); ok && v.Kind() != reflect.String {
		return setNamed(v, s)
	}
	switch {
	case v.Type() == nodeType:
		n, err := m.node(said)
		v.Set(reflect.ValueOf(n))
		return err
	case v.Type() == tensorType:
		n, err := m.node(said)
		if err == nil {
			v.Set(reflect.ValueOf(n.Value()))
		}
		return err
	}
	switch said := said.(type) {
	case map[string]any:
		return m.setFields(v, said)
	case []any:
		if v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(v.Type(), len(said), len(said)))
		}
		for i, e := range said {
			if err := m.set(v.Index(i), e); err != nil {
				return err
			}
		}
		return nil
	case float64:
		if v.Kind() == reflect.Pointer {
			v.Set(reflect.New(v.Type().Elem()))
			v = v.Elem()
		}
		if !reflect.TypeFor[float64]().ConvertibleTo(v.Type()) {
			return fmt.Errorf("%v is no %v", said, v.Type())
		}
		v.Set(reflect.ValueOf(said).Convert(v.Type()))
	default:
		v.Set(reflect.ValueOf(said))
	}
	return nil
}

// setNamed sets v to what a word names: a constant, a type, or a number that JSON lacks, as "inf".
func setNamed(v reflect.Value, word string) error {
	if v.Type() == typeType {
		v.Set(reflect.ValueOf(types[word].typ))
		return nil
	}
	if c, ok := constants[word]; ok {
		v.Set(reflect.ValueOf(c).Convert(v.Type()))
		return nil
	}
	f, err := strconv.ParseFloat(word, 64)
	if err == nil {
		v.Set(reflect.ValueOf(f))
	}
	return err
}

func (m *machine) setFields(v reflect.Value, fields map[string]any) error {
	if v.Kind() != reflect.Struct {
		return fmt.Errorf("%v has no options", v.Type())
	}
	for name, said := range fields {
		f := v.FieldByName(name)
		if !f.IsValid() {
			return fmt.Errorf("%v has no %s", v.Type(), name)
		}
		if err := m.set(f, said); err != nil {
			return err
		}
	}
	return nil
}

// node returns the result that said names: {"ref": step}, or {"ref": step, "at": which}.
func (m *machine) node(said any) (*autograd.Node, error) {
	ref, ok := said.(map[string]any)
	if !ok || ref["ref"] == nil {
		return nil, fmt.Errorf("%v is no tensor", said)
	}
	at, _ := ref["at"].(float64)
	results := m.results[int(ref["ref"].(float64))]
	if int(at) >= len(results) {
		return nil, fmt.Errorf("there are %d results, of which number %v is asked for", len(results), at)
	}
	switch r := results[int(at)].(type) {
	case *autograd.Node:
		return r, nil
	case *tensor.Tensor:
		return autograd.Const(r), nil
	default:
		return nil, fmt.Errorf("%T is no tensor", r)
	}
}
