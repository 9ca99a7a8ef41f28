// Package reference is the element-wise functions written out with package math, one by one, for
// tests: what the formulas of package kernels are compared with.
package reference

import "math"

// Functions are the functions by name, of operands x and scalars s.
var Functions = map[string]func(x, s []float64) float64{
	"copy":       func(x, s []float64) float64 { return x[0] },
	"neg":        func(x, s []float64) float64 { return -x[0] },
	"abs":        func(x, s []float64) float64 { return math.Abs(x[0]) },
	"sign":       func(x, s []float64) float64 { return when(x[0] > 0, 1, when(x[0] < 0, -1, x[0])) },
	"sqrt":       func(x, s []float64) float64 { return math.Sqrt(x[0]) },
	"exp":        func(x, s []float64) float64 { return math.Exp(x[0]) },
	"log":        func(x, s []float64) float64 { return math.Log(x[0]) },
	"square":     func(x, s []float64) float64 { return x[0] * x[0] },
	"relu":       func(x, s []float64) float64 { return when(x[0] < 0, 0, x[0]) },
	"leaky_relu": func(x, s []float64) float64 { return when(x[0] > 0, x[0], s[0]*x[0]) },
	"sine":       func(x, s []float64) float64 { return math.Sin(s[0] * x[0]) },
	"tanh":       func(x, s []float64) float64 { return math.Tanh(x[0]) },
	"sigmoid":    func(x, s []float64) float64 { return 1 / (1 + math.Exp(-x[0])) },
	"softplus":   func(x, s []float64) float64 { return max(x[0], 0) + math.Log1p(math.Exp(-math.Abs(x[0]))) },
	"pow":        func(x, s []float64) float64 { return math.Pow(x[0], s[0]) },
	"clamp": func(x, s []float64) float64 {
		low := when(x[0] < s[0], s[0], x[0])
		return when(low > s[1], s[1], low)
	},
	"add_scalar":  func(x, s []float64) float64 { return x[0] + s[0] },
	"sub_scalar":  func(x, s []float64) float64 { return x[0] - s[0] },
	"mul_scalar":  func(x, s []float64) float64 { return x[0] * s[0] },
	"div_scalar":  func(x, s []float64) float64 { return x[0] / s[0] },
	"max_scalar":  func(x, s []float64) float64 { return when(x[0] < s[0], s[0], x[0]) },
	"min_scalar":  func(x, s []float64) float64 { return when(x[0] > s[0], s[0], x[0]) },
	"rsub_scalar": func(x, s []float64) float64 { return s[0] - x[0] },
	"rdiv_scalar": func(x, s []float64) float64 { return s[0] / x[0] },
	"add":         func(x, s []float64) float64 { return x[0] + x[1] },
	"sub":         func(x, s []float64) float64 { return x[0] - x[1] },
	"mul":         func(x, s []float64) float64 { return x[0] * x[1] },
	"div":         func(x, s []float64) float64 { return x[0] / x[1] },
	"min":         func(x, s []float64) float64 { return when(math.IsNaN(x[0]) || x[0] < x[1], x[0], x[1]) },
	"max":         func(x, s []float64) float64 { return when(math.IsNaN(x[0]) || x[0] > x[1], x[0], x[1]) },
}

func when(holds bool, yes, no float64) float64 {
	if holds {
		return yes
	}
	return no
}
