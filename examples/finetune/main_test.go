package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/clgrad/clgrad/examples/internal/exampletest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/onnx"
	"github.com/clgrad/clgrad/tensor"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"finetune": main}) }

// open returns the Go device, which computes in float32, as the program has it.
func open(t *testing.T) tensor.Device {
	t.Helper()
	d, err := tensor.Open("cpu")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// writeNet writes a small net of pictures of some channels, which has learned nothing yet, as an ONNX file.
func writeNet(t *testing.T, path string, channels int) error {
	d := open(t)
	rng := tensor.NewRNG(3)
	conv := func(in, out int) *nn.Conv {
		options := tensor.ConvOptions{Padding: []int{1}, Stride: []int{2}}
		return nn.NewConv(d, rng, nn.ConvConfig{In: in, Out: out, Kernel: []int{3, 3}, ConvOptions: options})
	}
	last := nn.NewLinear(d, rng, nn.LinearConfig{In: 256, Out: 3})
	net := nn.Sequential{conv(channels, 8), nn.ReLU, conv(8, 16), nn.ReLU, &nn.Flatten{}, last}
	x := tensor.NewRNG(1).Uniform(d, 0, 1, 2, channels, 16, 16)
	return onnx.ExportFile(path, net, []*tensor.Tensor{x}, onnx.ExportOptions{Dynamic: []map[int]string{{0: "batch"}}})
}

// TestScripts runs the scripts in testdata/script: each is a session at a shell.
func TestScripts(t *testing.T) {
	exampletest.Long(t)
	exampletest.Scripts(t, func(folder string) error {
		at := func(name string) string { return filepath.Join(folder, name) }
		digits, err := os.ReadFile(exampletest.DigitsFile)
		if err != nil {
			return err
		}
		other, err := os.ReadFile("../../testdata/onnx/perceptron.onnx")
		if err != nil {
			return err
		}
		list, names, err := readArrays(exampletest.DigitsFile)
		if err != nil {
			return err
		}
		for i, s := range list[:40] { // as a folder of pictures
			img, err := s.read()
			if err != nil {
				return err
			}
			var b bytes.Buffer
			if err := png.Encode(&b, img); err != nil {
				return err
			}
			class := names[s.class/5*5] // 0 to 4, or 5 to 9
			if err := os.MkdirAll(at("pictures/"+class), 0o777); err != nil {
				return err
			}
			if err := os.WriteFile(at("pictures/"+class+"/"+string(rune('A'+i))+".png"), b.Bytes(), 0o666); err != nil {
				return err
			}
		}
		for _, err := range []error{
			os.MkdirAll(at("bad/one"), 0o777), os.MkdirAll(at("bad/two"), 0o777), os.Mkdir(at("empty"), 0o777),
			os.WriteFile(at("digits.npz"), digits, 0o666), os.WriteFile(at("other.onnx"), other, 0o666),
			writeNet(t, at("net.onnx"), 3), writeNet(t, at("gray.onnx"), 1),
		} {
			if err != nil {
				return err
			}
		}
		for _, name := range []string{"one/a", "one/b", "one/c", "one/d", "two/a", "two/b", "two/c", "two/d"} {
			if err := os.WriteFile(at("bad/"+name), []byte("text"), 0o666); err != nil {
				return err
			}
		}
		return nil
	})
}

// TestLearns: the classifier of directions becomes one of digits, better by its head and better again by its layers,
// and the file that is written is as good.
func TestLearns(t *testing.T) {
	exampletest.Long(t)
	path := exampletest.Model(t, "ch_ppocr_mobile_v2.0_cls_infer.onnx")
	exampletest.Set(t, side, 48)
	exampletest.Set(t, more, 1)
	exampletest.Set(t, mean, []float32{0.5, 0.5, 0.5})
	exampletest.Set(t, std, []float32{0.5, 0.5, 0.5})
	set, err := readDataset(exampletest.DigitsFile)
	if err != nil {
		t.Fatal(err)
	}
	model, err := onnx.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	d := open(t)
	c, err := newClassifier(d, model, "")
	if err != nil {
		t.Fatal(err)
	}
	defer c.net.Close()
	if c.features != "reshape2_0.tmp_0" {
		t.Errorf("the head takes %s", c.features)
	}
	if err := c.tune(set, nil); err != nil {
		t.Fatal(err)
	}
	head, err := right(d, set.test, c.ofFeatures)
	if err != nil || head < 70 {
		t.Errorf("with a head %.2f %% are right, %v", head, err)
	}
	weights, err := c.matching(`^conv|\.[wb]_0$`)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.tune(set, weights); err != nil {
		t.Fatal(err)
	}
	layers, err := right(d, set.test, c.ofPixels)
	if err != nil || layers < head+5 {
		t.Errorf("with layers %.2f %% are right, %v", layers, err)
	}
	out := filepath.Join(t.TempDir(), "digits.onnx")
	if err := c.export(out, set); err != nil {
		t.Fatal(err)
	}
	written, err := onnx.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	if names := written.Metadata()["classes"]; names != "0\n1\n2\n3\n4\n5\n6\n7\n8\n9" {
		t.Errorf("the file has the classes %q", names)
	}
}
