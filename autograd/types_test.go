package autograd_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestOnlyFloatsHaveGradients: parameters are floats, integers are constants, and so is what comes of
// them.
func TestOnlyFloatsHaveGradients(t *testing.T) {
	devtest.Each(t, false, func(t *testing.T, d tensor.Device) {
		for _, typ := range []tensor.Type{tensor.Int32, tensor.Uint8, tensor.Float16, tensor.BFloat16} {
			if err := tensor.Try(func() { autograd.Param(tensor.ZerosOf(d, typ, 2), "p") }); typ.Integer() {
				fails(t, err, tensor.ErrType, "autograd: Param: ", typ.String(), "To(tensor.Float32)")
			} else if err != nil {
				t.Error(err)
			}
			p := param(d, 1, 2)
			fails(t, p.Backward(autograd.BackwardOptions{Seed: tensor.ZerosOf(d, typ, 2)}), tensor.ErrType, "seed", typ.String())
		}
		p := param(d, 1.5, 2)
		for _, typ := range []tensor.Type{tensor.Int32, tensor.Uint8} {
			n := p.To(typ)
			if n.NeedsGrad() || n.Type() != typ {
				t.Errorf("%v of a parameter needs a gradient", n)
			}
			fails(t, n.Sum().Backward(), autograd.ErrNotOnGraph, "Sum")
			if sum := n.To(d.DefaultType()).Add(n).Sum(); sum.NeedsGrad() {
				t.Errorf("what comes of %v needs a gradient", typ)
			}
		}
	})
}

// TestGradientsPastTypes: constants of every type take part in what has gradients, and a gradient
// passes through Float16.
func TestGradientsPastTypes(t *testing.T) {
	devtest.Each(t, true, func(t *testing.T, d tensor.Device) {
		p := autograd.Param(devtest.New(d, []float64{1, -2, 3, 4}, 2, 2), "p")
		data := devtest.New(d, []uint8{1, 2, 3, 4}, 2, 2)
		functions := map[string]func(p, c *node) *node{
			"Add": (*node).Add, "Mul": (*node).Mul, "Div": (*node).Div, "Maximum": (*node).Maximum, "MatMul": (*node).MatMul,
			"c·p":          func(p, c *node) *node { return c.MatMul(p) },
			"c/p":          func(p, c *node) *node { return c.Div(p) },
			"broadcast":    func(p, c *node) *node { return p.Mul(c.Sum(0).MulScalar(2)) },
			"view":         func(p, c *node) *node { return p.Mul(c.T().Slice(0, 0, 1)) },
			"SquaredError": (*node).SquaredError,
			"Linear":       func(p, c *node) *node { return c.Linear(p, nil, fn.Softplus) },
		}
		gradient := func(f func(p, c *node) *node, typ tensor.Type) []float64 {
			p.ZeroGrad()
			if err := f(p, autograd.Const(data.To(typ))).Sum().Backward(); err != nil {
				t.Fatal(err)
			}
			v, err := p.Grad().Float64s()
			if err != nil || p.Grad().Type() != d.DefaultType() {
				t.Fatal(err)
			}
			recorded := grad(t, f(p, autograd.Const(data.To(typ))).Sum(), []*node{p}, autograd.GradOptions{CreateGraph: true})[0]
			compareGradients(t, fmt.Sprint("recorded, beside ", typ), recorded.Value(), p.Grad(), 1e-6)
			return v
		}
		for name, f := range functions {
			for _, typ := range []tensor.Type{tensor.Int32, tensor.Uint8, tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64} {
				if got, want := gradient(f, typ), gradient(f, d.DefaultType()); !slices.Equal(got, want) && typ != tensor.Float64 {
					t.Errorf("%s beside %v: gradient %v, want %v", name, typ, got, want)
				}
			}
		}
		// 1 … 4 are exact in 16 bits: what is computed of it is what is computed of p in float32.
		for name, f := range map[string]func(x *node) *node{
			"Square": (*node).Square, "Exp": (*node).Exp, "Abs": (*node).Abs, "Max": func(x *node) *node { return x.Max(0) },
			"Mean": func(x *node) *node { return x.Mean() }, "MatMul": func(x *node) *node { return x.MatMul(x.T()) },
			"Slice": func(x *node) *node { return x.Slice(1, 0, 1).Mul(x) }, "Maximum": func(x *node) *node { return x.Maximum(x.Neg()) },
			"GatherRows": func(x *node) *node { return x.GatherRows(devtest.New(d, []int32{1, 1, 0})).Square() },
			"To":         func(x *node) *node { return x.To(d.DefaultType()).Square() },
		} {
			direct := gradient(func(p, _ *node) *node { return f(p.To(tensor.Float32)) }, d.DefaultType())
			for _, typ := range []tensor.Type{tensor.Float16, tensor.BFloat16} {
				through := gradient(func(p, _ *node) *node { return f(p.To(typ)) }, d.DefaultType())
				eps, _ := typ.Epsilon()
				if !slices.EqualFunc(through, direct, func(a, b float64) bool { return math.Abs(a-b) <= eps*math.Abs(b) }) {
					t.Errorf("%s past %v: gradient %v, want %v", name, typ, through, direct)
				}
			}
		}
	})
}

// TestIndicesOfGradients: indices that change or are freed before Backward are found.
func TestIndicesOfGradients(t *testing.T) {
	d := devtest.CPU(t)
	index := devtest.New(d, []int32{1, 0})
	y := param(d, 1, 2, 3, 4).Reshape(2, 2).GatherRows(index).Sum()
	tensor.Upload(index, []int32{0, 0})
	if err := y.Backward(); !errors.Is(err, autograd.ErrChanged) {
		t.Errorf("changed: err = %v", err)
	}
	y = param(d, 1, 2, 3, 4).Reshape(2, 2).GatherRows(index).Sum()
	index.Free()
	if err := y.Backward(); !errors.Is(err, tensor.ErrFreed) {
		t.Errorf("freed: err = %v", err)
	}
}
