// Code generated from internal/operations/table/conv.go by "make generate". DO NOT EDIT.

package tensor

// Conv returns the convolution, or cross-correlation, of x [n, c, d…] with the weights w [o,
// c/groups, k…], over 1, 2 or 3 spatial axes, as many as w has behind its first two:
//
//	y[n, o, q…] = bias[o] + Σ_{c, r…} w[o, c, r…]·x[n, c, q·stride − padding + r·dilation…]
//
// where x is 0 outside of its axes, and of each group of o only the channels c of that group count.
// The bias [o] may be nil. The result is [n, o, (d + padding + paddingEnd − dilation·(k−1) −
// 1)/stride + 1…], rounded down; without n, if x has none. Integers are converted to floats. The
// order of the additions is fixed. It panics with ErrShape, with ErrValue for bad options, and with
// ErrType if both are of integers. PyTorch's conv1d, conv2d and conv3d.
//
// A GPU with matrix units computes large ones of one group of at least 16 channels from three
// bfloat16 for each factor, where more than 32 channels are written, and so their gradients: with
// the bound that [Precision] has for float32, whatever the precision. That takes memory of once and
// a half the size of the operands for as long.
//
// An OpenCL CPU computes those of 3×3 and 5×5 taps and at least 12 channels in tiles (Winograd's
// filtering). Their errors, some 2ε times the root of the number of terms on the average, are in
// proportion to the largest inputs of a tile of 6×6.
func (x *Tensor) Conv(w, bias *Tensor, options ...ConvOptions) *Tensor {
	return lowered(x.conv(w, bias, options...), x, w, bias)
}

// ConvTranspose returns the transposed convolution of x [n, c, d…] with the weights w [c, o/groups,
// k…], over 1, 2 or 3 spatial axes: what gives the input its gradient in a [Tensor.Conv] with these
// weights. Input q adds, times weight r, to the output at
//
//	q·stride − padding + r·dilation
//
// The bias [o] may be nil. The result is [n, o, (d−1)·stride − 2·padding + dilation·(k−1) +
// outputPadding + 1…]; without n, if x has none. Integers are converted to floats. The order of the
// additions is fixed. It panics with ErrShape, with ErrValue for bad options, and with ErrType if
// both are of integers. PyTorch's conv_transpose1d, 2d and 3d.
func (x *Tensor) ConvTranspose(w, bias *Tensor, options ...ConvTransposeOptions) *Tensor {
	return lowered(x.convTranspose(w, bias, options...), x, w, bias)
}

// MaxPool returns the maxima of windows over the last axes of x, one, two or three, as many as the
// window has. Axes before them are kept. Along each, output q has the positions
//
//	q·stride − padding + j·dilation,  0 ≤ j < window
//
// that lie within x. A NaN is a maximum. The result has (d + 2·padding − dilation·(window − 1) −
// 1)/stride + 1 positions, rounded down, or up with Ceil, as long as the last window begins within
// x or the padding before it. Integers stay integers. It panics with ErrShape, and with ErrValue
// for bad options. The maximum over whole axes is [Tensor.Max]. PyTorch's max_pool1d, max_pool2d
// and max_pool3d.
func (x *Tensor) MaxPool(window []int, options ...MaxPoolOptions) *Tensor {
	return lowered(x.maxPool(window, options...), x)
}

// MaxPoolWithIndex is MaxPool that also returns, as Int64, where in the pooled axes of x, in
// row-major order, the maxima are: the first of equal ones, and the last NaN. Integers are
// converted to floats.
func (x *Tensor) MaxPoolWithIndex(window []int, options ...MaxPoolOptions) (values *Tensor, indices *Tensor) {
	y, at := x.poolMax("MaxPoolWithIndex", window, options, true)
	return lowered(y, x), at
}

// AvgPool returns the means of windows over the last axes of x, one, two or three, as many as the
// window has. Axes before them are kept. Windows are those of [Tensor.MaxPool] without dilation; x
// is 0 in the padding. Integers are converted to floats. It panics with ErrShape, and with ErrValue
// for bad options. The mean over whole axes is [Tensor.Mean]. PyTorch's avg_pool1d, avg_pool2d and
// avg_pool3d.
func (x *Tensor) AvgPool(window []int, options ...AvgPoolOptions) *Tensor {
	return lowered(x.avgPool(window, options...), x)
}

// AdaptiveMaxPool returns the maxima of windows over the last axes of x, one, two or three, as many
// as size has, which is the result's. Axes before them are kept. Along each, output q has the
// positions from ⌊q·d/size⌋ to below ⌈(q+1)·d/size⌉. A NaN is a maximum. Integers are converted to
// floats. It panics with ErrShape, and with ErrValue for bad sizes. PyTorch's adaptive_max_pool1d,
// 2d and 3d.
func (x *Tensor) AdaptiveMaxPool(size []int) *Tensor { return lowered(x.adaptiveMaxPool(size), x) }

// AdaptiveMaxPoolWithIndex is AdaptiveMaxPool that also returns, as Int64, where in the pooled axes
// of x, in row-major order, the maxima are: the first of equal ones, and the last NaN.
func (x *Tensor) AdaptiveMaxPoolWithIndex(size []int) (values *Tensor, indices *Tensor) {
	y, at := x.adaptiveMaxPoolWithIndex(size)
	return lowered(y, x), at
}

// AdaptiveAvgPool returns the means of the windows of [Tensor.AdaptiveMaxPool]. Integers are
// converted to floats. It panics with ErrShape, and with ErrValue for bad sizes. PyTorch's
// adaptive_avg_pool1d, 2d and 3d.
func (x *Tensor) AdaptiveAvgPool(size []int) *Tensor { return lowered(x.adaptiveAvgPool(size), x) }

// Interpolate returns x with as many positions along its last axes, one, two or three, as size
// says. Axes before them are kept. Along each of d positions, output q is the input at
//
//	⌊q·d/size⌋                  without options
//	(q + ½)·d/size − ½          with Linear, between its neighbours, and within the ends
//	q·(d − 1)/(size − 1)        with Linear and AlignCorners
//	⌊(q + ½)·d/size⌋            with Exact
//	(q + ½)·d/size − ½          with Cubic, between four inputs by Keys' filter; as above with AlignCorners
//	mean of ⌊q·d/size⌋ to ⌈(q + 1)·d/size⌉ − 1    with Area
//
// which is computed in integers: no rounding decides which inputs meet. A neighbour of weight 0 is
// not read. The nearest inputs of integers keep their type. Of Uint8 Linear and Cubic are Uint8,
// rounded along each axis, the last one first, by weights of 16 bits, as PyTorch and Pillow round
// them; else integers are converted to floats. It panics with ErrShape, and with ErrValue for bad
// sizes, for AlignCorners with a nearest input or an area, and for more than one of Linear, Cubic,
// Area and Exact. PyTorch's interpolate of a size, with the modes nearest, nearest-exact, linear,
// bilinear, trilinear, bicubic and area.
func (x *Tensor) Interpolate(size []int, options ...InterpolateOptions) *Tensor {
	return lowered(x.interpolate(size, options...), x)
}
