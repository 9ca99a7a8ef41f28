// Package plumbing is what package tensor has for the other packages of this module and not for programs: what a graph,
// an optimizer or a tool must do with tensors and devices beyond their operations.
//
// Every device has these functions as methods that its interface does not list. So package tensor shows none of
// them, and this package, which is above it, reaches them.
package plumbing

import (
	"github.com/clgrad/clgrad/internal/capture"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// Launched is the kernels that one operation launched, unused places nil.
type Launched = [4]*kernels.Kernel

// device is the methods; what they do stands with them in package tensor. A test there holds every device to it.
type device interface {
	Claim(pkg, op string) (outermost bool)
	Unclaim(outermost bool)
	MustOwn(pkg, op string)
	TakeLaunched(op string) Launched
	Forget(t *tensor.Tensor)
	State(d tensor.Device, key any, make func() capture.State) capture.State
	One(d tensor.Device, shape []int) *tensor.Tensor
	IsOne(t *tensor.Tensor) bool
	Rehome(t, place *tensor.Tensor)
	Transposed(t *tensor.Tensor) *tensor.Tensor
	InFlatBuffer(t *tensor.Tensor) bool
	Alone(t *tensor.Tensor) bool
	Memory(t *tensor.Tensor) (storage any, first int)
	LeaveFlatBuffer(t *tensor.Tensor)
	Version(t *tensor.Tensor) uint64
	Elementwise(op string, f *kernels.Function, scalars []float64, operands []*tensor.Tensor) *tensor.Tensor
	Axes(op string, t *tensor.Tensor, axes []int) []int
	MatMulInto(dst, a, b *tensor.Tensor, accumulate bool)
	MatMulTiled(dst, a, b *tensor.Tensor, tile ops.GemmTile)
	Linear(x, w, b *tensor.Tensor, f *kernels.Function, scalars []float64, graph bool) (y, z *tensor.Tensor)
	LinearGrad(f *kernels.Function, scalars []float64, z, y, g *tensor.Tensor) (dz, shares *tensor.Tensor)
	SumRowsInto(dst, x *tensor.Tensor, accumulate bool)
	AddRows(dst, index, g *tensor.Tensor)
	SquaredError(x, t *tensor.Tensor) (sum, grad *tensor.Tensor)
	MaxGrad(x, y, g *tensor.Tensor, axes []int) *tensor.Tensor
	CrossEntropy(op string, x, labels, weights *tensor.Tensor, logits bool, ignore int32, smoothing float64) (losses, counted, kept *tensor.Tensor)
	CrossEntropyGrad(op string, x, labels, weights, kept, g *tensor.Tensor, logits bool, ignore int32, smoothing float64) *tensor.Tensor
	SoftmaxGrad(y, g *tensor.Tensor, axis int, logarithm bool) *tensor.Tensor
	Scan(op string, kind ops.ScanKind, x *tensor.Tensor, axis, flags int) *tensor.Tensor
	ScanLinear(x, z *tensor.Tensor, axis, flags int) *tensor.Tensor
	Moments(op string, x *tensor.Tensor, correction int, axes []int) (mean, variance *tensor.Tensor)
	TakeAlong(x, index *tensor.Tensor, axis, n int) *tensor.Tensor
	PlaceAlong(x, index *tensor.Tensor, axis, n int, distinct bool) *tensor.Tensor
	MaxPool(op string, t *tensor.Tensor, window []int, options []tensor.MaxPoolOptions, indices bool) (values, places *tensor.Tensor, grad func(g *tensor.Tensor) *tensor.Tensor)
	AdaptiveMaxPool(op string, t *tensor.Tensor, size []int, indices bool) (values, places *tensor.Tensor, grad func(g *tensor.Tensor) *tensor.Tensor)
	AvgPool(op string, t *tensor.Tensor, window []int, options []tensor.AvgPoolOptions) (pool, grad func(t *tensor.Tensor) *tensor.Tensor)
	AdaptiveAvgPool(op string, t *tensor.Tensor, size []int) (pool, grad func(t *tensor.Tensor) *tensor.Tensor)
	PadGrad(op string, g *tensor.Tensor, shape []int, widths [][2]int, mode tensor.PadMode) *tensor.Tensor
	Interpolate(op string, t *tensor.Tensor, size []int, options []tensor.InterpolateOptions) (run, grad func(t *tensor.Tensor) *tensor.Tensor)
	ConvShape(x, w, bias *tensor.Tensor, options []tensor.ConvOptions) (*ops.ConvShape, []int)
	ConvTransposeShape(x, w, bias *tensor.Tensor, options []tensor.ConvTransposeOptions) (*ops.ConvShape, []int)
	Conv(op string, s *ops.ConvShape, transposed bool, x, w, bias *tensor.Tensor, shape []int) *tensor.Tensor
	ConvWeightInto(dst, bias *tensor.Tensor, s *ops.ConvShape, x, g *tensor.Tensor)
	RowNorm(op string, t *tensor.Tensor, axis int, w, b *tensor.Tensor, eps float64, centred bool) (y, mean, rstd *tensor.Tensor)
	RowNormGrad(x, g, w, mean, rstd *tensor.Tensor, centred, shares bool) (dx, dw, db *tensor.Tensor)
	GroupNorm(op string, t *tensor.Tensor, groups int, w, b *tensor.Tensor, eps float64) (y, mean, rstd *tensor.Tensor)
	BatchNorm(t, w, b *tensor.Tensor, eps float64, options []tensor.BatchNormOptions) (y, mean, rstd *tensor.Tensor)
	ChannelSums(x, g, mean, rstd *tensor.Tensor, outer, channels int) (sg, sh *tensor.Tensor)
	MaskedIndex(op string, t, mask *tensor.Tensor) (shape []int, index *tensor.Tensor)
	Dropped(x *tensor.Tensor, p float64, call, lo, hi kernels.Arg) *tensor.Tensor
	Attention(q, k, v, mask *tensor.Tensor, options []tensor.AttentionOptions, whole bool) (y, kept *tensor.Tensor)
	AttentionGrad(q, k, v, mask *tensor.Tensor, options []tensor.AttentionOptions, whole bool, y, kept, g *tensor.Tensor, wants [4]bool) (dq, dk, dv, dm *tensor.Tensor)
	AttentionKeeps(q, k, v *tensor.Tensor, options []tensor.AttentionOptions) bool
	Attends(q, k, v, mask *tensor.Tensor, options []tensor.AttentionOptions) (scale float64, bias, causal, live *tensor.Tensor)
	Try(k *kernels.Kernel, args []kernels.Arg) error
	TrialsRemembered() (path string, trials int)
	TuningName() string
	AsMatrixUnits(grouped bool)
	MatrixUnits(d tensor.Device) (l kernels.Target, has func(factors kernels.Precision, grouped bool) bool)
}

func of(d tensor.Device) device { return d.(device) }

// Claim gives d to the calling goroutine until Unclaim, which gets its result. Meanwhile whatever another goroutine begins on d
// panics with tensor.ErrGoroutine. Claims of one goroutine nest. It panics with tensor.ErrGoroutine, as op of pkg, if another
// goroutine uses d.
func Claim(d tensor.Device, pkg, op string) (outermost bool) { return of(d).Claim(pkg, op) }

// Unclaim ends a claim.
func Unclaim(d tensor.Device, outermost bool) { of(d).Unclaim(outermost) }

// MustOwn panics with tensor.ErrGoroutine, as op of pkg, unless the calling goroutine has claimed d.
func MustOwn(d tensor.Device, pkg, op string) { of(d).MustOwn(pkg, op) }

// TakeLaunched returns the kernels launched on d since the last call, at most as many as Launched holds. It panics with
// tensor.ErrGoroutine, as op, if another goroutine uses d.
func TakeLaunched(d tensor.Device, op string) Launched { return of(d).TakeLaunched(op) }

// Forget tells a step that is being recorded that nobody looks any more at what the memory of t, all of it, holds now: it is as
// if nothing had been written there.
func Forget(t *tensor.Tensor) { of(t.Device()).Forget(t) }

// State returns what the step that is being recorded on d has under a key, which the first call makes; nil if no step is.
func State(d tensor.Device, key any, make func() capture.State) capture.State {
	if capture.Recordings.Load() == 0 {
		return nil
	}
	return of(d).State(d, key, make)
}

// One returns a tensor of ones with the given shape, of one element in all. The device keeps it: it must not be written
// to, and costs no launch after the first call. It is the seed of every Backward from a scalar. It panics with
// tensor.ErrShape for more elements or none.
func One(d tensor.Device, shape ...int) *tensor.Tensor { return of(d).One(d, shape) }

// IsOne reports whether t is what One returned, or a view of it.
func IsOne(t *tensor.Tensor) bool { return of(t.Device()).IsOne(t) }

// Rehome copies t's elements to place, of t's shape and contiguous, and makes t a view of it. Other views of t's old
// storage stay there, but for what Transposed returned. A gradient that saved t before finds that it changed.
func Rehome(t, place *tensor.Tensor) { of(t.Device()).Rehome(t, place) }

// Transposed returns the transpose of a matrix t as a view, on which Retain was called: the same one each time, until it is freed.
// Unlike other views it goes where Rehome takes t. It panics as t.T does.
func Transposed(t *tensor.Tensor) *tensor.Tensor { return of(t.Device()).Transposed(t) }

// Alone reports whether t is all of its memory, without gaps, and no other tensor that was not freed lies there.
func Alone(t *tensor.Tensor) bool { return of(t.Device()).Alone(t) }

// InFlatBuffer reports whether t was moved to a flat buffer and did not leave it: two that would move one tensor must not.
func InFlatBuffer(t *tensor.Tensor) bool { return of(t.Device()).InFlatBuffer(t) }

// LeaveFlatBuffer forgets that t was moved.
func LeaveFlatBuffer(t *tensor.Tensor) { of(t.Device()).LeaveFlatBuffer(t) }

// Memory returns what is equal for a tensor and its views, and for no other tensors; and which of the elements there is t's first.
func Memory(t *tensor.Tensor) (storage any, first int) { return of(t.Device()).Memory(t) }

// Version counts the in-place writes to t's storage, through whichever view.
func Version(t *tensor.Tensor) uint64 { return of(t.Device()).Version(t) }

// Rename, deferred, makes a misuse that the caller's parts find name the caller, op of pkg.
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

// Elementwise is tensor.Map for the operation op, which its errors name.
func Elementwise(op string, f *kernels.Function, scalars []float64, operands ...*tensor.Tensor) *tensor.Tensor {
	for _, t := range operands {
		if t != nil {
			return of(t.Device()).Elementwise(op, f, scalars, operands)
		}
	}
	return tensor.Map(f, scalars, operands...) // which says what is wrong
}

// Axes resolves the axes of a reduction of t: counted from the front, sorted, all if none is given, without
// tensor.Keepdims. It panics with tensor.ErrAxis for an axis that t has not, or that is named twice.
func Axes(op string, t *tensor.Tensor, axes ...int) []int { return of(t.Device()).Axes(op, t, axes) }

// MatMulInto writes a·b, of a [m, k] and b [k, n], to dst [m, n], or adds it if accumulate. It panics with
// tensor.ErrShape, also if dst has gaps, and with tensor.ErrValue if dst shares elements with an operand.
func MatMulInto(dst, a, b *tensor.Tensor, accumulate bool) {
	of(dst.Device()).MatMulInto(dst, a, b, accumulate)
}

// MatMulTiled writes a·b to dst [m, n] by the kernel for a tile, for tuning. It panics as MatMulInto does, and with
// tensor.ErrValue for a tile that is none of the device's.
func MatMulTiled(dst, a, b *tensor.Tensor, tile ops.GemmTile) {
	of(dst.Device()).MatMulTiled(dst, a, b, tile)
}

// Linear is tensor.Linear of reals, which in a graph returns the operand z of f beside y = f(z), from the same launch, if the
// gradient of f reads it; else z is nil.
func Linear(x, w, b *tensor.Tensor, f *kernels.Function, scalars []float64, graph bool) (y, z *tensor.Tensor) {
	return of(x.Device()).Linear(x, w, b, f, scalars, graph)
}

// LinearGrad returns, for a gradient f of the function of a layer, which reads what it uses of z, y and g [m, n], the
// gradient dz [m, n] of the function's operand, and the sum of its rows, the gradient of the bias, in shares [runs, n], to
// be added up: one launch for both. It panics with tensor.ErrShape unless they have one shape, of two axes.
func LinearGrad(f *kernels.Function, scalars []float64, z, y, g *tensor.Tensor) (dz, shares *tensor.Tensor) {
	return of(g.Device()).LinearGrad(f, scalars, z, y, g)
}

// SumRowsInto sums the leading axes of x [..., dst's shape] into dst, or onto it, in one launch. It panics with
// tensor.ErrShape for another shape, and with tensor.ErrValue if dst shares elements with x.
func SumRowsInto(dst, x *tensor.Tensor, accumulate bool) {
	of(dst.Device()).SumRowsInto(dst, x, accumulate)
}

// AddRows adds the rows of g [n, c] to the rows of dst [r, c], both of reals, that an index tensor [n] of integers names, in
// order, and passes over an index that is none. It does not look at the indices. It panics with tensor.ErrShape unless those
// are the shapes.
func AddRows(dst, index, g *tensor.Tensor) { of(dst.Device()).AddRows(dst, index, g) }

// SquaredError returns the scalar Σ (x − t)² and, from the same pass, its gradient 2·(x − t). The order of the
// additions is fixed. It panics with tensor.ErrShape unless both have one shape.
func SquaredError(x, t *tensor.Tensor) (sum, grad *tensor.Tensor) {
	return of(x.Device()).SquaredError(x, t)
}

// MaskedIndex returns the shape that t and a mask, of Uint8, broadcast to, and the numbers of the elements in it that are
// chosen, in order, as Int32 [n], for an operation op. It waits for the device. It panics with tensor.ErrShape and
// tensor.ErrType.
func MaskedIndex(op string, t, mask *tensor.Tensor) (shape []int, index *tensor.Tensor) {
	return of(t.Device()).MaskedIndex(op, t, mask)
}

// MaxGrad returns the gradient of y = x.Max(axes...), or of x.Min, for the gradient g of y: ties share it equally,
// and NaNs are ties where y is NaN. It may have gaps. It panics with tensor.ErrAxis as Max does, and with
// tensor.ErrShape unless y and g have as many elements as the maximum.
func MaxGrad(x, y, g *tensor.Tensor, axes ...int) *tensor.Tensor {
	return of(x.Device()).MaxGrad(x, y, g, axes)
}

// CrossEntropy returns the losses of labels, the weights that they count with, and what CrossEntropyGrad needs, of which both are
// views: see autograd.CrossEntropy. op names it in errors.
func CrossEntropy(op string, x, labels, weights *tensor.Tensor, logits bool, ignore int32, smoothing float64) (losses, counted, kept *tensor.Tensor) {
	return of(x.Device()).CrossEntropy(op, x, labels, weights, logits, ignore, smoothing)
}

// CrossEntropyGrad returns the gradient of the scores x for the gradient g of the losses, or of each, if that is one; without
// logits, that of logarithms.
func CrossEntropyGrad(op string, x, labels, weights, kept, g *tensor.Tensor, logits bool, ignore int32, smoothing float64) *tensor.Tensor {
	return of(x.Device()).CrossEntropyGrad(op, x, labels, weights, kept, g, logits, ignore, smoothing)
}

// SoftmaxGrad returns the gradient of y = x.Softmax(axis), or of x.LogSoftmax(axis), for the gradient g of y, of y's shape.
// It panics with tensor.ErrAxis as they do.
func SoftmaxGrad(y, g *tensor.Tensor, axis int, logarithm bool) *tensor.Tensor {
	return of(y.Device()).SoftmaxGrad(y, g, axis, logarithm)
}

// RowNorm is x.LayerNorm if it is centred, or else x.RMSNorm, and returns the mean and 1/√(variance + eps) of each row, too. op
// names it in errors.
func RowNorm(op string, x *tensor.Tensor, axis int, w, b *tensor.Tensor, eps float64, centred bool) (y, mean, rstd *tensor.Tensor) {
	return of(x.Device()).RowNorm(op, x, axis, w, b, eps, centred)
}

// RowNormGrad returns the gradient of RowNorm by x, for the gradient g of y, and if shares are wanted those by w and b, to be
// added up, [runs, elements of w]. Those are nil if x has no elements.
func RowNormGrad(x, g, w, mean, rstd *tensor.Tensor, centred, shares bool) (dx, dw, db *tensor.Tensor) {
	return of(x.Device()).RowNormGrad(x, g, w, mean, rstd, centred, shares)
}

// GroupNorm is x.GroupNorm, and returns the mean and 1/√(variance + eps) of each item's groups, too. op names it in errors.
func GroupNorm(op string, x *tensor.Tensor, groups int, w, b *tensor.Tensor, eps float64) (y, mean, rstd *tensor.Tensor) {
	return of(x.Device()).GroupNorm(op, x, groups, w, b, eps)
}

// BatchNorm is x.BatchNorm, and returns the mean and 1/√(variance + eps) of each channel that it took, too.
func BatchNorm(x, w, b *tensor.Tensor, eps float64, options []tensor.BatchNormOptions) (y, mean, rstd *tensor.Tensor) {
	return of(x.Device()).BatchNorm(x, w, b, eps, options)
}

// ChannelSums returns the sums of g and of g·(x − mean)·rstd for each channel of x and g, as [outer, channels, inner], in parts
// to be added up, [parts, channels]. mean and rstd have an element for each channel, or for as many neighbours as they have less.
func ChannelSums(x, g, mean, rstd *tensor.Tensor, outer, channels int) (sg, sh *tensor.Tensor) {
	return of(x.Device()).ChannelSums(x, g, mean, rstd, outer, channels)
}

// Dropped is x.Dropout in training, by given numbers of a stream: the call, and the two words of the seed.
func Dropped(x *tensor.Tensor, p float64, call, lo, hi kernels.Arg) *tensor.Tensor {
	return of(x.Device()).Dropped(x, p, call, lo, hi)
}

// Attention is q.ScaledDotProductAttention, and returns what its gradient reads, too. If the softmax is wanted whole, that is it.
func Attention(q, k, v, mask *tensor.Tensor, options []tensor.AttentionOptions, whole bool) (y, kept *tensor.Tensor) {
	return of(q.Device()).Attention(q, k, v, mask, options, whole)
}

// AttentionKeeps reports whether Attention with its gradient is faster if the softmax is wanted whole.
func AttentionKeeps(q, k, v *tensor.Tensor, options []tensor.AttentionOptions) bool {
	return of(q.Device()).AttentionKeeps(q, k, v, options)
}

// AttentionGrad returns the gradients of Attention for the gradient g of y that are wanted, in shapes to which the operands broadcast,
// and maybe others. Those that it leaves out are nil, also that by the mask unless the softmax was wanted whole.
func AttentionGrad(q, k, v, mask *tensor.Tensor, options []tensor.AttentionOptions, whole bool, y, kept, g *tensor.Tensor, wants [4]bool) (dq, dk, dv, dm *tensor.Tensor) {
	return of(q.Device()).AttentionGrad(q, k, v, mask, options, whole, y, kept, g, wants)
}

// Attends returns the scale of an attention, and what is added to its products: that of a mask, and that of what is causal, which
// are nil without. live is 0 for queries that attend to no key, to which nothing is added, and else 1; it is nil if there are none.
func Attends(q, k, v, mask *tensor.Tensor, options []tensor.AttentionOptions) (scale float64, bias, causal, live *tensor.Tensor) {
	return of(q.Device()).Attends(q, k, v, mask, options)
}

// Try tries a kernel on small operands and, unless args is nil, on operands like args, for what can do without it. The error is a *tensor.MiscompileError, if a device
// computes the kernel wrongly and no other form of it takes its place; the device does not fail of it, as it would at
// the launch. See tensor.SelfTestEnv.
func Try(d tensor.Device, k *kernels.Kernel, args []kernels.Arg) error { return of(d).Try(k, args) }

// TrialsRemembered returns how many trials on a device are remembered as right, and the file that they are in: "" if
// the device needs none, or trials are switched off. See tensor.SelfTestEnv.
func TrialsRemembered(d tensor.Device) (path string, trials int) { return of(d).TrialsRemembered() }

// TuningName returns the name under which a tuning table knows a device, "" for one that has no tiles.
func TuningName(d tensor.Device) string { return of(d).TuningName() }

// AsMatrixUnits has a device compute its large products as matrix units would, which round as its precision says, by ordinary
// arithmetic: cpu by the twins of their kernels, an OpenCL device by the kernels, which must be in their forms for GPUs. Grouped units
// have instructions for groups of warps. It is for tests, on machines without such units.
func AsMatrixUnits(d tensor.Device, grouped bool) { of(d).AsMatrixUnits(grouped) }

// MatrixUnits returns the limits that kernels for a device's matrix units must fit, and what reports whether the device has
// the instructions for factors of a precision: in tf32 for PrecisionTF32, else in float16. Grouped ones are for groups of warps.
func MatrixUnits(d tensor.Device) (l kernels.Target, has func(factors kernels.Precision, grouped bool) bool) {
	return of(d).MatrixUnits(d)
}

// ConvShape returns the numbers of a convolution of x, and the shape of its result. It panics as tensor.Tensor.Conv does.
func ConvShape(x, w, bias *tensor.Tensor, options []tensor.ConvOptions) (*ops.ConvShape, []int) {
	return of(x.Device()).ConvShape(x, w, bias, options)
}

// ConvTransposeShape returns the numbers of the convolution of which a transposed one of x is the gradient, and the shape of
// the result. It panics as tensor.Tensor.ConvTranspose does.
func ConvTransposeShape(x, w, bias *tensor.Tensor, options []tensor.ConvTransposeOptions) (*ops.ConvShape, []int) {
	return of(x.Device()).ConvTransposeShape(x, w, bias, options)
}

// Conv computes a convolution Y from X and W, or if transposed X from Y and W, for op, of a shape. It panics with
// tensor.ErrShape for a bias of another length than there are channels.
func Conv(op string, s *ops.ConvShape, transposed bool, x, w, bias *tensor.Tensor, shape []int) *tensor.Tensor {
	return of(x.Device()).Conv(op, s, transposed, x, w, bias, shape)
}

// ConvWeightInto computes W, which is dst, from X and Y: the gradient of the weights, if Y is the gradient of the result. It
// computes the sum of each channel of Y, too, unless bias is nil, as it is if a tensor is empty. Both are contiguous. The order of
// the additions is fixed.
func ConvWeightInto(dst, bias *tensor.Tensor, s *ops.ConvShape, x, g *tensor.Tensor) {
	of(dst.Device()).ConvWeightInto(dst, bias, s, x, g)
}

// MaxPool is tensor.Tensor.MaxPool for op; places are the indices if they are asked for, else nil. grad returns the gradient of
// t for that of the values; it reads the places.
func MaxPool(op string, t *tensor.Tensor, window []int, options []tensor.MaxPoolOptions, indices bool) (values, places *tensor.Tensor, grad func(g *tensor.Tensor) *tensor.Tensor) {
	return of(t.Device()).MaxPool(op, t, window, options, indices)
}

// AdaptiveMaxPool is tensor.Tensor.AdaptiveMaxPool, as MaxPool has it.
func AdaptiveMaxPool(op string, t *tensor.Tensor, size []int, indices bool) (values, places *tensor.Tensor, grad func(g *tensor.Tensor) *tensor.Tensor) {
	return of(t.Device()).AdaptiveMaxPool(op, t, size, indices)
}

// AvgPool returns tensor.Tensor.AvgPool for op of tensors like t, and its gradient, which are each other's gradient.
func AvgPool(op string, t *tensor.Tensor, window []int, options []tensor.AvgPoolOptions) (pool, grad func(t *tensor.Tensor) *tensor.Tensor) {
	return of(t.Device()).AvgPool(op, t, window, options)
}

// AdaptiveAvgPool returns tensor.Tensor.AdaptiveAvgPool for op of tensors like t, and its gradient, which are each other's
// gradient.
func AdaptiveAvgPool(op string, t *tensor.Tensor, size []int) (pool, grad func(t *tensor.Tensor) *tensor.Tensor) {
	return of(t.Device()).AdaptiveAvgPool(op, t, size)
}

// PadGrad returns the gradient of the operand of tensor.Tensor.Pad, of a shape, from that of its result: the sum over the places to which
// each element went. Of PadCircular no width is below 0.
func PadGrad(op string, g *tensor.Tensor, shape []int, widths [][2]int, mode tensor.PadMode) *tensor.Tensor {
	return of(g.Device()).PadGrad(op, g, shape, widths, mode)
}

// Interpolate returns tensor.Tensor.Interpolate for op of tensors like t, and its gradient, which are each other's gradient.
func Interpolate(op string, t *tensor.Tensor, size []int, options []tensor.InterpolateOptions) (run, grad func(t *tensor.Tensor) *tensor.Tensor) {
	return of(t.Device()).Interpolate(op, t, size, options)
}
