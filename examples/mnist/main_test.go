package main

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"mnist": main}) }

// TestScripts runs the scripts in testdata/script: each is a session at a shell.
func TestScripts(t *testing.T) {
	exampletest.Long(t)
	images, labels := enlarged(t)
	exampletest.Scripts(t, func(folder string) error {
		write(t, filepath.Join(folder, "set"), images.Slice(0, 60), labels.Slice(0, 60), images.Slice(60, 70), labels.Slice(60, 70))
		return nil
	})
}

// TestLearns: from files, a few passes are enough to do better than to guess.
func TestLearns(t *testing.T) {
	exampletest.Long(t)
	images, labels := enlarged(t)
	exampletest.Set(t, folder, t.TempDir())
	exampletest.Set(t, epochs, 5)
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
		if step, err := fit(d, net, trained); err != nil || step <= 0 {
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
		net := newNet(d, tensor.NewRNG(1))
		losses, _ := exampletest.PyTorch(t, d, "mnist", net)
		exampletest.Follow(t, losses, newOptimizer(net, len(losses)), 1e-4, func(i int) *autograd.Node {
			x, labels := images.Slice(16*i, 16*i+16).Tensor(d), labels.Slice(16*i, 16*i+16).Tensor(d)
			return autograd.CrossEntropy(net.Forward(pixels(x)), labels.To(tensor.Int32))
		})
	})
}

// enlarged returns the digits of the example of that name with nine pixels for each, in a frame of two.
func enlarged(t *testing.T) (images, labels data.Array) {
	t.Helper()
	digits, labels := exampletest.Digits(t)
	x := digits.Tensor(devtest.CPU(t)).RepeatInterleave(3, 1).RepeatInterleave(3, 2).Pad([][2]int{{2, 2}, {2, 2}})
	images, err := data.FromTensor(x.MulScalar(15).To(tensor.Uint8))
	if err != nil {
		t.Fatal(err)
	}
	return images, labels
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
