package main

import (
	"testing"

	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestPyTorch: from the same weights, the losses and the test are those of scripts/examples/mixed.py.
func TestPyTorch(t *testing.T) {
	images, labels := exampletest.Digits(t)
	labels = labels.To(tensor.Int64)
	for _, c := range []struct {
		name   string
		typ    tensor.Type
		within float64
	}{{"mixed", tensor.Float32, 1e-4}, {"mixed_bfloat16", tensor.BFloat16, 0.02}} {
		devtest.Each(t, c.typ == tensor.Float32, func(t *testing.T, d tensor.Device) {
			net := newNet(d, tensor.NewRNG(1))
			want, tested := exampletest.Begin(t, d, c.name, net)
			tr := newTrainer(net)
			loader := data.NewLoader(d, []data.Array{images.Slice(0, 512), labels.Slice(0, 512)},
				data.LoaderConfig{Batch: 32, InOrder: true})
			losses, err := tr.train(d, c.typ, loader, 2)
			if err != nil {
				t.Fatal(err)
			}
			from, to := images.Len()-100, images.Len()
			got, err := tr.test(d, images.Slice(from, to).Tensor(d), labels.Slice(from, to).Tensor(d))
			if err != nil {
				t.Fatal(err)
			}
			exampletest.Equal(t, d, append(losses, got), append(want, tested), c.within)
		})
	}
}

// BenchmarkTrain measures a step: scripts/examples/times.py has it beside PyTorch's.
func BenchmarkTrain(b *testing.B) {
	images, labels := exampletest.Digits(b)
	arrays := []data.Array{images.Slice(0, trained), labels.To(tensor.Int64).Slice(0, trained)}
	exampletest.Benchmark(b, func(d tensor.Device, n int) ([]float64, error) {
		loader := data.NewLoader(d, arrays, data.LoaderConfig{Batch: 32, InOrder: true})
		return newTrainer(newNet(d, tensor.NewRNG(1))).train(d, tensor.BFloat16, loader, n)
	})
}
