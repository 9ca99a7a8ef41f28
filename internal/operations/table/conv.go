//go:build ignore

package table

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
//
// Gradients: the transposed convolution of g with w, the correlation of x with g, and the sum of g
// over all axes but that of the channels.
//
//op:torch torch.nn.functional.conv1d, conv2d, conv3d
//op:autocast low
func (x T) Conv(w, bias T, options ...tensor.ConvOptions) T

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
//
// Gradients: the convolution of g with w, the correlation of g with x, and the sum of g over all
// axes but that of the channels.
//
//op:torch torch.nn.functional.conv_transpose1d, 2d, 3d
//op:autocast low
func (x T) ConvTranspose(w, bias T, options ...tensor.ConvTransposeOptions) T

// MaxPool returns the maxima of windows over the last axes of x, one, two or three, as many as the
// window has. Axes before them are kept. Along each, output q has the positions
//
//	q·stride − padding + j·dilation,  0 ≤ j < window
//
// that lie within x. A NaN is a maximum. The result has (d + 2·padding − dilation·(window − 1) −
// 1)/stride + 1 positions, rounded down, or up with Ceil, as long as the last window begins within
// x or the padding before it. Integers stay integers. It panics with ErrShape, and with
// ErrValue for bad options. The maximum over whole axes is [Tensor.Max]. PyTorch's max_pool1d,
// max_pool2d and max_pool3d.
//
// Gradient: g to the element that is the maximum, of equal ones the first, of NaN the last; where
// windows overlap, the sum.
//
//op:torch torch.nn.functional.max_pool1d, 2d, 3d
func (x T) MaxPool(window []int, options ...tensor.MaxPoolOptions) T

// MaxPoolWithIndex is MaxPool that also returns, as Int64, where in the pooled axes of x, in
// row-major order, the maxima are: the first of equal ones, and the last NaN. Integers are converted
// to floats.
//
// Gradient: that of [Tensor.MaxPool].
//
//op:torch torch.nn.functional.max_pool1d(return_indices), 2d, 3d
//op:tensor x.poolMax("MaxPoolWithIndex", window, options, true)
func (x T) MaxPoolWithIndex(window []int, options ...tensor.MaxPoolOptions) (values T, indices *tensor.Tensor)

// AvgPool returns the means of windows over the last axes of x, one, two or three, as many as the
// window has. Axes before them are kept. Windows are those of [Tensor.MaxPool] without dilation; x
// is 0 in the padding. Integers are converted to floats. It panics with ErrShape, and with ErrValue
// for bad options. The mean over whole axes is [Tensor.Mean]. PyTorch's avg_pool1d, avg_pool2d and
// avg_pool3d.
//
// Gradient: g over the number of positions to each of them; where windows overlap, the sum.
//
//op:torch torch.nn.functional.avg_pool1d, 2d, 3d
func (x T) AvgPool(window []int, options ...tensor.AvgPoolOptions) T

// AdaptiveMaxPool returns the maxima of windows over the last axes of x, one, two or three, as many
// as size has, which is the result's. Axes before them are kept. Along each, output q has the
// positions from ⌊q·d/size⌋ to below ⌈(q+1)·d/size⌉. A NaN is a maximum. Integers are converted to
// floats. It panics with ErrShape, and with ErrValue for bad sizes. PyTorch's adaptive_max_pool1d,
// 2d and 3d.
//
// Gradient: g to the element that is the maximum, of equal ones the first, of NaN the last; where
// windows overlap, the sum.
//
//op:torch torch.nn.functional.adaptive_max_pool1d, 2d, 3d
func (x T) AdaptiveMaxPool(size []int) T

// AdaptiveMaxPoolWithIndex is AdaptiveMaxPool that also returns, as Int64, where in the pooled axes
// of x, in row-major order, the maxima are: the first of equal ones, and the last NaN.
//
// Gradient: that of [Tensor.AdaptiveMaxPool].
//
//op:torch torch.nn.functional.adaptive_max_pool1d(return_indices), 2d, 3d
func (x T) AdaptiveMaxPoolWithIndex(size []int) (values T, indices *tensor.Tensor)

// AdaptiveAvgPool returns the means of the windows of [Tensor.AdaptiveMaxPool]. Integers are
// converted to floats. It panics with ErrShape, and with ErrValue for bad sizes. PyTorch's
// adaptive_avg_pool1d, 2d and 3d.
//
// Gradient: g over the number of positions to each of them; where windows overlap, the sum.
//
//op:torch torch.nn.functional.adaptive_avg_pool1d, 2d, 3d
func (x T) AdaptiveAvgPool(size []int) T

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
// not read. The nearest inputs of integers keep their type. Of Uint8 Linear and Cubic are Uint8, rounded
// along each axis, the last one first, by weights of 16 bits, as PyTorch and Pillow round them; else
// integers are converted to floats. It panics with ErrShape, and with ErrValue for bad
// sizes, for AlignCorners with a nearest input or an area, and for more than one of Linear, Cubic, Area
// and Exact. PyTorch's interpolate of a size, with the modes nearest, nearest-exact, linear, bilinear,
// trilinear, bicubic and area.
//
// Gradient: g to the inputs of each output, with the weights that they have in it.
//
//op:torch torch.nn.functional.interpolate
//op:autocast float32
func (x T) Interpolate(size []int, options ...tensor.InterpolateOptions) T

//op:listed autograd.MaxUnpool torch.nn.functional.max_unpool1d, 2d, 3d
//op:listed autograd.Fold torch.nn.functional.fold
//op:listed autograd.GridSample torch.nn.functional.grid_sample
//op:listed autograd.AffineGrid torch.nn.functional.affine_grid
