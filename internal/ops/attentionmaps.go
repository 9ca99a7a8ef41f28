package ops

import (
	"math"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// The element-wise functions of attention. What is added to a product of a query and a key is −∞
// where the one does not attend to the other.
var (
	// MaskAsBias is 0 where a mask is not 0.
	MaskAsBias = &kernels.Function{Name: "mask_as_bias", Value: expr.Where(x.Eq(zero), never, zero)}
	// CausalBias is 0 up to the diagonal of a matrix.
	CausalBias = indexed(&kernels.Function{Name: "causal_bias",
		Value: expr.Where(expr.Index(1).Float().Le(expr.Index(0).Float()), zero, never)})
	// CausalScores is products [n, l, s] of queries and keys, times a scale, up to the diagonals,
	// and −∞ beyond.
	CausalScores = indexed(&kernels.Function{Name: "causal_scores", Scalars: []float64{0.5},
		Value: expr.Where(expr.Index(2).Float().Le(expr.Index(1).Float()), x.Mul(expr.Param(0)), never)})
	// Attending is 1 where the greatest of what is added in a row is not −∞, else 0.
	Attending = &kernels.Function{Name: "attending", Value: expr.Where(x.Eq(never), zero, one)}
	// Unmasked is what is added, and 0 in rows that attend to nothing.
	Unmasked = &kernels.Function{Name: "unmasked", Value: expr.Where(w.Eq(zero), zero, x), Gradients: []*expr.Expr{expr.Where(w.Eq(zero), zero, u), zero}}

	never = expr.Const(math.Inf(-1))
)
