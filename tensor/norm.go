package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
)

func (t *Tensor) layerNorm(axis int, w, b *Tensor, eps float64) *Tensor {
	y, mean, rstd := t.rowNorm("LayerNorm", axis, w, b, eps, ops.NormCentred)
	mean.Free()
	rstd.Free()
	return y
}

func (t *Tensor) rmsNorm(axis int, w *Tensor, eps float64) *Tensor {
	y, mean, rstd := t.rowNorm("RMSNorm", axis, w, nil, eps, 0)
	mean.Free()
	rstd.Free()
	return y
}

func (api) RowNorm(op string, t *Tensor, axis int, w, b *Tensor, eps float64, centred bool) (y, mean, rstd *Tensor) {
	form := 0
	if centred {
		form = ops.NormCentred
	}
	return t.rowNorm(op, axis, w, b, eps, form)
}

// rowNorm normalises over an axis and those after it. mean and rstd have an element for each row.
func (t *Tensor) rowNorm(op string, axis int, w, b *Tensor, eps float64, form int) (y, mean, rstd *Tensor) {
	check(op, t)
	a := axisOf(op, t, axis)
	for _, p := range []*Tensor{w, b} {
		if p != nil {
			check(op, t, p)
			if !slices.Equal(p.shape, t.shape[a:]) {
				misuse(op, ErrShape, fmt.Sprintf("weights and biases have the shape %v of what is normalised", t.shape[a:]), t, p)
			}
		}
	}
	return t.norm(op, intmath.Product(t.shape[:a]), intmath.Product(t.shape[a:]), 1, 1, w, b, eps, form)
}

// norm normalises rows of n elements: see ops.Norm. mean and rstd are of the type that is computed in.
func (t *Tensor) norm(op string, rows, n, sets, span int, w, b *Tensor, eps float64, form int) (y, mean, rstd *Tensor) {
	d := t.Device()
	typ, of := floats(t, w, b), floatsOf(t, w, b)
	x := t.stored(typ)
	defer x.release()
	list := d.core().list()
	args := append(list.args, x.arg())
	for i, p := range []*Tensor{w, b} {
		if p != nil {
			form |= []int{ops.NormWeights, ops.NormBiases}[i]
			c := p.stored(typ)
			defer c.release()
			args = append(args, c.arg())
		}
	}
	y = alloc(op, d, of, t.shape)
	if y.Len() == 0 {
		return y, ZerosOf(d, typ, 0), ZerosOf(d, typ, 0)
	}
	mean, rstd = alloc(op, d, typ, []int{rows}), alloc(op, d, typ, []int{rows})
	args = append(args, y.arg(), mean.arg(), rstd.arg(), kernels.IntArg(rows), kernels.IntArg(n), kernels.IntArg(1))
	if w != nil || b != nil {
		args = append(args, kernels.IntArg(sets), kernels.IntArg(span))
	}
	list.launch(d, ops.Norms[form].Of(args...).For(n, 1, d.Target()), append(args, kernels.FloatArg(eps)))
	return y, mean, rstd
}

func (api) NormGrad(x, g, w, mean, rstd *Tensor, sets, span int, centred, parameters bool) (dx, dw, db *Tensor) {
	const op = "norm gradient"
	d := check(op, x, g, mean, rstd)
	typ := floats(x, g, w)
	dx = alloc(op, d, x.rowType(typ), x.shape)
	if dx.Len() == 0 {
		return dx, nil, nil
	}
	rows := mean.Len()
	n, form := dx.Len()/rows, 0
	if centred {
		form = ops.NormCentred
	}
	operands := []*Tensor{x, g}
	if w != nil {
		form |= ops.NormWeights
		operands = append(operands, w)
	}
	list := d.core().list()
	args := list.args
	for _, t := range append(operands, mean, rstd) {
		c := t.stored(typ)
		args = append(args, c.arg())
		defer c.release()
	}
	args = append(args, dx.arg())
	run := ops.NormRun(rows, n, d.Target())
	if parameters {
		form |= ops.NormParameters
		runs := (rows + run - 1) / run
		dw, db = alloc(op, d, typ, []int{runs, n}), alloc(op, d, typ, []int{runs, n})
		args = append(args, dw.arg(), db.arg())
	}
	args = append(args, kernels.IntArg(rows), kernels.IntArg(n), kernels.IntArg(1))
	if parameters {
		args = append(args, kernels.IntArg(run))
	}
	if w != nil {
		args = append(args, kernels.IntArg(sets), kernels.IntArg(span))
	}
	list.launch(d, ops.NormGrads[form].Of(args...).For(n, 1, d.Target()), args)
	return dx, dw, db
}

func (api) NormSums(x, g, mean, rstd *Tensor, n, columns int) (sg, sh *Tensor) {
	chunk, parts := ops.FoldShape(1, n, columns, x.Device().Target())
	return normSums(ops.NormSums, min(n, chunk), columns, x, g, mean, rstd, []int{1, parts, columns}, 1, n, columns, chunk)
}

func (api) NormSumsOfSets(x, g, mean, rstd *Tensor, rows, n, span int) (sg, sh *Tensor) {
	return normSums(ops.NormSumsOfSets, n, 1, x, g, mean, rstd, []int{rows, 1, 1}, rows, n, 1, mean.Len(), span)
}

// normSums launches a kernel of the sums of a norm, for lines of some elements, whose results have a shape.
func normSums(k *ops.RowKernel, elements, inner int, x, g, mean, rstd *Tensor, shape []int, sizes ...int) (sg, sh *Tensor) {
	const op = "norm gradient"
	d := check(op, x, g, mean, rstd)
	list, typ := d.core().list(), floats(x, g)
	args := list.args
	for _, t := range []*Tensor{x, g, mean, rstd} {
		c := t.stored(typ)
		args = append(args, c.arg())
		defer c.release()
	}
	sg, sh = alloc(op, d, typ, shape), alloc(op, d, typ, shape)
	args = append(args, sg.arg(), sh.arg())
	for _, n := range sizes {
		args = append(args, kernels.IntArg(n))
	}
	list.launch(d, k.Of(args...).For(elements, inner, d.Target()), args)
	return sg, sh
}

func (t *Tensor) groupNorm(groups int, w, b *Tensor, eps float64) *Tensor {
	y, mean, rstd := api{}.GroupNorm("GroupNorm", t, groups, w, b, eps)
	mean.Free()
	rstd.Free()
	return y
}

func (t *Tensor) instanceNorm(w, b *Tensor, eps float64) *Tensor {
	const op = "InstanceNorm"
	check(op, t)
	t.mustHaveChannels(op, w, b)
	y, mean, rstd := api{}.GroupNorm(op, t, t.shape[1], w, b, eps)
	mean.Free()
	rstd.Free()
	return y
}

func (api) GroupNorm(op string, t *Tensor, groups int, w, b *Tensor, eps float64) (y, mean, rstd *Tensor) {
	check(op, t)
	t.mustHaveChannels(op, w, b)
	channels := t.shape[1]
	if channels > 0 && (groups < 1 || channels%groups != 0) {
		misuse(op, ErrShape, fmt.Sprintf("%d channels do not fall into %d groups", channels, groups), t)
	}
	span := intmath.Product(t.shape[2:])
	return t.norm(op, t.shape[0]*groups, channels/max(groups, 1)*span, max(groups, 1), span, w, b, eps, ops.NormCentred)
}

// mustHaveChannels panics unless t is [batch, channels, …], and w and b have an element for each
// channel, or are nil.
func (t *Tensor) mustHaveChannels(op string, perChannel ...*Tensor) {
	if t.Rank() < 2 {
		misuse(op, ErrShape, "its axes are the batch, the channels, and others after those", t)
	}
	for _, p := range perChannel {
		if p != nil {
			check(op, t, p)
			if p.Rank() != 1 || p.shape[0] != t.shape[1] {
				misuse(op, ErrShape, fmt.Sprintf("there is one element for each of %d channels", t.shape[1]), t, p)
			}
		}
	}
}

// BatchNormOptions say where the statistics of a batch norm come from. The zero value: from the
// batch.
type BatchNormOptions struct {
	// Mean and Var are running statistics, contiguous tensors of floats with an element for each
	// channel, which training writes in place; or both are nil. They have no gradient.
	Mean, Var *Tensor
	// Momentum is the part that a batch has of the running statistics; 0 is PyTorch's 0.1.
	Momentum float64
	// Eval takes the running statistics for those of the batch, and leaves them as they are.
	Eval bool
}

func (t *Tensor) batchNorm(w, b *Tensor, eps float64, options ...BatchNormOptions) *Tensor {
	y, mean, rstd := api{}.BatchNorm(t, w, b, eps, options)
	mean.Free()
	rstd.Free()
	return y
}

func (api) BatchNorm(t, w, b *Tensor, eps float64, options []BatchNormOptions) (y, mean, rstd *Tensor) {
	const op = "BatchNorm"
	check(op, t)
	o := only(op, options)
	t.mustHaveChannels(op, w, b, o.Mean, o.Var)
	o.check(t, w, b)
	if o.Eval {
		variance := o.Var.as(o.Var.typ.Computed())
		defer variance.release()
		mean, rstd = o.Mean.wide(), Map(ops.InverseDeviation, []float64{eps}, variance.Tensor)
	} else {
		mean, rstd = t.channelStatistics(floats(t, w, b), eps, o)
	}
	operands, affine := make([]*Tensor, 3, 5), [2]int{}
	operands[0] = t
	for i, p := range []*Tensor{w, b} {
		if p != nil {
			affine[i] = 1
			operands = append(operands, p)
		}
	}
	operands[1], operands[2] = mean, rstd
	for i, p := range operands[1:] {
		operands[1+i] = p.perChannel(t.Rank())
		defer operands[1+i].Free()
	}
	f := ops.BatchNorms[affine[0]][affine[1]]
	if of := floatsOf(t, w, b); of.Half() { // the statistics are wider
		y = alloc(op, t.Device(), of, t.shape)
		MapInto(f.Alone(), nil, []*Tensor{y}, operands...)
	} else {
		y = Map(f, nil, operands...)
	}
	return y, mean, rstd
}

// check panics unless the options can be those of a batch norm of t with weights and biases, which
// may be nil.
func (o *BatchNormOptions) check(t, w, b *Tensor) {
	const op = "BatchNorm"
	if (o.Mean == nil) != (o.Var == nil) || o.Eval && o.Mean == nil {
		misuse(op, ErrValue, "running statistics are Mean and Var, and evaluation needs them", t)
	}
	if !(o.Momentum >= 0 && o.Momentum <= 1) {
		misuse(op, ErrValue, fmt.Sprintf("the momentum is %v: it is in [0, 1]", o.Momentum), t)
	}
	if o.Momentum == 0 {
		o.Momentum = 0.1
	}
	if o.Mean == nil {
		return
	}
	for _, p := range []*Tensor{o.Mean, o.Var} {
		mustFloat(op, p)
		if !p.IsContiguous() {
			misuse(op, ErrValue, "running statistics must be contiguous", p)
		}
	}
	if o.Eval {
		return
	}
	for _, p := range []*Tensor{o.Var, t, w, b} { // which are read after the statistics are written
		if p != nil {
			disjoint(op, o.Mean, p)
		}
	}
	for _, p := range []*Tensor{t, w, b} {
		if p != nil {
			disjoint(op, o.Var, p)
		}
	}
}

// perChannel returns a view of a vector that broadcasts along the axes after the second of a tensor
// of that rank.
func (t *Tensor) perChannel(rank int) *Tensor {
	shape := []int{t.Len()}
	for len(shape) < rank-1 {
		shape = append(shape, 1)
	}
	return t.Reshape(shape...)
}

// channelStatistics returns the mean of each channel of t, and 1/√(variance + eps), in a type, and
// moves the running statistics.
func (t *Tensor) channelStatistics(typ Type, eps float64, o BatchNormOptions) (mean, rstd *Tensor) {
	const op = "BatchNorm"
	d := t.Device()
	outer, channels, inner := t.shape[0], t.shape[1], intmath.Product(t.shape[2:])
	mean, rstd = alloc(op, d, typ, []int{channels}), alloc(op, d, typ, []int{channels})
	if t.Len() == 0 {
		mean.zero()
		rstd.zero()
		return mean, rstd
	}
	if outer*inner == 1 {
		misuse(op, ErrShape, "one element has no variance: train on more, or evaluate", t)
	}
	// A channel falls into parts of chunk elements, which are lines of [lines, n, columns] or pieces of
	// them: its runs of inner elements or, where those are one element, some of the batch.
	lines, n, columns := outer*channels, inner, 1
	chunk, parts, last := inner, outer, inner
	if inner == 1 {
		lines, n, columns = 1, outer, channels
		chunk, parts = ops.FoldShape(lines, n, columns, d.Target())
		last = n - (parts-1)*chunk
	}
	x := t.stored(typ)
	defer x.release()
	shape := []int{parts, channels}
	means, squares, off := alloc(op, d, typ, shape), alloc(op, d, typ, shape), alloc(op, d, typ, shape)
	variance := alloc(op, d, typ, []int{channels})
	defer means.Free()
	defer squares.Free()
	defer off.Free()
	defer variance.Free()
	launch(d, ops.Moments.Of(x.arg()).For(min(n, chunk), columns, d.Target()), x.arg(), means.arg(), squares.arg(), off.arg(),
		kernels.IntArg(lines), kernels.IntArg(n), kernels.IntArg(columns), kernels.IntArg(chunk), kernels.FloatArg(1))
	launch(d, ops.BatchStatistics.For(parts, channels, d.Target()), means.arg(), squares.arg(), off.arg(),
		mean.arg(), rstd.arg(), variance.arg(),
		kernels.IntArg(1), kernels.IntArg(parts), kernels.IntArg(channels), kernels.FloatArg(float64(outer*inner)),
		kernels.FloatArg(float64(last)), kernels.FloatArg(float64(chunk)), kernels.FloatArg(eps))
	if o.Mean != nil {
		o.Mean.MapInPlace(ops.Moved, []float64{o.Momentum}, mean)
		o.Var.MapInPlace(ops.Moved, []float64{o.Momentum}, variance)
	}
	return mean, rstd
}
