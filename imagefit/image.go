package imagefit

import (
	"math"
	"sync/atomic"

	"github.com/clgrad/clgrad/internal/imagefile"
	"github.com/clgrad/clgrad/internal/parallel"
)

// ErrImage is what a file is that cannot be read as an image.
var ErrImage = imagefile.ErrImage

// Image is channels in [0, 1], row by row from the top: Pixels[(y*Width+x)*Channels() + channel].
// Colours are multiplied by alpha where there is one, so that colours that nobody sees are all the
// same.
type Image struct {
	Width, Height int // in pixels
	Colour
	Pixels []float32
}

// most elements that kernels index.
const mostElements = math.MaxInt32

// PSNR returns the peak signal-to-noise ratio of two images of one size and colour, in dB, over all
// channels as they are stored: 10·log₁₀(peak²/MSE), where the peak is 255 or, in 16 bits, 65535. It
// is +Inf for equal images.
func PSNR(a, b *Image) float64 {
	peak := a.peak()
	var sum atomic.Uint64 // of whole numbers: on any cores, in any order, it is the same
	parallel.For(len(a.Pixels), parallel.Grain, func(lo, hi int) {
		var part uint64
		for i, v := range a.Pixels[lo:hi] {
			d := int64(quantize(v, peak)) - int64(quantize(b.Pixels[lo+i], peak))
			part += uint64(d * d)
		}
		sum.Add(part)
	})
	return 10 * math.Log10(peak*peak/(float64(sum.Load())/float64(len(a.Pixels))))
}
