package fusedmlp

import (
	"testing"

	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/replay/fusion"
)

// leaky is a perceptron of a shape that has kernels of its own.
func leaky() *Perceptron {
	p := perceptronOf(fn.LeakyReLU, true, 8, 16, 16, 3)
	p.Layers[2].Bias = -1
	p.OutputGrad = expr.Const(2).Mul(expr.Input(0).Sub(expr.Input(1)))
	return p
}

// absolute gives a perceptron the loss |x − t|.
func absolute(p *Perceptron) {
	difference := expr.Input(0).Sub(expr.Input(1))
	p.Error = difference.Abs()
	p.OutputGrad = fn.Abs.Gradient(0).Value.Replace(func(i int) *expr.Expr {
		return []*expr.Expr{difference, difference.Abs(), expr.Const(1)}[i]
	}, expr.Param)
}

// withSlope gives a layer a leaky ReLU of another slope.
func withSlope(l *Layer, slope float64) {
	number := func(int) *expr.Expr { return expr.Const(slope) }
	l.Value = fn.LeakyReLU.Value.Replace(expr.Input, number)
	l.InputGrad = fn.LeakyReLU.CheapestGradient([]float64{slope}).Value.Replace(expr.Input, number)
}

// TestShapeOf: the perceptrons of a class are those of one width and one leaky ReLU, with biases
// but for the outputs, and one of two losses, read or not; each of which anything else is said is
// of none.
func TestShapeOf(t *testing.T) {
	want := MLPShape{Inputs: 8, Width: 16, Layers: 2, Outputs: 3, Slope: fn.LeakyReLU.Scalars[0]}
	byAbsolute := want
	byAbsolute.Absolute = true
	for name, c := range map[string]struct {
		change func(p *Perceptron)
		want   MLPShape
	}{
		"squares":                    {func(*Perceptron) {}, want},
		"squares that nobody reads":  {func(p *Perceptron) { p.Error = expr.Const(0) }, want},
		"absolute errors":            {absolute, byAbsolute},
		"those, that nobody reads":   {func(p *Perceptron) { absolute(p); p.Error = expr.Const(0) }, byAbsolute},
		"squares, with a half":       {func(p *Perceptron) { p.OutputGrad = expr.Input(0).Sub(expr.Input(1)) }, MLPShape{}},
		"squares of absolute slope":  {func(p *Perceptron) { e := p.Error; absolute(p); p.Error = e }, MLPShape{}},
		"labels":                     {func(p *Perceptron) { labelled(p, 0, 0, expr.Const(1)) }, MLPShape{}},
		"a function of the outputs":  {func(p *Perceptron) { p.Layers[2].Value = expr.Input(0) }, MLPShape{}},
		"a bias of the outputs":      {func(p *Perceptron) { p.Layers[2].Bias = 640 }, MLPShape{}},
		"a layer without bias":       {func(p *Perceptron) { p.Layers[1].Bias = -1 }, MLPShape{}},
		"a wider layer":              {func(p *Perceptron) { p.Layers[1].Outputs = 32 }, MLPShape{}},
		"a layer of another slope":   {func(p *Perceptron) { withSlope(&p.Layers[1], 0.5) }, MLPShape{}},
		"another function":           {func(p *Perceptron) { p.Layers[0].Value = expr.Input(0).Tanh() }, MLPShape{}},
		"another gradient":           {func(p *Perceptron) { p.Layers[0].InputGrad = expr.Input(2) }, MLPShape{}},
		"a residual connection":      {func(p *Perceptron) { withSkip(p, 1, 1, 1) }, MLPShape{}},
		"a gradient that is changed": {func(p *Perceptron) { p.Layers[1].Join = expr.Input(0).Mul(expr.Const(2)) }, MLPShape{}},
	} {
		p := leaky()
		c.change(p)
		got, ok := shapeOf(p)
		if ok != (c.want != MLPShape{}) || ok && got != c.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got, ok, c.want)
		}
	}
}

// TestMatrixStep: matrix units take a step by instructions that the device has, groups of warps
// first.
func TestMatrixStep(t *testing.T) {
	p := perceptronOf(fn.LeakyReLU, true, 32, 32, 32, 3)
	p.Layers[2].Bias = -1
	p.OutputGrad = expr.Const(2).Mul(expr.Input(0).Sub(expr.Input(1)))
	type asked struct {
		factors kernels.Precision
		grouped bool
	}
	for _, c := range []struct {
		precision kernels.Precision
		has       asked
		want      Inner // FMA: none
	}{
		{kernels.PrecisionTF32, asked{kernels.PrecisionFloat16, true}, Scaled | Grouped},
		{kernels.PrecisionTF32, asked{kernels.PrecisionTF32, false}, TF32},
		{kernels.PrecisionTF32, asked{kernels.PrecisionFloat16, false}, FMA},
		{kernels.PrecisionFloat16, asked{kernels.PrecisionFloat16, false}, Halves},
		{kernels.PrecisionFloat16, asked{kernels.PrecisionTF32, true}, FMA},
		{kernels.PrecisionFloat32, asked{kernels.PrecisionFloat16, true}, Pairs | Grouped},
	} {
		units := fusion.MatrixUnits{Precision: c.precision, Float: kernels.Float32, Target: kernels.Target{Units: 1, LocalMem: 48 << 10, MaxGroup: 1024},
			Has: func(factors kernels.Precision, grouped bool) bool { return asked{factors, grouped} == c.has }}
		step, _, ok := matrixStep(p, 1000, units)
		if m, _ := step.(MLPMatrix); ok != (c.want != FMA) || m.Inner != c.want {
			t.Errorf("%v with %+v: %v of inner product %d, want %d", c.precision, c.has, ok, m.Inner, c.want)
		}
	}
}
