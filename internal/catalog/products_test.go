package catalog

import (
	"github.com/clgrad/clgrad/kernels"
	"github.com/clgrad/clgrad/tensor"
)

// products are those of matrices, and layers.
var products = family{"products", "Products", []operation{
	{"MatMul", "torch.matmul", cases{
		"odd": binary((*node).MatMul), "none": binary((*node).MatMul), "empty": binary((*node).MatMul), "special": binary((*node).MatMul),
		"transposed": binary(func(x, w *node) *node { return x.T().MatMul(w.T()) }),
		"batch":      binary((*node).MatMul), "repeated": binary((*node).MatMul), "shared": binary((*node).MatMul), "no batch": binary((*node).MatMul),
		"row": binary((*node).MatMul), "column": binary((*node).MatMul), "both": binary((*node).MatMul), "special batch": binary((*node).MatMul),
		"heads": binary(func(x, w *node) *node { return x.Transpose(0, 2, 1, 3).MatMul(w.Transpose(0, 2, 3, 1)) }),
	}},
	{"Dot", "torch.dot", under(binary((*node).Dot), "odd", "empty", "special")},
	{"Linear", "torch.nn.functional.linear", cases{
		"tanh":    one(func(in []*node) *node { return in[0].Linear(in[1], in[2], kernels.Tanh) }),
		"plain":   binary(func(x, w *node) *node { return x.Linear(w, nil, nil) }),
		"axes":    one(func(in []*node) *node { return in[0].Transpose(1, 0, 2).Linear(in[1], in[2], nil) }),
		"vector":  one(func(in []*node) *node { return in[0].Linear(in[1], in[2], nil) }),
		"special": one(func(in []*node) *node { return in[0].Linear(in[1], in[2], kernels.ReLU) }),
	}},
	{"SquaredError", "torch.nn.functional.mse_loss(reduction=\"sum\")", under(binary((*node).SquaredError), "odd", "empty", "special")},
	{"OuterAccInPlace", "torch.Tensor.addmm_", under(values(func(in []*tensor.Tensor) []*tensor.Tensor {
		in[0].OuterAccInPlace(in[1], in[2])
		return in[:1]
	}), "odd", "special")},
}}
