package fusedmlp

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// formula is a formula of a perceptron, under the name that it has in the text of a kernel.
type formula struct {
	name    string
	value   *expr.Expr
	program *expr.Program
	uses    []int // the operands that occur
}

func newFormula(name string, value *expr.Expr) *formula {
	fn := &formula{name: name, value: value, program: expr.Compile(value)}
	for i, used := range value.Operands() {
		if used {
			fn.uses = append(fn.uses, i)
		}
	}
	return fn
}

// evaluator computes a formula in Go, for one goroutine at a time.
type evaluator[T kernels.Float] struct {
	fn       *formula
	eval     *expr.Eval[T]
	operands [][]T
}

func newEvaluator[T kernels.Float](fn *formula) *evaluator[T] {
	return &evaluator[T]{fn, expr.NewEval[T](fn.program), make([][]T, len(fn.value.Operands()))}
}

// run computes as many elements as out has, of the operands that the formula uses. out may be one
// of them.
func (e *evaluator[T]) run(out []T, operands ...[]T) {
	for lo := 0; lo < len(out); lo += expr.Block {
		hi := min(lo+expr.Block, len(out))
		for _, i := range e.fn.uses {
			e.operands[i] = operands[i][lo:hi]
		}
		e.eval.Run(out[lo:hi], e.operands)
	}
}
