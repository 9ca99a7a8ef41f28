package main

import (
	"testing"

	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestPyTorch: from the same weights, the losses and the test are those of scripts/examples/pinn.py.
func TestPyTorch(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		net := newNet(d, tensor.NewRNG(1))
		want, worst := exampletest.Begin(t, d, "pinn", net)
		losses, err := train(d, net, len(want))
		if err != nil {
			t.Fatal(err)
		}
		got, err := test(d, net)
		if err != nil {
			t.Fatal(err)
		}
		exampletest.Equal(t, d, append(losses, got), append(want, worst), 1e-4)
	})
}

// BenchmarkTrain measures a step: scripts/examples/times.py has it beside PyTorch's.
func BenchmarkTrain(b *testing.B) {
	exampletest.Benchmark(b, func(d tensor.Device, n int) ([]float64, error) {
		return train(d, newNet(d, tensor.NewRNG(1)), n)
	})
}
