package kernels

import (
	"math"
	"math/bits"
)

// Kernels of image.cl. The centre of pixel (c, r) is at ((c + ½)/width, (r + ½)/height).
var (
	// PixelCentres writes the centres of n pixels from first on: C [n, 2], n, first, width, height.
	PixelCentres = &Kernel{Name: "k_pixel_centres", File: "image.cl", Grid: perInt(1),
		Params: []Param{{"C", Out}, {"n", IntArg}, {"first", IntArg}, {"width", IntArg}, {"height", IntArg}},
		Twin:   Twin{pixelCentresTwin[float32], pixelCentresTwin[float64]}, Tol: ULP(3)}
	// SamplePixels draws n pixels with replacement: IMAGE [height·width, channels], C [n, 2],
	// V [n, channels], n, width, height, channels, seed_lo, seed_hi, call.
	SamplePixels = &Kernel{Name: "k_sample_pixels", File: "image.cl", Grid: perInt(3),
		Params: []Param{{"IMAGE", In}, {"C", Out}, {"V", Out}, {"n", IntArg}, {"width", IntArg}, {"height", IntArg},
			{"channels", IntArg}, {"seed_lo", IntArg}, {"seed_hi", IntArg}, {"call", IntArg}},
		Twin: Twin{samplePixelsTwin[float32], samplePixelsTwin[float64]}, Tol: ULP(3)}
	// FrequencyEncode writes sines and cosines of coordinates in octaves: C [n, 2], F [n, 4·octaves], n,
	// octaves.
	FrequencyEncode = &Kernel{Name: "k_frequency_encode", File: "image.cl",
		Grid:   func(a []Arg, l Limits) Grid { return plane(int(a[3].Int), 2*int(a[2].Int), l) },
		Params: []Param{{"C", In}, {"F", Out}, {"n", IntArg}, {"octaves", IntArg}},
		Twin:   Twin{frequencyEncodeTwin[float32], frequencyEncodeTwin[float64]},
		Tol:    Tolerance{ULP: 4, Rel: 4, Scale: func([]Arg) float64 { return 1 }}}
)

func storeCentre[T Real](c []T, pixel, width, height int) {
	c[0] = (T(pixel%width) + 0.5) / T(width)
	c[1] = (T(pixel/width) + 0.5) / T(height)
}

func pixelCentresTwin[T Real](c Call[T]) {
	out, n, first, width, height := c.Reals(0), c.Int(1), c.Int(2), c.Int(3), c.Int(4)
	for i := range n {
		storeCentre(out[2*i:], first+i, width, height)
	}
}

func samplePixelsTwin[T Real](c Call[T]) {
	image, centres, colours := c.Reals(0), c.Reals(1), c.Reals(2)
	n, width, height, channels := c.Int(3), c.Int(4), c.Int(5), c.Int(6)
	parallel(ceilDiv(n, 4), grain/64, func(lo, hi int) { // the four words of a counter at once
		for block := lo; block < hi; block++ {
			for lane, word := range words(c, 7, block) {
				i := 4*block + lane
				if i >= n {
					return
				}
				pixel, _ := bits.Mul32(word, uint32(width*height))
				storeCentre(centres[2*i:], int(pixel), width, height)
				copy(colours[i*channels:(i+1)*channels], image[int(pixel)*channels:])
			}
		}
	})
}

// redo is how many octaves frequencyEncodeTwin doubles before it computes a sine anew. A doubling
// doubles the error in float64, which starts below 2⁻⁵²: after 16 it is far below what float32 shows. In
// float64 every octave is computed.
func redo[T Real]() int {
	if DTypeOf[T]() == Float64 {
		return 1
	}
	return 16
}

func frequencyEncodeTwin[T Real](c Call[T]) {
	in, out, n, octaves := c.Reals(0), c.Reals(1), c.Int(2), c.Int(3)
	every := redo[T]()
	parallel(2*n, max(1, grain/(16*max(octaves, 1))), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			turns := float64(in[i])
			var sin, cos float64
			anew := 0
			for o := range octaves {
				if o == anew {
					t := math.Ldexp(turns, o)
					sin, cos = math.Sincos(2 * math.Pi * (t - math.Floor(t)))
					anew += every
				} else {
					sin, cos = 2*sin*cos, (cos-sin)*(cos+sin)
				}
				at := (i*octaves + o) * 2
				out[at], out[at+1] = T(sin), T(cos)
			}
		}
	})
}
