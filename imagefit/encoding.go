package imagefit

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// pixelCentres returns the positions [n, 2] of the first n pixels of a window, row by row, of an image of the
// given size: the window begins at (column, row) and has cols columns.
func pixelCentres(d tensor.Device, n, column, row, cols, width, height int) *tensor.Tensor {
	c := tensor.Empty(d, n, 2)
	tensor.Launch(d, kernels.PixelCentres, c.Arg(), kernels.I(n), kernels.I(column), kernels.I(row), kernels.I(cols),
		kernels.I(width), kernels.I(height))
	return c
}

// sampleEncoded draws n pixels of pixels [height·width, channels] with replacement: what encode makes of their
// positions, [n, 4·octaves], and their colours [n, channels].
func sampleEncoded(pixels *tensor.Tensor, rng *tensor.RNG, n, width, height, octaves int) (features, colours *tensor.Tensor) {
	d := pixels.Device()
	features, colours = tensor.Empty(d, n, 4*octaves), tensor.Empty(d, n, Channels)
	lo, hi, call := rng.Next()
	tensor.Launch(d, kernels.SampleEncode, pixels.Arg(), features.Arg(), colours.Arg(), kernels.I(n),
		kernels.I(width), kernels.I(height), kernels.I(Channels), kernels.I(octaves), lo, hi, call)
	return features, colours
}

// encode returns the features [n, 4·octaves] of positions [n, 2]: for each axis and octave o, sine and
// cosine of 2^(o+1)·π times the position.
func encode(centres *tensor.Tensor, octaves int) *tensor.Tensor {
	d, n := centres.Device(), centres.Shape()[0]
	f := tensor.Empty(d, n, 4*octaves)
	tensor.Launch(d, kernels.FrequencyEncode, centres.Arg(), f.Arg(), kernels.I(n), kernels.I(octaves))
	return f
}
