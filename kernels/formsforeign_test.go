package kernels

import (
	"reflect"
	"testing"
)

// TestForeignForms: forms of a foreign twin are foreign. A function that package reflect makes stands for
// one of another module.
func TestForeignForms(t *testing.T) {
	made := reflect.MakeFunc(reflect.TypeFor[func(Call[float32])](), func([]reflect.Value) []reflect.Value { return nil })
	for want, twin := range map[bool]func(Call[float32]){false: func(Call[float32]) {}, true: made.Interface().(func(Call[float32]))} {
		k := &Kernel{Name: "k", Params: []Param{{"Y", Out}, {"n", IntParam}}, Twin: Twin{F32: twin}, Text: "kernel void k(OUT(Y), int n) {}",
			Forms: Forms{Together: &Together{Function: "own"}}, Grid: GridFromArg(1)}
		if k.Twin.Foreign() != want || k.Several(2).Twin.Foreign() != want || k.LookedUp(0, 1, 1).Twin.Foreign() != want {
			t.Errorf("the twin is foreign: %v, several: %v, what looks up: %v; want %v", k.Twin.Foreign(), k.Several(2).Twin.Foreign(),
				k.LookedUp(0, 1, 1).Twin.Foreign(), want)
		}
	}
}
