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

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"digits": main}) }

// TestScripts runs the scripts in testdata/script: each is a session at a shell.
func TestScripts(t *testing.T) {
	long(t)
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(env *testscript.Env) error {
		file, err := os.ReadFile("../../testdata/digits.npz")
		if err != nil {
			return err
		}
		env.Setenv(tensor.DeviceEnv, "cpu")
		d := devtest.CPU(t)
		wrong := tensor.Dict{"images": tensor.ZerosOf(d, tensor.Uint8, all, 8, 8), "labels": tensor.FullOf(d, tensor.Uint8, 10, all)}
		if err := tensor.SaveNPZ(env.WorkDir+"/wrong.npz", wrong); err != nil {
			return err
		}
		return os.WriteFile(env.WorkDir+"/digits.npz", file, 0o644)
	}})
}

// TestLearns: a few passes are enough for nine digits of ten.
func TestLearns(t *testing.T) {
	long(t)
	images, labels := read(t)
	defer func(n int) { *epochs = n }(*epochs)
	*epochs = 5
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		net := newNet(d, tensor.NewRNG(1))
		if step, err := train(d, net, images.Slice(0, trained), labels.Slice(0, trained)); err != nil || step <= 0 {
			t.Fatalf("%v a step, err %v", step, err)
		}
		answers, loss, err := test(d, net, images.Slice(trained, all), labels.Slice(trained, all))
		if err != nil {
			t.Fatal(err)
		}
		if _, wrong := compare(data.Elements[int32](labels.Slice(trained, all)), answers); len(wrong) > 45 || loss > 0.5 {
			t.Errorf("%d of %d are wrong, loss %v", len(wrong), len(answers), loss)
		}
	})
}

// TestPyTorch: from PyTorch's weights, and without dropout, the losses are those of scripts/examples/digits.py.
func TestPyTorch(t *testing.T) {
	images, labels := read(t)
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		from, err := tensor.LoadNPZ(d, "../../testdata/examples/digits.npz")
		if err != nil {
			t.Fatal(err)
		}
		want, err := from["losses"].Float64s()
		if err != nil {
			t.Fatal(err)
		}
		delete(from, "losses")
		net := newNet(d, tensor.NewRNG(1))
		if err := nn.LoadStateDict(net, from); err != nil {
			t.Fatal(err)
		}
		nn.Eval(net)
		opt := newOptimizer(net, len(want))
		within := 1e-9
		if d.Real() == kernels.Float32 {
			within = 1e-4
		}
		loader := data.NewLoader(d, []data.Array{images, labels}, data.LoaderConfig{Batch: 32, InOrder: true})
		i := 0
		for batch := range loader.Epoch() {
			loss := autograd.CrossEntropy(net.Forward(pixels(batch[0])), batch[1])
			if got, err := loss.Item(); err != nil || !(math.Abs(got-want[i]) <= within) {
				t.Errorf("step %d: loss %v, PyTorch's %v, err %v", i, got, want[i], err)
			}
			if err := optim.Minimize(opt, loss); err != nil {
				t.Fatal(err)
			}
			if i++; i == len(want) || testing.Short() && i == 10 {
				break
			}
		}
	})
}

func read(t *testing.T) (images, labels data.Array) {
	t.Helper()
	arrays, err := data.LoadNPZ("../../testdata/digits.npz")
	if err != nil {
		t.Fatal(err)
	}
	return arrays["images"], arrays["labels"].To(tensor.Int32)
}

// long skips a test that trains for seconds where tests are to be short: with the race detector they are minutes.
func long(t *testing.T) {
	if testing.Short() {
		t.Skip("it trains for seconds")
	}
}
