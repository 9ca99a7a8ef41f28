package ops

import (
	"math"

	"github.com/clgrad/clgrad/internal/cond"
	"github.com/clgrad/clgrad/kernels"
)

// activate applies the function to a row in place.
func activate[T kernels.Real](a kernels.Activation, slope T, row []T) {
	switch a {
	case kernels.ActReLU:
		for i, v := range row {
			if v < 0 {
				row[i] = 0
			}
		}
	case kernels.ActLeakyReLU:
		factor := [2]T{slope, 1}
		for i, v := range row {
			row[i] = v * factor[cond.Positive(v)]
		}
	case kernels.ActTanh:
		for i, v := range row {
			row[i] = T(math.Tanh(float64(v)))
		}
	case kernels.ActSigmoid:
		for i, v := range row {
			row[i] = T(1 / (1 + math.Exp(-float64(v))))
		}
	}
}

// activationGrad writes f'·g to d, from the values y of the function.
func activationGrad[T kernels.Real](a kernels.Activation, slope T, y, g, d []T) {
	switch a {
	case kernels.ActNone:
		copy(d, g)
	case kernels.ActReLU, kernels.ActLeakyReLU:
		factor := [2]T{slope, 1}
		if a == kernels.ActReLU {
			factor[0] = 0
		}
		for i, v := range y {
			f := factor[cond.Positive(v)]
			if v != v {
				f = factor[0]
			}
			d[i] = g[i] * f
		}
	case kernels.ActTanh:
		for i, v := range y {
			d[i] = (1 - v*v) * g[i]
		}
	case kernels.ActSigmoid:
		for i, v := range y {
			d[i] = v * (1 - v) * g[i]
		}
	}
}
