package ops

import (
	"github.com/clgrad/clgrad/kernels/defs"
	"github.com/clgrad/clgrad/kernels/ir"
)

// Operations on lines: see package defs.
var (
	Softmax          = NewLines(defs.Softmax, defs.SoftmaxGrad).cased(softmaxCases).overridden(overrideSoftmax(false))
	LogSoftmax       = NewLines(defs.LogSoftmax, defs.LogSoftmaxGrad).cased(softmaxCases).overridden(overrideSoftmax(true))
	Softmin          = NewLines(defs.Softmin, defs.SoftminGrad).cased(softmaxCases)
	CosineSimilarity = NewLines(defs.CosineSimilarity, nil)
	LayerNorm        = normLines(true)
	RMSNorm          = normLines(false)
)

func normLines(centred bool) *Lines {
	return NewLines(
		func() *ir.Program { return defs.NormLines(centred) },
		func() *ir.Program { return defs.NormLinesGrad(centred) },
	)
}
