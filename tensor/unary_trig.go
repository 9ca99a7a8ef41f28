package tensor

import "github.com/clgrad/clgrad/kernels/fn"

// Functions of angles, hyperbolic ones, and their inverses.

// Sin returns sin t, of radians; for sin(ω·t) see [Tensor.Sine].
func (t *Tensor) Sin() *Tensor { return elementwise("Sin", fn.Sin, nil, t) }

// Cos returns cos t, of radians.
func (t *Tensor) Cos() *Tensor { return elementwise("Cos", fn.Cos, nil, t) }

// Tan returns tan t, of radians.
func (t *Tensor) Tan() *Tensor { return elementwise("Tan", fn.Tan, nil, t) }

// Asin returns arcsin t, NaN beyond [−1, 1].
func (t *Tensor) Asin() *Tensor { return elementwise("Asin", fn.Asin, nil, t) }

// Acos returns arccos t, NaN beyond [−1, 1].
func (t *Tensor) Acos() *Tensor { return elementwise("Acos", fn.Acos, nil, t) }

// Atan returns arctan t.
func (t *Tensor) Atan() *Tensor { return elementwise("Atan", fn.Atan, nil, t) }

// Sinh returns sinh t.
func (t *Tensor) Sinh() *Tensor { return elementwise("Sinh", fn.Sinh, nil, t) }

// Cosh returns cosh t.
func (t *Tensor) Cosh() *Tensor { return elementwise("Cosh", fn.Cosh, nil, t) }

// Asinh returns arsinh t.
func (t *Tensor) Asinh() *Tensor { return elementwise("Asinh", fn.Asinh, nil, t) }

// Acosh returns arcosh t, NaN below 1.
func (t *Tensor) Acosh() *Tensor { return elementwise("Acosh", fn.Acosh, nil, t) }

// Atanh returns artanh t, infinite at −1 and 1, NaN beyond.
func (t *Tensor) Atanh() *Tensor { return elementwise("Atanh", fn.Atanh, nil, t) }
