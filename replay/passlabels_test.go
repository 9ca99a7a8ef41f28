package replay_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// passOf records a step, of which the fused step is to be one launch.
func passOf(t *testing.T, l *learner, loss func(l *learner, y *autograd.Node) *autograd.Node) *replay.Recording {
	t.Helper()
	rec, err := replay.Record(l.d, func() ([]*tensor.Tensor, error) { return l.step(nil, loss, nil) })
	if err != nil {
		t.Fatal(err)
	}
	if rec.Report().FusedSteps != 1 {
		t.Fatalf("the fused step is not one launch: %v", rec.Report().NotFused)
	}
	return rec
}

// nearbyLaunches compares what a program sees of two trainings: NaN and infinities are what they are.
func nearbyLaunches(t *testing.T, what string, got, want [][]float64, bound float64) {
	t.Helper()
	for k := range want {
		scale := 1e-3
		for _, v := range want[k] {
			if v-v == 0 { // neither infinite nor NaN
				scale = max(scale, math.Abs(v))
			}
		}
		for i, v := range want[k] {
			g := got[k][i]
			if same := g == v || math.IsNaN(g) && math.IsNaN(v); !same && !(math.Abs(g-v) <= bound*scale) {
				t.Fatalf("%s: value %d of %d is %v, eager %v", what, i, k, g, v)
			}
		}
	}
}

// TestFusedStepLabels: a recorded fused step reads the labels and the parameters that are there
// when it runs. Labels past the classes are refused before anything has changed.
func TestFusedStepLabels(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		eager, recorded := newLearner(d, 70, classes, "adamw"), newLearner(d, 70, classes, "adamw")
		loss := crossEntropy(autograd.LabelOptions{})
		rec := passOf(t, recorded, loss)
		defer rec.Free()
		var want []*tensor.Tensor
		step := func() {
			var err error
			if want, err = eager.step(nil, loss, nil); err != nil {
				t.Fatal(err)
			}
		}
		step()
		step()
		for k := 1; k < 5; k++ {
			for _, l := range []*learner{eager, recorded} {
				l.label(k)
				if k == 3 { // parameters that the program sets
					l.params[0].Value().SetInPlace(l.params[0].Value().MulScalar(0.5))
				}
			}
			step()
			if err := rec.Run(); err != nil {
				t.Fatal(err)
			}
			nearbyLaunches(t, fmt.Sprint("step ", k), recorded.values(t, rec.Outputs()), eager.values(t, want), 1e-4)
		}
		before := recorded.values(t, rec.Outputs())
		for _, bad := range []int32{5, -1, math.MaxInt32} {
			tensor.Upload(recorded.labels, append(make([]int32, 69), bad))
			refused(t, "a label of no class", rec.Run(), tensor.ErrIndex, "CrossEntropy", "labels are 0 to 4")
			nearbyLaunches(t, "after it was refused", recorded.values(t, rec.Outputs()), before, 0)
		}
		eager.label(2)
		recorded.label(2)
		step()
		if err := rec.Run(); err != nil {
			t.Fatal(err)
		}
		nearbyLaunches(t, "after labels of no class", recorded.values(t, rec.Outputs()), eager.values(t, want), 1e-4)
	})
}

// TestFusedStepEdges: scores that are infinite or NaN, and labels of which none counts, give what
// the eager step gives.
func TestFusedStepEdges(t *testing.T) {
	devices := devtest.Keep(t)
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		bias  float64 // of class 3
		label int32   // of every sample
		wrong bool    // the loss is no number
	}{
		"a class that is never":       {-inf, 1, false},
		"the class that is never":     {-inf, 3, false},
		"a class that is always":      {inf, 1, true},
		"NaN":                         {math.NaN(), 1, true},
		"NaN that does not count":     {math.NaN(), -100, true},
		"no label counts":             {0, -100, true},
		"large":                       {3e38, 1, false},
		"as small as can be":          {-3e38, 3, false},
		"the largest, and its labels": {3e37, 3, false}, // whose losses of all classes and samples have a finite sum
	} {
		for _, smoothing := range []float64{0, 0.1} {
			t.Run(fmt.Sprint(name, " ", smoothing), func(t *testing.T) {
				devices.Each(t, false, func(t *testing.T, d tensor.Device) {
					loss := crossEntropy(autograd.LabelOptions{Smoothing: smoothing})
					cfg := nn.MLPConfig{Sizes: []int{4, 8, 5}, Activations: []nn.Activation{nn.Tanh}}
					set := func(l *learner) {
						bias := l.params[3].Value()
						values, err := bias.Float64s()
						if err != nil {
							t.Fatal(err)
						}
						values[3] = c.bias
						tensor.Upload(bias, values)
						tensor.Upload(l.labels, slices.Repeat([]int32{c.label}, 20))
					}
					eager, recorded := newLearner(d, 20, cfg, "momentum"), newLearner(d, 20, cfg, "momentum")
					rec := passOf(t, recorded, loss)
					defer rec.Free()
					var want []*tensor.Tensor
					for k := range 3 {
						if k == 2 {
							set(eager)
						}
						var err error
						if want, err = eager.step(nil, loss, nil); err != nil {
							t.Fatal(err)
						}
					}
					set(recorded)
					if err := rec.Run(); err != nil {
						t.Fatal(err)
					}
					values := eager.values(t, want)
					if math.IsNaN(values[0][0]) != c.wrong {
						t.Fatalf("the eager step has the loss %v", values[0])
					}
					nearbyLaunches(t, "the step", recorded.values(t, rec.Outputs()), values, 1e-4)
				})
			})
		}
	}
}

// TestFusedStepOfManySamples: a GPU adds the gradient of a bias of many samples up in runs, and
// their sums in another launch: the fused step is one launch all the same. So it is where local
// memory has no room for the sums of wide layers.
func TestFusedStepOfManySamples(t *testing.T) {
	for _, sel := range devtest.Selected() {
		if sel == "cpu" {
			continue // which has no kernels for GPUs
		}
		t.Run(sel, func(t *testing.T) {
			d := devtest.Open(t, sel, devtest.GPUKernels())
			for _, c := range []struct {
				samples int
				cfg     nn.MLPConfig
			}{
				{8323, nn.MLPConfig{Sizes: []int{4, 8, 2}, Activations: []nn.Activation{nn.Tanh}}}, // which runs do not divide
				{8321, nn.MLPConfig{Sizes: []int{4, 8, 2}, Activations: []nn.Activation{nn.Tanh}}}, // which leave one row over
				{128*d.Target().Units + 1, nn.MLPConfig{Sizes: []int{32, 128, 128, 10}, Activations: []nn.Activation{nn.GELU}}},
			} {
				manySamples(t, d, c.samples, c.cfg)
			}
		})
	}
}

func manySamples(t *testing.T, d tensor.Device, samples int, cfg nn.MLPConfig) {
	t.Helper()
	eager, recorded := newLearner(d, samples, cfg, "adamw"), newLearner(d, samples, cfg, "adamw")
	rec := passOf(t, recorded, squared)
	defer rec.Free()
	var want []*tensor.Tensor
	for range 3 {
		var err error
		if want, err = eager.step(nil, squared, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := rec.Run(); err != nil {
		t.Fatal(err)
	}
	nearbyLaunches(t, "the step", recorded.values(t, rec.Outputs()), eager.values(t, want), 1e-3)
}
