package autograd_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestOptionsInTurns: devices of one process with different options do the same operations in turns, and none gets
// code that was made for another: each result and gradient is that of float64 in Go, within the device's precision.
func TestOptionsInTurns(t *testing.T) {
	type opened struct {
		name string
		d    tensor.Device
	}
	reference := devtest.CPU(t)
	operations := []struct {
		name string
		f    func(x, w *node) *node
	}{
		{"softmax", func(x, w *node) *node { return x.Softmax(1) }},
		{"softmax of columns", func(x, w *node) *node { return x.LogSoftmax(0) }},
		{"norm", func(x, w *node) *node { return x.LayerNorm(-1, w.Select(0, 0), nil, 1e-5) }},
		{"leaky 0.1", func(x, w *node) *node { return x.LeakyReLU(0.1).Mul(w) }},
		{"leaky 0.3", func(x, w *node) *node { return x.LeakyReLU(0.3).Mul(w.Slice(0, 0, 1)) }},
		{"linear", func(x, w *node) *node { return x.Linear(w.T(), nil, fn.GELU) }},
		{"sum", func(x, w *node) *node { return x.Mul(w).Sum(0) }},
		{"error", func(x, w *node) *node { return x.SquaredError(w) }},
		{"running sum", func(x, w *node) *node { return x.CumSum(1).T() }},
	}
	for _, sel := range devtest.Selected() {
		t.Run(sel, func(t *testing.T) {
			var devices []opened
			for name, opt := range map[string]tensor.Options{
				"plain": {}, "float64": {DefaultType: tensor.Float64}, "checked": {Check: true}, "profiled": {Profile: true},
				"untried": {SkipSelfTest: true}, "unoptimized": {Unoptimized: true},
				"for GPUs": devtest.GPUKernels(), "for GPUs, float64": devtest.GPUKernels(tensor.Options{DefaultType: tensor.Float64}),
			} {
				if opt.Check && sel == "cpu" { // which is what is compared with
					continue
				}
				devices = append(devices, opened{name, devtest.Open(t, sel, opt)})
			}
			rng := rand.New(rand.NewPCG(1, 1))
			for range 300 {
				dev, op := devices[rng.IntN(len(devices))], operations[rng.IntN(len(operations))]
				shape := [][]int{{3, 5}, {7, 16}, {2, 33}}[rng.IntN(3)]
				draw := func() []float64 {
					v := make([]float64, shape[0]*shape[1])
					for i := range v {
						v[i] = math.Round(rng.Float64()*2048-1024) / 512 // exact in float32
					}
					return v
				}
				xs, ws := draw(), draw()
				compute := func(d tensor.Device) []float64 {
					x, w := autograd.Param(devtest.New(d, xs, shape...), "x"), autograd.Param(devtest.New(d, ws, shape...), "w")
					y := op.f(x, w)
					all := values(t, y.Value())
					for _, g := range grad(t, y.Square().Sum(), []*node{x, w}, autograd.GradOptions{AllowUnused: true}) {
						if g != nil {
							all = append(all, values(t, g.Value())...)
						}
					}
					return all
				}
				got, want := compute(dev.d), compute(reference)
				what := fmt.Sprintf("%s %v on a device that is %s", op.name, shape, dev.name)
				if len(got) != len(want) {
					t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
				}
				within := 1e-4
				if dev.d.DefaultType() == tensor.Float64 {
					within = 1e-12
				}
				for i, v := range got {
					if !(math.Abs(v-want[i]) <= within*(1+math.Abs(want[i]))) {
						t.Fatalf("%s: number %d is %v, want %v", what, i, v, want[i])
					}
				}
			}
		})
	}
}
