package expr_test

import (
	"math/rand/v2"
	"testing"

	"github.com/clgrad/clgrad/kernels/expr"
)

// BenchmarkEval is the time of a block of 512 elements.
func BenchmarkEval(b *testing.B) {
	in := make([][]float32, 3)
	for i := range in {
		in[i] = make([]float32, expr.Block)
		for k := range in[i] {
			in[i][k] = rand.Float32()*2 - 1
		}
	}
	for name, f := range map[string]*expr.Expr{"add": x.Add(y), "leaky": expr.Where(x.Gt(expr.Const(0)), x, expr.Param(0).Mul(x)), "max": x.Max(y), "tanh": x.Tanh()} {
		b.Run(name, func(b *testing.B) {
			e := expr.NewEval[float32](expr.Compile(f))
			e.Scalars(func(int) float32 { return 0.1 })
			out := make([]float32, expr.Block)
			for b.Loop() {
				e.Run(out, in)
			}
		})
	}
}
