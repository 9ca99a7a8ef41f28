package linalg

import (
	_ "embed"
	"math"

	"github.com/clgrad/clgrad/kernels"
)

//go:embed jacobi.cl
var jacobiSource string

// sweeps is after how many an iteration ends that has not converged.
const sweeps = 40

// rotation returns the tangent, the cosine and the sine of the rotation that makes 0 of the element apq
// of a symmetric matrix.
func rotation[T kernels.Float](app, aqq, apq T) (t, co, si T) {
	z := (aqq - app) / (2 * apq)
	t = 1 / (abs(z) + T(math.Sqrt(float64(1+z*z))))
	if z < 0 {
		t = -t
	}
	co = 1 / T(math.Sqrt(float64(1+t*t)))
	return t, co, co * t
}

// rotate rotates rows x and y.
func rotate[T kernels.Float](x, y []T, co, si T) {
	y = y[:len(x)]
	for i, p := range x {
		q := y[i]
		x[i] = co*p - si*q
		y[i] = si*p + co*q
	}
}

// swap exchanges rows.
func swap[T any](x, y []T) {
	for i, v := range x {
		x[i], y[i] = y[i], v
	}
}

// epsilon returns the spacing of numbers of type T at 1.
func epsilon[T kernels.Float]() T {
	eps, _ := kernels.Float64.Epsilon()
	if T(1)+T(eps) == 1 {
		eps, _ = kernels.Float32.Epsilon()
	}
	return T(eps)
}
