package onnx_test

import (
	"slices"
	"testing"

	"github.com/clgrad/clgrad/onnx"
)

// TestInfoShape: dimensions that have a name or none are −1, and a rank that is not known is no shape.
func TestInfoShape(t *testing.T) {
	for _, c := range []struct {
		dims []string
		want []int
	}{{[]string{"batch", "3", "?", "224"}, []int{-1, 3, -1, 224}}, {[]string{}, []int{}}, {nil, nil}} {
		got := onnx.Info{Dims: c.dims}.Shape()
		if !slices.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%v: %v, want %v", c.dims, got, c.want)
		}
	}
}
