package imagefit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestPresetWeights holds presets to the weights that they may have: of a photograph of 768×512, or
// of as many pixels.
func TestPresetWeights(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	for name, most := range map[string]int{Fast: 101_000, Good: 300_000, Best: 490_000} {
		for _, size := range [][2]int{{768, 512}, {512, 768}, {512, 512}} {
			cfg, err := Preset(name, size[0], size[1])
			if err != nil {
				t.Fatal(err)
			}
			f, err := New(d, smooth(size[0], size[1]), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if n := f.Model.Size(); n > most || n < most*9/10 {
				t.Errorf("%s has %d weights for %v pixels, at most %d were promised", name, n, size, most)
			}
			f.Free()
		}
	}
}

// TestPresetSizes: settings of every preset are valid from one pixel to the largest picture.
func TestPresetSizes(t *testing.T) {
	for _, name := range Presets {
		for _, size := range [][2]int{{1, 1}, {1, 7}, {64, 48}, {4000, 3000}, {30000, 30000}} {
			cfg, err := Preset(name, size[0], size[1])
			if err == nil {
				err = cfg.Validate()
			}
			if err != nil || name != Classic && (cfg.Batch > size[0]*size[1] || cfg.Steps < 1) {
				t.Errorf("%s of %v: %+v, err %v", name, size, cfg, err)
			}
		}
	}
}

// TestLearningRate: the schedule Linear rises, stays, and is 0 at the end, also of few steps.
func TestLearningRate(t *testing.T) {
	c := DefaultsFor(Hash)
	c.Schedule = Linear
	for _, steps := range []int{1, 2, 9, 100, 24000} {
		c.Steps = steps
		if last := c.learningRate(steps); last != 0 {
			t.Errorf("%d steps: the rate after the last is %v", steps, last)
		}
		for s := range min(steps, 5000) {
			if lr := c.learningRate(s); !(lr > 0 && lr <= c.LR) {
				t.Fatalf("step %d of %d: the rate is %v", s, steps, lr)
			}
		}
	}
	if c.learningRate(0) >= c.learningRate(100) || c.learningRate(300) != c.LR || c.learningRate(20000) >= c.LR {
		t.Error("the rate does not rise, stay and fall")
	}
	c.Schedule = Exponential
	if c.LRDecay = 0.5; math.Abs(c.learningRate(3)-c.LR/8) > 1e-12 {
		t.Error("the exponential schedule is not")
	}
}

// TestPlanForTime: a plan takes the time it is given, with more steps than were planned or with
// fewer, and ends at a learning rate near 0. Steps take 1 ms of a clock that stands still while
// anything is computed; the first, as it is planned before its Step, takes none.
func TestPlanForTime(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	noise := smooth(96, 64) // which no small network makes exact
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pixels {
		noise.Pixels[i] = rng.Float32()
	}
	for _, c := range []struct {
		steps int
		fill  bool
		want  Reason
		done  int
	}{{20, true, OutOfTime, 1001}, {1 << 30, true, OutOfTime, 1001}, {1 << 30, false, OutOfTime, 1001}, {20, false, AllSteps, 20}} {
		t.Run(fmt.Sprint(c.steps, c.fill), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := small()
				cfg.Schedule, cfg.LRDecay, cfg.Steps, cfg.Batch = Linear, 1, c.steps, 16
				f, err := New(d, noise, cfg)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Free()
				step := func(int) error { time.Sleep(time.Millisecond); return nil }
				why, err := f.Run(t.Context(), Watch{Time: time.Second, Fill: c.fill, Step: step})
				if err != nil || why != c.want || f.Steps() != c.done {
					t.Errorf("ended: %q after %d steps, %v; want %q after %d", why, f.Steps(), err, c.want, c.done)
				}
				if lr := f.LR(); c.want == OutOfTime && lr > cfg.LR/2 {
					t.Errorf("the learning rate ends at %v of %v", lr, cfg.LR)
				}
			})
		})
	}
}
