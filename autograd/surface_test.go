package autograd_test

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/operations"
	"github.com/clgrad/clgrad/tensor"
)

// byHand are the methods that the table of operations does not make, and why.
var byHand = map[string]map[string][]string{
	"Tensor": {
		"means something else than of a Node":     {"Retain", "Free", "String"},
		"storage, which a graph must not see":     {"View", "IsContiguous", "Freed", "MarkWritten", "Arg", "Contiguous", "BufferArg"},
		"writes in place, which has no gradient":  {"FillInPlace", "ZeroInPlace", "SetInPlace", "MapInPlace", "ScatterAddRowsInPlace", "OuterAccInPlace"},
		"goes to another library, from the value": {"ToMat"},
		"is of integers, which have no gradient":  {"OneHot"},
	},
	"Node": {
		"means something else than of a Tensor": {"Retain", "Free", "String"},
		"the graph":                             {"Backward", "Grad", "GradNode", "Hook", "ZeroGrad", "Value", "Op", "Name", "Named", "NeedsGrad", "IsParam", "Freeze", "Unfreeze", "Detach", "ValueFor"},
		"in one launch with its gradient":       {"Linear", "SquaredError"},
	},
}

// TestSurface: the methods of Tensor and Node are those of the table of operations, and of byHand.
func TestSurface(t *testing.T) {
	families, err := operations.Families()
	if err != nil {
		t.Fatal(err)
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[*tensor.Tensor](), reflect.TypeFor[*autograd.Node]()} {
		name := typ.Elem().Name()
		want := slices.Concat(slices.Collect(maps.Values(byHand[name]))...)
		for _, f := range families {
			for _, o := range f.Operations {
				if !o.Listed && !strings.Contains(o.Name, ".") {
					want = append(want, o.Name)
				}
			}
		}
		var have []string
		for i := range typ.NumMethod() {
			if m := typ.Method(i).Name; !slices.Contains(want, m) {
				t.Errorf("%s.%s is neither in internal/operations/table nor in byHand", name, m)
			} else {
				have = append(have, m)
			}
		}
		for _, m := range want {
			if !slices.Contains(have, m) {
				t.Errorf("%s has no %s", name, m)
			}
		}
	}
}

// TestReading: what a Node says of its value is what the Tensor says.
func TestReading(t *testing.T) {
	d := devtest.CPU(t)
	x := autograd.Param(devtest.New(d, []float64{1, 2, 3, 4, 5, 6}, 2, 3), "x")
	y := x.T().Step(0, 2)
	if y.Device() != d || y.Rank() != 2 || y.Len() != 4 {
		t.Errorf("device %v, rank %d, %d elements", y.Device().Name(), y.Rank(), y.Len())
	}
	f64, err := y.Float64s()
	if err != nil || !slices.Equal(f64, []float64{1, 4, 3, 6}) {
		t.Error(f64, err)
	}
	f32, err := y.Float32s()
	if err != nil || !slices.Equal(f32, []float32{1, 4, 3, 6}) {
		t.Error(f32, err)
	}
	if err := y.Sum().Backward(); err != nil {
		t.Fatal(err)
	}
	fails(t, tensor.Try(func() { _, _ = y.Float64s() }), tensor.ErrFreed, "Float64s")
	fails(t, tensor.Try(func() { _, _ = x.Item() }), tensor.ErrShape, "Item")
}
