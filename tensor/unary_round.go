package tensor

import "github.com/clgrad/clgrad/kernels/fn"

// Whole numbers near one. Integers stay what they are.

// Floor returns the next whole number that is not above t.
func (t *Tensor) Floor() *Tensor { return elementwise("Floor", fn.Floor, nil, t) }

// Ceil returns the next whole number that is not below t.
func (t *Tensor) Ceil() *Tensor { return elementwise("Ceil", fn.Ceil, nil, t) }

// Trunc returns the whole part of t: the next whole number towards 0.
func (t *Tensor) Trunc() *Tensor { return elementwise("Trunc", fn.Trunc, nil, t) }

// Round returns the nearest whole number, the even one of two.
func (t *Tensor) Round() *Tensor { return elementwise("Round", fn.Round, nil, t) }

// Frac returns t less its whole part, with the sign of t; NaN of infinities.
func (t *Tensor) Frac() *Tensor { return elementwise("Frac", fn.Frac, nil, t) }
