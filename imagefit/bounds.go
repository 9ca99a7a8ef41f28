package imagefit

import (
	"fmt"
	"math"

	"github.com/clgrad/clgrad/internal/imagefile"
)

// Bounds is what reading and drawing may take. The zero value sets no bounds.
type Bounds struct {
	Memory int64 // bytes; 0: any number
}

// GarbagePercent is how much garbage, in percent of what is in use, the estimates of Bounds leave
// room for: a program that is to keep to them sets GOGC to it (debug.SetGCPercent). Pixels are most
// of the memory, and cost the collector nothing.
const GarbagePercent = 25

// ErrMemory is what needs more memory than Bounds allow.
var ErrMemory = imagefile.ErrMemory

// allow returns an error that wraps ErrMemory if what is to be done needs more bytes than there may
// be.
func (b Bounds) allow(what string, bytes int64) error {
	if b.Memory == 0 || bytes <= b.Memory {
		return nil
	}
	return fmt.Errorf("%w: %s takes about %s, and the limit is %s", ErrMemory, what, FormatBytes(bytes), FormatBytes(b.Memory))
}

// AllowFit returns an error that wraps ErrMemory if a fit with these settings takes more than the
// bounds for what does not come from the image's file: each weight with its gradient and two
// moments, and what a batch makes of each layer.
func (b Bounds) AllowFit(img *Image, c Config) error {
	spec, err := newSpec(img, c)
	if err != nil {
		return err
	}
	const (
		float  = 4
		copies = 4    // of a weight
		object = 4096 // what the program knows of a layer, at most
	)
	hidden, layers, inputs := float64(c.Hidden), float64(c.Layers), float64(spec.Encoding.inputs()) // int64 would overflow
	weights := hidden*(inputs+float64(img.Channels())) + (layers-1)*hidden*hidden + layers*hidden
	if spec.Encoding.Kind == Hash {
		weights += float64(spec.Encoding.entries(img.Width, img.Height)) * float64(spec.Encoding.PerEntry)
	}
	need := weights*copies*float + layers*(object+float64(c.Batch)*hidden*float)
	what := fmt.Sprintf("training %.4g weights, %d at a time in %d layers of %d,", weights, c.Batch, c.Layers, c.Hidden)
	return b.allow(what, int64(min(need, math.MaxInt64/2)))
}

// FormatBytes writes a number of bytes for people, in units of 1024.
func FormatBytes(n int64) string { return imagefile.FormatBytes(n) }
