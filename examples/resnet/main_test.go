package main

import (
	"testing"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestPyTorch: from the same weights, the losses and the test are those of scripts/examples/resnet.py.
func TestPyTorch(t *testing.T) {
	images, labels := exampletest.Digits(t)
	labels = labels.To(tensor.Int64)
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		net := newResNet18(d, tensor.NewRNG(1), 4, 10)
		want, accuracy := exampletest.Begin(t, d, "resnet", net)
		loader := data.NewLoader(d, []data.Array{images.Slice(0, 320), labels.Slice(0, 320)},
			data.LoaderConfig{Batch: 32, InOrder: true})
		losses, err := train(net, loader, 1)
		if err != nil {
			t.Fatal(err)
		}
		from, to := images.Len()-100, images.Len()
		got, err := test(d, net, images.Slice(from, to).Tensor(d), labels.Slice(from, to).Tensor(d))
		if err != nil {
			t.Fatal(err)
		}
		exampletest.Equal(t, d, losses, want, 5e-3)
		exampletest.Equal(t, d, []float64{got}, []float64{accuracy}, 0.021) // two of 100
	})
}

// BenchmarkTrain measures a step: scripts/examples/times.py has it beside PyTorch's.
func BenchmarkTrain(b *testing.B) {
	images, labels := exampletest.Digits(b)
	arrays := []data.Array{images.Slice(0, trained), labels.To(tensor.Int64).Slice(0, trained)}
	exampletest.Benchmark(b, func(d tensor.Device, n int) ([]float64, error) {
		loader := data.NewLoader(d, arrays, data.LoaderConfig{Batch: 64, InOrder: true, DropLast: true})
		return train(newResNet18(d, tensor.NewRNG(1), 16, 10), loader, n)
	})
}
