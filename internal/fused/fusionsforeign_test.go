package fused

import (
	"github.com/clgrad/clgrad/kernels"
	"reflect"
	"testing"
)

// TestForeignForms: forms of a foreign host kernel are foreign. A function that package reflect makes stands for
// one of another module.
func TestForeignForms(t *testing.T) {
	made := reflect.MakeFunc(reflect.TypeFor[func(kernels.HostArgs[float32])](),
		func([]reflect.Value) []reflect.Value { return nil })
	for want, run := range map[bool]func(kernels.HostArgs[float32]){false: func(kernels.HostArgs[float32]) {},
		true: made.Interface().(func(kernels.HostArgs[float32]))} {
		k := &kernels.Kernel{Name: "k", Params: []kernels.Param{{Name: "Y", Mode: kernels.Out},
			{Name: "n", Mode: kernels.IntParam}}, Host: kernels.HostKernel{F32: run}, Text: "kernel void k(OUT(Y), int n) {}",
			Fusions: Fusions{Batch: &BatchSpec{Function: "own"}}, Grid: kernels.GridFromArg(1)}
		if k.Host.Foreign() != want || Batch(k, 2).Host.Foreign() != want {
			t.Errorf("the host kernel is foreign: %v, several: %v; want %v", k.Host.Foreign(), Batch(k, 2).Host.Foreign(), want)
		}
	}
}
