package nn_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// TestIndicesFromOne: elements are counted from where the tag says, of a list of lists the outer ones.
func TestIndicesFromOne(t *testing.T) {
	d := devtest.CPU(t)
	p := func() *autograd.Node { return autograd.Param(tensor.Zeros(d, 2, 3), "") }
	model := &struct {
		Layers []*nn.Linear              `nn:"layer#,from=1"`
		Turned [2][]*autograd.Node       `nn:"turned#_way,transposed,from=7"`
		List   []*autograd.Node          `nn:"list,from=2,transposed"`
		Only   []*autograd.Node          `nn:"#,from=1"`
		Keyed  map[string]*autograd.Node `nn:"of_#,from=1"`
	}{
		[]*nn.Linear{nil, nn.NewLinear(d, tensor.NewRNG(1), nn.LinearConfig{In: 2, Out: 1, NoBias: true})},
		[2][]*autograd.Node{{p()}, {p(), p()}}, []*autograd.Node{p()}, []*autograd.Node{p(), p()}, map[string]*autograd.Node{"a": p()},
	}
	dict := nn.StateDict(model)
	want := []string{"layer2.weight", "list.2", "of_a", "only.1", "only.2", "turned7_way.0", "turned8_way.0", "turned8_way.1"}
	if got := slices.Sorted(maps.Keys(dict)); !slices.Equal(got, want) {
		t.Errorf("the paths are %q, want %q", got, want)
	}
	if got := dict["list.2"].Shape(); !slices.Equal(got, []int{3, 2}) {
		t.Errorf("the transpose has shape %v", got)
	}
}
