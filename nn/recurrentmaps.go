package nn

import (
	"fmt"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
)

// What a step of a recurrent layer computes element by element, in one launch. With g the gradient
// of a state, the gradients of the gates before their functions are g times slopes, which do not
// depend on what comes later: they are computed for all times at once.

var one = expr.Const(1)

func logistic(x *expr.Expr) *expr.Expr { return one.Div(one.Add(x.Neg().Exp())) }

// The derivatives of a logistic function and of tanh, by their values y.
func logisticGrad(y *expr.Expr) *expr.Expr { return y.Mul(one.Sub(y)) }
func tanhGrad(y *expr.Expr) *expr.Expr     { return one.Sub(y.Mul(y)) }

// joinMaps joins formulas of as many ints as there are values of for tests.
func joinMaps(name string, ints []float64, formulas ...*expr.Expr) *kernels.FusedElementwise {
	j := &kernels.FusedElementwise{Name: name}
	for i, f := range formulas {
		j.Functions = append(j.Functions, &kernels.Function{Name: fmt.Sprintf("%s_%d", name, i), Value: f, Scalars: ints})
	}
	return j
}

// The gates of a GRU: operands 0 to 2 are those of the input, reset, update and new, 3 to 5 those
// of the state, and 6 is the state.
var (
	gruReset  = logistic(expr.Input(0).Add(expr.Input(3)))
	gruUpdate = logistic(expr.Input(1).Add(expr.Input(4)))
	gruNew    = expr.Input(2).Add(gruReset.Mul(expr.Input(5))).Tanh()

	gruStep = joinMaps("gru_step", nil, gruNew.Add(gruUpdate.Mul(expr.Input(6).Sub(gruNew))))

	// The slopes of the next state by reset, update, new of the input, new of the state, and the
	// state itself.
	gruGateGrads = func() *kernels.FusedElementwise {
		byNew := one.Sub(gruUpdate).Mul(tanhGrad(gruNew))
		return joinMaps("gru_gate_grads", nil, byNew.Mul(expr.Input(5)).Mul(logisticGrad(gruReset)),
			expr.Input(6).Sub(gruNew).Mul(logisticGrad(gruUpdate)),
			byNew, byNew.Mul(gruReset), gruUpdate)
	}()

	// From operands 0, 1 and 2, whose sum is the gradient of a state, and 3 to 7, the slopes: the
	// gradients of the gates of the input, of those of the state, and what goes to the state before
	// as it is.
	gruBack = func() *kernels.FusedElementwise {
		g := expr.Input(0).Add(expr.Input(1)).Add(expr.Input(2))
		reset, update := g.Mul(expr.Input(3)), g.Mul(expr.Input(4))
		return joinMaps("gru_back", nil, reset, update, g.Mul(expr.Input(5)), reset, update, g.Mul(expr.Input(6)),
			g.Mul(expr.Input(7)))
	}()
)

// The gates of an LSTM before their functions: input, forget, cell and output.
type lstmGates [4]*expr.Expr

func (a lstmGates) values() (in, forget, cell, out *expr.Expr) {
	return logistic(a[0]), logistic(a[1]), a[2].Tanh(), logistic(a[3])
}

// gateIndex is that of batch and feature of a tensor [batch, n, features] whose features the int
// says, for part k.
func gateIndex(n, k int, features *expr.Expr) *expr.Expr {
	return expr.Index(0).Mul(expr.Const(float64(n))).Add(expr.Const(float64(k))).Mul(features).Add(expr.Index(1))
}

var (
	// Operands 0 to 3 are the gates of the input, 4 those of the state, by index, and 5 the cell.
	// Results: the next state and cell. Int 0: features.
	lstmStep = func() *kernels.FusedElementwise {
		var a lstmGates
		for k := range a {
			a[k] = expr.Input(k).Add(expr.Load(4, gateIndex(4, k, expr.IntParam(0))))
		}
		in, forget, cell, out := a.values()
		next := forget.Mul(expr.Input(5)).Add(in.Mul(cell))
		return joinMaps("lstm_step", []float64{3}, out.Mul(next.Tanh()), next)
	}()

	// Operands 0 to 3 are the gates, 4 the cell and 5 the next one. Results: the slopes of that by
	// input, forget and cell gate and by the cell, and those of the next state by the output gate
	// and by the next cell.
	lstmGateGrads = func() *kernels.FusedElementwise {
		in, forget, cell, out := lstmGates{expr.Input(0), expr.Input(1), expr.Input(2), expr.Input(3)}.values()
		bounded := expr.Input(5).Tanh()
		return joinMaps("lstm_gate_grads", nil, cell.Mul(logisticGrad(in)), expr.Input(4).Mul(logisticGrad(forget)),
			in.Mul(tanhGrad(cell)), forget,
			bounded.Mul(logisticGrad(out)), out.Mul(tanhGrad(bounded)))
	}()

	// Operand 0, by index, has the gradients of states and cells, 1 is what came to the state
	// through its product, 2 what came to the cell, 3 to 6 are the slopes by the gates, and 7, by
	// index, has those by the cell and by the next cell. Results: the gradients of the gates, and
	// what goes to the cell before. Ints: where the states begin in operand 0, and the cells, where
	// the slopes begin in operand 7, by the cell and by the next one, and features.
	lstmBack = func() *kernels.FusedElementwise {
		at := func(operand, from int) *expr.Expr {
			return expr.Load(operand, expr.Index(0).Mul(expr.IntParam(4)).Add(expr.Index(1)).Add(expr.IntParam(from)))
		}
		state := at(0, 0).Add(expr.Input(1))
		cell := at(0, 1).Add(expr.Input(2)).Add(state.Mul(at(7, 3)))
		return joinMaps("lstm_back", []float64{0, 1, 2, 3, 4}, cell.Mul(expr.Input(3)), cell.Mul(expr.Input(4)),
			cell.Mul(expr.Input(5)), state.Mul(expr.Input(6)), cell.Mul(at(7, 2)))
	}()
)

// Steps of definitions: of an LSTM the next cell, from its forget gate, the cell, its input gate and what that lets in;
// the state, from the output gate and the cell; of a GRU the new state before its tanh, from the input, reset and the
// state.
var (
	lstmCell = &kernels.Function{Name: "lstm_cell",
		Value: expr.Input(0).Mul(expr.Input(1)).Add(expr.Input(2).Mul(expr.Input(3)))}
	lstmState = &kernels.Function{Name: "lstm_state", Value: expr.Input(0).Mul(expr.Input(1).Tanh())}
	gruFresh  = &kernels.Function{Name: "gru_new", Value: expr.Input(0).Add(expr.Input(1).Mul(expr.Input(2)))}
)

// sumOfThree is what comes to a first state.
var sumOfThree = &kernels.Function{Name: "sum_of_three", Value: expr.Input(0).Add(expr.Input(1)).Add(expr.Input(2))}
