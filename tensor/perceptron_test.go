package tensor_test

import (
	"fmt"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/ops"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/tensor"
)

// perceptronOf is one of the given sizes, with an activation between, and biases where asked for, laid out as an arena does.
func perceptronOf(f *kernels.Function, biases bool, sizes ...int) *ops.Perceptron {
	difference := expr.X(0).Sub(expr.X(1))
	p := &ops.Perceptron{Error: difference.Square(), Slope: expr.C(0.5).Mul(difference)}
	number := func(int) *expr.Expr { return expr.C(f.Scalars[0]) }
	at := 0
	place := func(n int) int {
		was := at
		at += (n + 127) / 128 * 128
		return was
	}
	for i, n := range sizes[1:] {
		l := ops.PerceptronLayer{Inputs: sizes[i], Outputs: n, Bias: -1}
		l.Weights = place(sizes[i] * n)
		if biases {
			l.Bias = place(n)
		}
		if i < len(sizes)-2 {
			l.Value = f.Value.Replace(expr.X, number)
			l.Slope = f.LayerGradient(f.Scalars).Value.Replace(expr.X, number)
		}
		p.Layers = append(p.Layers, l)
	}
	return p
}

// TestPerceptronShapes: perceptrons of many shapes are trained in one launch as their twin does, on both kinds of device: widths that
// are no multiples of vectors, formulas that read the sums and formulas that do not, with biases and without.
func TestPerceptronShapes(t *testing.T) {
	check := func(t *testing.T, d tensor.Device, all bool) {
		for i, p := range []*ops.Perceptron{
			perceptronOf(kernels.Tanh, true, 64, 48, 96, 32, 3), perceptronOf(kernels.GELU, true, 5, 33, 2), perceptronOf(kernels.Sine, true, 2, 32, 32, 1),
			perceptronOf(kernels.LeakyReLU, false, 1, 1, 1), perceptronOf(kernels.Softplus, false, 7, 128, 17, 128, 10), perceptronOf(kernels.ReLU, true, 250, 64, 3),
		} {
			if i > 1 && !all {
				break
			}
			if err := p.Check(d.Real(), d.Limits()); err != nil {
				t.Fatal(err)
			}
			for _, down := range []bool{false, true} {
				for _, samples := range []int{1, 75, 130} {
					groups := 1 + samples/64
					k := p.Loss(d.Real(), p.Block(samples, d.Real(), kernels.Limits{CPU: d.Limits().CPU, Units: 1 + 99*(i%2)}), down)
					o := kernels.NewOperands(d.Real(), 77, uint64(i))
					passOperands(o, p, samples, groups, down)
					if _, err := kerneltest.Check(d, k, fmt.Sprintf("%d: %d samples, down %v", i, samples, down), o.Args); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) { check(t, d, !testing.Short()) })
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, tensor.Options{GPUKernels: true}), !testing.Short()) })
		}
	}
}

func passOperands(o *kernels.Operands, p *ops.Perceptron, n, groups int, down bool) {
	first, last := p.Layers[0].Inputs, p.Layers[len(p.Layers)-1].Outputs
	o.In(n*first, -1, 1).In(n*last, 0, 1).In(p.Size(), -0.2, 0.2).In(groups*p.Size(), 0, 0).Out(groups)
	if down {
		o.Out(n * first)
	} else {
		o.Out(0)
	}
	o.Int(n)
}
