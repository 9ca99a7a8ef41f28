package main

import (
	"testing"

	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestPyTorch: from the same weights, the losses and the test are those of scripts/examples/lstm.py.
func TestPyTorch(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		net, series := newForecaster(d, tensor.NewRNG(1)), wave(d, length+ahead)
		want, error := exampletest.Begin(t, d, "lstm", net)
		losses, err := train(net, series.Slice(0, 0, length), len(want))
		if err != nil {
			t.Fatal(err)
		}
		got, err := test(d, net, series)
		if err != nil {
			t.Fatal(err)
		}
		exampletest.Equal(t, d, append(losses, got), append(want, error), 1e-5)
	})
}

// BenchmarkTrain measures a step: scripts/examples/times.py has it beside PyTorch's.
func BenchmarkTrain(b *testing.B) {
	exampletest.Benchmark(b, func(d tensor.Device, n int) ([]float64, error) {
		return train(newForecaster(d, tensor.NewRNG(1)), wave(d, length), n)
	})
}
