package autograd

import "github.com/clgrad/clgrad/kernels/fn"

// Functions of angles, hyperbolic ones, and their inverses.

// Sin returns sin x, of radians; for sin(ω·x) see [Node.Sine]. Gradient: cos(x)·g.
func (x *Node) Sin() *Node { return elementwise("Sin", fn.Sin, nil, x) }

// Cos returns cos x, of radians. Gradient: −sin(x)·g.
func (x *Node) Cos() *Node { return elementwise("Cos", fn.Cos, nil, x) }

// Tan returns tan x, of radians. Gradient: (1 + tan²x)·g.
func (x *Node) Tan() *Node { return elementwise("Tan", fn.Tan, nil, x) }

// Asin returns arcsin x, NaN beyond [−1, 1]. Gradient: g/√(1 − x²), infinite at −1 and 1.
func (x *Node) Asin() *Node { return elementwise("Asin", fn.Asin, nil, x) }

// Acos returns arccos x, NaN beyond [−1, 1]. Gradient: −g/√(1 − x²), infinite at −1 and 1.
func (x *Node) Acos() *Node { return elementwise("Acos", fn.Acos, nil, x) }

// Atan returns arctan x. Gradient: g/(1 + x²).
func (x *Node) Atan() *Node { return elementwise("Atan", fn.Atan, nil, x) }

// Sinh returns sinh x. Gradient: cosh(x)·g.
func (x *Node) Sinh() *Node { return elementwise("Sinh", fn.Sinh, nil, x) }

// Cosh returns cosh x. Gradient: sinh(x)·g.
func (x *Node) Cosh() *Node { return elementwise("Cosh", fn.Cosh, nil, x) }

// Asinh returns arsinh x. Gradient: g/√(1 + x²).
func (x *Node) Asinh() *Node { return elementwise("Asinh", fn.Asinh, nil, x) }

// Acosh returns arcosh x, NaN below 1. Gradient: g/√(x² − 1), infinite at 1 and NaN below.
func (x *Node) Acosh() *Node { return elementwise("Acosh", fn.Acosh, nil, x) }

// Atanh returns artanh x, infinite at −1 and 1, NaN beyond. Gradient: g/(1 − x²).
func (x *Node) Atanh() *Node { return elementwise("Atanh", fn.Atanh, nil, x) }
