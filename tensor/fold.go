package tensor

import (
	"math"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
	"github.com/clgrad/clgrad/kernels/fn"
)

// foldAxes folds t, as floats, over sorted axes in a fixed order, a run of neighbouring axes at a time. p is
// the exponent of a power. The result is of the type of floats that t gives.
func (t *Tensor) foldAxes(op string, kind defs.FoldKind, axes []int, p float64) *Tensor {
	typ, of := floats(t), floatsOf(t)
	x := t.as(of)
	defer x.release()
	if len(axes) == 0 { // of a scalar
		axes, x = []int{0}, contiguousOperand{x.Reshape(1), true}
		defer x.release()
	}
	part, join := foldParts(kind)
	next := part
	y := x.fold(axes, func(x *Tensor, outer, n, inner int, last bool) *Tensor {
		now := next
		if next = join; last && now == part { // the only run
			now, kind = kind, part
		}
		to := typ
		if last && rootOf(kind) == nil {
			to = of
		}
		return foldLines(op, now, x, to, outer, n, inner, p)
	})
	return takeRoot(op, y, kind, p, of)
}

// foldParts returns the fold of parts of lines, and that of their results.
func foldParts(kind defs.FoldKind) (part, join defs.FoldKind) {
	switch kind {
	case defs.FoldNorm:
		return defs.FoldSquare, defs.FoldSum
	case defs.FoldPowerNorm:
		return defs.FoldPower, defs.FoldSum
	case defs.FoldAbs, defs.FoldSquare, defs.FoldPower, defs.FoldCount:
		return kind, defs.FoldSum
	case defs.FoldMaxAbs:
		return kind, defs.FoldMax
	case defs.FoldMinAbs:
		return kind, defs.FoldMin
	}
	return kind, kind
}

// rootOf returns what makes a sum of powers the norm that a kind is, nil if it is none.
func rootOf(kind defs.FoldKind) *kernels.Function {
	switch kind {
	case defs.FoldNorm:
		return fn.Sqrt
	case defs.FoldPowerNorm:
		return fn.Pow
	}
	return nil
}

// takeRoot returns the norm that a kind is, in a type, of a sum of powers, which it takes over; the sum itself
// if the kind is none.
func takeRoot(op string, y *Tensor, kind defs.FoldKind, p float64, typ Type) *Tensor {
	root := rootOf(kind)
	if root == nil {
		return y
	}
	var scalars []float64
	if kind == defs.FoldPowerNorm {
		scalars = []float64{1 / p}
	}
	if y.typ == typ {
		y.MapInPlace(root, scalars)
		return y
	}
	defer y.Free()
	z := alloc(op, y.Device(), typ, y.shape)
	mapTo(root, y.typ, z, scalars, []*Tensor{y})
	return z
}

// foldLines folds the middle axis of x [outer, n, inner] to a type: in parts first where that keeps the device
// busy. Counts are of Int64.
func foldLines(op string, kind defs.FoldKind, x *Tensor, typ Type, outer, n, inner int, p float64) *Tensor {
	d := x.Device()
	if kind == defs.FoldCount {
		typ = Int64
	}
	if x.typ.Integer() { // counts are added up
		return foldIntegerLines(op, ops.IntsSum, x, outer, n, inner)
	}
	if intmath.Product([]int{outer, inner}) == 0 {
		return alloc(op, d, typ, []int{outer, inner})
	}
	if n == 0 {
		checkShape(op, []int{outer, inner})
	}
	chunk, parts := ops.FoldShape(outer, n, inner, d.Target())
	const exact = 1 << 24
	if kind == defs.FoldCount && chunk > exact { // floats count up to it
		chunk, parts = exact, intmath.CeilDiv(n, exact)
	}
	if kind == defs.FoldCount && parts > 1 {
		typ = Int32
	}
	now, join, of := kind, kind, typ
	if parts > 1 {
		now, join = foldParts(kind)
		of = typ.Computed()
	}
	y := alloc(op, d, of, []int{outer, parts, inner})
	fold(x, y, now, outer, n, inner, chunk, p)
	if parts == 1 {
		return y
	}
	defer y.Free()
	to := typ
	if rootOf(kind) != nil {
		to = of
	}
	return takeRoot(op, foldLines(op, join, y, to, outer, parts, inner, p), kind, p, typ)
}

// fold launches a fold of the middle axis of x [outer, n, inner], in parts of chunk elements, to y.
func fold(x, y *Tensor, kind defs.FoldKind, outer, n, inner, chunk int, p float64) {
	d := x.Device()
	list := d.core().list()
	args := append(list.args, x.arg(), y.arg())
	args = append(args, kernels.IntArg(outer), kernels.IntArg(n), kernels.IntArg(inner), kernels.IntArg(chunk))
	if kind == defs.FoldPower || kind == defs.FoldPowerNorm {
		args = append(args, kernels.FloatArg(p))
	}
	k := ops.Fold(kind).Of(x.arg(), y.arg()).For(min(n, chunk), inner, d.Target())
	if y.typ == Int64 { // counts
		k = k.LongIndices(1)
	}
	list.launch(d, k, args)
}

func (t *Tensor) prod(axes ...int) *Tensor {
	const op = "Prod"
	check(op, t)
	over, keep := t.reduced(op, axes)
	if t.typ.Integer() {
		return t.shaped(t.foldIntegers(op, ops.IntsProd, over), over, keep)
	}
	return t.shaped(t.foldAxes(op, defs.FoldProd, over, 0), over, keep)
}

func (t *Tensor) pNorm(p float64, axes ...int) *Tensor {
	const op = "Norm"
	check(op, t)
	over, keep := t.reduced(op, axes)
	kind := defs.FoldPowerNorm
	switch {
	case p != p:
		misuse(op, ErrValue, "the exponent is NaN", t)
	case p == 0:
		count := t.counted(op, over)
		defer count.Free()
		return t.shaped(count.To(floatsOf(t)), over, keep)
	case math.IsInf(p, 0):
		t.mustHave(op, over)
		kind = map[bool]defs.FoldKind{true: defs.FoldMaxAbs, false: defs.FoldMinAbs}[p > 0]
	case p == 1:
		kind = defs.FoldAbs
	case p == 2:
		kind = defs.FoldNorm
	}
	return t.shaped(t.foldAxes(op, kind, over, p), over, keep)
}

func (t *Tensor) logSumExp(axes ...int) *Tensor {
	const op = "LogSumExp"
	check(op, t)
	over, keep := t.reduced(op, axes)
	return t.shaped(t.foldAxes(op, defs.FoldLogSumExp, over, 0), over, keep)
}

func (t *Tensor) countNonzero(axes ...int) *Tensor {
	const op = "CountNonzero"
	check(op, t)
	over, keep := t.reduced(op, axes)
	return t.shaped(t.counted(op, over), over, keep)
}

// counted counts what is not 0 over sorted axes, in Int64.
func (t *Tensor) counted(op string, axes []int) *Tensor {
	if t.typ.Integer() {
		return t.foldIntegers(op, ops.IntsCount, axes)
	}
	return t.foldAxes(op, defs.FoldCount, axes, 0)
}

func (t *Tensor) any(axes ...int) *Tensor {
	const op = "Any"
	check(op, t)
	over, keep := t.reduced(op, axes)
	n := t.counted(op, over)
	defer n.Free()
	n.MapInPlace(ops.SomeOf, nil)
	return t.shaped(n.To(Bool), over, keep)
}

func (t *Tensor) all(axes ...int) *Tensor {
	const op = "All"
	check(op, t)
	over, keep := t.reduced(op, axes)
	all := 1
	for _, a := range over {
		all = intmath.Product([]int{all, t.shape[a]})
	}
	n := t.counted(op, over)
	defer n.Free()
	if n.Len() > 0 { // else the dimensions may be any
		n.MapInPlace(ops.WholeOf, []float64{float64(all)})
	}
	return t.shaped(n.To(Bool), over, keep)
}
