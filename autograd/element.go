package autograd

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// Map returns f of the operands, element by element, with the gradients of f, for a function that has no method: see
// [tensor.Map], as which it panics. An operand that f does not use may be nil.
func Map(f *kernels.Function, scalars []float64, operands ...*Node) *Node {
	if f == nil {
		panic(&tensor.Error{Pkg: "autograd", Op: "Map", Kind: tensor.ErrValue, Detail: "the function is nil: take one of those in package kernels, or make one"})
	}
	return element(f, scalars, operands...)
}

// element records f of operands. The shapes broadcast by NumPy's rule; the gradients are summed back by Grads.
func element(f *kernels.Function, scalars []float64, operands ...*Node) *Node {
	n := len(operands)
	values := make([]*tensor.Tensor, n+2) // those of the operands, of the result, and its gradient: what a gradient reads
	for i, x := range operands {
		if x != nil || f.Uses(i) {
			values[i] = x.use(f.Name)
		}
	}
	y := tensor.Map(f, scalars, values[:n]...)
	values[n] = y
	var saved []*tensor.Tensor
	for k, v := range values[:n+1] {
		for i := range n {
			if f.Uses(i) && f.Gradient(i).Uses(k) {
				saved = append(saved, v)
				break
			}
		}
	}
	return Apply(f.Name, y, operands, func(g *tensor.Tensor, in *Grads) {
		for i := range n {
			if !f.Uses(i) || !in.Need(i) {
				continue
			}
			switch d := f.Gradient(i); {
			case d.Is(n + 1):
				in.Share(i, g)
			case d.IsZero():
				in.Give(i, tensor.Zeros(g.Device(), g.Shape()...))
			default:
				at := append([]*tensor.Tensor{}, values...)
				at[n+1] = g
				in.Give(i, tensor.Map(d, scalars, at...))
			}
		}
	}, saved...)
}
