package nn

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// Activation is a function applied to every element between layers. The zero value is Identity.
type Activation struct {
	f       *kernels.Function // computed in the launch of the layer
	scalars []float64
	custom  func(*autograd.Node) *autograd.Node // or else by itself
}

// Activations without a parameter.
var (
	Identity = Activation{}
	ReLU     = FromFunction(fn.ReLU)
	Tanh     = FromFunction(fn.Tanh)
	Sigmoid  = FromFunction(fn.Sigmoid)
	GELU     = FromFunction(fn.GELU)
	SiLU     = FromFunction(fn.SiLU)
)

// LeakyReLU returns the activation of a slope.
func LeakyReLU(slope float64) Activation { return FromFunction(fn.LeakyReLU, slope) }

// Sine returns the activation sin(ω·x).
func Sine(omega float64) Activation { return FromFunction(fn.Sine, omega) }

// FromFunction returns the activation f(x; scalars), for an element-wise function of one operand,
// one of package kernels or the program's own. A layer computes it in its launch. It panics with
// tensor.ErrValue for no function. Another number of scalars, or a function of more operands, is
// misuse that the layer's first call finds: see [autograd.Node.Linear].
func FromFunction(f *kernels.Function, scalars ...float64) Activation {
	mustBeFunction("FromFunction", f != nil)
	return Activation{f: f, scalars: scalars}
}

// Custom returns any function as an activation. It runs in launches of its own. It panics with
// tensor.ErrValue for no function.
func Custom(f func(*autograd.Node) *autograd.Node) Activation {
	mustBeFunction("Custom", f != nil)
	return Activation{custom: f}
}

func mustBeFunction(op string, is bool) {
	if !is {
		misuse(op, tensor.ErrValue, "the function is nil: Identity is the activation that changes nothing")
	}
}

// Forward returns the function of x, in a launch of its own. In a [Sequential], one that follows a
// [Linear] is computed in the launch of that.
func (a Activation) Forward(x *autograd.Node) *autograd.Node {
	switch {
	case a.custom != nil:
		return a.custom(x)
	case a.f != nil:
		return autograd.Map(a.f, a.scalars, x)
	}
	return x
}

// after returns the activation of what the layer makes of x.
func (a Activation) after(l *Linear, x *autograd.Node) *autograd.Node {
	mustBeMade("Linear", l != nil && (l.Weight != nil || l.Tied != nil || l.Quantized != nil))
	defer inLayer(l.Weight, l.Bias)
	return traced(l, func() *autograd.Node {
		if l.Quantized != nil {
			return a.Forward(quantizedLinear(x, l.Quantized, l.Bias))
		}
		y := x.Linear(l.weight(), l.Bias, a.f, a.scalars...)
		if a.custom != nil {
			y = a.custom(y)
		}
		return y
	})
}
