// Package exampletest is what the tests of the examples have in common.
package exampletest

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/data"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/optim"
	"github.com/clgrad/clgrad/tensor"
	"github.com/rogpeppe/go-internal/testscript"
)

// Long skips a test that trains for seconds where tests are to be short: with the race detector
// they are minutes.
func Long(t *testing.T) {
	if testing.Short() {
		t.Skip("it trains for seconds")
	}
}

// Scripts runs the scripts in testdata/script on the Go device: each is a session at a shell, in a
// folder that setup may put files into. $MODELS is the folder of the models of others, and the
// condition [models] says whether it is there.
func Scripts(t *testing.T, setup func(folder string) error) {
	models, err := filepath.Abs(modelsFolder)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv(tensor.DeviceEnv, "cpu")
			env.Setenv("MODELS", models)
			return setup(env.WorkDir)
		},
		Condition: func(name string) (bool, error) {
			if name != "models" {
				return false, fmt.Errorf("there is no condition %q", name)
			}
			_, err := os.Stat(models)
			return err == nil, nil
		},
	})
}

// modelsFolder is where the models of others are, from the folder of an example.
const modelsFolder = "../../../shared/onnx/models"

// Model returns the path of a model of others. The test is skipped where it is not there.
func Model(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(modelsFolder, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not here", path)
	}
	return path
}

// Set changes a flag for the time of a test.
func Set[T any](t *testing.T, flag *T, v T) {
	before := *flag
	t.Cleanup(func() { *flag = before })
	*flag = v
}

// DigitsFile is the file of the digits, from the folder of an example.
const DigitsFile = "../../testdata/digits.npz"

// Digits returns the images and the labels of DigitsFile.
func Digits(t testing.TB) (images, labels data.Array) {
	t.Helper()
	arrays, err := data.LoadNPZ(DigitsFile)
	if err != nil {
		t.Fatal(err)
	}
	return arrays["images"], arrays["labels"]
}

// PyTorch loads the weights with which scripts/examples/reference.py began into the model of an
// example. It returns the losses of PyTorch, and, by their names, the inputs that are in its file
// as well.
func PyTorch(t *testing.T, d tensor.Device, example string, model any, names ...string) (losses []float64, inputs tensor.Dict) {
	t.Helper()
	dict, err := tensor.LoadNPZ(d, "../../testdata/examples/"+example+".npz")
	if err != nil {
		t.Fatal(err)
	}
	if losses, err = dict["losses"].Float64s(); err != nil {
		t.Fatal(err)
	}
	delete(dict, "losses")
	inputs = tensor.Dict{}
	for _, name := range names {
		inputs[name] = dict[name]
		delete(dict, name)
	}
	if err := nn.LoadStateDict(model, dict); err != nil {
		t.Fatal(err)
	}
	return losses, inputs
}

// Begin sets the weights that scripts/examples/reference.py begins with, by a formula, and returns
// what PyTorch's program then gives: the loss of each step, and its test.
func Begin(t *testing.T, d tensor.Device, example string, model any) (losses []float64, test float64) {
	t.Helper()
	var run struct {
		Losses []float64
		Test   float64
	}
	Recorded(t, example, &run)
	if len(run.Losses) == 0 {
		t.Fatalf("there are no losses of %s", example)
	}
	if err := nn.LoadStateDict(model, formula(d, model), nn.LoadOptions{Partial: true}); err != nil {
		t.Fatal(err)
	}
	return run.Losses, run.Test
}

// Benchmark measures a step of train, which is called for b.N steps or epochs and returns the loss of
// each step, on the device that CLGRAD_DEVICE names.
func Benchmark(b *testing.B, train func(d tensor.Device, n int) (losses []float64, err error)) {
	d, err := tensor.Open("")
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	losses, err := train(d, b.N)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(len(losses)), "ns/step")
}

// Recorded reads into run what scripts/examples/reference.py noted of an example.
func Recorded(t *testing.T, example string, run any) {
	t.Helper()
	raw, err := os.ReadFile("../../testdata/examples/losses.json")
	if err != nil {
		t.Fatal(err)
	}
	runs := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &runs); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(runs[example], run); err != nil {
		t.Fatalf("%s: %v", example, err)
	}
}

// formula returns the weights of a model as begin_by_formula of scripts/examples/reference.py
// computes them.
func formula(d tensor.Device, model any) tensor.Dict {
	dict := nn.StateDict(model)
	maps.DeleteFunc(dict, func(name string, _ *tensor.Tensor) bool {
		return strings.Contains(name, "running_") || strings.HasSuffix(name, "num_batches_tracked")
	})
	for k, name := range slices.Sorted(maps.Keys(dict)) {
		shape := dict[name].Shape()
		values := make([]float64, dict[name].Len())
		switch {
		case len(shape) > 1:
			for i := range values {
				at := float64(i + 1000*k)
				_, fraction := math.Modf(at * at * 0.6180339887498949)
				values[i] = (fraction*2 - 1) * math.Sqrt(float64(shape[0])/float64(len(values)))
			}
		case !strings.Contains(name, "bias"):
			delete(dict, name)
			continue
		}
		dict[name] = tensor.New(d, values, shape...).To(d.DefaultType())
	}
	return dict
}

// Equal compares losses and the result of a test with those of PyTorch: to within on floats, to 1e-9
// on doubles.
func Equal(t *testing.T, d tensor.Device, got, want []float64, within float64) {
	t.Helper()
	if d.DefaultType() == tensor.Float64 {
		within = 1e-9
	}
	if len(got) != len(want) {
		t.Fatalf("%d losses, PyTorch has %d", len(got), len(want))
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= within) {
			t.Errorf("number %d: %v, PyTorch's %v", i, got[i], want[i])
		}
	}
}

// Follow takes a step from the loss of each number, and compares that with PyTorch's: to within on
// floats, to 1e-9 on doubles. Short tests take the first ten.
func Follow(t *testing.T, losses []float64, opt optim.Optimizer, within float64, loss func(step int) *autograd.Node) {
	t.Helper()
	if testing.Short() {
		losses = losses[:min(10, len(losses))]
	}
	for i, want := range losses {
		y := loss(i)
		if y.Device().DefaultType() == tensor.Float64 {
			within = 1e-9
		}
		if got, err := y.Item(); err != nil || !(math.Abs(got-want) <= within) {
			t.Errorf("step %d: loss %v, PyTorch's %v, err %v", i, got, want, err)
		}
		if err := optim.Minimize(opt, y); err != nil {
			t.Fatal(err)
		}
	}
}
