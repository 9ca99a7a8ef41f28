package main

import (
	"testing"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// TestPyTorch: from the same weights, the losses and the test are those of scripts/examples/weights.py.
func TestPyTorch(t *testing.T) {
	images, labels := exampletest.Digits(t)
	labels = labels.To(tensor.Int64)
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		checkpoint, err := tensor.LoadPyTorch(d, "../../testdata/examples/weights.pt")
		if err != nil {
			t.Fatal(err)
		}
		whole := newClassifier(d, tensor.NewRNG(1), 10)
		if err := nn.LoadStateDict(whole, checkpoint.Sub("model.module.")); err != nil {
			t.Fatal(err)
		}
		from, to := trained, images.Len()
		got, err := test(d, whole, images.Slice(from, to).Tensor(d), labels.Slice(from, to).Tensor(d))
		if err != nil {
			t.Fatal(err)
		}

		net := newClassifier(d, tensor.NewRNG(1), 2)
		want, accuracy := exampletest.Begin(t, d, "weights", net.Head)
		exampletest.Equal(t, d, []float64{got}, []float64{accuracy}, 1e-6)
		if err := nn.LoadStateDict(net.Features, checkpoint.Sub("model.module.features.")); err != nil {
			t.Fatal(err)
		}
		nn.Freeze(net.Features)
		loader := data.NewLoader(d, []data.Array{images.Slice(0, 640), labels.Slice(0, 640)},
			data.LoaderConfig{Batch: 64, InOrder: true})
		losses, err := train(net, loader, 1)
		if err != nil {
			t.Fatal(err)
		}
		exampletest.Equal(t, d, losses, want, 1e-4)
	})
}

// BenchmarkTrain measures a step: scripts/examples/times.py has it beside PyTorch's.
func BenchmarkTrain(b *testing.B) {
	images, labels := exampletest.Digits(b)
	arrays := []data.Array{images.Slice(0, trained), labels.To(tensor.Int64).Slice(0, trained)}
	exampletest.Benchmark(b, func(d tensor.Device, n int) ([]float64, error) {
		net := newClassifier(d, tensor.NewRNG(1), 2)
		nn.Freeze(net.Features)
		loader := data.NewLoader(d, arrays, data.LoaderConfig{Batch: 64, InOrder: true})
		return train(net, loader, n)
	})
}
