package ops

import (
	"math"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/defs"
)

// Kernels of package defs' softmax, its logarithm, and their gradients: X, Y, outer, len, inner, and
// Y, G, D, outer, len, inner.
var (
	Softmax        = rowKernel(defs.Softmax, lanesForOne, kernels.Tolerance{ULP: 4}, softmaxBound(false), softmaxCases)
	LogSoftmax     = rowKernel(defs.LogSoftmax, lanesForOne, kernels.Tolerance{ULP: 4}, softmaxBound(true), softmaxCases)
	SoftmaxGrad    = rowKernel(defs.SoftmaxGrad, lanesForTwo, kernels.Tolerance{ULP: 4, Rel: 8, Scale: softmaxGradScale}, nil, softmaxGradCases)
	LogSoftmaxGrad = rowKernel(defs.LogSoftmaxGrad, lanesForTwo, kernels.Tolerance{ULP: 4, Rel: 8, Scale: logSoftmaxGradScale}, nil, softmaxGradCases)
)

// softmaxBound: a difference x − max is rounded, which its exponential magnifies by its size, at
// most 88 before that is 0; that is off by 3 ulps itself. n such terms are summed at least sixteen
// beside each other. So much of a result it may be off; of its logarithm so much as it is, and the
// roundings of that.
func softmaxBound(logarithm bool) rowBound {
	return func(exact func() []kernels.Arg, eps, least float64, args []kernels.Arg) func(param, i int) float64 {
		off := float64(args[3].Int)/16 + 12 + min(2*kernels.MaxAbs(args, 0), 88)
		return func(param, i int) float64 {
			v := math.Abs(exact()[1].At(i))
			if logarithm {
				return (off + 4*v) * eps
			}
			return off*eps*v + least
		}
	}
}

// softmaxGradScale and logSoftmaxGradScale bound the sum of the magnitudes of the terms of a gradient.
func softmaxGradScale(a []kernels.Arg) float64 {
	n, y, g := float64(a[4].Int), kernels.MaxAbs(a, 0), kernels.MaxAbs(a, 1)
	return g * y * (1 + n*y)
}

func logSoftmaxGradScale(a []kernels.Arg) float64 {
	n, y, g := float64(a[4].Int), kernels.MaxAbs(a, 0), kernels.MaxAbs(a, 1)
	return g * (1 + n*math.Exp(y))
}
