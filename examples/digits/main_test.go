package main

import (
	"iter"
	"os"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"digits": main}) }

// TestScripts runs the scripts in testdata/script: each is a session at a shell.
func TestScripts(t *testing.T) {
	exampletest.Long(t)
	exampletest.Scripts(t, func(folder string) error {
		file, err := os.ReadFile(exampletest.DigitsFile)
		if err != nil {
			return err
		}
		d := devtest.CPU(t)
		wrong := tensor.Dict{"images": tensor.ZerosOf(d, tensor.Uint8, all, 8, 8), "labels": tensor.FullOf(d, tensor.Uint8, 10, all)}
		if err := tensor.SaveNPZ(folder+"/wrong.npz", wrong); err != nil {
			return err
		}
		return os.WriteFile(folder+"/digits.npz", file, 0o644)
	})
}

// TestLearns: a few passes are enough for nine digits of ten.
func TestLearns(t *testing.T) {
	exampletest.Long(t)
	images, labels := read(t)
	exampletest.Set(t, epochs, 5)
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		net := newNet(d, tensor.NewRNG(1))
		if step, err := fit(d, net, images.Slice(0, trained), labels.Slice(0, trained)); err != nil || step <= 0 {
			t.Fatalf("%v a step, err %v", step, err)
		}
		_, table, loss, err := test(d, net, images.Slice(trained, all), labels.Slice(trained, all))
		if err != nil {
			t.Fatal(err)
		}
		if table.Accuracy() < 0.9 || loss > 0.5 {
			t.Errorf("%v are right, loss %v", table.Accuracy(), loss)
		}
	})
}

// TestPyTorch: from PyTorch's weights, and without dropout, the losses are those of scripts/examples/digits.py.
func TestPyTorch(t *testing.T) {
	images, labels := read(t)
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		net := newNet(d, tensor.NewRNG(1))
		losses, _ := exampletest.PyTorch(t, d, "digits", net)
		nn.Eval(net)
		next, stop := iter.Pull(data.NewLoader(d, []data.Array{images, labels}, data.LoaderConfig{Batch: 32, InOrder: true}).Epoch())
		defer stop()
		exampletest.Follow(t, losses, newOptimizer(net, len(losses)), 1e-4, func(int) *autograd.Node {
			batch, _ := next()
			return autograd.CrossEntropy(net.Forward(pixels(batch[0])), batch[1])
		})
	})
}

func read(t *testing.T) (images, labels data.Array) {
	t.Helper()
	images, labels = exampletest.Digits(t)
	return images, labels.To(tensor.Int64)
}
