package nn_test

import (
	"errors"
	"testing"

	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// TestNilKVCache checks that a nil cache is an empty one, and that a step of no tensor is an error.
func TestNilKVCache(t *testing.T) {
	var c *nn.KVCache
	c.Truncate(0)
	c.Free()
	if n := c.Len(); n != 0 {
		t.Errorf("%d positions", n)
	}
	for _, f := range []func(){func() { c.Truncate(1) }, func() { c.Next(nil) }} {
		if err := tensor.Try(f); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("error %v", err)
		}
	}
}

// TestRotaryBase checks that bases whose angles have no bound are errors.
func TestRotaryBase(t *testing.T) {
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for _, base := range []float64{5e-324, 0.5, -1} {
		cfg := nn.MultiHeadAttentionConfig{Size: 8, Heads: 2, Rotary: nn.RotaryConfig{Base: base}}
		if err := tensor.Try(func() { nn.NewMultiHeadAttention(d, tensor.NewRNG(1), cfg) }); !errors.Is(err, tensor.ErrValue) {
			t.Errorf("%v: error %v", base, err)
		}
	}
}
