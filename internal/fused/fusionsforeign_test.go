package fused

import (
	"github.com/clgrad/clgrad/kernels"
	"reflect"
	"testing"
)

// TestForeignForms: forms of a foreign twin are foreign. A function that package reflect makes stands for
// one of another module.
func TestForeignForms(t *testing.T) {
	made := reflect.MakeFunc(reflect.TypeFor[func(kernels.Call[float32])](),
		func([]reflect.Value) []reflect.Value { return nil })
	for want, run := range map[bool]func(kernels.Call[float32]){false: func(kernels.Call[float32]) {},
		true: made.Interface().(func(kernels.Call[float32]))} {
		k := &kernels.Kernel{Name: "k", Params: []kernels.Param{{Name: "Y", Mode: kernels.Out},
			{Name: "n", Mode: kernels.IntParam}}, Twin: kernels.Twin{F32: run}, Text: "kernel void k(OUT(Y), int n) {}",
			Fusions: Fusions{Batch: &BatchSpec{Function: "own"}}, Grid: kernels.GridFromArg(1)}
		if k.Twin.Foreign() != want || Batch(k, 2).Twin.Foreign() != want || LookedUp(k, 0, 1, 1).Twin.Foreign() != want {
			t.Errorf("the twin is foreign: %v, several: %v, what looks up: %v; want %v", k.Twin.Foreign(),
				Batch(k, 2).Twin.Foreign(),
				LookedUp(k, 0, 1, 1).Twin.Foreign(), want)
		}
	}
}
