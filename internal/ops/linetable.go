package ops

import "github.com/clgrad/clgrad/kernels/defs"

// Operations on lines: see package defs.
var (
	Softmax          = NewLines(defs.Softmax, defs.SoftmaxGrad).cased(softmaxCases)
	LogSoftmax       = NewLines(defs.LogSoftmax, defs.LogSoftmaxGrad).cased(softmaxCases)
	Softmin          = NewLines(defs.Softmin, defs.SoftminGrad).cased(softmaxCases)
	CosineSimilarity = NewLines(defs.CosineSimilarity, nil)
)
