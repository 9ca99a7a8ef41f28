package ops

import "github.com/clgrad/clgrad/kernels/defs"

// Operations on lines: see package defs.
var (
	Softmax          = NewLines(defs.Softmax, defs.SoftmaxGrad).cased(softmaxCases).overridden(overrideSoftmax(false))
	LogSoftmax       = NewLines(defs.LogSoftmax, defs.LogSoftmaxGrad).cased(softmaxCases).overridden(overrideSoftmax(true))
	Softmin          = NewLines(defs.Softmin, defs.SoftminGrad).cased(softmaxCases)
	CosineSimilarity = NewLines(defs.CosineSimilarity, nil)
)
