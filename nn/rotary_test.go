package nn

import (
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// TestRotaryNumbers: the positions from 3 on are turned as Hugging Face's Llama and GPT-J turn them.
func TestRotaryNumbers(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		file, err := tensor.LoadNPZ(d, "../testdata/generation/rotary.npz") // by scripts/generation/reference.py
		if err != nil {
			t.Fatal(err)
		}
		x := autograd.Const(file["x"]) // [1, 2, 5, 8]
		for name, cfg := range map[string]RotaryConfig{"halves": {Base: 10000}, "interleaved": {Base: 10000, Dim: 4, Interleaved: true}} {
			cfg = cfg.mustFit("TestRotaryNumbers", 8)
			cos, sin := angles(cfg.frequencies(d), kernels.IntArg(3), 5)
			y := RotaryEmbedding(swapped(x, -3, -2), cos, sin, cfg.Interleaved)
			off, err := swapped(y, -3, -2).Value().Sub(file[name]).Abs().Max().Item()
			if err != nil || off > 2e-6 {
				t.Errorf("%s is off by %v, err %v", name, off, err)
			}
		}
	})
}
