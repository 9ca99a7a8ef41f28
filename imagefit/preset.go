package imagefit

import (
	"fmt"
	"math"
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

// Preset returns settings by name for an image of a size. Classic is the same for every image. The
// others are hash grids whose tables double as images grow: fast has 0.54 weights for each pixel of
// 256×256, 0.39 of 512×512, 0.25 of 768×512 and 0.19 of 1280×720. They have a learning rate that is
// planned to be 0 at their last step: a rate that falls too early leaves the network half full. An
// image of fewer than 2¹⁷ pixels has fewer steps, and a batch has no more pixels than the image.
// The error wraps ErrConfig.
func Preset(name string, width, height int) (Config, error) {
	if name == Classic {
		return Defaults(), nil
	}
	c := DefaultsFor(Hash)
	c.Schedule = Linear
	pixels := float64(width) * float64(height)
	table := func(pixelsPerEntry float64, most int) {
		c.Encoding.Table = min(max(nearestPowerOfTwo(pixels/pixelsPerEntry), 256), most)
	}
	switch name {
	case Fast:
		table(80, 1<<16)
		c.Steps, c.Batch = 6000, 4096
	case Good:
		table(20, 1<<18)
		c.Steps, c.Hidden, c.LR = 22_000, 96, 0.015
	case Best:
		table(10, 1<<20)
		c.Steps, c.Hidden, c.LR, c.Encoding.Coarsest = 24_000, 96, 0.015, 14
	default:
		return c, fmt.Errorf("%w: there is no preset %q: there are %s", ErrConfig, name, strings.Join(Presets, ", "))
	}
	c.Steps = int(float64(c.Steps) * min(1, max(0.25, math.Sqrt(pixels/(1<<17)))))
	c.Batch = min(c.Batch, powerOfTwo(width*height))
	return c, nil
}

// nearestPowerOfTwo returns the power of two that is nearest to v in proportion, at least 1.
func nearestPowerOfTwo(v float64) int { return 1 << int(math.Round(math.Log2(max(v, 1)))) }

// powerOfTwo returns the largest power of two up to n, at least 1.
func powerOfTwo(n int) int { return 1 << (bits.Len(uint(max(n, 1))) - 1) }
