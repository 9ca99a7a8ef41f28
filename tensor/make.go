package tensor

import (
	"fmt"
	"math"
	"slices"

	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// Arange returns a tensor of the floats from start up to, but without, end, a step apart: ⌈(end −
// start)/step⌉ of them, or none. It panics with ErrValue for a step of 0 or a number that is not
// finite, and with ErrShape if there are too many.
func Arange(d Device, start, end, step float64) *Tensor {
	return ArangeOf(d, defaultOf(d), start, end, step)
}

// ArangeOf is Arange of a type. It panics with ErrType if start, step or the last element is no
// number of an integer type.
func ArangeOf(d Device, typ Type, start, end, step float64) *Tensor {
	const op = "Arange"
	checkType(op, typ)
	n := math.Ceil((end - start) / step)
	if step == 0 || math.IsNaN(n) || math.IsInf(start, 0) || math.IsInf(end, 0) || math.IsInf(step, 0) {
		panic(&Error{Op: op, Kind: ErrValue, Detail: fmt.Sprintf("from %v to %v in steps of %v: they are finite, and the step is not 0", start, end, step)})
	}
	n = max(n, 0)
	if n > math.MaxInt32 {
		panic(&Error{Op: op, Kind: ErrShape, Detail: fmt.Sprintf("%v elements are more than %d", n, math.MaxInt32)})
	}
	if as := typ.Computed(); as != typ {
		x := ArangeOf(d, as, start, end, step)
		defer x.Free()
		return x.To(typ)
	}
	if typ.Integer() {
		if mustFit(op, Int64, step); n > 0 {
			mustFit(op, typ, start)
			mustFit(op, typ, start+(n-1)*step)
		}
	}
	y := alloc(op, d, typ, []int{int(n)})
	if y.Len() == 0 {
		return y
	}
	if typ.Integer() {
		MapInto(ops.Counted, []kernels.Arg{kernels.LongArg(int64(start)), kernels.LongArg(int64(step))}, []*Tensor{y})
		last := int64(start + (n-1)*step)
		y.boundValues(min(int64(start), last), max(int64(start), last))
		return y
	}
	MapInto(ops.Sequence, []kernels.Arg{kernels.FloatArg(start), kernels.FloatArg(step)}, []*Tensor{y})
	return y
}

func (api) Positions(d Device, first kernels.Arg, n, bound int) *Tensor {
	const op = "Positions"
	mustDevice(op, d)
	y := alloc(op, d, Int32, []int{n})
	if n > 0 {
		MapInto(ops.Counted, []kernels.Arg{first, kernels.LongArg(1)}, []*Tensor{y})
		y.boundValues(0, int64(bound-1))
	}
	return y
}

// Linspace returns n floats from start to end, both included, at equal distances. Of one, it is
// start. It panics with ErrValue for n below 0 or a number that is not finite, and with ErrShape if
// there are too many.
func Linspace(d Device, start, end float64, n int) *Tensor {
	const op = "Linspace"
	if n < 0 || math.IsNaN(end-start) || math.IsInf(end-start, 0) {
		panic(&Error{Op: op, Kind: ErrValue, Detail: fmt.Sprintf("%d numbers from %v to %v: they are 0 or more, and finite", n, start, end)})
	}
	y := alloc(op, d, defaultOf(d), []int{n})
	if n < 2 {
		y.fill(start)
		return y
	}
	step := (end - start) / float64(n-1)
	MapInto(ops.Spaced, []kernels.Arg{kernels.FloatArg(start), kernels.FloatArg(step), kernels.FloatArg(end), kernels.IntArg(n - 1), kernels.IntArg(n / 2)}, []*Tensor{y})
	return y
}

// LinspaceOf is Linspace of a type. Of integers, the numbers are rounded towards 0 as PyTorch rounds them: from start on in
// the first half, from end back in the second. It panics with ErrType if an end is no number of an integer type.
func LinspaceOf(d Device, typ Type, start, end float64, n int) *Tensor {
	const op = "Linspace"
	checkType(op, typ)
	var x *Tensor
	if typ.Integer() {
		if n < 0 {
			panic(&Error{Op: op, Kind: ErrValue, Detail: fmt.Sprintf("%d numbers: they are 0 or more", n)})
		}
		mustFit(op, typ, start)
		mustFit(op, typ, end)
		list := make([]int64, n)
		for i := range list {
			step := (end - start) / float64(max(n-1, 1))
			if i < n/2 || n == 1 {
				list[i] = int64(start + step*float64(i))
			} else {
				list[i] = int64(end - step*float64(n-1-i))
			}
		}
		x = New(d, list)
	} else {
		x = Linspace(d, start, end, n)
	}
	if x.typ == typ {
		return x
	}
	defer x.Free()
	return x.To(typ)
}

// Eye returns the floats [n, m] that are 1 on the diagonal and 0 elsewhere. It panics with ErrShape
// as [Empty] does.
func Eye(d Device, n, m int) *Tensor {
	y := Zeros(d, n, m)
	line := y.Diagonal(0, 0, 1)
	defer line.Free()
	if line.Len() > 0 {
		line.MapInPlace(fn.AddScalar, []float64{1})
	}
	return y
}

func meshgrid(ts ...*Tensor) []*Tensor {
	const op = "Meshgrid"
	checkList(op, ts)
	shape := make([]int, len(ts))
	for i, t := range ts {
		if t.Rank() > 1 {
			misuse(op, ErrShape, "each has one axis, or none", t)
		}
		shape[i] = t.Len()
	}
	checkShape(op, shape)
	grids := make([]*Tensor, len(ts))
	for i, t := range ts {
		own := slices.Repeat([]int{1}, len(ts))
		own[i] = t.Len()
		line := t.Reshape(own...)
		grids[i] = line.Expand(shape...)
		line.Free()
	}
	return grids
}

// OneHot returns for each element of t, of integers, a line of classes numbers, along a new last
// axis, that are 0 but for a 1 at the index that it is: of Int64. It panics with ErrType for
// another type, with ErrValue for classes below 1, with ErrIndex for an element that is not in [0,
// classes), as [Tensor.GatherRows] does, and with ErrShape if the result would have too many axes
// or elements.
func (t *Tensor) OneHot(classes int) *Tensor {
	const op = "OneHot"
	d := check(op, t)
	mustClass(op, t, t)
	if classes < 1 {
		misuse(op, ErrValue, fmt.Sprintf("%d classes: there is 1 or more", classes), t)
	}
	shape := append(slices.Clone(t.shape), classes)
	checkShape(op, shape)
	checkIndices(op, []int{classes}, 0, t, false)
	y := alloc(op, d, Int64, []int{t.Len(), classes})
	if y.Len() > 0 {
		x := t.Reshape(-1, 1)
		MapInto(ops.OneHot, nil, []*Tensor{y}, x)
		x.Free()
	}
	return y.reshaped(shape)
}

// triangle returns t where the column less the row is diagonal or more, or less if not upper, and 0
// elsewhere.
func (t *Tensor) triangle(op string, upper bool, diagonal int) *Tensor {
	d := check(op, t)
	if t.Rank() < 2 {
		misuse(op, ErrShape, "a diagonal is that of matrices: of two axes", t)
	}
	y := alloc(op, d, t.typ.Computed(), t.shape)
	if y.Len() == 0 {
		return y
	}
	rows, cols := t.shape[t.Rank()-2], t.shape[t.Rank()-1]
	box := []int{-1, rows, cols}
	x, to := t.Reshape(box...), y.Reshape(box...)
	defer x.Free()
	defer to.Free()
	if t.typ == Uint64 { // of differences of indices, which may be below 0
		x, to = x.retyped(Int64), to.retyped(Int64)
	}
	f := ops.Lower
	if upper {
		f = ops.Upper
	}
	MapInto(f, []kernels.Arg{kernels.IntArg(min(max(diagonal, -rows), cols))}, []*Tensor{to}, x)
	return y
}
