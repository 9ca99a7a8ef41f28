package main

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels/cl"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// devices returns the devices to test on.
func devices() []string {
	if list := os.Getenv("CLGRAD_TEST_DEVICES"); list != "" {
		return strings.Split(list, ",")
	}
	return []string{"cpu"}
}

// options are those under test on a device: check mode, where there is something to check.
func options(sel string, typ tensor.Type) tensor.Options {
	return tensor.Options{DefaultType: typ, Check: sel != "cpu"}
}

func open(t *testing.T, sel string, opt tensor.Options) tensor.Device {
	t.Helper()
	d, err := tensor.Open(sel, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// TestKernels holds the kernels to their host kernels at many lengths, on floats and on doubles.
func TestKernels(t *testing.T) {
	for _, sel := range devices() {
		for _, typ := range []tensor.Type{tensor.Float32, tensor.Float64} {
			d := open(t, sel, tensor.Options{DefaultType: typ, SkipSelfTest: true})
			if err := kerneltest.All(d, false, snake, snakeGrad); err != nil {
				t.Errorf("%s: %v", sel, err)
			}
		}
	}
}

// TestGradient holds the gradient of ΣSnake(x)·w against central differences in float64.
func TestGradient(t *testing.T) {
	const a, h = 1.5, 1e-5
	at, weights := []float64{-2, -0.3, 0, 0.7, 1.9, 4}, []float64{1, -2, 0.5, 3, -1, 0.25}
	for _, sel := range devices() {
		d := open(t, sel, options(sel, tensor.Float64))
		f := func(xs []float64) *autograd.Node {
			x := autograd.Param(tensor.New(d, xs, 2, 3), "x")
			return Snake(x, a).Mul(autograd.Const(tensor.New(d, weights, 2, 3))).Sum()
		}
		value := func(xs []float64) float64 {
			v, err := f(xs).Item()
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		x := autograd.Param(tensor.New(d, at, 2, 3), "x")
		loss := Snake(x, a).Mul(autograd.Const(tensor.New(d, weights, 2, 3))).Sum()
		if err := loss.Backward(); err != nil {
			t.Fatal(err)
		}
		got, err := x.Grad().Float64s()
		if err != nil {
			t.Fatal(err)
		}
		for i := range at {
			more, less := append([]float64(nil), at...), append([]float64(nil), at...)
			more[i] += h
			less[i] -= h
			if want := (value(more) - value(less)) / (2 * h); math.Abs(got[i]-want) > 1e-7 {
				t.Errorf("%s: ∂/∂x[%d] = %v, the difference is %v", sel, i, got[i], want)
			}
		}
	}
}

// TestSecondGradient: Snake″ is 2a·cos(2a·x), and the gradient by operations on Nodes is that of the kernel.
func TestSecondGradient(t *testing.T) {
	const a = 1.5
	at := []float64{-2, -0.3, 0, 0.7, 1.9, 4}
	for _, sel := range devices() {
		d := open(t, sel, options(sel, tensor.Float64))
		x := autograd.Param(tensor.New(d, at), "x")
		slope := func(y, x *autograd.Node, record bool) []float64 {
			g, err := autograd.Grad(y, []*autograd.Node{x}, autograd.GradOptions{CreateGraph: record})
			if err != nil {
				t.Fatal(err)
			}
			v, err := g[0].Float64s()
			if err != nil {
				t.Fatal(err)
			}
			return v
		}
		byKernel, byNodes := slope(Snake(x, a).Sum(), x, false), slope(Snake(x, a).Sum(), x, true)
		g, err := autograd.Grad(Snake(x, a).Sum(), []*autograd.Node{x}, autograd.GradOptions{CreateGraph: true})
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range slope(g[0].Sum(), x, false) {
			if want := 2 * a * math.Cos(2*a*at[i]); math.Abs(got-want) > 1e-12 || math.Abs(byKernel[i]-byNodes[i]) > 1e-12 {
				t.Errorf("%s: at %v the second derivative is %v, want %v; the first is %v and %v", sel, at[i], got, want, byKernel[i], byNodes[i])
			}
		}
	}
}

// TestTrain: the network learns, every launch held against its host kernel.
func TestTrain(t *testing.T) {
	for _, sel := range devices() {
		steps := 1000
		if sel != "cpu" {
			steps = 300 // check mode runs everything twice
		}
		d := open(t, sel, options(sel, tensor.Float32))
		losses, err := train(d, newNet(d, tensor.NewRNG(1), 24), steps)
		if err != nil {
			t.Fatalf("%s: %v", sel, err)
		}
		if first, last := losses[0], losses[steps-1]; first < 0.3 || last > 0.02 {
			t.Errorf("%s: the error went from %v to %v in %d steps", sel, first, last, steps)
		}
	}
}

// TestPyTorch: from the same weights, the losses are those of scripts/examples/customop.py.
func TestPyTorch(t *testing.T) {
	raw, err := os.ReadFile("../../testdata/examples/losses.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		CustomOp struct {
			Losses  []float64
			Weights map[string][]float64
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.CustomOp.Losses) == 0 {
		t.Fatal("losses.json has none of customop")
	}
	for _, sel := range devices() {
		for typ, within := range map[tensor.Type]float64{tensor.Float32: 1e-4, tensor.Float64: 1e-9} {
			d := open(t, sel, options(sel, typ))
			n, weights := newNet(d, tensor.NewRNG(1), 24), tensor.Dict{}
			for name, w := range nn.StateDict(n) {
				weights[name] = tensor.NewOf(d, typ, file.CustomOp.Weights[name], w.Shape()...)
			}
			if err := nn.LoadStateDict(n, weights); err != nil {
				t.Fatal(err)
			}
			losses, err := train(d, n, len(file.CustomOp.Losses))
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range file.CustomOp.Losses {
				if !(math.Abs(losses[i]-want) <= within) {
					t.Errorf("%s, %v, step %d: loss %v, PyTorch's %v", sel, typ, i, losses[i], want)
				}
			}
		}
	}
}

// TestOnePieceWithTheEngine: the operation has its place in profiles and pictures, one program serves both entry
// points, a strided operand is taken, and check mode names it when its source is wrong.
func TestOnePieceWithTheEngine(t *testing.T) {
	for _, sel := range devices() {
		d := open(t, sel, tensor.Options{Profile: true})
		x := autograd.Param(tensor.New(d, []float64{1, 2, 3, 4, 5, 6}, 2, 3), "x")
		loss := Snake(x.T(), 2).Sum()
		var picture strings.Builder
		if err := autograd.WriteDOT(&picture, loss); err != nil || !strings.Contains(picture.String(), "Snake") || !strings.Contains(picture.String(), "snake") {
			t.Errorf("%s: no Snake with its kernel in the picture (err %v):\n%s", sel, err, picture.String())
		}
		if err := loss.Backward(); err != nil {
			t.Fatal(err)
		}
		profile, err := d.Profile()
		if err != nil {
			t.Fatal(err)
		}
		calls := map[string]int64{}
		for _, k := range profile {
			calls[k.Name] = k.Calls
		}
		if calls["snake"] != 1 || calls["snake_grad"] != 1 {
			t.Errorf("%s: the profile counts %v", sel, calls)
		}
		if sel == "cpu" {
			continue
		}
		dir := t.TempDir()
		t.Setenv(cl.PathEnv, dir)
		wrong := strings.Replace(source, "s * s / a", "s * s", 1)
		if err := os.WriteFile(filepath.Join(dir, "snake.cl"), []byte(wrong), 0o644); err != nil {
			t.Fatal(err)
		}
		checked := open(t, sel, tensor.Options{Check: true})
		_, err = Snake(autograd.Const(tensor.New(checked, []float64{1, 2})), 2).Value().Float64s()
		var e *tensor.CheckError
		if !errors.As(err, &e) || e.Kernel != "snake" || !strings.HasPrefix(e.Node, "Snake") {
			t.Errorf("%s: a wrong source: err = %v, want a CheckError for Snake", sel, err)
		}
	}
}
