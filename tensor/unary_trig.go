package tensor

import "github.com/clgrad/clgrad/kernels"

// Functions of angles, hyperbolic ones, and their inverses.

// Sin returns sin t, of radians; for sin(ω·t) see [Tensor.Sine].
func (t *Tensor) Sin() *Tensor { return elementwise("Sin", kernels.Sin, nil, t) }

// Cos returns cos t, of radians.
func (t *Tensor) Cos() *Tensor { return elementwise("Cos", kernels.Cos, nil, t) }

// Tan returns tan t, of radians.
func (t *Tensor) Tan() *Tensor { return elementwise("Tan", kernels.Tan, nil, t) }

// Asin returns arcsin t, NaN beyond [−1, 1].
func (t *Tensor) Asin() *Tensor { return elementwise("Asin", kernels.Asin, nil, t) }

// Acos returns arccos t, NaN beyond [−1, 1].
func (t *Tensor) Acos() *Tensor { return elementwise("Acos", kernels.Acos, nil, t) }

// Atan returns arctan t.
func (t *Tensor) Atan() *Tensor { return elementwise("Atan", kernels.Atan, nil, t) }

// Sinh returns sinh t.
func (t *Tensor) Sinh() *Tensor { return elementwise("Sinh", kernels.Sinh, nil, t) }

// Cosh returns cosh t.
func (t *Tensor) Cosh() *Tensor { return elementwise("Cosh", kernels.Cosh, nil, t) }

// Asinh returns arsinh t.
func (t *Tensor) Asinh() *Tensor { return elementwise("Asinh", kernels.Asinh, nil, t) }

// Acosh returns arcosh t, NaN below 1.
func (t *Tensor) Acosh() *Tensor { return elementwise("Acosh", kernels.Acosh, nil, t) }

// Atanh returns artanh t, infinite at −1 and 1, NaN beyond.
func (t *Tensor) Atanh() *Tensor { return elementwise("Atanh", kernels.Atanh, nil, t) }
