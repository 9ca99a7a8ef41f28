package nn

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels"
)

// Activation is a function applied to every element between layers. The zero value is Identity.
type Activation struct {
	fused  kernels.Activation // computed in the launch of the layer
	slope  float64
	custom func(*autograd.Node) *autograd.Node // or else by itself
}

// Activations without a parameter.
var (
	Identity = Activation{}
	ReLU     = Activation{fused: kernels.ActReLU}
	Tanh     = Activation{fused: kernels.ActTanh}
	Sigmoid  = Activation{fused: kernels.ActSigmoid}
)

// LeakyReLU returns the activation of a slope.
func LeakyReLU(slope float64) Activation {
	if !(slope >= 0) { // a fused activation must tell its derivative by its value
		return Custom(func(x *autograd.Node) *autograd.Node { return x.LeakyReLU(slope) })
	}
	return Activation{fused: kernels.ActLeakyReLU, slope: slope}
}

// Sine returns the activation sin(ω·x).
func Sine(omega float64) Activation {
	return Custom(func(x *autograd.Node) *autograd.Node { return x.Sine(omega) })
}

// Custom returns any function as an activation. It runs in launches of its own.
func Custom(f func(*autograd.Node) *autograd.Node) Activation { return Activation{custom: f} }

// after returns the activation of what the layer makes of x.
func (a Activation) after(l *Linear, x *autograd.Node) *autograd.Node {
	y := x.Linear(l.W, l.B, a.fused, a.slope)
	if a.custom != nil {
		y = a.custom(y)
	}
	return y
}
