package main

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/replay/fusion"
	"github.com/clgrad/clgrad/tensor"
)

// each runs a test on the devices of CLGRAD_TEST_DEVICES.
func each(t *testing.T, f func(t *testing.T, d tensor.Device)) {
	list := os.Getenv("CLGRAD_TEST_DEVICES")
	if list == "" {
		list = "cpu"
	}
	for _, sel := range strings.Split(list, ",") {
		t.Run(sel, func(t *testing.T) {
			d, err := tensor.Open(sel)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			f(t, d)
		})
	}
}

func TestKernels(t *testing.T) {
	each(t, func(t *testing.T, d tensor.Device) {
		if err := kerneltest.All(d, false, gatedSum); err != nil {
			t.Error(err)
		}
	})
}

// TestFused: sums are one launch where the fusion applies, and what they were.
func TestFused(t *testing.T) {
	each(t, func(t *testing.T, d tensor.Device) {
		for _, c := range []struct {
			name       string
			rows, cols int
			step       func(x, y *tensor.Tensor) []*tensor.Tensor
			fused      int
			why        error
		}{
			{"as it is", 40, 96, func(x, y *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{x.SiLU().Mul(y).Sum(0)} }, 1, nil},
			{"the other way round", 7, 65, func(x, y *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{y.Mul(x.SiLU()).Sum(0)} }, 1, nil},
			{"one row", 1, 64, func(x, y *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{x.SiLU().Mul(y).Sum(0)} }, 1, nil},
			{"few columns", 40, 63, func(x, y *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{x.SiLU().Mul(y).Sum(0)} }, 0, nil},
			{"sums of rows", 96, 40, func(x, y *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{x.SiLU().Mul(y).Sum(1)} }, 0, nil},
			{"transposed", 96, 96, func(x, y *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{x.SiLU().Mul(y.T()).Sum(0)} }, 0, nil},
			{"means", 40, 96, func(x, y *tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{x.SiLU().Mul(y).Mean(0)} }, 0, nil},
			{"twice", 40, 96, func(x, y *tensor.Tensor) []*tensor.Tensor {
				return []*tensor.Tensor{x.SiLU().Mul(y).Sum(0), y.SiLU().Mul(x).Sum(0)}
			}, 2, nil},
			{"the product is needed", 40, 96, func(x, y *tensor.Tensor) []*tensor.Tensor {
				p := x.SiLU().Mul(y)
				return []*tensor.Tensor{p, p.Sum(0)}
			}, 0, fusion.ErrIntermediate},
			{"the gate is needed", 40, 96, func(x, y *tensor.Tensor) []*tensor.Tensor {
				g := x.SiLU()
				return []*tensor.Tensor{g.Mul(y).Sum(0), g.Neg()}
			}, 0, fusion.ErrIntermediate},
		} {
			rng := tensor.NewRNG(1)
			x, y := rng.Normal(d, 0, 1, c.rows, c.cols), rng.Normal(d, 0, 1, c.rows, c.cols)
			step := func() ([]*tensor.Tensor, error) { return c.step(x, y), nil }
			var said strings.Builder
			rec, err := replay.Record(d, step, replay.Options{Explain: &said})
			if err != nil {
				t.Fatal(err)
			}
			report := rec.Report()
			if report.FusedSteps != c.fused || !errors.Is(report.NotFused, c.why) {
				t.Errorf("%s: %d are fused, %v; want %d, %v", c.name, report.FusedSteps, report.NotFused, c.fused, c.why)
			}
			word := "one launch"
			if c.why != nil {
				word = ": refused: a gated sum: "
			}
			if (c.fused > 0 || c.why != nil) && !strings.Contains(said.String(), word) {
				t.Errorf("%s: %q is not said in\n%s", c.name, word, &said)
			}
			if c.fused > 0 && report.Launches != c.fused {
				t.Errorf("%s: %d launches: %+v", c.name, report.Launches, rec.Launches())
			}
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
			same(t, c.name, rec.Outputs(), c.step(x, y))
			rec.Free()
		}
	})
}

func same(t *testing.T, name string, got, want []*tensor.Tensor) {
	t.Helper()
	for i := range want {
		g, err := got[i].Float64s()
		if err != nil {
			t.Fatal(err)
		}
		w, err := want[i].Float64s()
		if err != nil {
			t.Fatal(err)
		}
		for j := range w {
			if !(math.Abs(g[j]-w[j]) <= 1e-4) {
				t.Fatalf("%s: element %d of output %d is %v, eagerly %v", name, j, i, g[j], w[j])
			}
		}
	}
}

// TestSwitchedOff: the fusion is one of the passes, and can be switched off as they can.
func TestSwitchedOff(t *testing.T) {
	each(t, func(t *testing.T, d tensor.Device) {
		x := tensor.Full(d, 2, 4, 64)
		rec, err := record(d, x, x, replay.Options{Without: []string{"gated-sum"}})
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		if r := rec.Report(); r.FusedSteps != 0 || r.Launches < 2 {
			t.Errorf("switched off: %v", r)
		}
	})
}

// TestWrong: a kernel that computes something else is found when the step is recorded, and the step
// replayed as it was.
func TestWrong(t *testing.T) {
	wrong := *gatedSum // the sum of what the gate does not let through
	wrong.Name, wrong.File = "gated_sum_wrong", "gated_sum_wrong.cl"
	wrong.Text = strings.NewReplacer("gated_sum(", "gated_sum_wrong(", "exp(-X[X_off + i])", "exp(X[X_off + i])").Replace(gatedSum.Text)
	wrong.Host = kernels.HostKernel{F32: func(c kernels.HostArgs[float32]) {
		x, y, z, cols := c.Floats(0), c.Floats(1), c.Floats(2), c.Int(4)
		clear(z)
		for i, v := range x {
			z[i%cols] += v / float32(1+math.Exp(float64(v))) * y[i]
		}
	}}
	other := gated
	other.Name, other.Match = "a-wrong-gated-sum", func(s fusion.Step) []fusion.Match {
		found := match(s)
		for i := range found {
			found[i].Launches[0].Kernel = &wrong
		}
		return found
	}
	defer fusion.Register(other)()
	each(t, func(t *testing.T, d tensor.Device) {
		rng := tensor.NewRNG(1)
		x, y := rng.Normal(d, 0, 1, 9, 64), rng.Normal(d, 0, 1, 9, 64)
		rec, err := record(d, x, y, replay.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer rec.Free()
		if r := rec.Report(); !errors.Is(r.NotFused, fusion.ErrWrong) || r.FusedSteps != 1 {
			t.Errorf("%d are fused, %v", r.FusedSteps, r.NotFused)
		}
		if err := rec.Run(); err != nil {
			t.Fatal(err)
		}
		same(t, "wrong", rec.Outputs(), []*tensor.Tensor{x.SiLU().Mul(y).Sum(0)})
	})
}
