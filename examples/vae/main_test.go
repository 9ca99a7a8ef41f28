package main

import (
	"math"
	"os"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"vae": main}) }

// TestScripts runs the scripts in testdata/script: each is a session at a shell.
func TestScripts(t *testing.T) {
	long(t)
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(env *testscript.Env) error {
		file, err := os.ReadFile("../../testdata/digits.npz")
		if err != nil {
			return err
		}
		env.Setenv(tensor.DeviceEnv, "cpu")
		return os.WriteFile(env.WorkDir+"/digits.npz", file, 0o644)
	}})
}

// TestLearns: a few passes bring the loss of digits that were not trained on near that of many.
func TestLearns(t *testing.T) {
	long(t)
	images := read(t)
	defer func(n int) { *epochs = n }(*epochs)
	*epochs = 5
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
	images := read(t)
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		from, err := tensor.LoadNPZ(d, "../../testdata/examples/vae.npz")
		if err != nil {
			t.Fatal(err)
		}
		want, err := from["losses"].Float64s()
		if err != nil {
			t.Fatal(err)
		}
		noise := from["noise"].To(tensor.Real)
		delete(from, "losses")
		delete(from, "noise")
		net := newVAE(d, tensor.NewRNG(1))
		if err := nn.LoadStateDict(net, from); err != nil {
			t.Fatal(err)
		}
		opt := newOptimizer(net, len(want))
		within := 1e-9
		if d.Real() == kernels.Float32 {
			within = 1e-3
		}
		for i := range want {
			loss := net.loss(pixels(images.Slice(64*i, 64*i+64).Tensor(d)), autograd.Const(noise.Select(0, i)))
			if got, err := loss.Item(); err != nil || !(math.Abs(got-want[i]) <= within) {
				t.Errorf("step %d: loss %v, PyTorch's %v, err %v", i, got, want[i], err)
			}
			if err := optim.Minimize(opt, loss); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func read(t *testing.T) data.Array {
	t.Helper()
	arrays, err := data.LoadNPZ("../../testdata/digits.npz")
	if err != nil {
		t.Fatal(err)
	}
	return arrays["images"]
}

// long skips a test that trains for seconds where tests are to be short: with the race detector they are minutes.
func long(t *testing.T) {
	if testing.Short() {
		t.Skip("it trains for seconds")
	}
}
