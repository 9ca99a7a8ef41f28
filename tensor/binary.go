package tensor

import "github.com/clgrad/clgrad/kernels"

// The functions of two tensors, element by element. They have the names and values of those of autograd.Node. The
// shapes broadcast by NumPy's rule; the result is contiguous and shares nothing with t and y. All panic with
// ErrShape where the shapes do not broadcast.

// Add returns t + y. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Add(y *Tensor) *Tensor { return Map(kernels.Add, nil, t, y) }

// Sub returns t − y. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Sub(y *Tensor) *Tensor { return Map(kernels.Sub, nil, t, y) }

// Mul returns t·y, element by element. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Mul(y *Tensor) *Tensor { return Map(kernels.Mul, nil, t, y) }

// Div returns t/y. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Div(y *Tensor) *Tensor { return Map(kernels.Div, nil, t, y) }

// Minimum returns the lesser of t and y; a NaN wins. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Minimum(y *Tensor) *Tensor { return Map(kernels.Min, nil, t, y) }

// Maximum returns the greater of t and y; a NaN wins. It panics with ErrShape unless the shapes broadcast.
func (t *Tensor) Maximum(y *Tensor) *Tensor { return Map(kernels.Max, nil, t, y) }
