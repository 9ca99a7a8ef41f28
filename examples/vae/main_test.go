package main

import (
	"os"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"vae": main}) }

// TestScripts runs the scripts in testdata/script: each is a session at a shell.
func TestScripts(t *testing.T) {
	exampletest.Long(t)
	exampletest.Scripts(t, func(folder string) error {
		file, err := os.ReadFile(exampletest.DigitsFile)
		if err != nil {
			return err
		}
		return os.WriteFile(folder+"/digits.npz", file, 0o644)
	})
}

// TestLearns: a few passes bring the loss of digits that were not trained on near that of many.
func TestLearns(t *testing.T) {
	exampletest.Long(t)
	images, _ := exampletest.Digits(t)
	exampletest.Set(t, epochs, 5)
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(1)
		net := newVAE(d, rng)
		if step, err := train(d, net, images.Slice(0, trained), rng); err != nil || step <= 0 {
			t.Fatalf("%v a step, err %v", step, err)
		}
		loss := net.loss(pixels(images.Slice(trained, all).Tensor(d)), normal(d, rng, all-trained))
		if v, err := loss.Item(); err != nil || !(v < 29) {
			t.Errorf("loss %v, err %v", v, err)
		}
	})
}

// TestPyTorch: from PyTorch's weights, with the noise that it drew, the losses are those of scripts/examples/vae.py.
func TestPyTorch(t *testing.T) {
	images, _ := exampletest.Digits(t)
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		net := newVAE(d, tensor.NewRNG(1))
		losses, inputs := exampletest.PyTorch(t, d, "vae", net, "noise")
		noise := inputs["noise"].To(d.DefaultType())
		exampletest.Follow(t, losses, newOptimizer(net, len(losses)), 1e-3, func(i int) *autograd.Node {
			return net.loss(pixels(images.Slice(64*i, 64*i+64).Tensor(d)), autograd.Const(noise.Select(0, i)))
		})
	})
}
