package imagefit

import (
	"math"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/nn"
	"github.com/clgrad/clgrad/tensor"
)

// TestFlat: a run is flat when its last window gains less than a twentieth of a decibel on the one
// before, and not a little earlier.
func TestFlat(t *testing.T) {
	windows := func(n int, gain float64) flatness {
		f := make(flatness, 2*n)
		for i := range f {
			f[i] = 0.01
			if i >= n {
				f[i] *= math.Pow(10, -gain/10)
			}
		}
		return f
	}
	for _, c := range []struct {
		n    int
		gain float64
		want bool
	}{
		{leastWindow, 0.049, true}, {leastWindow, 0.051, false}, {leastWindow, -1, true}, {leastWindow, 3, false},
		{leastWindow - 1, 0, false}, // too few readings
	} {
		if got := windows(c.n, c.gain).reached(); got != c.want {
			t.Errorf("%d readings that gain %v dB on %d: flat is %v", c.n, c.gain, c.n, got)
		}
	}
	// Of 120 readings, windows are 20 long: a gain between the last 12 and those before is no gain
	// between windows.
	long := append(make(flatness, 0, 120), windows(60, 0)...)
	for i := range 20 {
		long[100+i] *= math.Pow(10, -0.0051)
	}
	if long.reached() {
		t.Error("a long run that gains 0.051 dB is flat")
	}
}

// TestSlope: what is trained is what is written and drawn, a network of leaky ReLUs of slope 0.1:
// the first loss is the same in the fused step, layer by layer, and from the layers' own formula.
func TestSlope(t *testing.T) {
	d := devtest.Open(t, "cpu", tensor.Options{})
	var losses []float64
	for _, eager := range []bool{false, true} {
		cfg := small()
		cfg.Eager = eager
		f, err := New(d, smooth(16, 16), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if fused, why := f.Fused(); fused == eager {
			t.Fatalf("fused %v: %v", fused, why)
		}
		if p := f.Model.Network.Parameter; p != 0.1 {
			t.Errorf("the model says that its slope is %v", p)
		}
		x, target := f.sample()
		f.rng.Calls--
		h := x
		params := nn.Params(f.Model.net)
		for i := 0; i+1 < len(params); i += 2 {
			z := h.MatMul(params[i]).Add(params[i+1])
			h = z.MaxScalar(0).Add(z.MinScalar(0).MulScalar(0.1))
		}
		want, err := h.MatMul(params[len(params)-1]).Sub(target).Square().Sum().Item()
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Step(); err != nil {
			t.Fatal(err)
		}
		got, err := f.Loss()
		if err != nil || math.Abs(got/want-1) > 1e-5 {
			t.Errorf("eager %v: loss %v, by the formula %v (err %v)", eager, got, want, err)
		}
		losses = append(losses, got)
	}
	if math.Abs(losses[0]/losses[1]-1) > 1e-5 {
		t.Errorf("losses %v", losses)
	}
}
