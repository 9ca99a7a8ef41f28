package fusedmlp

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/replay/fusion"
)

// stepOf returns the kernels that train p on so many samples, with floats of type t on a device with
// the limits l: those that are written for the class of p, if there are any. The error says why
// there are none.
func stepOf(p *Perceptron, samples int, t kernels.DType, l kernels.Target) (Step, error) {
	if s, ok := shapeOf(p); ok && s.Check(t, l) == nil {
		return s, nil
	}
	return p, p.CheckSamples(samples, t, l)
}

// matrixStep returns the kernels that do so on matrix units, and the limits that these have, where
// that is faster.
func matrixStep(p *Perceptron, samples int, units fusion.MatrixUnits) (Step, kernels.Target, bool) {
	s, ok := shapeOf(p)
	if !ok {
		return nil, kernels.Target{}, false
	}
	for _, grouped := range []bool{true, false} {
		m, ok := MLPMatrixFor(units.Precision, grouped, s, samples, units.Float, units.Target)
		if ok && units.Has(m.Inner.instructions(), grouped) {
			return m, units.Target, true
		}
	}
	return nil, kernels.Target{}, false
}

// shapeOf returns the class of perceptrons that p is one of, if there is a kernel for that alone.
func shapeOf(p *Perceptron) (s MLPShape, ok bool) {
	last := len(p.Layers) - 1
	s = MLPShape{Inputs: p.Layers[0].Inputs, Width: p.Layers[0].Outputs, Layers: last, Outputs: p.Layers[last].Outputs}
	for i := range p.Layers {
		l := &p.Layers[i]
		if l.Join != nil {
			return s, false
		}
		if i == last {
			if l.Bias >= 0 || p.Labels != nil || l.Value != nil {
				return s, false
			}
			break
		}
		slope := -expr.Compile(l.Value).At(func(int) float64 { return -1 }, nil)
		if l.Bias < 0 || l.Outputs != s.Width || i > 0 && slope != s.Slope || !same(l.Value, given(fn.LeakyReLU.Value, slope)) ||
			!same(l.InputGrad, given(fn.LeakyReLU.CheapestGradient([]float64{slope}).Value, slope)) {
			return s, false
		}
		s.Slope = slope
	}
	difference := expr.Input(0).Sub(expr.Input(1))
	absolute := fn.Abs.Gradient(0).Value.Replace(func(i int) *expr.Expr {
		return []*expr.Expr{difference, difference.Abs(), expr.Const(1)}[i]
	}, expr.Param)
	switch {
	case (p.Error.IsZero() || same(p.Error, difference.Square())) && same(p.OutputGrad, expr.Const(2).Mul(difference)):
	case (p.Error.IsZero() || same(p.Error, difference.Abs())) && same(p.OutputGrad, absolute):
		s.Absolute = true
	default:
		return s, false
	}
	return s, true
}

// given is a formula with a number in the place of its scalars.
func given(x *expr.Expr, scalar float64) *expr.Expr {
	return x.Replace(expr.Input, func(int) *expr.Expr { return expr.Const(scalar) })
}

// same reports whether two formulas are the same.
func same(a, b *expr.Expr) bool { return expr.Compile(a).Key() == expr.Compile(b).Key() }
