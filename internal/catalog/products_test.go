package catalog

import (
	"math"

	"github.com/clgrad/clgrad/autograd"
	"github.com/clgrad/clgrad/kernels/fn"
	"github.com/clgrad/clgrad/tensor"
)

// products are those of matrices, and layers.
var products = family{"products", []operation{
	{"MatMul", cases{
		"odd": binary((*node).MatMul), "none": binary((*node).MatMul), "empty": binary((*node).MatMul), "special": binary((*node).MatMul),
		"transposed": binary(func(x, w *node) *node { return x.T().MatMul(w.T()) }),
		"batch":      binary((*node).MatMul), "repeated": binary((*node).MatMul), "shared": binary((*node).MatMul), "no batch": binary((*node).MatMul),
		"row": binary((*node).MatMul), "column": binary((*node).MatMul), "both": binary((*node).MatMul), "special batch": binary((*node).MatMul),
		"heads": binary(func(x, w *node) *node { return x.Transpose(0, 2, 1, 3).MatMul(w.Transpose(0, 2, 3, 1)) }),
	}},
	{"Dot", under(binary((*node).Dot), "odd", "empty", "special")},
	{"Outer", under(binary((*node).Outer), "odd", "empty", "special")},
	{"TensorDot", cases{
		"odd":     binary(func(x, w *node) *node { return x.TensorDot(w, []int{1, -1}, []int{-1, 0}) }),
		"outer":   binary(func(x, w *node) *node { return x.TensorDot(w, nil, nil) }),
		"all":     binary(func(x, w *node) *node { return x.TensorDot(w, []int{0, 1}, []int{0, 1}) }),
		"empty":   binary(func(x, w *node) *node { return x.TensorDot(w, []int{1}, []int{0}) }),
		"special": binary(func(x, w *node) *node { return x.TensorDot(w, []int{1}, []int{1}) }),
	}},
	{"autograd.Einsum", einsums("bik,bkj->bij", "ij,jk,kl->il", "ii->i", "ii", "iij->j", "bthd,bshd->bhts", "...ij,...jk->...ik", "b...,b...->...",
		"bA,Ab", "ij->ji", "i,j", "ij,ij->", "a,a,a->a", "i...->...", "bi,ijk,bj->bk", "xy,zy->", "ab,cb,db,eb->acde", "ij,k->jk", "a,a->", "ij,jk",
		"a,ab,bc,cd,de,ef,fg,gh,h->", "ij,ij->ij")},
	{"Linear", cases{
		"tanh":    one(func(in []*node) *node { return in[0].Linear(in[1], in[2], fn.Tanh) }),
		"plain":   binary(func(x, w *node) *node { return x.Linear(w, nil, nil) }),
		"axes":    one(func(in []*node) *node { return in[0].Transpose(1, 0, 2).Linear(in[1], in[2], nil) }),
		"vector":  one(func(in []*node) *node { return in[0].Linear(in[1], in[2], nil) }),
		"special": one(func(in []*node) *node { return in[0].Linear(in[1], in[2], fn.ReLU) }),
	}},
	{"SquaredError", under(binary((*node).SquaredError), "odd", "empty", "special")},
	{"OuterAccInPlace", under(values(func(in []*tensor.Tensor) []*tensor.Tensor {
		in[0].OuterAccInPlace(in[1], in[2])
		return in[:1]
	}), "odd", "special")},
	{"Trace", cases{
		"odd": unary((*node).Trace), "tall": unary(func(x *node) *node { return x.T().Trace() }), "empty": unary((*node).Trace), "ints": unary((*node).Trace),
	}},
	{"Kron", under(binary((*node).Kron), "odd", "ranks", "scalar", "empty")},
	{"Cdist", cases{
		"p=1.0": binary(func(x, y *node) *node { return x.Cdist(y, 1) }), "p=2.0": binary(func(x, y *node) *node { return x.Cdist(y, 2) }),
		"p=2.5": binary(func(x, y *node) *node { return x.Cdist(y, 2.5) }), "max": binary(func(x, y *node) *node { return x.Cdist(y, math.Inf(1)) }),
		"same": binary(func(x, y *node) *node { return x.Cdist(y, 2) }),
	}},
	{"autograd.Bilinear", cases{
		"odd": one(func(in []*node) *node { return autograd.Bilinear(in[0], in[1], in[2], in[3]) }),
		"one": one(func(in []*node) *node { return autograd.Bilinear(in[0], in[1], in[2], nil) }),
	}},
}}

// einsums makes a case of each equation, under its name.
func einsums(equations ...string) cases {
	c := cases{}
	for _, equation := range equations {
		c[equation] = one(func(in []*node) *node { return autograd.Einsum(equation, in...) })
	}
	return c
}
