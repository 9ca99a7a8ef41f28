package nn

import (
	"math"

	"github.com/clgrad/clgrad/tensor"
)

// Initializer draws a parameter of the given shape for a layer with fanIn inputs and fanOut outputs.
type Initializer func(d tensor.Device, rng *tensor.RNG, fanIn, fanOut int, shape ...int) *tensor.Tensor

// NormalFanIn is normal with mean 0 and variance 1/fanIn. Source: LeCun, Bottou, Orr, Müller, "Efficient
// BackProp", 1998, §4.6.
func NormalFanIn(d tensor.Device, rng *tensor.RNG, fanIn, _ int, shape ...int) *tensor.Tensor {
	return rng.Normal(d, 0, 1/math.Sqrt(float64(max(fanIn, 1))), shape...)
}

// Normal returns the initializer that is normal with mean 0 and a standard deviation.
func Normal(sd float64) Initializer {
	return func(d tensor.Device, rng *tensor.RNG, _, _ int, shape ...int) *tensor.Tensor {
		return rng.Normal(d, 0, sd, shape...)
	}
}

// Kaiming returns the initializer that is normal with variance 2/((1+slope²)·fanIn), for layers followed
// by a leaky ReLU of that slope; 0 for ReLU. Source: He, Zhang, Ren, Sun, "Delving Deep into Rectifiers",
// ICCV 2015, eq. 15.
func Kaiming(slope float64) Initializer {
	return func(d tensor.Device, rng *tensor.RNG, fanIn, _ int, shape ...int) *tensor.Tensor {
		return rng.Normal(d, 0, math.Sqrt(2/((1+slope*slope)*float64(max(fanIn, 1)))), shape...)
	}
}

// Xavier is uniform in ±√(6/(fanIn+fanOut)). Source: Glorot and Bengio, "Understanding the difficulty of
// training deep feedforward neural networks", AISTATS 2010, eq. 16.
func Xavier(d tensor.Device, rng *tensor.RNG, fanIn, fanOut int, shape ...int) *tensor.Tensor {
	bound := math.Sqrt(6 / float64(max(fanIn+fanOut, 1)))
	return rng.Uniform(d, -bound, bound, shape...)
}

// UniformFanIn is uniform in ±√(1/fanIn): how PyTorch draws the weights and the biases of a layer.
func UniformFanIn(d tensor.Device, rng *tensor.RNG, fanIn, _ int, shape ...int) *tensor.Tensor {
	bound := math.Sqrt(1 / float64(max(fanIn, 1)))
	return rng.Uniform(d, -bound, bound, shape...)
}

// SIREN returns the initializers for weights of layers that are followed by Sine(omega): that of the first layer
// is uniform in ±1/fanIn, that of the later ones in ±√(6/fanIn)/omega. Source: Sitzmann et al., "Implicit Neural
// Representations with Periodic Activation Functions", NeurIPS 2020, §3.2.
func SIREN(omega float64) (first, later Initializer) {
	within := func(bound func(fanIn float64) float64) Initializer {
		return func(d tensor.Device, rng *tensor.RNG, fanIn, _ int, shape ...int) *tensor.Tensor {
			b := bound(float64(max(fanIn, 1)))
			return rng.Uniform(d, -b, b, shape...)
		}
	}
	return within(func(fanIn float64) float64 { return 1 / fanIn }),
		within(func(fanIn float64) float64 { return math.Sqrt(6/fanIn) / omega })
}

// Zeros is zero everywhere.
func Zeros(d tensor.Device, _ *tensor.RNG, _, _ int, shape ...int) *tensor.Tensor {
	return tensor.Zeros(d, shape...)
}
