package imagefit

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// pixelCentres returns the positions [n, 2] of the first n pixels of a window, row by row, of an
// image of the given size: the window begins at (column, row) and has cols columns.
func pixelCentres(d tensor.Device, n, column, row, cols, width, height int) *tensor.Tensor {
	c := tensor.Empty(d, n, 2)
	x, y := c.Select(1, 0), c.Select(1, 1)
	tensor.MapInto(centresMap, []kernels.Arg{kernels.IntArg(column), kernels.IntArg(row), kernels.IntArg(cols), kernels.IntArg(width), kernels.IntArg(height)},
		[]*tensor.Tensor{x, y})
	free(x, y)
	return c
}

// samplePixels draws n pixels of pixels [height·width, channels] with replacement: their positions
// [n, 2] and their colours [n, channels].
func samplePixels(pixels *tensor.Tensor, rng *tensor.RNG, n, width, height int) (positions, colours *tensor.Tensor) {
	d, channels := pixels.Device(), pixels.Shape()[1]
	positions, colours = tensor.Empty(d, n, 2), tensor.Empty(d, n, channels)
	results := []*tensor.Tensor{positions.Select(1, 0), positions.Select(1, 1)}
	for k := range channels {
		results = append(results, colours.Select(1, k))
	}
	lo, hi, call := rng.Next()
	tensor.MapInto(samplesMap[channels], []kernels.Arg{lo, hi, call, kernels.IntArg(width), kernels.IntArg(height)}, results, pixels)
	free(results...)
	return positions, colours
}

// sinesAndCosines returns y with the two functions of operands, which are freed, in the last axis
// of its elements as [rows, cols, 2].
func sinesAndCosines(j *kernels.FusedElementwise, y *tensor.Tensor, rows, cols int,
	operands ...*tensor.Tensor) *autograd.Node {
	pairs := y.Reshape(rows, cols, 2)
	sines, cosines := pairs.Select(2, 0), pairs.Select(2, 1)
	tensor.MapInto(j, nil, []*tensor.Tensor{sines, cosines}, operands...)
	free(append(operands, pairs, sines, cosines)...)
	return autograd.Const(y)
}

// free frees views.
func free(views ...*tensor.Tensor) {
	for _, v := range views {
		v.Free()
	}
}

// sampleEncoded draws the same pixels, and encodes their positions as frequencies does in the same
// launch.
func sampleEncoded(pixels *tensor.Tensor, rng *tensor.RNG, n, width, height, octaves int) (features, colours *tensor.Tensor) {
	d, channels := pixels.Device(), pixels.Shape()[1]
	features, colours = tensor.Empty(d, n, 4*octaves), tensor.Empty(d, n, channels)
	lo, hi, call := rng.Next()
	tensor.Launch(d, sampleEncode, pixels.Arg(), features.Arg(), colours.Arg(), kernels.IntArg(n),
		kernels.IntArg(width), kernels.IntArg(height), kernels.IntArg(channels), kernels.IntArg(octaves), lo, hi, call)
	return features, colours
}

// sample draws a batch: the inputs of the network and the colours that it is to make of them.
func (f *Fit) sample() (x, target *autograd.Node) {
	n, w, h := f.Config.Batch, f.Model.Width, f.Model.Height
	if e, ok := f.Model.encoder.(frequencies); ok {
		features, colours := sampleEncoded(f.pixels, f.rng, n, w, h, e.octaves)
		return autograd.Const(features).Named("features"), autograd.Const(colours).Named("target")
	}
	if e, ok := f.Model.encoder.(*grids); ok {
		features, positions, colours := e.grid.EncodeDrawn(e.table, f.pixels, f.rng, n, w, h)
		positions.Named("positions")
		return features.Named("features"), autograd.Const(colours).Named("target")
	}
	positions, colours := samplePixels(f.pixels, f.rng, n, w, h)
	at := autograd.Const(positions).Named("positions")
	return f.Model.encoder.encode(at).Named("features"), autograd.Const(colours).Named("target")
}
