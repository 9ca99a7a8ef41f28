package autograd

import (
	"fmt"
	"slices"

	"github.com/clgrad/clgrad/internal/tensorapi"
	"github.com/clgrad/clgrad/internal/trace"
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// Map returns f of the operands, element by element, with the gradients of f, for a function that
// has no method: see [tensor.Map], as which it panics. An operand that f does not use may be nil. A
// gradient reads the value and its gradient beside the operands: of these there are
// [kernels.MapOperands] − 2 at most.
func Map(f *kernels.Function, scalars []float64, operands ...*Node) *Node {
	if f == nil {
		panic(&tensor.Error{Pkg: "autograd", Op: "Map", Kind: tensor.ErrValue, Detail: "the function is nil: take one of those in package kernels, or make one"})
	}
	if n := f.Operands(); n > kernels.MapOperands-2 {
		panic(&tensor.Error{Pkg: "autograd", Op: f.Name, Kind: tensor.ErrValue,
			Detail: fmt.Sprintf("it has %d operands, and a function with a gradient %d at most", n, kernels.MapOperands-2)})
	}
	return element(f, scalars, operands...)
}

// element is elementwise for an operation of a gradient, or of another method.
func element(f *kernels.Function, scalars []float64, operands ...*Node) *Node {
	return elementwise(f.Name, f, scalars, operands...)
}

// elementwise records f of operands for the method op, which errors name. The shapes broadcast by
// NumPy's rule; the gradients are summed back by Grads.
func elementwise(op string, f *kernels.Function, scalars []float64, operands ...*Node) *Node {
	n := len(operands)
	values := make([]*tensor.Tensor, n+2) // those of the operands, of the result, and its gradient: what a gradient reads
	for i, x := range operands {
		if x != nil || f.Uses(i) {
			values[i] = x.use(op)
		}
	}
	y := tensorapi.Impl.Elementwise(op, f, scalars, values[:n]...)
	values[n] = y
	var saved []*tensor.Tensor
	for k, v := range values[:n+1] {
		for i := range n {
			if f.Uses(i) && gradientOf(f, i, scalars).Uses(k) {
				saved = append(saved, v)
				break
			}
		}
	}
	node := NewOp(op, y, present(operands), func(g *Node, in *Grads) {
		at := -1 // the operand among those that are there
		for i, x := range operands {
			if x != nil {
				at++
			}
			if !f.Uses(i) || !in.NeedsGrad(at) {
				continue
			}
			if d := gradientOf(f, i, scalars); in.CreateGraph() || d.Is(n+1) || d.IsZero() {
				in.AccumulateNode(at, derivative(d, scalars, operands, in.Output(), g))
			} else {
				var buf [kernels.MapOperands]*tensor.Tensor
				read := append(buf[:0], values...)
				read[n+1] = g.value
				in.Accumulate(at, tensor.Map(d, scalars, read...))
			}
		}
	}, saved...)
	if trace.On() {
		trace.Record("elementwise", []any{f, slices.Clone(scalars), slices.Clone(operands)}, node)
	}
	return node
}

// gradientOf returns the gradient of f by operand i: in terms of its value where the value
// determines it, so that the operand need not be kept.
func gradientOf(f *kernels.Function, i int, scalars []float64) *kernels.Function {
	if f.Operands() == 1 {
		return f.CheapestGradient(scalars)
	}
	return f.Gradient(i)
}

// derivative returns d, the gradient of a function of operands, for its result y and the gradient g
// of that, as an operation on Nodes: d is a function as well.
func derivative(d *kernels.Function, scalars []float64, operands []*Node, y, g *Node) *Node {
	switch {
	case d.Is(len(operands) + 1):
		return g
	case d.IsZero():
		return constant(tensor.ZerosLike(g.value))
	}
	read := append(slices.Clone(operands), y, g)
	for i := range read {
		if !d.Uses(i) { // it may have been freed
			read[i] = nil
		}
	}
	return element(d, scalars, read...)
}

// present returns the operands without those that are nil.
func present(operands []*Node) []*Node {
	if !slices.Contains(operands, nil) {
		return operands
	}
	return slices.DeleteFunc(slices.Clone(operands), func(x *Node) bool { return x == nil })
}
