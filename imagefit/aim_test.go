package imagefit

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestPlanForPSNR: where the estimate is near enough, the schedule ends after as many steps again,
// where that was not enough later, and never after Config.Steps.
func TestPlanForPSNR(t *testing.T) {
	d := devtest.CPU(t)
	cfg := small()
	cfg.Schedule, cfg.LRDecay, cfg.Steps = Linear, 1, 1000
	f, err := New(d, smooth(8, 6), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Free()
	const psnr = 30
	for _, c := range []struct {
		steps, before int
		estimate      float64
		want          int
	}{
		{100, 0, 20, 0},        // far from it
		{100, 0, 25, 200},      // near
		{100, 0, 35, 200},      // reached by the batch alone
		{700, 0, 25, 1000},     // no more than there are
		{150, 200, 29, 200},    // on its way
		{200, 200, 29.95, 250}, // nearly enough: an eighth
		{200, 200, 29.5, 300},
		{200, 200, 28, 600},
		{200, 200, 20, 1000},
		{950, 950, 20, 1000},
	} {
		state := f.opts[0].State()
		state.Steps = c.steps
		if err := f.opts[0].Restore(state); err != nil {
			t.Fatal(err)
		}
		if f.aim = c.before; f.aim > 0 && f.learningRate(f.aim) != 0 {
			t.Errorf("%+v: the rate at the end of the plan is %v", c, f.learningRate(f.aim))
		}
		if f.plan(psnr, math.Pow(10, -c.estimate/10)); f.aim != c.want {
			t.Errorf("%+v: the schedule ends at %d", c, f.aim)
		}
	}
	f.aim, f.Config.Schedule = 0, Exponential
	if f.plan(psnr, 1e-9); f.aim != 0 {
		t.Error("a schedule without an end has one")
	}
}

// TestAim: a PSNR is reached in fewer steps than by a schedule that is planned for more, at a lower
// rate, and with the bits of a fit that was stopped and resumed.
func TestAim(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	img := smooth(48, 32)
	cfg, err := Preset(Fast, img.Width, img.Height)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Hidden, cfg.Batch, cfg.Steps, cfg.LR = 16, 512, 4000, 0.02
	w := Watch{PSNR: 43}
	whole, err := New(d, img, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Free()
	if why, err := whole.Run(t.Context(), w); err != nil || why != ReachedPSNR {
		t.Fatalf("ended because %q after %d steps (err %v)", why, whole.Steps(), err)
	}
	if p := psnrOf(t, whole, img); p < w.PSNR || whole.aim == 0 || whole.Steps() > whole.aim || whole.LR() > cfg.LR/2 {
		t.Errorf("%v dB after %d steps, planned for %d, at a rate of %v", p, whole.Steps(), whole.aim, whole.LR())
	}
	t.Logf("%d steps, planned for %d", whole.Steps(), whole.aim)
	f, err := New(d, img, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, stop := range []int{whole.aim/2 - 10, whole.aim/2 + 10} { // before it is planned, and after
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := f.Run(ctx, Watch{PSNR: w.PSNR, Step: func(step int) error {
			if step == stop {
				cancel()
			}
			return nil
		}}); err != nil {
			t.Fatal(err)
		}
		saved, err := DecodeCheckpoint(checkpointOf(t, f))
		if err != nil {
			t.Fatal(err)
		}
		f.Free()
		if f, err = Resume(d, img, saved, cfg); err != nil {
			t.Fatal(err)
		}
	}
	defer f.Free()
	if why, err := f.Run(t.Context(), w); err != nil || why != ReachedPSNR {
		t.Fatalf("resumed, it ended because %q (err %v)", why, err)
	}
	f.spent, whole.spent = 0, 0
	if !bytes.Equal(checkpointOf(t, f), checkpointOf(t, whole)) {
		t.Errorf("resumed, it is another fit after %d steps than after %d", f.Steps(), whole.Steps())
	}
	// Without a PSNR the schedule is that of the settings again.
	if _, err := f.Run(t.Context(), Watch{Step: func(int) error { return context.Canceled }}); err != context.Canceled || f.aim != 0 {
		t.Errorf("without a PSNR the schedule ends at %d (err %v)", f.aim, err)
	}
}
