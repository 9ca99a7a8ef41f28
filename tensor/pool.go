package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

// MaxPoolOptions are those of [Tensor.MaxPool]. Its lists have a number for each axis, or one for
// all.
type MaxPoolOptions struct {
	Stride   []int // from one window to the next; nil: the window, so that they lie side by side
	Padding  []int // positions before and behind the input that windows may reach, at most half a window; nil: none
	Dilation []int // from one position of a window to the next; nil: 1
	Ceil     bool  // whether a last window may reach beyond the end
}

// AvgPoolOptions are those of [Tensor.AvgPool]. Its lists have a number for each axis, or one for
// all.
type AvgPoolOptions struct {
	Stride  []int // from one window to the next; nil: the window, so that they lie side by side
	Padding []int // zeros before and behind the input, at most half a window; nil: none
	Ceil    bool  // whether a last window may reach beyond the end
	// ExcludePadding leaves the zeros of the padding out of the number that a sum is divided by.
	// What lies behind these is never counted.
	ExcludePadding bool
	Divisor        int // what sums are divided by; 0: the positions of the window
}

func (t *Tensor) maxPool(window []int, options ...MaxPoolOptions) *Tensor {
	const op = "MaxPool"
	check(op, t)
	p := maxPooling(op, t, window, options)
	if t.typ.Integer() {
		return p.maxIntegers(op, t, len(window))
	}
	y, _ := p.max(op, t, false)
	return y
}

func (t *Tensor) avgPool(window []int, options ...AvgPoolOptions) *Tensor {
	const op = "AvgPool"
	check(op, t)
	p := avgPooling(op, t, window, options)
	return p.avg(op, t, false)
}

func (t *Tensor) adaptiveMaxPool(size []int) *Tensor {
	const op = "AdaptiveMaxPool"
	check(op, t)
	p := adaptivePooling(op, t, size)
	y, _ := p.max(op, t, false)
	return y
}

func (t *Tensor) adaptiveMaxPoolWithIndex(size []int) (values, indices *Tensor) {
	const op = "AdaptiveMaxPoolWithIndex"
	check(op, t)
	p := adaptivePooling(op, t, size)
	values, at := p.max(op, t, true)
	return values, at.asIndices()
}

func (t *Tensor) adaptiveAvgPool(size []int) *Tensor {
	const op = "AdaptiveAvgPool"
	check(op, t)
	p := adaptivePooling(op, t, size)
	return p.avg(op, t, false)
}

// pooling is the numbers of a pooling, and the shapes of its operand and result.
type pooling struct {
	ops.PoolShape
	in, out          []int
	padding, divisor int // of means: whether the padding counts, and what sums are divided by if that is not 0
}

func (t *Tensor) poolMax(op string, window []int, options []MaxPoolOptions, indices bool) (values, at *Tensor) {
	check(op, t)
	values, at = maxPooling(op, t, window, options).max(op, t, true)
	return values, at.asIndices()
}

func maxPooling(op string, t *Tensor, window []int, options []MaxPoolOptions) *pooling {
	o := only(op, options)
	return regularPooling(op, t, window, o.Stride, o.Padding, o.Dilation, o.Ceil)
}

func avgPooling(op string, t *Tensor, window []int, options []AvgPoolOptions) *pooling {
	o := only(op, options)
	p := regularPooling(op, t, window, o.Stride, o.Padding, nil, o.Ceil)
	if o.Divisor < 0 || o.Divisor > math.MaxInt32 {
		panic(&Error{Op: op, Kind: ErrValue, Detail: fmt.Sprintf("the Divisor is %d: it is positive and at most %d, or 0 for none", o.Divisor, math.MaxInt32)})
	}
	if p.divisor = o.Divisor; !o.ExcludePadding {
		p.padding = 1
	}
	return p
}

// pooled begins a pooling over the last axes of t.
func pooled(op string, t *Tensor, axes int, what string) *pooling {
	p := &pooling{in: t.shape, PoolShape: ops.PoolShape{OutSize: [3]int{1, 1, 1}}}
	p.out, p.Outer, p.Size = lastAxes(op, t, axes, what)
	return p
}

// lastAxes returns the shape of t before its last axes, how many elements that has, and the sizes
// of these axes.
func lastAxes(op string, t *Tensor, axes int, what string) (lead []int, outer int, size [3]int) {
	if axes < 1 || axes > 3 || axes > t.Rank() {
		misuse(op, ErrShape, fmt.Sprintf("the %s has a number for each of 1, 2 or 3 axes of the tensor, not %d", what, axes), t)
	}
	at := t.Rank() - axes
	return slices.Clone(t.shape[:at]), intmath.Product(t.shape[:at]), spatial(t.shape[at:])
}

func regularPooling(op string, t *Tensor, window, stride, padding, dilation []int, ceil bool) *pooling {
	axes := len(window)
	p := pooled(op, t, axes, "window")
	p.Kernel = perAxis(op, "the window", window, axes, 1, 1)
	p.Stride, p.Pad, p.Dilation = p.Kernel, perAxis(op, "Padding", padding, axes, 0, 0), perAxis(op, "Dilation", dilation, axes, 1, 1)
	if stride != nil {
		p.Stride = perAxis(op, "Stride", stride, axes, 1, 1)
	}
	for a := 3 - axes; a < 3; a++ {
		reach := p.Dilation[a]*(p.Kernel[a]-1) + 1
		over := p.Size[a] + 2*p.Pad[a] - reach
		switch {
		case 2*p.Pad[a] > p.Kernel[a]:
			panic(&Error{Op: op, Kind: ErrValue, Detail: fmt.Sprintf("a Padding of %d is more than half a window of %d", p.Pad[a], p.Kernel[a])})
		case p.Size[a] == 0 || over < 0 && !(ceil && over+p.Stride[a] > 0):
			misuse(op, ErrShape, fmt.Sprintf("along axis %d, windows reach over %d positions, and the input has %d with its padding", t.Rank()-3+a, reach, p.Size[a]+2*p.Pad[a]), t)
		}
		p.OutSize[a] = over/p.Stride[a] + 1
		if ceil {
			p.OutSize[a] = (over+p.Stride[a]-1)/p.Stride[a] + 1
			if (p.OutSize[a]-1)*p.Stride[a] >= p.Size[a]+p.Pad[a] {
				p.OutSize[a]--
			}
		}
		if p.Dilation[a] > 1 && !p.reaches(a) {
			misuse(op, ErrShape, fmt.Sprintf("along axis %d, a window has no position within the input", t.Rank()-3+a), t)
		}
		p.out = append(p.out, p.OutSize[a])
	}
	return p
}

// reaches reports whether every window has a position within the input along an axis. Those in its
// middle have.
func (p *pooling) reaches(a int) bool {
	for q := range p.OutSize[a] {
		first, inside := q*p.Stride[a]-p.Pad[a], false
		if first >= 0 && first < p.Size[a] {
			continue
		}
		for j := 0; j < p.Kernel[a] && !inside; j++ {
			at := first + j*p.Dilation[a]
			inside = at >= 0 && at < p.Size[a]
		}
		if !inside {
			return false
		}
	}
	return true
}

func adaptivePooling(op string, t *Tensor, size []int) *pooling {
	axes := len(size)
	p := pooled(op, t, axes, "size")
	p.OutSize = perAxis(op, "the size", size, axes, 1, 0)
	p.Kernel, p.Stride, p.Dilation, p.Adaptive = [3]int{1, 1, 1}, [3]int{1, 1, 1}, [3]int{1, 1, 1}, true
	for a := 3 - axes; a < 3; a++ {
		if p.Size[a] == 0 {
			misuse(op, ErrShape, fmt.Sprintf("axis %d has no position", t.Rank()-3+a), t)
		}
		p.out = append(p.out, p.OutSize[a])
	}
	return p
}

// max returns the maxima of t, and their places if asked for.
func (p *pooling) max(op string, t *Tensor, indices bool) (values, places *Tensor) {
	d := t.Device()
	typ := t.rowType(floats(t))
	values = alloc(op, d, p.storedType(typ, p.out, d), p.out)
	if indices {
		places = alloc(op, d, Int32, p.out)
	}
	if values.Len() == 0 {
		return values, places
	}
	x := t.dense(typ)
	defer x.release()
	unused := places
	if !indices { // any buffer of ints, and no element of it: the kernel does not write it
		unused = alloc(op, d, Int32, []int{0})
		defer unused.Free()
	}
	list := d.core().list()
	args := p.Args(append(list.args, x.arg(), values.arg(), unused.arg()))
	list.launchTyped(d, p.PoolKernel(ops.MaxPool), append(args, kernels.FlagArg(indices)))
	return values, places
}

// maxIntegers returns the maxima of regular windows of integers, which floats need not hold, one axis after the other.
func (p *pooling) maxIntegers(op string, t *Tensor, axes int) *Tensor {
	least, _ := integerRange(t.typ)
	return composed(op, func() *Tensor {
		x := t
		for a := 3 - axes; a < 3; a++ {
			reach := p.Dilation[a]*(p.Kernel[a]-1) + 1
			widths := make([][2]int, 3-a)
			widths[0] = [2]int{p.Pad[a], (p.OutSize[a]-1)*p.Stride[a] + reach - p.Size[a] - p.Pad[a]}
			x = x.Pad(widths, PadOptions{Value: least}).Unfold(t.Rank()-3+a, reach, p.Stride[a]).Step(-1, p.Dilation[a]).Max(-1)
		}
		return x
	}, t)
}

// maxGrad returns the gradient of the operand for the gradient g of maxima in some places.
func (p *pooling) maxGrad(op string, g, places *Tensor) *Tensor {
	d := g.Device()
	typ := g.rowType(floats(g))
	y := alloc(op, d, p.storedType(typ, p.in, d), p.in)
	if y.Len() == 0 {
		return y
	}
	if g.Len() == 0 {
		y.zero()
		return y
	}
	cg := g.dense(typ)
	defer cg.release()
	list := d.core().list()
	list.launchTyped(d, p.PoolKernel(ops.MaxPoolGrad), p.Args(append(list.args, cg.arg(), places.arg(), y.arg())))
	return y
}

// avg returns the means of t, or if gradient the gradient of the operand for that of the means.
func (p *pooling) avg(op string, t *Tensor, gradient bool) *Tensor {
	d, shape, k := t.Device(), p.out, ops.AvgPool
	if gradient {
		shape, k = p.in, ops.AvgPoolGrad
	}
	typ := t.rowType(floats(t))
	y := alloc(op, d, p.storedType(typ, shape, d), shape)
	if y.Len() == 0 {
		return y
	}
	if t.Len() == 0 {
		y.zero()
		return y
	}
	x := t.dense(typ)
	defer x.release()
	if !gradient && p.global() { // rows fill a device, windows do not, and their sums are pairwise
		n := intmath.Product(p.Size[:])
		by := n
		if p.divisor > 0 {
			by = p.divisor
		}
		sumAxis(y, x.Tensor, p.Outer, n, 1, 1/float64(by), false)
		return y
	}
	list := d.core().list()
	args := p.Args(append(list.args, x.arg(), y.arg()))
	list.launchTyped(d, p.PoolKernel(k), append(args, kernels.IntArg(p.padding), kernels.IntArg(p.divisor)))
	return y
}

// storedType returns the type in which kernels that read typ store a result of a shape: that, or float32, which is
// rounded by a launch of its own, if it is one of 16 bits and its rows are too long.
func (p *pooling) storedType(typ Type, shape []int, d Device) Type {
	if !ops.PoolStores(shape[len(shape)-1], d.Target()) {
		return typ.Computed()
	}
	return typ
}

// global reports whether the one window is the whole of the pooled axes.
func (p *pooling) global() bool {
	return p.OutSize == [3]int{1, 1, 1} && (p.Adaptive || p.Kernel == p.Size && p.Pad == [3]int{})
}

func (api) MaxPool(op string, t *Tensor, window []int, options []MaxPoolOptions, indices bool) (values, places *Tensor, grad func(g *Tensor) *Tensor) {
	check(op, t)
	p := maxPooling(op, t, window, options)
	if t.typ.Integer() && !indices {
		return p.maxIntegers(op, t, len(window)), nil, nil
	}
	return pooledMax(op, t, p, indices)
}

func (api) AdaptiveMaxPool(op string, t *Tensor, size []int, indices bool) (values, places *Tensor, grad func(g *Tensor) *Tensor) {
	check(op, t)
	return pooledMax(op, t, adaptivePooling(op, t, size), indices)
}

func pooledMax(op string, t *Tensor, p *pooling, indices bool) (values, places *Tensor, grad func(g *Tensor) *Tensor) {
	values, places = p.max(op, t, indices)
	return values, places, func(g *Tensor) *Tensor { return p.maxGrad(op+" gradient", g, places) }
}

func (api) AvgPool(op string, t *Tensor, window []int, options []AvgPoolOptions) (pool, grad func(t *Tensor) *Tensor) {
	check(op, t)
	return avgOf(op, avgPooling(op, t, window, options))
}

func (api) AdaptiveAvgPool(op string, t *Tensor, size []int) (pool, grad func(t *Tensor) *Tensor) {
	check(op, t)
	return avgOf(op, adaptivePooling(op, t, size))
}

func avgOf(op string, p *pooling) (pool, grad func(t *Tensor) *Tensor) {
	return func(t *Tensor) *Tensor { return p.avg(op, t, false) }, func(g *Tensor) *Tensor { return p.avg(op+" gradient", g, true) }
}
