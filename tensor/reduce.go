package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
)

// sumChunk is the number of elements that one work-group sums in the first pass of a whole sum, and
// sumGroups the most work-groups of it: their partial sums are one work-group's work.
const (
	sumChunk  = 16384
	sumGroups = 256
)

// Keepdims, anywhere in the axes of a reduction, keeps the reduced axes at dimension 1, so that the
// result broadcasts against what was reduced:
//
//	x.Sub(x.Mean(-1, tensor.Keepdims)) // every row minus its mean
//
// With no axis beside it, it keeps all.
const Keepdims = math.MinInt

func (t *Tensor) mean(axes ...int) *Tensor {
	check("Mean", t)
	float := t.as(floatsOf(t))
	defer float.release()
	t = float.Tensor
	count := 1
	over, _ := t.reduced("Mean", axes)
	for _, a := range over {
		count *= t.shape[a]
	}
	if count == 0 {
		y := t.sum("Mean", 1, axes)
		y.fill(math.NaN())
		return y
	}
	return t.sum("Mean", 1/float64(count), axes)
}

// reduced returns the axes of a reduction, counted from the front and sorted, all if none is given,
// and whether Keepdims was there. A scalar has no axes, whether its axis 0 is named or not.
func (t *Tensor) reduced(op string, axes []int) (over []int, keep bool) {
	over = make([]int, 0, max(len(axes), t.Rank()))
	for _, a := range axes {
		switch {
		case a == Keepdims:
			keep = true
		case scalarAxis(t, a):
			over = append(over, 0)
		default:
			over = append(over, axisOf(op, t, a))
		}
	}
	if len(over) == 0 {
		for a := range t.Rank() {
			over = append(over, a)
		}
		return over, keep
	}
	slices.Sort(over)
	for i, a := range over[1:] {
		if a == over[i] {
			misuse(op, ErrAxis, "an axis is named twice", t)
		}
	}
	return over[:min(len(over), t.Rank())], keep
}

// keepDims gives y, a reduction of t over the given axes that nobody else has seen, those axes
// back.
func (t *Tensor) keepDims(y *Tensor, axes []int) *Tensor {
	shape := slices.Clone(t.shape)
	for _, a := range axes {
		shape[a] = 1
	}
	return y.reshaped(shape)
}

func (t *Tensor) sum(op string, scale float64, axes []int) *Tensor {
	check(op, t)
	axes, keep := t.reduced(op, axes)
	y := t.sumOver(op, scale, axes)
	if keep {
		return t.keepDims(y, axes)
	}
	return y
}

func (t *Tensor) sumOver(op string, scale float64, axes []int) *Tensor {
	if t.typ.Integer() {
		return t.sumIntegers(op, axes)
	}
	float := t.as(floatsOf(t))
	defer float.release()
	t = float.Tensor
	if len(axes) == t.Rank() {
		return t.sumAll(op, scale)
	}
	d := t.Device()
	return t.fold(axes, func(x *Tensor, outer, n, inner int, last bool) *Tensor {
		typ, s := t.typ.Computed(), 1.0
		if last {
			typ, s = t.typ, scale
		}
		y := alloc(op, d, typ, []int{outer, inner})
		sumAxis(y, x, outer, n, inner, s, false)
		return y
	})
}

// sumAxis writes scale times the sum over the middle axis of x [outer, n, inner] to y [outer,
// inner], or adds it, if y is not of 16 bits. Where the columns alone would leave most of a GPU idle, runs of
// rows are summed apart first.
func sumAxis(y, x *Tensor, outer, n, inner int, scale float64, accumulate bool) {
	if y.Len() == 0 {
		return
	}
	d := x.Device()
	sum := func(y, x kernels.Arg, outer, n int, scale float64, accumulate bool) {
		launchTyped(d, ops.SumAxis, x, y, kernels.IntArg(outer), kernels.IntArg(n), kernels.IntArg(inner), kernels.FloatArg(scale), kernels.FlagArg(accumulate))
	}
	runs := ops.SumRuns(outer, n, inner, d.Target())
	if runs == 1 {
		sum(y.arg(), x.arg(), outer, n, scale, accumulate)
		return
	}
	length := n / runs
	rest := n - runs*length
	partial := alloc("Sum", d, x.typ.Computed(), []int{runs + min(rest, 1), inner})
	sum(partial.BufferArg(0, runs*inner), x.BufferArg(0, runs*length*inner), runs, length, 1, false)
	if rest > 0 {
		sum(partial.BufferArg(runs*inner, inner), x.BufferArg(runs*length*inner, rest*inner), 1, rest, 1, false)
	}
	sum(y.arg(), partial.arg(), 1, partial.shape[0], scale, accumulate)
	partial.Free()
}

func (t *Tensor) sumAll(op string, scale float64) *Tensor {
	d := check(op, t)
	out := alloc(op, d, t.typ, []int{})
	n := t.Len()
	if n == 0 {
		out.zero()
		return out
	}
	x := t.contiguous()
	defer x.release()
	groups, chunk := sumGrid(n)
	if groups == 1 {
		launchTyped(d, ops.Sum, x.arg(), out.arg(), kernels.IntArg(n), kernels.IntArg(chunk), kernels.FloatArg(scale))
		return out
	}
	partial := alloc(op, d, t.typ.Computed(), []int{groups})
	launchTyped(d, ops.Sum, x.arg(), partial.arg(), kernels.IntArg(n), kernels.IntArg(chunk), kernels.FloatArg(1))
	sumPartial(out, partial, scale)
	return out
}

// sumGrid returns in how many chunks, and of what length, n elements are summed; the last may be
// shorter.
func sumGrid(n int) (groups, chunk int) {
	groups = min((n+sumChunk-1)/sumChunk, sumGroups)
	chunk = ((n+groups-1)/groups + 15) / 16 * 16
	return (n + chunk - 1) / chunk, chunk
}

// sumPartial writes scale times the sum of partial, which it frees, to out.
func sumPartial(out, partial *Tensor, scale float64) {
	n := kernels.IntArg(partial.Len())
	launchTyped(out.Device(), ops.Sum, partial.arg(), out.arg(), n, n, kernels.FloatArg(scale))
	partial.Free()
}

// fold reduces t over sorted axes, a run of neighbouring axes at a time, from the last to the
// first. step reduces the middle of [outer, n, inner]; last says which step is the last. Where
// nothing is left, the numbers may be more than an int of a kernel holds: there is no launch. Over
// no axes, which a scalar has, the result is a copy: it never is t.
func (t *Tensor) fold(axes []int, step func(x *Tensor, outer, n, inner int, last bool) *Tensor) *Tensor {
	cur := t.contiguous()
	dims := slices.Clone(t.shape)
	for len(axes) > 0 {
		hi := len(axes) - 1
		lo := hi
		for lo > 0 && axes[lo-1] == axes[lo]-1 {
			lo--
		}
		from, to := axes[lo], axes[hi]+1
		next := step(cur.Tensor, intmath.Product(dims[:from]), intmath.Product(dims[from:to]), intmath.Product(dims[to:]), lo == 0)
		cur.release()
		dims = slices.Delete(dims, from, to)
		cur = contiguousOperand{next, true}
		axes = axes[:lo]
	}
	if !cur.temporary {
		return t.Copy()
	}
	return cur.reshaped(dims)
}

func (t *Tensor) sumTo(shape ...int) *Tensor {
	d := check("SumTo", t)
	axes := broadcastAxes(t, shape)
	if t.typ.Integer() {
		return t.sumIntegers("SumTo", axes).reshaped(append([]int{}, shape...))
	}
	float := t.as(floatsOf(t))
	defer float.release()
	t = float.Tensor
	if len(axes) == 0 {
		return t.Copy().reshaped(append([]int{}, shape...))
	}
	if len(axes) == t.Rank() {
		return t.sumAll("SumTo", 1).reshaped(append([]int{}, shape...))
	}
	out := t.fold(axes, func(x *Tensor, outer, n, inner int, last bool) *Tensor {
		typ := t.typ.Computed()
		if last {
			typ = t.typ
		}
		y := alloc("SumTo", d, typ, []int{outer, inner})
		sumAxis(y, x, outer, n, inner, 1, false)
		return y
	})
	return out.reshaped(append([]int{}, shape...))
}

// broadcastAxes returns the axes of t along which shape was repeated.
func broadcastAxes(t *Tensor, shape []int) []int {
	if got, ok := Broadcast(shape, t.shape); !ok || !slices.Equal(got, t.shape) {
		panic(&Error{Op: "SumTo", Kind: ErrShape, Shapes: [][]int{t.shape, shape}, Detail: "the second does not broadcast to the first"})
	}
	lead := t.Rank() - len(shape)
	var axes []int
	for a, d := range t.shape {
		if a < lead || shape[a-lead] != d {
			axes = append(axes, a)
		}
	}
	return axes
}

func (api) SumLast(t *Tensor, axes int) *Tensor {
	d := check("Sum", t)
	at := t.Rank() - axes
	y := alloc("Sum", d, t.typ.Computed(), t.shape[:at])
	if t.Len() == 0 {
		y.zero()
		return y
	}
	x := t.contiguous()
	defer x.release()
	sumAxis(y, x.Tensor, y.Len(), intmath.Product(t.shape[at:]), 1, 1, false)
	return y
}

func (api) SumRowsInto(dst, x *Tensor, accumulate bool) {
	writable("SumRowsInto", dst, x)
	if !isSuffix(dst.shape, x.shape) || dst.Len() == 0 {
		misuse("SumRowsInto", ErrShape, "the first is the end of the second", dst, x)
	}
	if mustFloat("SumRowsInto", dst); accumulate {
		mustBeWide("SumRowsInto", dst)
	}
	disjoint("SumRowsInto", dst, x)
	cx := x.stored(dst.typ.Computed())
	defer cx.release()
	sumAxis(dst, cx.Tensor, 1, x.Len()/dst.Len(), dst.Len(), 1, accumulate)
}

// extreme is the maximum or the minimum over axes, of t's type.
func (t *Tensor) extreme(op string, kind defs.FoldKind, axes []int) *Tensor {
	check(op, t)
	axes, keep := t.reduced(op, axes)
	t.mustHave(op, axes)
	if !t.typ.Integer() {
		return t.shaped(t.foldAxes(op, kind, axes, 0), axes, keep)
	}
	x := t.asOuterNInner(t.typ, axes)
	defer x.release()
	values, indices := x.extremeIntegers(op, kind == defs.FoldMin)
	indices.Free()
	return t.shaped(values, axes, keep)
}

func (api) MaxGrad(x, y, g *Tensor, axes ...int) *Tensor {
	const op = "Max gradient"
	d := check(op, x, y, g)
	axes, _ = x.reduced(op, axes)
	left := x.Len()
	for _, a := range axes {
		if x.shape[a] == 0 {
			misuse(op, ErrShape, "of no elements there is no maximum", x, y, g)
		}
		left /= x.shape[a]
	}
	if y.Len() != left || g.Len() != left {
		misuse(op, ErrShape, fmt.Sprintf("there are %d maxima", left), x, y, g)
	}
	if len(axes) == 0 {
		return g.Copy()
	}
	first, last := axes[0], axes[len(axes)-1]
	if last-first+1 > len(axes) { // others lie between: bring these together at the end
		var order []int
		for a := range x.Rank() {
			if !slices.Contains(axes, a) {
				order = append(order, a)
			}
		}
		stay := len(order)
		order = append(order, axes...)
		undo := make([]int, len(order))
		for i, a := range order {
			undo[a] = i
		}
		moved := x.Transpose(order...)
		defer moved.Free()
		part := api{}.MaxGrad(moved, y, g, sequence(stay, x.Rank())...)
		defer part.Free()
		return part.Transpose(undo...)
	}
	typ := floats(x)
	cx, cy, cg := x.stored(typ), y.stored(typ), g.stored(typ)
	defer cx.release()
	defer cy.release()
	defer cg.release()
	out := alloc(op, d, x.rowType(typ), x.shape)
	if out.Len() == 0 {
		return out
	}
	n, inner := intmath.Product(x.shape[first:last+1]), intmath.Product(x.shape[last+1:])
	launch(d, ops.ExtremeGrad.Of(cx.arg(), cy.arg(), cg.arg(), out.arg()).For(n, inner, d.Target()), cx.arg(), cy.arg(), cg.arg(), out.arg(),
		kernels.IntArg(intmath.Product(x.shape[:first])), kernels.IntArg(n), kernels.IntArg(inner))
	return out
}

// sequence returns the numbers in [from, to).
func sequence(from, to int) []int {
	s := make([]int, to-from)
	for i := range s {
		s[i] = from + i
	}
	return s
}
