package autograd_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// tensorOnly are the methods of a Tensor that a Node has not, and why.
var tensorOnly = map[string][]string{
	"storage, which a graph must not see":     {"View", "IsContiguous", "Freed", "MarkWritten", "Arg", "Contiguous", "BufferArg"},
	"writes in place, which has no gradient":  {"FillInPlace", "ZeroInPlace", "SetInPlace", "MapInPlace", "ScatterAddRowsInPlace", "OuterAccInPlace"},
	"goes to another library, from the value": {"ToMat"},
	"is of integers, which have no gradient":  {"OneHot"},
}

// nodeOnly are the methods of a Node that a Tensor has not, and why.
var nodeOnly = map[string][]string{
	"the graph":                       {"Backward", "Grad", "GradNode", "Hook", "ZeroGrad", "Value", "Op", "Name", "Named", "NeedsGrad", "IsParam", "Freeze", "Unfreeze", "Detach", "ValueFor"},
	"in one launch with its gradient": {"Linear", "SquaredError"},
}

// TestSurface: what is a method of a Tensor is one of a Node, of the same name and with the same
// parameters, and the other way round, but for what these lists say.
func TestSurface(t *testing.T) {
	node, tens := reflect.TypeFor[*autograd.Node](), reflect.TypeFor[*tensor.Tensor]()
	compare := func(a, b reflect.Type, except map[string][]string) {
		excused := slices.Concat(slices.Collect(mapValues(except))...)
		for i := range a.NumMethod() {
			m := a.Method(i)
			at := slices.Index(excused, m.Name)
			other, has := b.MethodByName(m.Name)
			switch {
			case !has && at < 0:
				t.Errorf("%v has %s, %v has not", a, m.Name, b)
			case has && at >= 0:
				t.Errorf("%v has %s, which is listed as missing", b, m.Name)
			case has && spelled(m.Type) != spelled(other.Type):
				t.Errorf("%s: %v and %v", m.Name, m.Type, other.Type)
			}
		}
		for _, name := range excused {
			if _, has := a.MethodByName(name); !has {
				t.Errorf("%v has no %s, which is listed", a, name)
			}
		}
	}
	compare(tens, node, tensorOnly)
	compare(node, tens, nodeOnly)
}

func mapValues(m map[string][]string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		for _, v := range m {
			if !yield(v) {
				return
			}
		}
	}
}

// spelled is a method's type with nodes for tensors.
func spelled(t reflect.Type) string {
	return strings.ReplaceAll(t.String(), "*tensor.Tensor", "*autograd.Node")
}

// TestReading: what a Node says of its value is what the Tensor says.
func TestReading(t *testing.T) {
	d := devtest.CPU(t)
	x := autograd.Param(tensor.New(d, []float64{1, 2, 3, 4, 5, 6}, 2, 3), "x")
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
