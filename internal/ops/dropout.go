package ops

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// Dropout is x·b with a scalar b, or x·0 where the number of the element in a stream, of 24 bits in
// [0, 1), is below a. Its other scalars are ints: the call, and the two words of the seed.
var Dropout = indexed(&kernels.Function{Name: "dropout", Scalars: []float64{0.5, 2, 1, 2, 3},
	Value: x.Mul(expr.Where(streamed.Quo(expr.Const(1<<8)).Float().Mul(expr.Const(0x1p-24)).Lt(a), zero, expr.Param(1)))})

// streamed is a random word of an element.
var streamed = expr.Random(expr.Index(0), expr.IntParam(2), expr.IntParam(3), expr.IntParam(4))
