package imagefit

import "math"

// When the gain has flattened, for Config.UntilFlat.
const (
	probeEvery  = 50   // training steps between two readings of the error
	leastWindow = 12   // readings that are averaged, at least
	flatGain    = 0.05 // dB that a window must gain on the one before
)

// flatness is the readings of the mean squared error so far. It is part of a checkpoint.
type flatness []float64

// reached reports whether the last sixth of the run is hardly better than the sixth before: the
// longer the run, the more readings are averaged.
func (f flatness) reached() bool {
	window := max(leastWindow, len(f)/6)
	if len(f) < 2*window {
		return false
	}
	before, last := mean(f[len(f)-2*window:len(f)-window]), mean(f[len(f)-window:])
	return 10*math.Log10(before/last) < flatGain
}

// exact reports whether the last readings are so small that pixels are stored as they were. One
// alone may be of a few lucky pixels.
func (f flatness) exact(peak float64) bool {
	step := 0.2 / peak // of what makes a rounded value another, less than half
	return len(f) >= leastWindow && mean(f[len(f)-leastWindow:]) < step*step
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
