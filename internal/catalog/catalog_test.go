package catalog

import (
	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/tensor"
)

type node = autograd.Node

// family is the cases of a family of package operations, and of one file in testdata/references.
type family struct {
	name       string
	operations []operation
}

// operation is the cases of an operation.
type operation struct {
	name  string // that of package operations
	cases cases
}

// cases are calls of an operation, by the name of the operands in the file of the family.
type cases map[string]func(in []*node) []*node

// families are the cases of all operations.
var families = []family{
	functions,
	elements,
	masks,
	reductions,
	shapes,
	arranged,
	indexing,
	products,
	convolutions,
	norms,
	losses,
	factorised,
	transforms,
}

// bound is the error against PyTorch that an operation may have in float64 and in float32, relative
// to numbers above 1.
var bound = map[string][2]float64{
	"":          {1e-12, 2e-5},
	"Digamma":   {1e-9, 2e-5},  // PyTorch's ψ′ has nine digits
	"GroupNorm": {1e-12, 1e-4}, // of two elements the gradient is what two large numbers leave
}

// limit returns the bound of an operation on a device.
func (o operation) limit(typ tensor.Type) float64 {
	b, ok := bound[o.name]
	if !ok {
		b = bound[""]
	}
	if typ == tensor.Float32 {
		return b[1]
	}
	return b[0]
}

// one makes a case of a function with one result.
func one(f func(in []*node) *node) func(in []*node) []*node {
	return func(in []*node) []*node { return []*node{f(in)} }
}

// unary makes a case of a function of one node.
func unary(f func(x *node) *node) func(in []*node) []*node {
	return func(in []*node) []*node { return []*node{f(in[0])} }
}

// binary makes a case of a function of two nodes.
func binary(f func(x, y *node) *node) func(in []*node) []*node {
	return func(in []*node) []*node { return []*node{f(in[0], in[1])} }
}

// values makes a case of a function of tensors, which has no gradient.
func values(f func(in []*tensor.Tensor) []*tensor.Tensor) func(in []*node) []*node {
	return func(in []*node) (out []*node) {
		var operands []*tensor.Tensor
		for _, x := range in {
			operands = append(operands, x.Value())
		}
		for _, y := range f(operands) {
			out = append(out, autograd.Const(y))
		}
		return out
	}
}

// value is values of one result.
func value(f func(in []*tensor.Tensor) *tensor.Tensor) func(in []*node) []*node {
	return values(func(in []*tensor.Tensor) []*tensor.Tensor { return []*tensor.Tensor{f(in)} })
}

// under gives one function several names.
func under(f func(in []*node) []*node, names ...string) cases {
	c := cases{}
	for _, name := range names {
		c[name] = f
	}
	return c
}
