package nn

import (
	"math"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/tensor"
	"gonum.org/v1/gonum/mat"
)

// Initializer draws a parameter of the given shape for a layer with fanIn inputs and fanOut
// outputs. A constructor panics with tensor.ErrShape for a tensor of another shape.
type Initializer func(d tensor.Device, rng *tensor.RNG, fanIn, fanOut int, shape ...int) *tensor.Tensor

// NormalFanIn is normal with mean 0 and variance 1/fanIn. Source: LeCun, Bottou, Orr, Müller,
// "Efficient BackProp", 1998, §4.6.
func NormalFanIn(d tensor.Device, rng *tensor.RNG, fanIn, _ int, shape ...int) *tensor.Tensor {
	return rng.Normal(d, 0, 1/math.Sqrt(float64(max(fanIn, 1))), shape...)
}

// Normal returns the initializer that is normal with mean 0 and a standard deviation.
func Normal(sd float64) Initializer {
	return func(d tensor.Device, rng *tensor.RNG, _, _ int, shape ...int) *tensor.Tensor {
		return rng.Normal(d, 0, sd, shape...)
	}
}

// Kaiming returns the initializer that is normal with variance 2/((1+slope²)·fanIn), for layers
// followed by a leaky ReLU of that slope; 0 for ReLU. Source: He, Zhang, Ren, Sun, "Delving Deep
// into Rectifiers", ICCV 2015, eq. 15.
func Kaiming(slope float64) Initializer {
	return func(d tensor.Device, rng *tensor.RNG, fanIn, _ int, shape ...int) *tensor.Tensor {
		return rng.Normal(d, 0, math.Sqrt(2/((1+slope*slope)*float64(max(fanIn, 1)))), shape...)
	}
}

// KaimingUniform returns the initializer that is uniform, with the variance of [Kaiming]: in
// ±√(6/((1+slope²)·fanIn)).
func KaimingUniform(slope float64) Initializer {
	return func(d tensor.Device, rng *tensor.RNG, fanIn, _ int, shape ...int) *tensor.Tensor {
		bound := math.Sqrt(6 / ((1 + slope*slope) * float64(max(fanIn, 1))))
		return rng.Uniform(d, -bound, bound, shape...)
	}
}

// Xavier is uniform in ±√(6/(fanIn+fanOut)). Source: Glorot and Bengio, "Understanding the
// difficulty of training deep feedforward neural networks", AISTATS 2010, eq. 16.
func Xavier(d tensor.Device, rng *tensor.RNG, fanIn, fanOut int, shape ...int) *tensor.Tensor {
	bound := math.Sqrt(6 / float64(max(fanIn+fanOut, 1)))
	return rng.Uniform(d, -bound, bound, shape...)
}

// XavierNormal is normal with mean 0 and the variance of [Xavier], 2/(fanIn+fanOut).
func XavierNormal(d tensor.Device, rng *tensor.RNG, fanIn, fanOut int, shape ...int) *tensor.Tensor {
	return rng.Normal(d, 0, math.Sqrt(2/float64(max(fanIn+fanOut, 1))), shape...)
}

// UniformFanIn is uniform in ±√(1/fanIn): how PyTorch draws the weights and the biases of a layer.
func UniformFanIn(d tensor.Device, rng *tensor.RNG, fanIn, _ int, shape ...int) *tensor.Tensor {
	bound := math.Sqrt(1 / float64(max(fanIn, 1)))
	return rng.Uniform(d, -bound, bound, shape...)
}

// SIREN returns the initializers for weights of layers that are followed by Sine(omega): that of
// the first layer is uniform in ±1/fanIn, that of the later ones in ±√(6/fanIn)/omega. Source:
// Sitzmann et al., "Implicit Neural Representations with Periodic Activation Functions", NeurIPS
// 2020, §3.2.
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

// TruncatedNormal returns the initializer that is normal with mean 0 and a standard deviation, of
// which only what lies in [low, high] is drawn. PyTorch's trunc_normal_ takes ±2 by default. It
// panics with tensor.ErrValue unless the deviation is above 0 and low below high. The quantile of a
// uniform number makes each, so that nothing beyond 5.4 deviations is drawn.
func TruncatedNormal(sd, low, high float64) Initializer {
	if !(sd > 0 && low < high) {
		misuse("TruncatedNormal", tensor.ErrValue, "a standard deviation of %v in [%v, %v]: it is above 0, and the first bound below the other", sd, low, high)
	}
	const most = 1 - 0x1p-24 // the float32 before 1, whose quantile is no number
	within := func(bound float64) float64 { return max(-most, min(math.Erf(bound/(sd*math.Sqrt2)), most)) }
	return func(d tensor.Device, rng *tensor.RNG, _, _ int, shape ...int) *tensor.Tensor {
		u := rng.Uniform(d, within(low), within(high), shape...)
		u.MapInPlace(truncated, []float64{sd * math.Sqrt2, low, high})
		return u
	}
}

// truncated is the quantile, and again in the bounds, which it may miss by rounding.
var truncated = &kernels.Function{Name: "truncated_normal", Value: expr.Input(0).ErfInv().Mul(expr.Param(0)).Max(expr.Param(1)).Min(expr.Param(2)),
	Domains: [][2]float64{{-0.9, 0.9}}, Scalars: []float64{1, -1, 1}}

// Orthogonal returns the initializer that makes the rows of a matrix orthogonal and of length gain,
// or its columns where there are more rows: any such matrix is as likely as any other. Of more
// axes, those after the first are the columns. The matrix is factored on the host, in double
// precision. It panics with tensor.ErrShape for fewer than two axes. Source: Saxe, McClelland,
// Ganguli, "Exact solutions to the nonlinear dynamics of learning in deep linear neural networks",
// ICLR 2014.
func Orthogonal(gain float64) Initializer {
	return func(d tensor.Device, rng *tensor.RNG, _, _ int, shape ...int) *tensor.Tensor {
		if len(shape) < 2 {
			misuse("Orthogonal", tensor.ErrShape, "shape %v has no rows and columns", shape)
		}
		normal := rng.Normal(d, 0, 1, shape...)
		defer normal.Free()
		values, err := normal.Float64s()
		if err != nil || len(values) == 0 { // the device, which failed, reports it
			return tensor.Zeros(d, shape...)
		}
		rows, cols := shape[0], len(values)/shape[0]
		var a mat.Matrix = mat.NewDense(rows, cols, values)
		if rows < cols {
			a = a.T()
		}
		orthogonal(a, func(i, j int, v float64) {
			if rows < cols {
				i, j = j, i
			}
			values[i*cols+j] = gain * v
		})
		return tensor.NewOf(d, d.DefaultType(), values, shape...)
	}
}

// orthogonal sets the elements of Q, of the shape of a, where a = Q·R and the diagonal of R is
// positive. Without the latter, a normal a makes some Q more likely than others.
func orthogonal(a mat.Matrix, set func(i, j int, v float64)) {
	rows, cols := a.Dims()
	var qr mat.QR
	qr.Factorize(a)
	var q, r mat.Dense
	qr.QTo(&q)
	qr.RTo(&r)
	for j := range cols {
		sign := math.Copysign(1, r.At(j, j))
		for i := range rows {
			set(i, j, sign*q.At(i, j))
		}
	}
}

// Zeros is zero everywhere.
func Zeros(d tensor.Device, _ *tensor.RNG, _, _ int, shape ...int) *tensor.Tensor {
	return tensor.Zeros(d, shape...)
}
