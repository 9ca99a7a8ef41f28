package imagefit

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/replay"
	"github.com/clgrad/clgrad/tensor"
)

// stepAndLoss does a step and returns its loss.
func stepAndLoss(f *Fit) func() ([]*tensor.Tensor, error) {
	return func() ([]*tensor.Tensor, error) {
		if err := f.Step(); err != nil {
			return nil, err
		}
		return []*tensor.Tensor{f.loss}, nil
	}
}

// everything returns the bits of a fit: a loss, the weights, what its optimizers remember, and
// where its pixels are drawn.
func everything(t *testing.T, f *Fit, loss *tensor.Tensor) string {
	t.Helper()
	text := fmt.Append(nil, f.rng.Calls, f.Steps(), math.Float64bits(f.LR()))
	add := func(name string, x *tensor.Tensor) {
		v, err := x.Float64s()
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, '\n'), name...)
		for _, v := range v {
			text = strconv.AppendUint(append(text, ' '), math.Float64bits(v), 16)
		}
	}
	add("loss", loss)
	for _, o := range f.opts {
		state := o.State().Tensors
		for _, name := range slices.Sorted(maps.Keys(state)) {
			add(name, state[name])
		}
	}
	for _, p := range append(nn.Params(f.Model.net), f.Model.encoder.params()...) {
		add(p.Name(), p.Value())
	}
	return string(text)
}

// TestStepRecords: a step with each encoding and loss is recorded, and replays with the bits of
// eager steps: drawn pixels, the schedule, and the table of a hash grid, as CPUs and as GPUs train
// it.
func TestStepRecords(t *testing.T) {
	img := smooth(40, 28)
	for _, sel := range devtest.Selected() {
		options := map[tensor.Options][]string{{}: Encodings, {DefaultType: tensor.Float64}: Encodings}
		if sel != "cpu" { // others are compiled, or compared, for long
			options = map[tensor.Options][]string{{}: Encodings, devtest.GPUKernels(): {Hash}, {Check: true}: {Frequency}}
		}
		for opt, kinds := range options {
			d := devtest.Open(t, sel, opt)
			for _, kind := range kinds {
				for _, loss := range Losses {
					cfg := smallOf(kind)
					cfg.Eager, cfg.Schedule, cfg.LRDecay, cfg.Batch, cfg.Loss = true, Linear, 1, 64, loss
					name := fmt.Sprintf("%s %+v, %s, %s", sel, opt, kind, loss)
					recordedAsEager(t, d, img, cfg, name)
				}
			}
		}
	}
}

func recordedAsEager(t *testing.T, d tensor.Device, img *Image, cfg Config, name string) {
	t.Helper()
	var fits []*Fit
	for range 2 {
		f, err := New(d, img, cfg)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		defer f.Free()
		fits = append(fits, f)
	}
	eager, recorded := fits[0], fits[1]
	for range 7 {
		if err := eager.Step(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	rec, err := replay.Record(d, stepAndLoss(recorded), replay.Options{Without: []string{"fused-training-step"}}) // whose sums are of another order
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	defer rec.Free()
	run := func(step func() error) {
		if err := step(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	run(rec.Run)
	run(rec.Run)
	run(recorded.Step)
	run(rec.Run)
	run(rec.Run)
	if got, want := everything(t, recorded, rec.Outputs()[0]), everything(t, eager, eager.loss); got != want {
		t.Errorf("%s: replayed\n%.300s\nwant\n%.300s", name, got, want)
	}
}
