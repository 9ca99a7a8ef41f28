package kernels

import (
	"math"

	"github.com/clgrad/clgrad/internal/cond"
)

// Activation is a function that a matrix product applies to its result, in place of a launch of its own.
// Its gradient is known from its value.
type Activation int32

// The activations of activation.cl; the formulas are those of the [Unary] of the same name.
const (
	ActNone Activation = iota
	ActReLU
	ActLeakyReLU // of a slope that is not negative
	ActTanh
	ActSigmoid
)

// Unary returns the function by itself; nil for ActNone.
func (a Activation) Unary() *Unary {
	return [...]*Unary{nil, ReLU, LeakyReLU, Tanh, Sigmoid}[a]
}

// Activate applies the function to a row in place.
func Activate[T Real](a Activation, slope T, row []T) {
	switch a {
	case ActReLU:
		for i, v := range row {
			if v < 0 {
				row[i] = 0
			}
		}
	case ActLeakyReLU:
		factor := [2]T{slope, 1}
		for i, v := range row {
			row[i] = v * factor[cond.Positive(v)]
		}
	case ActTanh:
		for i, v := range row {
			row[i] = T(math.Tanh(float64(v)))
		}
	case ActSigmoid:
		for i, v := range row {
			row[i] = T(1 / (1 + math.Exp(-float64(v))))
		}
	}
}

// ActivationGrad writes f'·g to d, from the values y of the function.
func ActivationGrad[T Real](a Activation, slope T, y, g, d []T) {
	switch a {
	case ActNone:
		copy(d, g)
	case ActReLU, ActLeakyReLU:
		factor := [2]T{slope, 1}
		if a == ActReLU {
			factor[0] = 0
		}
		for i, v := range y {
			f := factor[cond.Positive(v)]
			if v != v {
				f = factor[0]
			}
			d[i] = g[i] * f
		}
	case ActTanh:
		for i, v := range y {
			d[i] = (1 - v*v) * g[i]
		}
	case ActSigmoid:
		for i, v := range y {
			d[i] = v * (1 - v) * g[i]
		}
	}
}
