package kernels

// Activation is a function that a matrix product applies to its result, in place of a launch of its own.
// Its gradient is known from its value.
type Activation int32

// The activations of activation.cl; the formulas are those of the [Function] of the same name.
const (
	ActNone Activation = iota
	ActReLU
	ActLeakyReLU // of a slope that is not negative
	ActTanh
	ActSigmoid
)

// Function returns the function by itself; nil for ActNone.
func (a Activation) Function() *Function {
	return [...]*Function{nil, ReLU, LeakyReLU, Tanh, Sigmoid}[a]
}
