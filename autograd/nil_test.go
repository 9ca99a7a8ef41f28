package autograd_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/internal/devtest"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// TestNilNodes: an operation on no node, or none as its second operand, is a misuse that it names.
func TestNilNodes(t *testing.T) {
	d := devtest.CPU(t)
	var none *node
	x := autograd.Param(tensor.Full(d, 1, 2, 2), "x")
	for op, f := range map[string][]func(){
		"Neg": {func() { none.Neg() }}, "Pow": {func() { none.Pow(2) }}, "Sine": {func() { none.Sine(1) }},
		"Add":          {func() { none.Add(x) }, func() { x.Add(none) }},
		"Maximum":      {func() { none.Maximum(x) }, func() { x.Maximum(none) }},
		"MatMul":       {func() { none.MatMul(x) }, func() { x.MatMul(none) }},
		"Linear":       {func() { none.Linear(x, nil, nil) }, func() { x.Linear(none, nil, nil) }},
		"SquaredError": {func() { none.SquaredError(x) }, func() { x.SquaredError(none) }},
		"Sum":          {func() { none.Sum() }}, "Mean": {func() { none.Mean(0) }}, "Max": {func() { none.Max() }}, "Min": {func() { none.Min() }},
		"Reshape": {func() { none.Reshape(1) }}, "Transpose": {func() { none.Transpose() }}, "T": {func() { none.T() }},
		"Slice": {func() { none.Slice(0, 0, 1) }}, "Step": {func() { none.Step(0, 1) }}, "Select": {func() { none.Select(0, 0) }}, "Expand": {func() { none.Expand(1) }},
		"Copy": {func() { none.Copy() }}, "SumTo": {func() { none.SumTo() }}, "Device": {func() { none.Device() }},
		"Rank": {func() { none.Rank() }}, "Len": {func() { none.Len() }},
		"Float64s": {func() { _, _ = none.Float64s() }}, "Float32s": {func() { _, _ = none.Float32s() }},
		"Int32s": {func() { _, _ = none.Int32s() }}, "Uint8s": {func() { _, _ = none.Uint8s() }},
		"To": {func() { none.To(tensor.Int32) }}, "Type": {func() { none.Type() }},
		"GatherRows": {func() { none.GatherRows(nil) }},
		"Backward":   {func() { _ = none.Backward() }}, "WriteDOT": {func() { _ = autograd.WriteDOT(&bytes.Buffer{}, none) }}, "Graph": {func() { _, _ = autograd.Graph(none) }},
		"Value": {func() { none.Value() }}, "Grad": {func() { none.Grad() }, func() { _, _ = autograd.Grad(none, []*node{x}) }},
		"GradNode": {func() { none.GradNode() }}, "Hook": {func() { none.Hook(func(g *node) *node { return g }) }},
		"Shape": {func() { none.Shape() }}, "Item": {func() { _, _ = none.Item() }}, "Retain": {func() { none.Retain() }},
		"Free": {func() { none.Free() }}, "Detach": {func() { none.Detach() }}, "ZeroGrad": {func() { none.ZeroGrad() }},
		"Name": {func() { none.Name() }}, "Named": {func() { none.Named("n") }}, "Op": {func() { none.Op() }},
		"NeedsGrad": {func() { none.NeedsGrad() }}, "IsParam": {func() { none.IsParam() }},
		"Freeze": {func() { none.Freeze() }}, "Unfreeze": {func() { none.Unfreeze() }},
		"ValueFor": {func() { none.ValueFor("ValueFor") }}, "Const": {func() { autograd.Const(nil) }}, "Param": {func() { autograd.Param(nil, "p") }},
	} {
		for _, f := range f {
			err := tensor.Try(f)
			fails(t, err, tensor.ErrValue, "autograd: "+op+": ", "nil")
		}
	}
	for _, f := range []func(){func() { new(node).Tanh() }, func() { x.Add(new(node)) }, func() { new(node).Shape() }, func() { _ = new(node).Backward() }} {
		fails(t, tensor.Try(f), tensor.ErrValue, "autograd: ", "Node{}")
	}
	if err := tensor.Try(func() { x.GatherRows(nil) }); !errors.Is(err, tensor.ErrValue) {
		t.Errorf("GatherRows by no indices: err = %v", err)
	}
	var nothing *tensor.Tensor
	y := x.Value()
	for op, f := range map[string][]func(){
		"Sum": {func() { nothing.Sum() }}, "Max": {func() { nothing.Max() }}, "Min": {func() { nothing.Min() }}, "Mean": {func() { nothing.Mean() }},
		"add":    {func() { tensor.Map(fn.Add, nil, nothing, y) }, func() { tensor.Map(fn.Add, nil, y, nothing) }},
		"MatMul": {func() { nothing.MatMul(y) }, func() { y.MatMul(nothing) }},
		"tanh":   {func() { tensor.Map(fn.Tanh, nil, nothing) }}, "Reshape": {func() { nothing.Reshape(1) }},
		"T": {func() { nothing.T() }}, "Item": {func() { _, _ = nothing.Item() }}, "Float64s": {func() { _, _ = nothing.Float64s() }},
		"To":         {func() { nothing.To(tensor.Int32) }},
		"SetInPlace": {func() { y.SetInPlace(nothing) }, func() { nothing.SetInPlace(y) }},
	} {
		for _, f := range f {
			if err := tensor.Try(f); err == nil || !strings.HasPrefix(err.Error(), "tensor: "+op+": ") {
				t.Errorf("%s of a nil tensor: err = %v", op, err)
			}
		}
	}
}

// TestHostileGradients: what an operation of another package delivers is checked, and named by its
// operation; the graph works after it, with what it is then given alone.
func TestHostileGradients(t *testing.T) {
	d := devtest.CPU(t)
	x := autograd.Param(devtest.New(d, []float64{1, 2, 3}), "x")
	v := devtest.New(d, []float64{4, 5, 6})
	freed, elsewhere := v.Copy(), tensor.Zeros(devtest.CPU(t), 3)
	freed.Free()
	var deliver func(in *autograd.Grads)
	own := func() *node {
		return autograd.NewOp("own", v.Copy(), []*node{x.MulScalar(1)}, func(_ *autograd.Node, in *autograd.Grads) { deliver(in) })
	}
	for _, c := range []struct {
		kind    error
		say     string
		deliver func(in *autograd.Grads)
	}{
		{tensor.ErrValue, "own gradient: bad value: that of input 0 is nil", func(in *autograd.Grads) { in.Accumulate(0, nil) }},
		{tensor.ErrValue, "input 0 is nil", func(in *autograd.Grads) { in.AccumulateView(0, nil) }},
		{tensor.ErrValue, "input 0 is nil", func(in *autograd.Grads) { in.AccumulateNode(0, nil) }},
		{tensor.ErrShape, "own gradient: shape mismatch [3] [2]", func(in *autograd.Grads) { in.AccumulateNode(0, autograd.Const(tensor.Zeros(d, 2))) }},
		{tensor.ErrIndex, "there is no input 3", func(in *autograd.Grads) { in.AccumulateNode(3, autograd.Const(v)) }},
		{tensor.ErrType, "own gradient: bad element type [3]: that of input 0 is of type int32", func(in *autograd.Grads) { in.Accumulate(0, v.To(tensor.Int32)) }},
		{tensor.ErrIndex, "own gradient: ", func(in *autograd.Grads) { in.Accumulate(1, v.Copy()) }},
		{tensor.ErrIndex, "there is no input -1: NewOp got 1", func(in *autograd.Grads) { in.AccumulateView(-1, v) }},
		{tensor.ErrIndex, "there is no input 1", func(in *autograd.Grads) { in.AccumulateInto(1, func(*tensor.Tensor) {}) }},
		{tensor.ErrIndex, "there is no input 2", func(in *autograd.Grads) { in.NeedsGrad(2) }},
		{tensor.ErrFreed, "own gradient: ", func(in *autograd.Grads) { in.Accumulate(0, freed) }},
		{tensor.ErrFreed, "that of input 0 was freed", func(in *autograd.Grads) { in.AccumulateView(0, freed) }},
		{tensor.ErrDevice, "that of input 0 is on cpu", func(in *autograd.Grads) { in.Accumulate(0, elsewhere) }},
		{tensor.ErrShape, "own gradient: shape mismatch [3] [2]", func(in *autograd.Grads) { in.Accumulate(0, tensor.Zeros(d, 2)) }},
		{tensor.ErrShape, "[3] []", func(in *autograd.Grads) { in.AccumulateView(0, tensor.Zeros(d)) }},
	} {
		y := own().Sum()
		deliver = func(in *autograd.Grads) {
			in.Accumulate(0, v.Copy())
			c.deliver(in)
		}
		err := tensor.Try(func() { _ = y.Backward(autograd.BackwardOptions{Retain: true}) })
		fails(t, err, c.kind, c.say)
		x.ZeroGrad()
		deliver = func(in *autograd.Grads) { in.Accumulate(0, tensor.Full(d, 2, 4, 3)) } // summed over the first axis
		if err := y.Backward(); err != nil {
			t.Fatal(err)
		}
		if g, err := x.Grad().Float64s(); err != nil || g[0] != 8 || g[2] != 8 {
			t.Errorf("afterwards: %v, %v", g, err)
		}
		x.ZeroGrad()
	}
	back := func(*autograd.Node, *autograd.Grads) {}
	for say, f := range map[string]func(){
		"the tensor is nil":                 func() { autograd.NewOp("own", nil, []*node{x}, back) },
		"the Node is nil":                   func() { autograd.NoGrad(d, func() { autograd.NewOp("own", v, []*node{nil}, back) }) },
		"backward is nil":                   func() { autograd.NewOp("own", v, []*node{x}, nil) },
		"own: bad value: the tensor is nil": func() { autograd.NewOp("own", v, []*node{x}, back, nil) },
	} {
		fails(t, tensor.Try(f), tensor.ErrValue, "autograd: own: ", say)
	}
	if n := autograd.NewOp("own", v, []*node{autograd.Const(v)}, nil); n.NeedsGrad() {
		t.Error("a constant needs a gradient")
	}
}
