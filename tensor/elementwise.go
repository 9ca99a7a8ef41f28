package tensor

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/kernels"
)

// Unary returns f(t) element by element, with the scalars a and b that f takes: what the methods of the functions
// call, for a row of the table that has none. Of integers it is of their type, if f stays among them, and the scalars
// must be numbers of that type, else it panics with ErrType; otherwise it is of reals.
func (t *Tensor) Unary(f *kernels.Unary, a, b float64) *Tensor {
	inTable("Unary", f != nil)
	d := check(f.Name, t)
	typ := Real
	if t.typ.integer() && f.Int != nil {
		typ = t.typ
	}
	x := t.as(typ)
	defer x.done()
	cx := x.contiguous()
	defer cx.done()
	y := allocOf(f.Name, d, typ, t.shape)
	unaryTo(d, f.Name, f, y, cx.Tensor, a, b)
	return y
}

// UnaryInPlace sets t to f(t) element by element, with the scalars a and b that f takes: the in-place form of every
// function of one tensor. It panics with ErrType if f(t) is of another type than t, or t is Float16, and with ErrValue
// if t repeats elements.
func (t *Tensor) UnaryInPlace(f *kernels.Unary, a, b float64) {
	inTable("UnaryInPlace", f != nil)
	if check(f.InPlace, t); !t.Contiguous() {
		t.through(f.InPlace, func(c *Tensor) { c.UnaryInPlace(f, a, b) })
		return
	}
	d := writable(f.InPlace, t)
	if !t.typ.integer() || f.Int == nil {
		mustReal(f.InPlace, t)
	}
	unaryTo(d, f.InPlace, f, t, t, a, b)
}

// inTable panics for a function that is nil.
func inTable(op string, is bool) {
	if !is {
		panic(&Error{Op: op, Kind: ErrValue, Detail: "the function is nil: take one of the table in package kernels"})
	}
}

func unaryTo(d Device, op string, f *kernels.Unary, y, x *Tensor, a, b float64) {
	y.typ.must(op, a)
	y.typ.must(op, b)
	launch(d, f.Forward().Of(y.typ.On(d)), x.arg(), y.arg(), kernels.I(x.Len()), y.typ.number(a), y.typ.number(b))
}

// UnaryGrad returns f'(x)·g, where y = f(x). x or y may be nil if f does not use it. It panics with ErrShape unless all
// three have one shape, and with ErrValue if one that f uses is nil.
func UnaryGrad(f *kernels.Unary, x, y, g *Tensor, a, b float64) *Tensor {
	inTable("UnaryGrad", f != nil)
	op := f.Name + " gradient"
	d := check(op, g)
	cg := g.reals()
	defer cg.done()
	used := func(t *Tensor, uses bool) operand {
		if t == nil && !uses {
			return operand{cg.Tensor, false} // the kernel does not read it
		}
		check(op, t, g)
		if !slices.Equal(t.shape, g.shape) {
			misuse(op, ErrShape, "the gradient has another shape", t, g)
		}
		return t.reals()
	}
	cx, cy := used(x, f.UsesX), used(y, f.UsesY)
	defer cx.done()
	defer cy.done()
	out := alloc(op, d, g.shape)
	launch(d, f.Gradient(), cx.arg(), cy.arg(), cg.arg(), out.arg(), kernels.I(g.Len()), kernels.R(a), kernels.R(b))
	return out
}

// Binary returns f(x, y) element by element: what the methods of the functions call. The shapes broadcast by NumPy's
// rule. Of integers it is of the higher of their types, but for division, else of reals. It panics with ErrShape if the
// shapes do not broadcast.
func Binary(f *kernels.Binary, x, y *Tensor) *Tensor {
	inTable("Binary", f != nil)
	d := check(f.Name, x, y)
	shape, ok := Broadcast(x.shape, y.shape)
	if !ok {
		misuse(f.Name, ErrShape, "", x, y)
	}
	typ := higher(x.typ, y.typ)
	if f.Int == nil {
		typ = Real
	}
	out := allocOf(f.Name, d, typ, shape)
	binaryTo(f, out, x, y)
	return out
}

// BinaryInPlace sets t to f(t, y) element by element; y broadcasts to t's shape, and may share elements with t. It is the
// in-place form of every function of two tensors. It panics with ErrShape if y does not broadcast, with ErrType if
// f(t, y) is of another type than t, and with ErrValue if t repeats elements.
func (t *Tensor) BinaryInPlace(f *kernels.Binary, y *Tensor) {
	inTable("BinaryInPlace", f != nil)
	check(f.InPlace, t, y)
	if !broadcastsTo(y.shape, t.shape) {
		misuse(f.InPlace, ErrShape, "", t, y)
	}
	if typ := higher(t.typ, y.typ); t.typ != Real && (typ != t.typ || f.Int == nil) {
		misuse(f.InPlace, ErrType, fmt.Sprintf("%v and %v do not give %v: convert the destination with To(tensor.Real), or the operand", t.typ, y.typ, t.typ), t, y)
	}
	if !t.Contiguous() {
		t.through(f.InPlace, func(c *Tensor) { c.BinaryInPlace(f, y) })
		return
	}
	writable(f.InPlace, t, y)
	from := apart(t, y)
	defer from.done()
	binaryTo(f, t, t, from.Tensor)
}

// binaryTo writes f(x, y) to out, which has the broadcast shape and is contiguous.
func binaryTo(f *kernels.Binary, out, x, y *Tensor) {
	d, n := out.Device(), out.Len()
	if n == 0 {
		return
	}
	tx, ty := x.as(out.typ), y.as(out.typ)
	defer tx.done()
	defer ty.done()
	x, y = tx.Tensor, ty.Tensor
	cx := x.spread(out.shape)
	defer cx.done()
	switch {
	case out.typ != Real:
		cy, cols := operand{y, false}, y.Len()
		if cols != 1 && !(y.Contiguous() && isSuffix(y.shape, out.shape)) {
			cy, cols = y.spread(out.shape), n
		}
		defer cy.done()
		launch(d, f.Row().Of(out.typ.On(d)), cx.arg(), cy.arg(), out.arg(), kernels.I(n/cols), kernels.I(cols))
	case y.Len() == 1 && n > 1:
		launch(d, f.First(), cx.arg(), y.arg(), out.arg(), kernels.I(n))
	case y.Len() < n && y.Contiguous() && isSuffix(y.shape, out.shape):
		launch(d, f.Row(), cx.arg(), y.arg(), out.arg(), kernels.I(n/y.Len()), kernels.I(y.Len()))
	default:
		cy := y.spread(out.shape)
		defer cy.done()
		launch(d, f.Forward(), cx.arg(), cy.arg(), out.arg(), kernels.I(n))
	}
}

// BinaryGradX returns ∂f/∂x·g, of g's shape, to which x and y broadcast.
func BinaryGradX(f *kernels.Binary, x, y, g *Tensor) *Tensor {
	return binaryGrad(f, f.GradX(), x, y, g)
}

// BinaryGradY returns ∂f/∂y·g, of g's shape, to which x and y broadcast.
func BinaryGradY(f *kernels.Binary, x, y, g *Tensor) *Tensor {
	return binaryGrad(f, f.GradY(), x, y, g)
}

func binaryGrad(f *kernels.Binary, k *kernels.Kernel, x, y, g *Tensor) *Tensor {
	op := f.Name + " gradient"
	d := check(op, g)
	cg := g.reals()
	defer cg.done()
	cx, cy := operand{cg.Tensor, false}, operand{cg.Tensor, false} // not read if f is linear
	if !f.Linear {
		check(op, x, y, g)
		tx, ty := x.as(Real), y.as(Real)
		defer tx.done()
		defer ty.done()
		x, y = tx.Tensor, ty.Tensor
		cx, cy = x.spread(g.shape), y.spread(g.shape)
	}
	defer cx.done()
	defer cy.done()
	out := alloc(op, d, g.shape)
	launch(d, k, cx.arg(), cy.arg(), cg.arg(), out.arg(), kernels.I(g.Len()))
	return out
}

// spread returns t as a contiguous operand of the given shape, to which it broadcasts.
func (t *Tensor) spread(shape []int) operand {
	if slices.Equal(t.shape, shape) {
		return t.contiguous()
	}
	v := t.Expand(shape...)
	defer v.Free()
	return operand{v.Copy(), true}
}

// isSuffix reports whether shape, leading ones aside, is the end of whole.
func isSuffix(shape, whole []int) bool {
	for len(shape) > 0 && shape[0] == 1 {
		shape = shape[1:]
	}
	return len(shape) <= len(whole) && slices.Equal(shape, whole[len(whole)-len(shape):])
}
