package devtest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/tensor"
)

// TestDevices: what runs in float32 and in float64 on which devices, in a sweep and otherwise.
func TestDevices(t *testing.T) {
	selected := devtest.Selected()
	for _, sweep := range []string{"", "1"} {
		t.Setenv(devtest.SweepEnv, sweep)
		for name, c := range map[string]struct {
			run            func(t *testing.T, f func(t *testing.T, d tensor.Device))
			onGo, onOthers bool // in float64, too
		}{
			"float32": {func(t *testing.T, f func(t *testing.T, d tensor.Device)) { devtest.Each(t, false, f) }, false, false},
			"each":    {func(t *testing.T, f func(t *testing.T, d tensor.Device)) { devtest.Each(t, true, f) }, true, sweep != ""},
			"both":    {devtest.Both, true, true},
		} {
			var ran, want []string
			for _, sel := range selected {
				want = append(want, sel+" float32")
				if sel == "cpu" && c.onGo || sel != "cpu" && c.onOthers {
					want = append(want, sel+" float64")
				}
			}
			what := fmt.Sprintf("%s, sweep %q", name, sweep)
			t.Run(what, func(t *testing.T) {
				c.run(t, func(t *testing.T, d tensor.Device) {
					ran = append(ran, strings.Split(t.Name(), "/")[2]+" "+d.DefaultType().String())
				})
			})
			if !slices.Equal(ran, want) {
				t.Errorf("%s: ran on %v, want %v", what, ran, want)
			}
		}
	}
}

// TestKeep: the cases of a test have one device for each selection and options, until it ends.
func TestKeep(t *testing.T) {
	var all []tensor.Device
	t.Run("test", func(t *testing.T) {
		devices := devtest.Keep(t)
		for range 2 {
			devices.Each(t, true, func(_ *testing.T, d tensor.Device) {
				if !slices.Contains(all, d) {
					all = append(all, d)
				}
				tensor.Zeros(d, 1)
			})
		}
	})
	if n := len(devtest.Selected()); len(all) < n || len(all) > 2*n {
		t.Errorf("%d devices of %d selections", len(all), n)
	}
	for _, d := range all {
		if _, err := tensor.Zeros(d, 1).Float64s(); err == nil {
			t.Errorf("%s is open after the test", d.Name())
		}
	}
}

// TestSeed: a sweep begins at the seed that it is given, and everything else at 0.
func TestSeed(t *testing.T) {
	for value, want := range map[string]uint64{"": 0, "0": 0, "1": 0, "yes": 0, "1001": 1000} {
		t.Setenv(devtest.SweepEnv, value)
		if seed := devtest.Seed(7); seed != want+7 {
			t.Errorf("%q: seed %d, not %d", value, seed, want+7)
		}
	}
}

// TestOptimized: kernels are optimized where a test or the environment asks for it, and in a sweep.
func TestOptimized(t *testing.T) {
	for _, c := range []struct {
		optimized, sweep string
		want             bool
	}{{"", "", false}, {"1", "", true}, {"", "1", true}} {
		t.Setenv(devtest.OptimizedEnv, c.optimized)
		t.Setenv(devtest.SweepEnv, c.sweep)
		if got := devtest.Optimized(); got != c.want {
			t.Errorf("%q, sweep %q: %v", c.optimized, c.sweep, got)
		}
	}
}
