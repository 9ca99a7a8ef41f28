package main

import (
	"testing"

	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestPyTorch: from the same weights, the losses and the test are those of scripts/examples/unet.py.
func TestPyTorch(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		net := newUNet(d, tensor.NewRNG(1), 4, 8, 8)
		want, overlap := exampletest.Begin(t, d, "unet", net)
		losses, err := train(d, net, len(want))
		if err != nil {
			t.Fatal(err)
		}
		got, err := test(d, net)
		if err != nil {
			t.Fatal(err)
		}
		exampletest.Equal(t, d, losses, want, 1e-3)
		exampletest.Equal(t, d, []float64{got}, []float64{overlap}, 0.05) // a pixel is in or out
	})
}

// BenchmarkTrain measures a step: scripts/examples/times.py has it beside PyTorch's.
func BenchmarkTrain(b *testing.B) {
	exampletest.Benchmark(b, func(d tensor.Device, n int) ([]float64, error) {
		return train(d, newUNet(d, tensor.NewRNG(1), 8, 16, 32), n)
	})
}
