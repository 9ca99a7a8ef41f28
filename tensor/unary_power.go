package tensor

import "github.com/clgrad/clgrad/kernels/fn"

// Powers, logarithms and the error function.

// Exp2 returns 2ᵗ.
func (t *Tensor) Exp2() *Tensor { return elementwise("Exp2", fn.Exp2, nil, t) }

// Expm1 returns eᵗ − 1, exact near 0.
func (t *Tensor) Expm1() *Tensor { return elementwise("Expm1", fn.Expm1, nil, t) }

// Log2 returns the logarithm of t to base 2, −Inf at 0 and NaN below.
func (t *Tensor) Log2() *Tensor { return elementwise("Log2", fn.Log2, nil, t) }

// Log10 returns the logarithm of t to base 10, −Inf at 0 and NaN below.
func (t *Tensor) Log10() *Tensor { return elementwise("Log10", fn.Log10, nil, t) }

// Log1p returns ln(1 + t), exact near 0, −Inf at −1 and NaN below.
func (t *Tensor) Log1p() *Tensor { return elementwise("Log1p", fn.Log1p, nil, t) }

// Rsqrt returns 1/√t, Inf at 0 and NaN below.
func (t *Tensor) Rsqrt() *Tensor { return elementwise("Rsqrt", fn.Rsqrt, nil, t) }

// Reciprocal returns 1/t, infinite at 0.
func (t *Tensor) Reciprocal() *Tensor { return elementwise("Reciprocal", fn.Reciprocal, nil, t) }

// Erf returns the error function, 2/√π times the integral of exp(−u²) over u from 0 to t.
func (t *Tensor) Erf() *Tensor { return elementwise("Erf", fn.Erf, nil, t) }

// Erfc returns 1 − erf t, exact where that is small.
func (t *Tensor) Erfc() *Tensor { return elementwise("Erfc", fn.Erfc, nil, t) }

// ErfInv returns the inverse of the error function, infinite at −1 and 1 and NaN beyond. Source:
// Wichura, "Algorithm AS 241", Applied Statistics 37, 1988.
func (t *Tensor) ErfInv() *Tensor { return elementwise("ErfInv", fn.ErfInv, nil, t) }
