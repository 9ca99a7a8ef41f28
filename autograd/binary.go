package autograd

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// binary records z = f(x, y) with the gradients of the kernel table. The shapes broadcast by NumPy's
// rule; the gradients are summed back by Grads.
func binary(f *kernels.Binary, x, y *Node) *Node {
	xv, yv := x.use(f.Name), y.use(f.Name)
	z := tensor.Binary(f, xv, yv)
	var saved []*tensor.Tensor
	if !f.Linear {
		saved = []*tensor.Tensor{xv, yv}
	}
	return Apply(f.Name, z, []*Node{x, y}, func(g *tensor.Tensor, in *Grads) {
		switch {
		case !in.Need(0):
		case f.PassX:
			in.Share(0, g)
		default:
			in.Give(0, tensor.BinaryGradX(f, xv, yv, g))
		}
		switch {
		case !in.Need(1):
		case f.PassY:
			in.Share(1, g)
		default:
			in.Give(1, tensor.BinaryGradY(f, xv, yv, g))
		}
	}, saved...)
}

// Add returns x + y. It panics with tensor.ErrShape unless the shapes broadcast. Gradients: g, g.
func (x *Node) Add(y *Node) *Node { return binary(kernels.Add, x, y) }

// Sub returns x − y. It panics with tensor.ErrShape unless the shapes broadcast. Gradients: g, −g.
func (x *Node) Sub(y *Node) *Node { return binary(kernels.Sub, x, y) }

// Mul returns x·y, element by element. It panics with tensor.ErrShape unless the shapes broadcast. Gradients: y·g,
// x·g.
func (x *Node) Mul(y *Node) *Node { return binary(kernels.Mul, x, y) }

// Div returns x/y. It panics with tensor.ErrShape unless the shapes broadcast. Gradients: g/y, −x/y/y·g.
func (x *Node) Div(y *Node) *Node { return binary(kernels.Div, x, y) }

// Minimum returns the lesser of x and y; a NaN wins. It panics with tensor.ErrShape unless the shapes broadcast.
// Gradient: g to the lesser, halves at ties; with a NaN, g to both, so that it is not lost on the way back.
func (x *Node) Minimum(y *Node) *Node { return binary(kernels.Min, x, y) }

// Maximum returns the greater of x and y; a NaN wins. It panics with tensor.ErrShape unless the shapes broadcast.
// Gradient: g to the greater, halves at ties; with a NaN, g to both.
func (x *Node) Maximum(y *Node) *Node { return binary(kernels.Max, x, y) }
