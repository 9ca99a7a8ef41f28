package fusedmlp

import (
	"fmt"
	"slices"
	"testing"

	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/kerneltest"
	"github.com/clgrad/clgrad/tensor"
)

// perceptronOf is one of the given sizes, with an activation between, and biases where asked for,
// laid out as in a flat buffer.
func perceptronOf(f *kernels.Function, biases bool, sizes ...int) *Perceptron {
	difference := expr.Input(0).Sub(expr.Input(1))
	p := &Perceptron{Error: difference.Square(), OutputGrad: expr.Const(0.5).Mul(difference)}
	number := func(int) *expr.Expr { return expr.Const(f.Scalars[0]) }
	at := 0
	place := func(n int) int {
		was := at
		at += (n + 127) / 128 * 128
		return was
	}
	for i, n := range sizes[1:] {
		l := Layer{Inputs: sizes[i], Outputs: n, Bias: -1}
		l.Weights = place(sizes[i] * n)
		if biases {
			l.Bias = place(n)
		}
		if i < len(sizes)-2 {
			l.Value = f.Value.Replace(expr.Input, number)
			l.InputGrad = f.CheapestGradient(f.Scalars).Value.Replace(expr.Input, number)
		}
		p.Layers = append(p.Layers, l)
	}
	return p
}

// labelled gives a perceptron a loss of labels: a mean, unless up is a constant.
func labelled(p *Perceptron, ignore int32, smoothing float64, up *expr.Expr) *Perceptron {
	p.Error, p.OutputGrad = nil, nil
	p.Labels = &Labels{Ignore: ignore, Smoothing: smoothing, Mean: slices.Contains(up.Operands(), true), Up: up}
	return p
}

// withSkip adds what layer from reads to what layer to makes, by a factor.
func withSkip(p *Perceptron, from, to int, factor float64) *Perceptron {
	at := &p.Layers[to]
	skipped := expr.Input(1 + from)
	join := expr.Input(to + 1)
	if factor != 1 {
		skipped, join = skipped.Mul(expr.Const(factor)), join.Mul(expr.Const(factor))
	}
	at.Value = at.Value.Add(skipped)
	if below := &p.Layers[from]; below.Join == nil {
		below.Join = expr.Input(0).Add(join)
	} else {
		below.Join = below.Join.Add(join)
	}
	return p
}

// withOutput adds what layer from reads to the outputs.
func withOutput(p *Perceptron, from int) *Perceptron {
	last := len(p.Layers) - 1
	p.Layers[last].Value = expr.Input(0)
	return withSkip(p, from, last, 1)
}

// weighted gives classes weights.
func weighted(p *Perceptron) *Perceptron {
	p.Labels.Weighted = true
	return p
}

// byTanh keeps what tanh makes of the sums of a layer.
func byTanh(p *Perceptron, layers ...int) *Perceptron {
	for _, i := range layers {
		l := &p.Layers[i]
		l.Kept = expr.Input(0).Tanh()
		l.Value, l.InputGrad = expr.Input(0), expr.Input(2).Mul(expr.Const(1).Sub(expr.Input(0).Square()))
	}
	return p
}

// TestPerceptronShapes: perceptrons of many shapes are trained in one launch as their host kernel does, on
// both kinds of device: widths that are no multiples of vectors, formulas that read the sums and
// formulas that do not, with biases and without; labels that are ignored or of no class, and
// classes with weights; sums with what one or several earlier layers read, and with the inputs, at
// the end, too; layers whose sums local memory has no room for, nor for themselves.
func TestPerceptronShapes(t *testing.T) {
	t.Setenv(tensor.SelfTestEnv, "off") // with it, a device whose results are wrong runs the text for the other kind
	check := func(t *testing.T, d tensor.Device, all bool) {
		for i, p := range []*Perceptron{
			perceptronOf(fn.Tanh, true, 64, 48, 96, 32, 3), perceptronOf(fn.GELU, true, 5, 33, 2), perceptronOf(fn.Sine, true, 2, 32, 32, 1),
			perceptronOf(fn.LeakyReLU, false, 1, 1, 1), perceptronOf(fn.Softplus, false, 7, 128, 17, 128, 10), perceptronOf(fn.ReLU, true, 250, 64, 3),
			labelled(perceptronOf(fn.GELU, true, 32, 40, 10), -100, 0, expr.Const(1).Div(expr.Input(0))),
			withSkip(withSkip(byTanh(perceptronOf(fn.Tanh, true, 20, 20, 20, 20, 3), 0, 1), 0, 0, 1), 1, 1, 1),
			labelled(perceptronOf(fn.Tanh, false, 3, 17), 5, 0.25, expr.Const(0.5)),
			labelled(perceptronOf(fn.Tanh, true, 5, 33, 100), 99, 0.1, expr.Const(3).Div(expr.Input(0))),
			withSkip(withSkip(withSkip(withSkip(perceptronOf(fn.GELU, true, 33, 33, 33, 16, 33, 2), 0, 0, 1), 0, 1, 0.5), 1, 3, 2), 0, 3, 1),
			labelled(perceptronOf(fn.GELU, true, 32, 128, 128, 10), -100, 0, expr.Const(1).Div(expr.Input(0))),
			withOutput(weighted(labelled(perceptronOf(fn.Tanh, true, 17, 12, 17), 3, 0.25, expr.Const(1).Div(expr.Input(0)))), 0),
			withOutput(withSkip(withSkip(perceptronOf(fn.GELU, true, 128, 128, 128, 128), 0, 0, 1), 0, 1, 0.5), 2),
		} {
			if i > 1 && !all && i != 6 && i != 7 && i < 11 {
				continue
			}
			if err := p.Check(d.DefaultType(), d.Target()); err != nil {
				t.Fatal(err)
			}
			for _, down := range []bool{false, true} {
				if i > 5 && down != (i%2 == 1 || i == 12) {
					continue // kernels are compiled for long
				}
				if pack, _ := p.Pack(d.DefaultType(), down, d.Target()); pack != nil {
					for _, c := range pack.Cases(true) {
						o := kernels.NewOperands(d.DefaultType(), 77, uint64(i))
						c.Build(o)
						if _, err := kerneltest.Check(d, pack, fmt.Sprintf("%d: packed, down %v", i, down), o.Args); err != nil {
							t.Error(err)
						}
					}
				}
				for _, samples := range []int{1, 75, 130} {
					groups := 1 + samples/64
					units := 1 // of which each has few of the samples, or many
					if i%2 > 0 && i < 11 || i == 12 {
						units = 100
					}
					if (i == 11 || i == 13) && samples < 130 {
						continue
					}
					block := p.Block(samples, d.DefaultType(), kernels.Target{CPU: d.Target().CPU, Units: units})
					k := p.Loss(d.DefaultType(), block, down)
					o := kernels.NewOperands(d.DefaultType(), 77, uint64(i))
					stepOperands(o, p, samples, groups, down)
					if p.Labels != nil && p.Labels.Weighted {
						o.In(p.Layers[len(p.Layers)-1].Outputs, 0.5, 2)
					}
					for _, n := range p.Scratch(block, groups, d.DefaultType(), down, d.Target()) {
						o.In(n, 0, 0)
					}
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
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, devtest.GPUKernels()), !testing.Short()) })
		}
	}
}

func stepOperands(o *kernels.Operands, p *Perceptron, n, groups int, down bool) {
	first, last := p.Layers[0].Inputs, p.Layers[len(p.Layers)-1].Outputs
	o.In(n*first, -1, 1)
	if l := p.Labels; l != nil {
		o.Ints(n, func(i int) int { return []int{o.Rand.IntN(last), last - 1, int(l.Ignore), -1, 0, last}[i%6] })
	} else {
		o.In(n*last, 0, 1)
	}
	o.In(p.Size(), -0.2, 0.2).In(groups*p.Size(), 0, 0).Out(groups)
	if down {
		o.Out(n * first)
	} else {
		o.Out(0)
	}
	o.Int(n)
	v := turnedWeights(o.Args[2], p, down)
	o.Floats(len(v), func(i int) float64 { return v[i] })
}

// turnedWeights are the weights w of the layers through which gradients go, each [outputs, inputs]
// with zeros up to a multiple of four inputs.
func turnedWeights(w kernels.Arg, p *Perceptron, down bool) (v []float64) {
	for i, l := range p.Layers {
		for j := range l.Outputs {
			for k := 0; k < (l.Inputs+3)/4*4 && (i > 0 || down); k++ {
				at := 0.0
				if k < l.Inputs {
					at = w.At(l.Weights + k*l.Outputs + j)
				}
				v = append(v, at)
			}
		}
	}
	return v
}

// TestTurned: V has the weights of each layer transposed, and zeros.
func TestTurned(t *testing.T) {
	p := perceptronOf(fn.Tanh, true, 5, 8, 3, 2)
	o := kernels.NewOperands(kernels.Float64, 1, 1).In(p.Size(), 1, 2)
	for _, down := range []bool{false, true} {
		want := turnedWeights(o.Args[0], p, down)
		s := p.pass(kernels.Float64, mlpBlock, down)
		if _, size := p.turned(down); size != len(want) {
			t.Errorf("down %v: %d elements, want %d", down, size, len(want))
		}
		for e, v := range want {
			if got := s.turnedAt(o.Args[0].At, e); got != v {
				t.Errorf("down %v: element %d is %v, want %v", down, e, got, v)
			}
		}
	}
}

// TestMLPShapes runs the fused perceptron in other shapes than that of the list: kernels are built
// for each.
func TestMLPShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("builds many kernels")
	}
	t.Setenv(tensor.SelfTestEnv, "off")
	check := func(t *testing.T, d tensor.Device) {
		for i, s := range []MLPShape{
			{Inputs: 8, Width: 16, Layers: 1, Outputs: 1, Slope: 0}, {Inputs: 20, Width: 48, Layers: 2, Outputs: 5, Slope: 0.2},
			{Inputs: 40, Width: 32, Layers: 4, Outputs: 16, Slope: 0.1}, {Inputs: 32, Width: 128, Layers: 2, Outputs: 4, Slope: 0.01}, {Inputs: 128, Width: 128, Layers: 3, Outputs: 3, Slope: 0.1},
		} {
			if err := s.Check(d.DefaultType(), d.Target()); err != nil {
				t.Fatal(err)
			}
			s.Absolute = i%2 == 1
			o := kernels.NewOperands(d.DefaultType(), 77, uint64(i))
			s.Operands(o, 75, 2, i%3 > 0)
			k := MLPLoss(s, d.DefaultType(), s.Block(75, d.DefaultType(), kernels.Target{Units: 1 + 99*(i%2)}), i%3 > 0)
			if _, err := kerneltest.Check(d, k, fmt.Sprintf("%+v", s), o.Args); err != nil {
				t.Error(err)
			}
		}
	}
	devtest.Each(t, false, check)
	for _, sel := range devtest.Selected() {
		if sel != "cpu" {
			t.Run(sel+"/gpu kernels", func(t *testing.T) { check(t, devtest.Open(t, sel, devtest.GPUKernels())) })
		}
	}
}
