package tensor

import (
	"math"

	"github.com/clgrad/clgrad/internal/intmath"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
)

// foldAxes folds t, as a type, over sorted axes in a fixed order, a run of neighbouring axes at a
// time. p is the exponent of a sum of powers, of which root asks for the root.
func (t *Tensor) foldAxes(op string, kind ops.FoldKind, typ Type, axes []int, root bool, p float64) *Tensor {
	x := t.as(typ)
	defer x.release()
	if len(axes) == 0 { // of a scalar
		axes, x = []int{0}, contiguousOperand{x.Reshape(1), true}
		defer x.release()
	}
	now := kind
	y := x.fold(axes, func(x *Tensor, outer, n, inner int, last bool) *Tensor {
		y := foldLines(op, now, x, outer, n, inner, root && last && now == kind, p)
		root = root && !(last && now == kind)
		now = then(kind)
		return y
	})
	if root {
		takeRoot(y, kind, p)
	}
	return y
}

// takeRoot makes a sum of powers its root.
func takeRoot(y *Tensor, kind ops.FoldKind, p float64) {
	if kind == ops.FoldSquare {
		y.MapInPlace(fn.Sqrt, nil)
	} else {
		y.MapInPlace(fn.Pow, []float64{1 / p})
	}
}

// then returns how the folds of parts are folded.
func then(kind ops.FoldKind) ops.FoldKind {
	if kind == ops.FoldSquare || kind == ops.FoldPow {
		return ops.FoldAbs // they are not negative
	}
	return kind
}

// foldLines folds the middle axis of x [outer, n, inner]: in shares first where that keeps the
// device busy.
func foldLines(op string, kind ops.FoldKind, x *Tensor, outer, n, inner int, root bool, p float64) *Tensor {
	d, typ := x.Device(), x.typ
	if kind == ops.FoldCount {
		typ = Int32
	}
	if intmath.Product([]int{outer, inner}) == 0 {
		return allocOf(op, d, typ, []int{outer, inner})
	}
	shares, shape := foldShape(op, d, outer, n, inner)
	y := allocOf(op, d, typ, []int{outer, shares, inner})
	launch(d, ops.Fold(kind, x.typ.On(d)), x.arg(), y.arg(), shape[0], shape[1], shape[2], shape[3], shape[4], shape[5], shape[6],
		kernels.FlagArg(root && shares == 1), kernels.FloatArg(p))
	if shares == 1 {
		return y
	}
	defer y.Free()
	if kind == ops.FoldCount {
		return foldLines(op, ops.FoldSum, y, outer, shares, inner, false, 0)
	}
	z := foldLines(op, then(kind), y, outer, shares, inner, false, p)
	if root {
		takeRoot(z, kind, p)
	}
	return z
}

func (t *Tensor) prod(axes ...int) *Tensor {
	const op = "Prod"
	check(op, t)
	over, keep := t.reduced(op, axes)
	typ := Real
	if t.typ.integer() {
		typ = Int32
	}
	return t.shaped(t.foldAxes(op, ops.FoldProd, typ, over, false, 0), over, keep)
}

func (t *Tensor) pNorm(p float64, axes ...int) *Tensor {
	const op = "Norm"
	check(op, t)
	over, keep := t.reduced(op, axes)
	kind, root := ops.FoldPow, true
	switch {
	case p != p:
		misuse(op, ErrValue, "the exponent is NaN", t)
	case p == 0:
		count := t.counted(op, over)
		defer count.Free()
		return t.shaped(count.To(Real), over, keep)
	case math.IsInf(p, 0):
		t.mustHave(op, over)
		kind, root, p = map[bool]ops.FoldKind{true: ops.FoldMaxAbs, false: ops.FoldMinAbs}[p > 0], false, 0
	case p == 1:
		kind, root = ops.FoldAbs, false
	case p == 2:
		kind = ops.FoldSquare
	}
	return t.shaped(t.foldAxes(op, kind, Real, over, root, p), over, keep)
}

func (t *Tensor) logSumExp(axes ...int) *Tensor {
	const op = "LogSumExp"
	check(op, t)
	over, keep := t.reduced(op, axes)
	return t.shaped(t.foldAxes(op, ops.FoldLSE, Real, over, false, 0), over, keep)
}

func (t *Tensor) countNonzero(axes ...int) *Tensor {
	const op = "CountNonzero"
	check(op, t)
	over, keep := t.reduced(op, axes)
	return t.shaped(t.counted(op, over), over, keep)
}

// counted counts what is not 0 over sorted axes.
func (t *Tensor) counted(op string, axes []int) *Tensor {
	typ := Real
	if t.typ.integer() {
		typ = Int32
	}
	x := t.as(typ)
	defer x.release()
	if len(axes) == 0 { // of a scalar
		axes, x = []int{0}, contiguousOperand{x.Reshape(1), true}
		defer x.release()
	}
	first := true
	return x.fold(axes, func(x *Tensor, outer, n, inner int, _ bool) *Tensor {
		if first {
			first = false
			return foldLines(op, ops.FoldCount, x, outer, n, inner, false, 0)
		}
		return foldLines(op, ops.FoldSum, x, outer, n, inner, false, 0)
	})
}

func (t *Tensor) any(axes ...int) *Tensor {
	const op = "Any"
	check(op, t)
	over, keep := t.reduced(op, axes)
	n := t.counted(op, over)
	defer n.Free()
	n.MapInPlace(ops.SomeOf, nil)
	return t.shaped(n.To(Uint8), over, keep)
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
	return t.shaped(n.To(Uint8), over, keep)
}
