package imagefit

import (
	"errors"
	"fmt"
	"math"
)

// ErrConfig is what a setting is that is out of range.
var ErrConfig = errors.New("bad setting")

// Config is the settings of a fit.
type Config struct {
	Steps       int     // training steps
	Batch       int     // pixels drawn per step
	Hidden      int     // width of a hidden layer
	Layers      int     // hidden layers
	Features    int     // inputs of the network: sines and cosines, a multiple of 4
	LR          float64 // learning rate of the first step
	LRDecay     float64 // factor on it per step
	WeightDecay float64
	Beta1       float64
	Beta2       float64
	Seed        uint64 // of the weights and of the pixels drawn
	LogEvery    int    // steps between reports
	NoFuse      bool   // train layer by layer even where one launch could do a whole pass
}

// Defaults returns the settings that mlpimage uses unless told otherwise.
func Defaults() Config {
	return Config{Steps: 10000, Batch: 512, Hidden: 64, Layers: 3, Features: 64, LR: 5.33e-4, LRDecay: 0.99999,
		WeightDecay: 0.01, Beta1: 0.92, Beta2: 0.95, Seed: 1, LogEvery: 100}
}

// maxOctaves keeps 2^octave a multiplication that a float32 coordinate survives.
const maxOctaves = 64

// Validate returns an error that wraps ErrConfig and names the first setting out of range.
func (c Config) Validate() error {
	positive := func(name string, v int) error {
		if v < 1 || v > math.MaxInt32 {
			return fmt.Errorf("%w: %s is %d: it must be at least 1", ErrConfig, name, v)
		}
		return nil
	}
	within := func(name string, v, low, high float64, open bool) error {
		if math.IsNaN(v) || v < low || v > high || open && v == high {
			bracket := "]"
			if open {
				bracket = ")"
			}
			return fmt.Errorf("%w: %s is %v: it must be in [%v, %v%s", ErrConfig, name, v, low, high, bracket)
		}
		return nil
	}
	return first(
		positive("steps", c.Steps), positive("batch", c.Batch), positive("hidden", c.Hidden),
		positive("layers", c.Layers), positive("features", c.Features), positive("log-every", c.LogEvery),
		c.checkFeatures(), c.checkSize(),
		within("lr", c.LR, 0, math.MaxFloat32, false), within("lr-decay", c.LRDecay, 0, 1, false),
		within("weight-decay", c.WeightDecay, 0, math.MaxFloat32, false),
		within("beta1", c.Beta1, 0, 1, true), within("beta2", c.Beta2, 0, 1, true))
}

func (c Config) checkFeatures() error {
	if c.Features%4 != 0 || c.Features/4 > maxOctaves {
		return fmt.Errorf("%w: features is %d: it must be a multiple of 4 (sine and cosine for each of two axes), at most %d",
			ErrConfig, c.Features, 4*maxOctaves)
	}
	return nil
}

// checkSize refuses matrices that kernels could not index.
func (c Config) checkSize() error {
	if widest := max(c.Hidden, c.Features); c.Batch > math.MaxInt32/widest || c.Hidden > math.MaxInt32/widest {
		return fmt.Errorf("%w: batch %d, hidden %d and features %d make a matrix of more than 2³¹ elements", ErrConfig, c.Batch, c.Hidden, c.Features)
	}
	return nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
