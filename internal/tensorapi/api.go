// Package tensorapi is what package tensor offers the other packages of this module, and programs
// not: what graphs, optimizers, recordings and tools do with tensors beyond their operations.
//
// A call is tensorapi.Impl.Version(t). [API] documents the methods; package
// tensor has them on its type api.
package tensorapi

import (
	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/hooks"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// Impl is package tensor's implementation of API.
var Impl = hooks.Tensor.(API)

// Launched is the kernels that one operation launched; unused places are nil.
type Launched = [4]*kernels.Kernel

// API is what package tensor offers this module. Tensors of one call lie on one device. Where a
// method has a parameter op, errors name that operation.
type API interface {
	// Claim gives d to the calling goroutine until Unclaim, which takes the result. Meanwhile
	// whatever another goroutine begins on d panics with tensor.ErrGoroutine. Claims of one
	// goroutine nest. It panics with tensor.ErrGoroutine, as op of pkg, if another goroutine uses
	// d.
	Claim(d tensor.Device, pkg, op string) (outermost bool)
	// Unclaim ends a claim.
	Unclaim(d tensor.Device, outermost bool)
	// BothNames names two devices for an error, and tells two of one name apart.
	BothNames(a, b tensor.Device) string
	// FreeAs frees t for op, Backward or ZeroGrad, which errors about the use of t then name.
	FreeAs(t *tensor.Tensor, op string)
	// WhoFreed says what freed t, which is called what, and what to do about it.
	WhoFreed(t *tensor.Tensor, what string) string
	// NoteFrees says whether errors about freed tensors of d name the line of the program that freed them, and
	// returns whether they did. Options.Check has them do so.
	NoteFrees(d tensor.Device, on bool) (before bool)
	// MustOwn panics with tensor.ErrGoroutine, as op of pkg, unless the calling goroutine has
	// claimed d.
	MustOwn(d tensor.Device, pkg, op string)

	// TakeLaunched returns the kernels launched on d since the last call, at most as many as
	// Launched holds. It panics with tensor.ErrGoroutine, as op, if another goroutine uses d.
	TakeLaunched(d tensor.Device, op string) Launched
	// Label says which operation later launches on d are part of, for the timeline of tensor.WriteTrace: kind and op,
	// which TakeLaunched says, too.
	Label(d tensor.Device, kind, op string)
	// Parameter says that the operation of the last Label reads a parameter of a name such as "blocks.3.up.weight", of
	// which all but the last part is the layer that later launches are part of. Its value and its gradient, where they
	// are not nil, have that name in listings.
	Parameter(d tensor.Device, name string, value, gradient *tensor.Tensor)
	// State returns the state under a key of the step that is being recorded on d, which the first
	// call makes; nil if no step is.
	State(d tensor.Device, key any, make func() capture.State) capture.State
	// Unrecorded makes what is done on d no part of steps that are recorded on other devices, which
	// refuse it otherwise: the caller sees to it that what d computes is the same in each replay.
	Unrecorded(d tensor.Device)
	// Forget tells the step that is being recorded that the contents of t's memory, all of it, are
	// read no more: as if nothing had been written there.
	Forget(t *tensor.Tensor)

	// Floats returns the type that an operation on floats gives of tensors: of integers alone the
	// default of their device.
	Floats(ts ...*tensor.Tensor) tensor.Type
	// Promoted returns the type that holds tensors, of integers too.
	Promoted(ts ...*tensor.Tensor) tensor.Type
	// One returns a tensor of ones of the device's default type with the given shape, of one element
	// in all. The device keeps it: it must not be written to, and costs no launch after the first
	// call. It is the seed of Backward from a scalar of that type. It panics with tensor.ErrShape for
	// more elements or none.
	One(d tensor.Device, shape ...int) *tensor.Tensor
	// IsOne reports whether t is a result of One, or a view of it.
	IsOne(t *tensor.Tensor) bool

	// Memory returns a value that is equal for a tensor and its views, and for no other tensors;
	// and the offset of t's first element there.
	Memory(t *tensor.Tensor) (storage any, first int)
	// Version counts the in-place writes to t's storage, through any view.
	Version(t *tensor.Tensor) uint64
	// Alone reports whether t is all of its storage, contiguous, and no other live tensor lies
	// there.
	Alone(t *tensor.Tensor) bool
	// Rehome copies t's elements to place, of t's shape and contiguous, and makes t a view of it, of
	// its type: both are of floats, or of one type.
	// Other views of t's old storage stay there, but for results of Transposed. A gradient that
	// saved t before finds that it changed.
	Rehome(t, place *tensor.Tensor)
	// InFlatBuffer reports whether Rehome moved t, and LeaveFlatBuffer was not called since: a
	// tensor lies in one flat buffer at most.
	InFlatBuffer(t *tensor.Tensor) bool
	// LeaveFlatBuffer forgets that Rehome moved t.
	LeaveFlatBuffer(t *tensor.Tensor)
	// Transposed returns the transpose of a matrix t as a retained view: the same one each time,
	// until it is freed. Unlike other views it follows t where Rehome moves it. It panics as t.T
	// does.
	Transposed(t *tensor.Tensor) *tensor.Tensor
	// QuantizedMemory returns the tensors that hold quantized weights.
	QuantizedMemory(q *tensor.QuantizedTensor) []*tensor.Tensor
	// ConvQuantized is tensor.ConvQuantized. It also returns the numbers of the convolution.
	ConvQuantized(x *tensor.Tensor, w *tensor.QuantizedTensor, bias *tensor.Tensor,
		options []tensor.ConvOptions) (*tensor.Tensor, *ops.ConvShape)

	// Elementwise is tensor.Map.
	Elementwise(op string, f *kernels.Function, scalars []float64, operands ...*tensor.Tensor) *tensor.Tensor
	// Axes resolves the axes of a reduction of t: counted from the front, sorted, all if none is
	// given, without tensor.Keepdims. It panics with tensor.ErrAxis for an axis that t has not, or
	// that is named twice.
	Axes(op string, t *tensor.Tensor, axes ...int) []int

	// MatMulInto writes a·b, of a [m, k] and b [k, n], to dst [m, n], or adds it if accumulate. It
	// panics with tensor.ErrShape, also if dst is not contiguous, and with tensor.ErrValue if dst
	// shares elements with an operand.
	MatMulInto(dst, a, b *tensor.Tensor, accumulate bool)
	// MatMulTiled writes a·b to dst [m, n] by the kernel for a tile, for tuning. It panics as
	// MatMulInto does, and with tensor.ErrValue for a tile that the device does not have.
	MatMulTiled(dst, a, b *tensor.Tensor, tile ops.GemmTile)
	// Linear is tensor.Linear of floats. With graph, the same launch also returns the operand z of
	// f, of y = f(z), if the gradient of f reads it; else z is nil.
	Linear(x, w, b *tensor.Tensor, f *kernels.Function, scalars []float64, graph bool) (y, z *tensor.Tensor)
	// CheckLinear panics as op unless w is a matrix with a row for each element of x's last axis, as Linear takes it.
	CheckLinear(op string, x, w *tensor.Tensor)
	// LinearGrad returns, by one launch, the gradient dz [m, n] of f's operand in Linear, and its
	// column sums, the gradient of the bias, as partial sums [runs, n]. f is the gradient of
	// Linear's function, which reads z, y and g [m, n] as it needs. It panics with tensor.ErrShape
	// unless they have one shape, of two axes.
	LinearGrad(f *kernels.Function, scalars []float64, z, y, g *tensor.Tensor) (dz, shares *tensor.Tensor)
	// SumLast returns the sums over the last axes of a tensor of floats, so many; in float32 of one of 16 bits.
	SumLast(t *tensor.Tensor, axes int) *tensor.Tensor
	// SumRowsInto sums the leading axes of x [..., dst's shape] into dst, or adds the sums to it,
	// by one launch. It panics with tensor.ErrShape for another shape, and with tensor.ErrValue if
	// dst shares elements with x.
	SumRowsInto(dst, x *tensor.Tensor, accumulate bool)
	// AddRows adds the rows of g [n, c] to the rows of dst [r, c] that index [n], of integers,
	// names, in order. g and dst are of floats. Indices out of range are passed over. It panics with
	// tensor.ErrShape for other shapes.
	AddRows(dst, index, g *tensor.Tensor)
	// SetRows is AddRows, but sets the rows: of several for one row, the last counts.
	SetRows(dst, index, src *tensor.Tensor)
	// Positions returns the n numbers from first on, an int that may be a step scalar, in Int32 [n]. The
	// caller knows that they are in [0, bound): recorded steps take them as indices.
	Positions(d tensor.Device, first kernels.Arg, n, bound int) *tensor.Tensor

	// MaxGrad returns the gradient of y = x.Max(axes...), or of x.Min, for the gradient g of y:
	// ties share it equally, and NaNs are ties where y is NaN. It may be non-contiguous. It panics
	// with tensor.ErrAxis as Max does, and with tensor.ErrShape unless y and g have as many
	// elements as the maximum.
	MaxGrad(x, y, g *tensor.Tensor, axes ...int) *tensor.Tensor
	// Moments returns the mean and the variance of x over axes. It panics as tensor.Tensor.Var
	// does.
	Moments(op string, x *tensor.Tensor, correction int, axes ...int) (mean, variance *tensor.Tensor)
	// Scan computes prefix sums, products or logarithms of sums along an axis of x; flags are
	// ops.ScanReverse and ops.ScanExclusive. What excludes the element itself is Float32 of a
	// float of 16 bits. It panics with tensor.ErrAxis.
	Scan(op string, kind ops.ScanKind, x *tensor.Tensor, axis, flags int) *tensor.Tensor
	// ScanLinear returns y with y[k] = x[k]·y[k−1] + z[k] along an axis, 0 being before the first,
	// of x and z of one shape. With ops.ScanReverse, k + 1 is before k; with ops.ScanShifted, the
	// factor is x at the place of the y that it multiplies. It panics with tensor.ErrAxis. Error:
	// at most 2(k + 3)·u times the same scan of |x| and |z|; on the Go device one rounding of the
	// float64 result.
	ScanLinear(x, z *tensor.Tensor, axis, flags int) *tensor.Tensor
	// TakeAlong returns n elements of each row of x, of floats, along an axis: those that index, of
	// Int32 and as many elements, names. Indices out of range give 0; nothing else is checked.
	TakeAlong(x, index *tensor.Tensor, axis, n int) *tensor.Tensor
	// PlaceAlong returns zeros of x's shape, but with n elements along an axis, to which it adds
	// each element of x, of floats, at the place along that axis that index names, in order.
	// distinct says that the indices of a row are distinct, which is faster. Indices out of range
	// are passed over; nothing else is checked.
	PlaceAlong(x, index *tensor.Tensor, axis, n int, distinct bool) *tensor.Tensor
	// AddRuns returns a tensor of x's shape of which each element is the sum of those of x, in order, whose index along
	// an axis names it, and 0 where there are none. Indices do not fall along a line. Nothing is checked.
	AddRuns(x, index *tensor.Tensor, axis int) *tensor.Tensor
	// Unmasked returns indices of t in which the indices of what is true stand for masks, one tensor
	// for each of their axes. It waits for the device if there is a mask. It panics with
	// tensor.ErrShape for a mask of another shape than its axes.
	Unmasked(op string, t *tensor.Tensor, indices []*tensor.Tensor) []*tensor.Tensor
	// MaskedIndex returns the shape that t and a mask, of Bool, broadcast to, and the numbers of
	// the chosen elements in it, in order, as Int32 [n]. It waits for the device. It panics with
	// tensor.ErrShape and tensor.ErrType.
	MaskedIndex(op string, t, mask *tensor.Tensor) (shape []int, index *tensor.Tensor)

	// SquaredError returns the scalar Σ (x − t)² and, by the same launch, its gradient 2·(x − t).
	// The order of the additions is fixed. It panics with tensor.ErrShape unless both have one
	// shape.
	SquaredError(x, t *tensor.Tensor) (sum, grad *tensor.Tensor)
	// CrossEntropy returns the losses of labels, the weights that they count with, and what
	// CrossEntropyGrad reads, of which both are views: see autograd.CrossEntropy. If every loss is a
	// result, those of scores of 16 bits are, too.
	CrossEntropy(op string, x, labels, weights *tensor.Tensor, logits bool, ignore int32, smoothing float64, every bool) (
		losses, counted, kept *tensor.Tensor)
	// CrossEntropyGrad returns the gradient of the scores x for the gradient g of the losses, or,
	// if g has one element, of each loss. Without logits, x are logarithms of probabilities.
	CrossEntropyGrad(op string, x, labels, weights, kept, g *tensor.Tensor, logits bool, ignore int32, smoothing float64) *tensor.Tensor
	// Lines returns the results of an operation on the lines of inputs along an axis of like, with
	// its numbers. Inputs and results that have every element are of like's shape; those that have
	// one for each line are of that without the axis. It panics with tensor.ErrAxis for an axis that
	// like has not; a scalar has the axes 0 and −1.
	Lines(op string, l *ops.Lines, like *tensor.Tensor, axis int, numbers []float64, inputs ...*tensor.Tensor) []*tensor.Tensor
	// Dropped is x.Dropout in training, by given numbers of a stream: the call, and the two words
	// of the seed.
	Dropped(x *tensor.Tensor, p float64, call, lo, hi kernels.Arg) *tensor.Tensor

	// RowNorm is x.LayerNorm if centred, and else x.RMSNorm. It also returns the mean and
	// 1/√(variance + eps) of each row.
	RowNorm(op string, x *tensor.Tensor, axis int, w, b *tensor.Tensor, eps float64, centred bool) (y, mean, rstd *tensor.Tensor)
	// GroupNorm is x.GroupNorm. It also returns the mean and 1/√(variance + eps) of each item's
	// groups.
	GroupNorm(op string, x *tensor.Tensor, groups int, w, b *tensor.Tensor, eps float64) (y, mean, rstd *tensor.Tensor)
	// BatchNorm is x.BatchNorm. It also returns the mean and 1/√(variance + eps) that it used of
	// each channel.
	BatchNorm(x, w, b *tensor.Tensor, eps float64, options []tensor.BatchNormOptions) (y, mean, rstd *tensor.Tensor)
	// NormGrad returns the gradient of a norm by what it normalises, for the gradient g of its result:
	// rows of x with a mean and a deviation each. Weights, which may be nil, are of `sets` rows, the same
	// for `span` neighbours. With parameters, which takes one set and a span of 1, it also returns the
	// gradients by weights and biases, as partial sums [runs, elements of a row], nil if x has no element.
	NormGrad(x, g, w, mean, rstd *tensor.Tensor, sets, span int, centred, parameters bool) (dx, dw, db *tensor.Tensor)
	// NormSums returns the sums of the columns of g and of g·(x − mean)·rstd, which are [n, columns], in
	// parts [1, parts, columns]. Each column has a mean and a deviation.
	NormSums(x, g, mean, rstd *tensor.Tensor, n, columns int) (sg, sh *tensor.Tensor)
	// NormSumsOfSets is NormSums of rows, [rows, n], to [rows, 1, 1]: span neighbouring rows have one mean
	// and deviation, and where there are more rows than these are for, the first comes again.
	NormSumsOfSets(x, g, mean, rstd *tensor.Tensor, rows, n, span int) (sg, sh *tensor.Tensor)

	// Attention is q.ScaledDotProductAttention. It also returns what its gradient reads, which is
	// complete if there is a graph: with whole, the softmax.
	Attention(q, k, v, mask *tensor.Tensor, options []tensor.AttentionOptions, graph, whole bool) (y *tensor.Tensor,
		kept []*tensor.Tensor)
	// AttentionKeeps reports whether Attention and its gradient are faster with whole.
	AttentionKeeps(q, k, v *tensor.Tensor, options []tensor.AttentionOptions) bool
	// AttentionGrad returns the gradients of Attention for the gradient g of y that wants names, of
	// shapes to which the operands broadcast, and maybe others. Those that it leaves out are nil,
	// as is that by the mask without whole.
	AttentionGrad(q, k, v, mask *tensor.Tensor, options []tensor.AttentionOptions, whole bool, y *tensor.Tensor,
		kept []*tensor.Tensor, g *tensor.Tensor, wants [4]bool) (dq, dk, dv, dm *tensor.Tensor)
	// Attends returns what an attention adds to the products of queries and keys: bias of a mask,
	// causal of the order of keys; nil without. live is 1 for each query, but 0 for one that
	// attends to no key, to which nothing is added; nil if there are no such queries.
	Attends(q, k, v, mask *tensor.Tensor, options []tensor.AttentionOptions) (bias, causal, live *tensor.Tensor)
	// AttentionSoftmax returns the scale of an attention, and the softmax that Attention kept if it has the shape of
	// the products of queries and keys, else nil.
	AttentionSoftmax(q, k, v, mask *tensor.Tensor, options []tensor.AttentionOptions, whole bool,
		kept []*tensor.Tensor) (scale float64, p *tensor.Tensor)

	// ConvShape returns the numbers of a convolution of x, and the shape of its result. It panics
	// as tensor.Tensor.Conv does.
	ConvShape(x, w, bias *tensor.Tensor, options []tensor.ConvOptions) (*ops.ConvShape, []int)
	// ConvTransposeShape returns the numbers of the convolution whose gradient is a transposed one
	// of x, and the shape of its result. It panics as tensor.Tensor.ConvTranspose does.
	ConvTransposeShape(x, w, bias *tensor.Tensor, options []tensor.ConvTransposeOptions) (*ops.ConvShape, []int)
	// Conv computes a convolution Y of a shape from X and W, or with transposed X from Y and W. It
	// panics with tensor.ErrShape for a bias of another length than there are channels.
	Conv(op string, s *ops.ConvShape, transposed bool, x, w, bias *tensor.Tensor, shape []int) *tensor.Tensor
	// ConvWeightInto writes W to dst, from X and Y: the gradient of the weights, if Y is the
	// gradient g of the result. It writes the sum of each channel of Y to bias, unless bias is nil;
	// it must be nil if a tensor is empty. Both are contiguous. The order of the additions is
	// fixed.
	ConvWeightInto(dst, bias *tensor.Tensor, s *ops.ConvShape, x, g *tensor.Tensor)
	// MaxPool is tensor.Tensor.MaxPool. places are the indices, nil unless asked for. grad returns
	// the gradient of t for that of the values; it reads places.
	MaxPool(op string, t *tensor.Tensor, window []int, options []tensor.MaxPoolOptions, indices bool) (values, places *tensor.Tensor, grad func(g *tensor.Tensor) *tensor.Tensor)
	// AdaptiveMaxPool is tensor.Tensor.AdaptiveMaxPool, with results as of MaxPool.
	AdaptiveMaxPool(op string, t *tensor.Tensor, size []int, indices bool) (values, places *tensor.Tensor, grad func(g *tensor.Tensor) *tensor.Tensor)
	// AvgPool returns tensor.Tensor.AvgPool of tensors like t, and its gradient, which are each
	// other's gradient.
	AvgPool(op string, t *tensor.Tensor, window []int, options []tensor.AvgPoolOptions) (pool, grad func(t *tensor.Tensor) *tensor.Tensor)
	// AdaptiveAvgPool returns tensor.Tensor.AdaptiveAvgPool of tensors like t, and its gradient,
	// which are each other's gradient.
	AdaptiveAvgPool(op string, t *tensor.Tensor, size []int) (pool, grad func(t *tensor.Tensor) *tensor.Tensor)
	// PadGrad returns the gradient of the operand of tensor.Tensor.Pad, of a shape, for the
	// gradient g of its result: the sum over the places to which each element went. No width of
	// tensor.PadCircular is below 0.
	PadGrad(op string, g *tensor.Tensor, shape []int, widths [][2]int, mode tensor.PadMode) *tensor.Tensor
	// Interpolate returns tensor.Tensor.Interpolate of tensors like t, and its gradient, which are
	// each other's gradient.
	Interpolate(op string, t *tensor.Tensor, size []int, options []tensor.InterpolateOptions) (run, grad func(t *tensor.Tensor) *tensor.Tensor)

	// Try runs the self-test of a kernel on small operands and, unless args is nil, on operands
	// like args, for callers that can do without the kernel. The error is a *tensor.MiscompileError
	// if d computes the kernel wrongly and no variant takes its place; d does not fail of it, as it
	// would at the launch. See tensor.SelfTestEnv.
	Try(d tensor.Device, k *kernels.Kernel, args []kernels.Arg) error
	// TrialsRemembered returns how many self-tests on d are remembered as passed, and the file that
	// they are in: "" if d needs none, or self-tests are off. See tensor.SelfTestEnv.
	TrialsRemembered(d tensor.Device) (path string, trials int)
	// TuningName returns the name of d in a tuning table, "" for a device without tiles.
	TuningName(d tensor.Device) string
	// MatrixUnits returns the limits of kernels for d's matrix units, and a function that reports
	// whether d has the instructions for factors of a precision: in tf32 for PrecisionTF32, else in
	// float16. Grouped ones are for groups of warps.
	MatrixUnits(d tensor.Device) (l kernels.Target, has func(factors kernels.Precision, grouped bool) bool)
	// GPUKernels returns opt for an OpenCL CPU to run the kernel variants for GPUs, built as if
	// Unoptimized were set. It is for tests, on machines without a GPU.
	GPUKernels(opt tensor.Options) tensor.Options
	// AsMatrixUnits makes d compute its large products as matrix units would, rounded as its
	// precision says, by ordinary arithmetic: cpu by the kernels' host kernels, an OpenCL device by the
	// kernels, which must be the variants for GPUs. Grouped units have instructions for groups of
	// warps. It is for tests, on machines without such units.
	AsMatrixUnits(d tensor.Device, grouped bool)
}

// Rename, deferred, makes the error of a misuse that the caller's parts found name the caller, op
// of pkg.
func Rename(pkg, op string) {
	switch r := recover().(type) {
	case nil:
	case *tensor.Error:
		r.Pkg, r.Op = pkg, op
		panic(r)
	default:
		panic(r)
	}
}
