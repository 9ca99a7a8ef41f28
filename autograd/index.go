package autograd

import "github.com/clgrad/clgrad/tensor"

// part returns a view of x that reads each element at most once, and its gradient: g in that place, 0 elsewhere.
func (x *Node) part(op string, view func(t *tensor.Tensor) *tensor.Tensor) (y *tensor.Tensor, back func(*tensor.Tensor, *Grads)) {
	return view(x.use(op)), func(g *tensor.Tensor, in *Grads) {
		in.Fill(0, func(dst *tensor.Tensor) {
			dst.ZeroInPlace()
			place := view(dst)
			place.SetInPlace(g)
			place.Free()
		})
	}
}

// Slice returns elements [from, to) along an axis; numbers below 0 count from the end, and to may be tensor.End.
// It shares x's storage. It panics with tensor.ErrAxis and tensor.ErrIndex as [tensor.Tensor.Slice] does.
// Gradient: g in that place, 0 elsewhere.
func (x *Node) Slice(axis, from, to int) *Node {
	y, back := x.part("Slice", func(t *tensor.Tensor) *tensor.Tensor { return t.Slice(axis, from, to) })
	return Apply("Slice", y, []*Node{x}, back)
}

// Step returns every step-th element along an axis, beginning with the first. It shares x's storage. It panics with
// tensor.ErrAxis, and with tensor.ErrValue for a step below 1. Gradient: g in those places, 0 elsewhere.
func (x *Node) Step(axis, step int) *Node {
	y, back := x.part("Step", func(t *tensor.Tensor) *tensor.Tensor { return t.Step(axis, step) })
	return Apply("Step", y, []*Node{x}, back)
}

// Select returns the elements with one index along an axis, which disappears; both may count from the end. It
// shares x's storage. It panics with tensor.ErrAxis and tensor.ErrIndex. Gradient: g in that place, 0 elsewhere.
func (x *Node) Select(axis, index int) *Node {
	y, back := x.part("Select", func(t *tensor.Tensor) *tensor.Tensor { return t.Select(axis, index) })
	return Apply("Select", y, []*Node{x}, back)
}
