package autograd

import "github.com/clgrad/clgrad/kernels/fn"

// Whole numbers near one. Integers stay what they are.

// Floor returns the next whole number that is not above x. Gradient: 0.
func (x *Node) Floor() *Node { return elementwise("Floor", fn.Floor, nil, x) }

// Ceil returns the next whole number that is not below x. Gradient: 0.
func (x *Node) Ceil() *Node { return elementwise("Ceil", fn.Ceil, nil, x) }

// Trunc returns the whole part of x: the next whole number towards 0. Gradient: 0.
func (x *Node) Trunc() *Node { return elementwise("Trunc", fn.Trunc, nil, x) }

// Round returns the nearest whole number, the even one of two. Gradient: 0.
func (x *Node) Round() *Node { return elementwise("Round", fn.Round, nil, x) }

// Frac returns x less its whole part, with the sign of x; NaN of infinities. Gradient: g.
func (x *Node) Frac() *Node { return elementwise("Frac", fn.Frac, nil, x) }
