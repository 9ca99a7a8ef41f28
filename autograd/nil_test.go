package autograd_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// TestNilNodes: an operation on no node, or none as its second operand, is a misuse that it names.
func TestNilNodes(t *testing.T) {
	d := devtest.CPU(t)
	var none *node
	x := autograd.Param(tensor.Full(d, 1, 2, 2), "x")
	fused, err := autograd.NewFusedMLP(autograd.NewArena(perceptron(d, 8, 16, 2)), 0.1, autograd.SquaredLoss)
	if err != nil {
		t.Fatal(err)
	}
	for op, f := range map[string][]func(){
		"neg": {func() { none.Neg() }}, "pow": {func() { none.Pow(2) }}, "sine": {func() { none.Sine(1) }},
		"add":          {func() { none.Add(x) }, func() { x.Add(none) }},
		"max":          {func() { none.Maximum(x) }, func() { x.Maximum(none) }},
		"MatMul":       {func() { none.MatMul(x) }, func() { x.MatMul(none) }},
		"Linear":       {func() { none.Linear(x, nil, kernels.ActNone, 0) }, func() { x.Linear(none, nil, kernels.ActNone, 0) }},
		"SquaredError": {func() { none.SquaredError(x) }, func() { x.SquaredError(none) }},
		"MLPLoss":      {func() { fused.Loss(none, x) }, func() { fused.Loss(x, none) }},
		"Sum":          {func() { none.Sum() }}, "Mean": {func() { none.Mean(0) }}, "Max": {func() { none.Max() }}, "Min": {func() { none.Min() }},
		"Reshape": {func() { none.Reshape(1) }}, "Transpose": {func() { none.Transpose() }}, "T": {func() { none.T() }},
		"Slice": {func() { none.Slice(0, 0, 1) }}, "Step": {func() { none.Step(0, 1) }}, "Select": {func() { none.Select(0, 0) }}, "Expand": {func() { none.Expand(1) }},
		"Copy": {func() { none.Copy() }}, "SumTo": {func() { none.SumTo() }}, "Device": {func() { none.Device() }},
		"Rank": {func() { none.Rank() }}, "Len": {func() { none.Len() }},
		"Float64s": {func() { _, _ = none.Float64s() }}, "Float32s": {func() { _, _ = none.Float32s() }},
		"Int32s": {func() { _, _ = none.Int32s() }}, "Uint8s": {func() { _, _ = none.Uint8s() }},
		"To": {func() { none.To(tensor.Int32) }}, "Type": {func() { none.Type() }},
		"GatherRows": {func() { none.GatherRows(nil) }},
		"Backward":   {func() { _ = none.Backward() }}, "WriteDOT": {func() { _ = autograd.WriteDOT(&bytes.Buffer{}, none) }},
		"Value": {func() { none.Value() }}, "Grad": {func() { none.Grad() }}, "HasGrad": {func() { none.HasGrad() }},
		"Shape": {func() { none.Shape() }}, "Item": {func() { _, _ = none.Item() }}, "Keep": {func() { none.Keep() }},
		"Free": {func() { none.Free() }}, "Detach": {func() { none.Detach() }}, "ZeroGrad": {func() { none.ZeroGrad() }},
		"Name": {func() { none.Name() }}, "Named": {func() { none.Named("n") }}, "Op": {func() { none.Op() }},
		"NeedsGrad": {func() { none.NeedsGrad() }},
		"NewArena":  {func() { autograd.NewArena([]*node{x, none}) }},
		"Operand":   {func() { none.Operand("Operand") }}, "Const": {func() { autograd.Const(nil) }}, "Param": {func() { autograd.Param(nil, "p") }},
	} {
		for _, f := range f {
			err := tensor.Maybe(f)
			fails(t, err, tensor.ErrValue, "autograd: "+op+": ", "nil")
		}
	}
	if err := tensor.Maybe(func() { x.GatherRows(nil) }); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("GatherRows by no indices: err = %v", err)
	}
	var nothing *tensor.Tensor
	y := x.Value()
	for op, f := range map[string][]func(){
		"Sum": {func() { nothing.Sum() }}, "Max": {func() { nothing.Max() }}, "Min": {func() { nothing.Min() }}, "Mean": {func() { nothing.Mean() }},
		"add":    {func() { tensor.Binary(kernels.Add, nothing, y) }, func() { tensor.Binary(kernels.Add, y, nothing) }},
		"MatMul": {func() { nothing.MatMul(y) }, func() { y.MatMul(nothing) }},
		"tanh":   {func() { nothing.Unary(kernels.Tanh, 0, 0) }}, "Reshape": {func() { nothing.Reshape(1) }},
		"T": {func() { nothing.T() }}, "Item": {func() { _, _ = nothing.Item() }}, "Float64s": {func() { _, _ = nothing.Float64s() }},
		"To":         {func() { nothing.To(tensor.Int32) }},
		"SetInPlace": {func() { y.SetInPlace(nothing) }, func() { nothing.SetInPlace(y) }},
	} {
		for _, f := range f {
			if err := tensor.Maybe(f); err == nil || !strings.HasPrefix(err.Error(), "tensor: "+op+": ") {
				t.Errorf("%s of a nil tensor: err = %v", op, err)
			}
		}
	}
}
