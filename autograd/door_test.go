package autograd_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/internal/flatparams"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/kernels/expr"
	"github.com/clgrad/clgrad/tensor"
)

// cubed is the operation of ExampleApply, with a gradient that is written in place.
func cubed(x *node) *node {
	const op = "cubed"
	v := x.ValueFor(op)
	y := tensor.Empty(v.Device(), v.Shape()...)
	tensor.Launch(v.Device(), cube, v.Arg(), y.Arg(), kernels.IntArg(v.Len()))
	return autograd.NewOp(op, y, []*node{x}, func(g *autograd.Node, in *autograd.Grads) {
		in.AccumulateInto(0, func(dst *tensor.Tensor) { dst.SetInPlace(g.Value()) }) // not its gradient: what is written does not matter
	}, v)
}

// TestOperand: what was launched before an operation of another package is not shown as part of it,
// and a value that Backward freed is an error that names the operation.
func TestOperand(t *testing.T) {
	d := devtest.CPU(t)
	x := autograd.Param(devtest.New(d, []float64{1, 2}), "x")
	for range 9 {
		tensor.Zeros(d, 3).Free()
	}
	y := cubed(x)
	var graph bytes.Buffer
	if err := autograd.WriteDOT(&graph, y); err != nil || !strings.Contains(graph.String(), `"cubed\n[2]\ncube"`) {
		t.Errorf("the graph (err %v) does not show cubed with its kernel alone:\n%s", err, graph.String())
	}
	if err := y.Sum().Backward(); err != nil {
		t.Fatal(err)
	}
	err := tensor.Try(func() { cubed(y) })
	fails(t, err, tensor.ErrFreed, "autograd: cubed: ", "Retain")
}

// TestFillCounts: a gradient that another graph has saved is found to be changed when a kernel of
// another package has written it in place.
func TestFillCounts(t *testing.T) {
	d := devtest.CPU(t)
	x := autograd.Param(devtest.New(d, []float64{1, 2}), "x")
	flatparams.New([]*node{x})
	fill := func() {
		y := autograd.NewOp("fill", tensor.Zeros(d, 2), []*node{x}, func(g *autograd.Node, in *autograd.Grads) {
			in.AccumulateInto(0, func(dst *tensor.Tensor) {
				tensor.Launch(d, cube, g.Value().Arg(), dst.Arg(), kernels.IntArg(2))
			})
		})
		if err := y.Backward(autograd.BackwardOptions{Seed: devtest.New(d, []float64{2, 3})}); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	w := autograd.Param(devtest.New(d, []float64{5, 7}), "w")
	loss := w.Mul(autograd.Const(x.Grad())).Sum()
	x.ZeroGrad()
	fill()
	fails(t, loss.Backward(), autograd.ErrChanged)
}

// TestManyOperands: a function of more operands than a gradient can read beside the value and its
// gradient is refused at once.
func TestManyOperands(t *testing.T) {
	d := devtest.CPU(t)
	sum := expr.Input(0)
	var operands []*node
	for i := range kernels.MapOperands - 1 {
		if i > 0 {
			sum = sum.Add(expr.Input(i))
		}
		operands = append(operands, autograd.Const(tensor.Full(d, 1, 2)))
	}
	f := &kernels.Function{Name: "sum_of_seven", Value: sum}
	err := tensor.Try(func() { autograd.Map(f, nil, operands...) })
	if !errors.Is(err, tensor.ErrValue) || !strings.Contains(err.Error(), "sum_of_seven: bad value: it has 7 operands, and a function with a gradient 6 at most") {
		t.Errorf("err = %v", err)
	}
}
