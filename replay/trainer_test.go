package replay_test

import (
	"math"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/fusion"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// TestTrainer: with a trainer and without, a step leaves the same but for roundings, and only with
// one it is fused.
func TestTrainer(t *testing.T) {
	trainer := fusion.RegisteredTrainer()
	defer fusion.RegisterTrainer(trainer)
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		train := func(with fusion.Trainer) ([][]float64, replay.Report) {
			fusion.RegisterTrainer(with)
			l := newLearner(d, 40, plain(8, 16, 16, 3), "adamw")
			rec, err := replay.Record(d, func() ([]*tensor.Tensor, error) { return l.step(nil, squared, nil) })
			if err != nil {
				t.Fatal(err)
			}
			defer rec.Free()
			for range 5 {
				if err := rec.Run(); err != nil {
					t.Fatal(err)
				}
			}
			return l.values(t, rec.Outputs()), rec.Report()
		}
		fused, report := train(trainer)
		if report.FusedSteps != 1 || report.NotFused != nil {
			t.Errorf("with a trainer %d steps are fused, %v", report.FusedSteps, report.NotFused)
		}
		layers, report := train(nil)
		if report.FusedSteps != 0 || report.NotFused == nil || !strings.Contains(report.NotFused.Error(), "import package fusedmlp") {
			t.Errorf("without a trainer %d steps are fused, %v", report.FusedSteps, report.NotFused)
		}
		for i := range layers {
			for j, want := range layers[i] {
				if got := fused[i][j]; !(math.Abs(got-want) <= 1e-4*max(1, math.Abs(want))) {
					t.Fatalf("element %d of tensor %d is %v, and %v layer by layer", j, i, got, want)
				}
			}
		}
	})
}
