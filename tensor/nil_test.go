package tensor_test

import (
	"errors"
	"reflect"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestNilTensors: every method that computes refuses a tensor that nothing made, or that was freed,
// before it looks at the rest of what it is given, be that good or bad.
func TestNilTensors(t *testing.T) {
	others := map[string]bool{"IsContiguous": true, "Device": true, "Freed": true, "Retain": true, "Len": true, "Rank": true, "Shape": true, "String": true, "MarkWritten": true, "Type": true}
	freed := tensor.Zeros(devtest.CPU(t), 2, 3)
	freed.Free()
	typ := reflect.TypeFor[*tensor.Tensor]()
	for i := range typ.NumMethod() {
		m := typ.Method(i)
		if others[m.Name] {
			continue
		}
		for _, none := range []*tensor.Tensor{nil, {}, freed} {
			if none == freed && m.Name == "Free" { // does nothing
				continue
			}
			for _, bad := range []bool{false, true} {
				args := []reflect.Value{reflect.ValueOf(none)}
				for j := 1; j < m.Type.NumIn(); j++ {
					in := m.Type.In(j)
					switch last := j == m.Type.NumIn()-1 && m.Type.IsVariadic(); {
					case last && bad: // options are given once
						args = append(args, badOf(in.Elem()), badOf(in.Elem()))
					case last:
					case bad:
						args = append(args, badOf(in))
					default:
						args = append(args, reflect.Zero(in))
					}
				}
				func() {
					defer func() {
						err, ok := recover().(*tensor.Error)
						if !ok || !errors.Is(err, tensor.ErrValue) && !errors.Is(err, tensor.ErrFreed) {
							t.Errorf("%s of %v with arguments that are bad %v: %v", m.Name, none, bad, err)
						}
					}()
					m.Func.Call(args)
				}()
			}
		}
	}
}

// badOf returns a number or a list that no operation takes, and zero for others.
func badOf(typ reflect.Type) reflect.Value {
	v := reflect.New(typ).Elem()
	switch typ.Kind() {
	case reflect.Int:
		v.SetInt(-77)
	case reflect.Uint8:
		v.SetUint(77)
	}
	return v
}
