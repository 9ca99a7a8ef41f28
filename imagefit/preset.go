package imagefit

import (
	"fmt"
	"math/bits"
	"strings"
)

// The presets.
const (
	Fast    = "fast"
	Good    = "good"
	Best    = "best"
	Classic = "classic" // the small frequency network of the benchmarks: Defaults
)

// Presets lists them.
var Presets = []string{Fast, Good, Best, Classic}

// Preset returns settings by name for an image of a size. Classic is the same for every image. The others are hash grids
// whose tables grow with the image, trained until the gain flattens. The learning rate falls along the way, which brings
// that about. A batch of theirs has no more pixels than the image. The error wraps ErrConfig.
func Preset(name string, width, height int) (Config, error) {
	if name == Classic {
		return Defaults(), nil
	}
	c := DefaultsFor(Hash)
	c.UntilFlat, c.Steps = true, 100_000
	table := func(pixelsPerEntry, most int) {
		c.Encoding.Table = min(max(powerOfTwo(width*height/pixelsPerEntry), 256), most)
	}
	switch name {
	case Fast:
		table(64, 1<<16)
		c.Batch, c.LRDecay = 4096, 0.998
	case Good:
		table(16, 1<<18)
		c.LRDecay = 0.999
	case Best:
		table(8, 1<<20)
		c.Batch, c.LRDecay = 16384, 0.9993
	default:
		return c, fmt.Errorf("%w: there is no preset %q: there are %s", ErrConfig, name, strings.Join(Presets, ", "))
	}
	c.Batch = min(c.Batch, powerOfTwo(width*height))
	return c, nil
}

// powerOfTwo returns the largest power of two up to n, at least 1.
func powerOfTwo(n int) int { return 1 << (bits.Len(uint(max(n, 1))) - 1) }
