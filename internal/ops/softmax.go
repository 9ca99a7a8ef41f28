package ops

import (
	"github.com/clgrad/clgrad/kernels/defs"
)

// Kernels of package defs' softmax, its logarithm, and their gradients: X, Y, outer, len, inner, and
// Y, G, D, outer, len, inner.
var (
	Softmax        = rowKernel(defs.Softmax, lanesForOne, softmaxCases)
	LogSoftmax     = rowKernel(defs.LogSoftmax, lanesForOne, softmaxCases)
	SoftmaxGrad    = rowKernel(defs.SoftmaxGrad, lanesForTwo, softmaxGradCases)
	LogSoftmaxGrad = rowKernel(defs.LogSoftmaxGrad, lanesForTwo, softmaxGradCases)
)
