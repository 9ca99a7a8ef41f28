package autograd

import "github.com/clgrad/clgrad/kernels"

// Add returns x + y. It panics with tensor.ErrShape unless the shapes broadcast. Gradients: g, g.
func (x *Node) Add(y *Node) *Node { return element(kernels.Add, nil, x, y) }

// Sub returns x − y. It panics with tensor.ErrShape unless the shapes broadcast. Gradients: g, −g.
func (x *Node) Sub(y *Node) *Node { return element(kernels.Sub, nil, x, y) }

// Mul returns x·y, element by element. It panics with tensor.ErrShape unless the shapes broadcast. Gradients: y·g,
// x·g.
func (x *Node) Mul(y *Node) *Node { return element(kernels.Mul, nil, x, y) }

// Div returns x/y. It panics with tensor.ErrShape unless the shapes broadcast. Gradients: g/y, −x/y/y·g.
func (x *Node) Div(y *Node) *Node { return element(kernels.Div, nil, x, y) }

// Minimum returns the lesser of x and y; a NaN wins. It panics with tensor.ErrShape unless the shapes broadcast.
// Gradient: g to the lesser, halves at ties; with a NaN, g to both, so that it is not lost on the way back.
func (x *Node) Minimum(y *Node) *Node { return element(kernels.Min, nil, x, y) }

// Maximum returns the greater of x and y; a NaN wins. It panics with tensor.ErrShape unless the shapes broadcast.
// Gradient: g to the greater, halves at ties; with a NaN, g to both.
func (x *Node) Maximum(y *Node) *Node { return element(kernels.Max, nil, x, y) }
