package ops

import (
	"math"
	"math/bits"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/par"
	"github.com/clgrad/clgrad/kernels"
)

// Kernels of image.cl. The centre of pixel (c, r) is at ((c + ½)/width, (r + ½)/height).
var (
	// PixelCentres writes the centres of n pixels of a picture, those of a window of it, row by row: C [n, 2],
	// n, column and row of the first, cols of the window, width, height of the picture.
	PixelCentres = &kernels.Kernel{Name: "k_pixel_centres", File: "image.cl", Grid: kernels.PerInt(1),
		Params: []kernels.Param{out("C"), intArg("n"), intArg("column"), intArg("row"), intArg("cols"),
			intArg("width"), intArg("height")},
		Twin: kernels.Twin{F32: pixelCentresTwin[float32], F64: pixelCentresTwin[float64]}, Tol: kernels.ULP(3)}
	// SamplePixels draws n pixels with replacement: IMAGE [height·width, channels], C [n, 2],
	// V [n, channels], n, width, height, channels, seed_lo, seed_hi, call.
	SamplePixels = &kernels.Kernel{Name: "k_sample_pixels", File: "image.cl",
		Grid: func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
			return kernels.Line(intmath.CeilDiv(int(a[3].Int), 4), l)
		},
		Params: []kernels.Param{in("IMAGE"), out("C"), out("V"), intArg("n"), intArg("width"), intArg("height"),
			intArg("channels"), intArg("seed_lo"), intArg("seed_hi"), intArg("call")},
		Twin: kernels.Twin{F32: samplePixelsTwin[float32], F64: samplePixelsTwin[float64]}, Describe: describeSamplePixels, Tol: kernels.ULP(3)}
	// FourierEncode writes sines and cosines of projections: C [n, 2], B [2, waves], F [n, 2·waves], n, waves.
	FourierEncode = kernels.Tried(&kernels.Kernel{Name: "k_fourier_encode", File: "image.cl",
		Grid: func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
			return kernels.Plane(int(a[4].Int), int(a[3].Int), l)
		},
		Params: []kernels.Param{in("C"), in("B"), out("F"), intArg("n"), intArg("waves")},
		Twin:   kernels.Twin{F32: fourierEncodeTwin[float32], F64: fourierEncodeTwin[float64]}, Describe: describeFourier,
		// Turns are rounded before whole ones are dropped.
		Tol: kernels.Tolerance{ULP: 4, Rel: 8, Scale: func(a []kernels.Arg) float64 {
			return 1 + 4*math.Pi*kernels.MaxAbs(a, 0)*kernels.MaxAbs(a, 1)
		}}}, coordinates)
	// FrequencyEncode writes sines and cosines of coordinates in octaves: C [n, 2], F [n, 4·octaves], n,
	// octaves.
	FrequencyEncode = kernels.Tried(&kernels.Kernel{Name: "k_frequency_encode", File: "image.cl",
		Grid: func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
			return kernels.Plane(int(a[3].Int), 2*int(a[2].Int), l)
		},
		Params: []kernels.Param{in("C"), out("F"), intArg("n"), intArg("octaves")},
		Twin:   kernels.Twin{F32: frequencyEncodeTwin[float32], F64: frequencyEncodeTwin[float64]}, Describe: describeFrequency,
		Tol: kernels.Tolerance{ULP: 4, Rel: 4, Scale: func([]kernels.Arg) float64 { return 1 }}}, coordinates)
	// SampleEncode draws n pixels with replacement and encodes their centres as FrequencyEncode does:
	// IMAGE [height·width, channels], F [n, 4·octaves], V [n, channels], n, width, height, channels, octaves,
	// seed_lo, seed_hi, call.
	SampleEncode = &kernels.Kernel{Name: "k_sample_encode", File: "sample_cpu.cl", GPU: "sample_gpu.cl",
		Grid: func(a []kernels.Arg, l kernels.Limits) kernels.Grid {
			const samples, few = 32, 4
			n, octaves := int(a[3].Int), int(a[7].Int)
			if l.CPU {
				return kernels.Grid{Dims: 1, Global: [3]int{intmath.CeilDiv(n, samples)}, Local: [3]int{1}}
			}
			return kernels.Line(n*2*intmath.CeilDiv(octaves, few), l)
		},
		Params: []kernels.Param{in("IMAGE"), out("F"), out("V"), intArg("n"), intArg("width"), intArg("height"),
			intArg("channels"), intArg("octaves"), intArg("seed_lo"), intArg("seed_hi"), intArg("call")},
		Twin:  kernels.Twin{F32: sampleEncodeTwin[float32], F64: sampleEncodeTwin[float64]},
		Tol:   kernels.Tolerance{ULP: 4, Rel: 4, Scale: func([]kernels.Arg) float64 { return 1 }},
		Trial: smallOnly} // octaves magnify what the division of a centre is off by
)

// coordinates draws the first operand of a trial in a picture.
func coordinates(ops []kernels.Operand) bool {
	ops[0].Lo = 0
	return true
}

func storeCentre[T kernels.Real](c []T, pixel, width, height int) {
	c[0] = (T(pixel%width) + 0.5) / T(width)
	c[1] = (T(pixel/width) + 0.5) / T(height)
}

func pixelCentresTwin[T kernels.Real](c kernels.Call[T]) {
	out, n, column, row, cols, width, height := c.Reals(0), c.Int(1), c.Int(2), c.Int(3), c.Int(4), c.Int(5), c.Int(6)
	for i := range n {
		out[2*i] = (T(column+i%cols) + 0.5) / T(width)
		out[2*i+1] = (T(row+i/cols) + 0.5) / T(height)
	}
}

func samplePixelsTwin[T kernels.Real](c kernels.Call[T]) {
	image, centres, colours := c.Reals(0), c.Reals(1), c.Reals(2)
	n, width, height, channels := c.Int(3), c.Int(4), c.Int(5), c.Int(6)
	drawPixels(c, 7, n, width*height, par.Grain/64, func(i, pixel int) {
		copy(colours[i*channels:(i+1)*channels], image[pixel*channels:])
		storeCentre(centres[2*i:], pixel, width, height)
	})
}

// drawPixels calls f with each of n samples and the pixel, of area pixels, that is drawn for it, from the stream whose
// arguments start at index seed. Four samples share the words of a counter; least is the fewest such fours that are
// worth a goroutine.
func drawPixels[T kernels.Real](c kernels.Call[T], seed, n, area, least int, f func(i, pixel int)) {
	par.For(intmath.CeilDiv(n, 4), least, func(lo, hi int) {
		for block := lo; block < hi; block++ {
			for lane, word := range words(c, seed, block) {
				i := 4*block + lane
				if i >= n {
					return
				}
				pixel, _ := bits.Mul32(word, uint32(area))
				f(i, int(pixel))
			}
		}
	})
}

func fourierEncodeTwin[T kernels.Real](c kernels.Call[T]) {
	in, b, out, n, waves := c.Reals(0), c.Reals(1), c.Reals(2), c.Int(3), c.Int(4)
	par.For(n, max(1, par.Grain/(16*max(waves, 1))), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x, y := in[2*i], in[2*i+1]
			f := out[2*i*waves : 2*(i+1)*waves]
			for k := range waves {
				turns := float64(x)*float64(b[k]) + float64(y)*float64(b[waves+k])
				sin, cos := math.Sincos(2 * math.Pi * (turns - math.Floor(turns)))
				f[2*k], f[2*k+1] = T(sin), T(cos)
			}
		}
	})
}

// redo is how many octaves encodeCoordinate doubles before it computes a sine anew. A doubling
// doubles the error in float64, which starts below 2⁻⁵²: after 16 it is far below what float32 shows. In
// float64 every octave is computed.
func redo[T kernels.Real]() int {
	if kernels.DTypeOf[T]() == kernels.Float64 {
		return 1
	}
	return 16
}

func frequencyEncodeTwin[T kernels.Real](c kernels.Call[T]) {
	in, out, n, octaves := c.Reals(0), c.Reals(1), c.Int(2), c.Int(3)
	par.For(2*n, max(1, par.Grain/(16*max(octaves, 1))), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			encodeCoordinate(out[2*i*octaves:2*(i+1)*octaves], in[i])
		}
	})
}

// encodeCoordinate writes sine and cosine of 2^(o+1)·π·at for each octave.
func encodeCoordinate[T kernels.Real](out []T, at T) {
	every := redo[T]()
	turns := float64(at)
	var sin, cos float64
	anew := 0
	for o := range len(out) / 2 {
		if o == anew {
			t := math.Ldexp(turns, o)
			sin, cos = math.Sincos(2 * math.Pi * (t - math.Floor(t)))
			anew += every
		} else {
			sin, cos = 2*sin*cos, (cos-sin)*(cos+sin)
		}
		out[2*o], out[2*o+1] = T(sin), T(cos)
	}
}

func sampleEncodeTwin[T kernels.Real](c kernels.Call[T]) {
	image, features, colours := c.Reals(0), c.Reals(1), c.Reals(2)
	n, width, height, channels, octaves := c.Int(3), c.Int(4), c.Int(5), c.Int(6), c.Int(7)
	drawPixels(c, 8, n, width*height, max(1, par.Grain/(128*max(octaves, 1))), func(i, pixel int) {
		copy(colours[i*channels:(i+1)*channels], image[pixel*channels:])
		var centre [2]T
		storeCentre(centre[:], pixel, width, height)
		f := features[4*i*octaves : 4*(i+1)*octaves]
		encodeCoordinate(f[:2*octaves], centre[0])
		encodeCoordinate(f[2*octaves:], centre[1])
	})
}
