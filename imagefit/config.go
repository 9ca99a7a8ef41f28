package imagefit

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/clgrad/clgrad/optim"
)

// ErrConfig is what a setting is that is out of range.
var ErrConfig = errors.New("bad setting")

// The losses.
const (
	MSE = "mse" // the sum of squared errors
	L1  = "l1"  // the sum of absolute errors
)

// Losses lists them.
var Losses = []string{MSE, L1}

// The schedules of the learning rate.
const (
	Exponential = "exponential" // LR·LRDecayˢᵗᵉᵖ
	Linear      = "linear"      // a short rise, LR for a fifth of Steps, then a straight line to 0 at Steps
)

// Schedules lists them.
var Schedules = []string{Exponential, Linear}

// Config is the settings of a fit. All but Steps, UntilFlat and LogEvery change what a step learns;
// so does Steps where the schedule is Linear.
type Config struct {
	Steps       int      `json:"steps"`        // training steps, at most
	Batch       int      `json:"batch"`        // pixels drawn per step
	Encoding    Encoding `json:"encoding"`     // of positions
	Hidden      int      `json:"hidden"`       // width of a hidden layer
	Layers      int      `json:"layers"`       // hidden layers, at most 1024
	Loss        string   `json:"loss"`         // MSE or L1
	Schedule    string   `json:"schedule"`     // of the learning rate
	LR          float64  `json:"lr"`           // the highest learning rate; for Exponential that of the first step
	LRDecay     float64  `json:"lr_decay"`     // for Exponential, factor on it per step
	WeightDecay float64  `json:"weight_decay"` // of AdamW, as Beta1 and Beta2
	Beta1       float64  `json:"beta1"`        // of the mean of gradients
	Beta2       float64  `json:"beta2"`        // of the mean of their squares
	UntilFlat   bool     `json:"until_flat"`   // stop when the gain flattens
	Seed        uint64   `json:"seed"`         // of the weights and of the pixels drawn
	LogEvery    int      `json:"log_every"`    // steps between reports
	Eager       bool     `json:"eager"`        // do each step launch by launch, layer by layer: record none
}

// Defaults returns the settings of the benchmarks, a small network that sees octaves of each
// coordinate.
func Defaults() Config {
	return Config{Steps: 10000, Batch: 512, Encoding: DefaultEncoding(Frequency), Hidden: 64, Layers: 3, Loss: MSE,
		Schedule: Exponential, LR: 5.33e-4, LRDecay: 0.99999, WeightDecay: 0.01, Beta1: 0.92, Beta2: 0.95, Seed: 1, LogEvery: 100}
}

// DefaultsFor returns the settings that go with a kind of encoding.
func DefaultsFor(kind string) Config {
	c := Defaults()
	c.Encoding = DefaultEncoding(kind)
	if kind == Frequency {
		return c
	}
	c.Batch, c.LRDecay, c.WeightDecay, c.Beta1, c.Beta2 = 4096, 1, 0, 0.9, 0.99
	switch kind {
	case Fourier:
		c.LR = 3e-3
	case SIREN:
		c.LR = 5e-4
	case Hash:
		c.Batch, c.LR, c.Layers = 8192, 1e-2, 2
	}
	return c
}

// mostLayers bounds the hidden layers: the time that recording a step takes grows with their
// square.
const mostLayers = 1024

// Validate returns an error that wraps ErrConfig and names the first setting out of range.
func (c Config) Validate() error {
	atMost := func(name string, v, most int) error {
		switch {
		case v < 1:
			return fmt.Errorf("%w: %s is %d: it must be at least 1", ErrConfig, name, v)
		case v > most:
			return fmt.Errorf("%w: %s is %d: it must be at most %d", ErrConfig, name, v, most)
		}
		return nil
	}
	positive := func(name string, v int) error { return atMost(name, v, math.MaxInt32) }
	within := func(name string, v, low, high float64, open bool) error {
		if math.IsNaN(v) || v < low || v > high || open && v == high {
			to := "to"
			if open {
				to = "to below"
			}
			return fmt.Errorf("%w: %s is %v: it must be from %v %s %.4g", ErrConfig, name, v, low, to, high)
		}
		return nil
	}
	return cmp.Or(
		positive("steps", c.Steps), positive("batch", c.Batch), positive("hidden", c.Hidden),
		atMost("layers", c.Layers, mostLayers), positive("log-every", c.LogEvery),
		c.Encoding.validate(), c.checkSize(), c.checkLoss(), c.checkSchedule(),
		within("lr", c.LR, 0, math.MaxFloat32, false), within("lr-decay", c.LRDecay, 0, 1, false),
		within("weight-decay", c.WeightDecay, 0, math.MaxFloat32, false),
		within("beta1", c.Beta1, 0, 1, true), within("beta2", c.Beta2, 0, 1, true))
}

// checkSize refuses matrices that kernels could not index.
func (c Config) checkSize() error {
	if widest := max(c.Hidden, c.Encoding.inputs(), 1); c.Batch > mostElements/widest || c.Hidden > mostElements/widest {
		return fmt.Errorf("%w: batch %d, hidden %d and %d inputs of the network make a matrix of more than 2³¹ elements",
			ErrConfig, c.Batch, c.Hidden, c.Encoding.inputs())
	}
	return nil
}

func (c Config) checkLoss() error {
	if !slices.Contains(Losses, c.Loss) {
		return fmt.Errorf("%w: there is no loss %q: there are %s", ErrConfig, c.Loss, strings.Join(Losses, ", "))
	}
	return nil
}

func (c Config) checkSchedule() error {
	switch {
	case !slices.Contains(Schedules, c.Schedule):
		return fmt.Errorf("%w: there is no schedule %q: there are %s", ErrConfig, c.Schedule, strings.Join(Schedules, ", "))
	case c.Schedule == Linear && c.LRDecay != 1:
		return fmt.Errorf("%w: lr-decay is %v: the schedule %s has none, %s has", ErrConfig, c.LRDecay, Linear, Exponential)
	case c.Schedule == Linear && c.UntilFlat:
		return fmt.Errorf("%w: until-flat waits for an end that the schedule %s plans: it goes with %s", ErrConfig, Linear, Exponential)
	}
	return nil
}

// planned reports whether the learning rate is planned to be 0 after Steps.
func (c Config) planned() bool { return c.Schedule == Linear }

// warmup is the steps that the schedule Linear takes to reach LR: moments of few gradients are
// rough.
const warmup = 200

// learningRate returns the rate of a step.
func (c Config) learningRate(step int) float64 {
	if c.planned() {
		return optim.WarmupHoldDecay(c.LR, min(warmup, c.Steps/10), c.Steps/5, c.Steps)(step)
	}
	return optim.Exponential(c.LR, c.LRDecay)(step)
}
