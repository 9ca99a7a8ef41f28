package main

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
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

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"mnist": main}) }

// TestScripts runs the scripts in testdata/script: each is a session at a shell.
func TestScripts(t *testing.T) {
	long(t)
	images, labels := enlarged(t)
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(env *testscript.Env) error {
		env.Setenv(tensor.DeviceEnv, "cpu")
		write(t, filepath.Join(env.WorkDir, "set"), images.Slice(0, 60), labels.Slice(0, 60), images.Slice(60, 70), labels.Slice(60, 70))
		return nil
	}})
}

// TestLearns: from files, a few passes are enough to do better than to guess.
func TestLearns(t *testing.T) {
	long(t)
	images, labels := enlarged(t)
	defer func(dir string, n int) { *folder, *epochs = dir, n }(*folder, *epochs)
	*folder, *epochs = t.TempDir(), 5
	write(t, *folder, images.Slice(0, 600), labels.Slice(0, 600), images.Slice(600, 700), labels.Slice(600, 700))
	trained, err := loadPair("train")
	if err != nil {
		t.Fatal(err)
	}
	tests, err := loadPair("t10k")
	if err != nil {
		t.Fatal(err)
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		net := newNet(d, tensor.NewRNG(1))
		if step, err := train(d, net, trained); err != nil || step <= 0 {
			t.Fatalf("%v a step, err %v", step, err)
		}
		if accuracy, loss, err := test(d, net, tests); err != nil || !(accuracy > 0.25 && accuracy <= 1 && loss > 0 && loss < 2.25) {
			t.Errorf("%v are right, loss %v, err %v", accuracy, loss, err)
		}
	})
}

// TestPyTorch: from PyTorch's weights, the losses are those of scripts/examples/mnist.py.
func TestPyTorch(t *testing.T) {
	images, labels := enlarged(t)
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		from, err := tensor.LoadNPZ(d, "../../testdata/examples/mnist.npz")
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
		opt := newOptimizer(net, len(want))
		within := 1e-9
		if d.Real() == kernels.Float32 {
			within = 1e-4
		}
		for i := range want {
			x, labels := images.Slice(16*i, 16*i+16).Tensor(d), labels.Slice(16*i, 16*i+16).Tensor(d)
			loss := autograd.CrossEntropy(net.Forward(pixels(x)), labels.To(tensor.Int32))
			if got, err := loss.Item(); err != nil || !(math.Abs(got-want[i]) <= within) {
				t.Errorf("step %d: loss %v, PyTorch's %v, err %v", i, got, want[i], err)
			}
			if err := optim.Minimize(opt, loss); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// enlarged returns the digits of the example of that name with nine pixels for each, in a frame of two.
func enlarged(t *testing.T) (images, labels data.Array) {
	t.Helper()
	arrays, err := data.LoadNPZ("../../testdata/digits.npz")
	if err != nil {
		t.Fatal(err)
	}
	x := arrays["images"].Tensor(devtest.CPU(t)).RepeatInterleave(3, 1).RepeatInterleave(3, 2).Pad([][2]int{{2, 2}, {2, 2}})
	images, err = data.FromTensor(x.MulScalar(15).To(tensor.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	return images, arrays["labels"]
}

// write leaves the four files in a folder.
func write(t *testing.T, dir string, arrays ...data.Array) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"} {
		shape := arrays[i].Shape()
		file := []byte{0, 0, 8, byte(len(shape))}
		for _, n := range shape {
			file = binary.BigEndian.AppendUint32(file, uint32(n))
		}
		if err := os.WriteFile(filepath.Join(dir, name), append(file, data.Elements[uint8](arrays[i])...), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// long skips a test that trains for seconds where tests are to be short: with the race detector they are minutes.
func long(t *testing.T) {
	if testing.Short() {
		t.Skip("it trains for seconds")
	}
}
