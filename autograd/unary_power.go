package autograd

import "github.com/clgrad/clgrad/kernels/fn"

// Powers, logarithms and the error function.

// Exp2 returns 2ˣ. Gradient: 2ˣ·ln 2·g.
func (x *Node) Exp2() *Node { return elementwise("Exp2", fn.Exp2, nil, x) }

// Expm1 returns eˣ − 1, exact near 0. Gradient: eˣ·g.
func (x *Node) Expm1() *Node { return elementwise("Expm1", fn.Expm1, nil, x) }

// Log2 returns the logarithm of x to base 2, −Inf at 0 and NaN below. Gradient: g/(x·ln 2).
func (x *Node) Log2() *Node { return elementwise("Log2", fn.Log2, nil, x) }

// Log10 returns the logarithm of x to base 10, −Inf at 0 and NaN below. Gradient: g/(x·ln 10).
func (x *Node) Log10() *Node { return elementwise("Log10", fn.Log10, nil, x) }

// Log1p returns ln(1 + x), exact near 0, −Inf at −1 and NaN below. Gradient: g/(1 + x).
func (x *Node) Log1p() *Node { return elementwise("Log1p", fn.Log1p, nil, x) }

// Rsqrt returns 1/√x, Inf at 0 and NaN below. Gradient: −x^(−3/2)/2·g.
func (x *Node) Rsqrt() *Node { return elementwise("Rsqrt", fn.Rsqrt, nil, x) }

// Reciprocal returns 1/x, infinite at 0. Gradient: −g/x².
func (x *Node) Reciprocal() *Node { return elementwise("Reciprocal", fn.Reciprocal, nil, x) }

// Erf returns the error function, 2/√π times the integral of exp(−u²) over u from 0 to x. Gradient:
// 2/√π·exp(−x²)·g.
func (x *Node) Erf() *Node { return elementwise("Erf", fn.Erf, nil, x) }

// Erfc returns 1 − erf x, exact where that is small. Gradient: −2/√π·exp(−x²)·g.
func (x *Node) Erfc() *Node { return elementwise("Erfc", fn.Erfc, nil, x) }

// ErfInv returns the inverse of the error function, infinite at −1 and 1 and NaN beyond. Gradient:
// √π/2·exp(y²)·g of the result y. Source: Wichura, "Algorithm AS 241", Applied Statistics 37, 1988.
func (x *Node) ErfInv() *Node { return elementwise("ErfInv", fn.ErfInv, nil, x) }
