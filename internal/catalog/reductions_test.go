package catalog

import "github.com/clgrad/clgrad/tensor"

// reductions are those over axes.
var reductions = family{"reductions", "Reductions", []operation{
	overAxes("Sum", "torch.sum", (*node).Sum, "empty"),
	overAxes("Mean", "torch.mean", (*node).Mean, "empty"),
	overAxes("Max", "torch.amax", (*node).Max),
	overAxes("Min", "torch.amin", (*node).Min),
	{"SumTo", "torch.Tensor.sum_to_size", cases{
		"rows":    unary(func(x *node) *node { return x.SumTo(3, 1) }),
		"scalar":  unary(func(x *node) *node { return x.SumTo() }),
		"special": unary(func(x *node) *node { return x.SumTo(1, 3) }),
	}},
}}

// overAxes is a reduction with the usual cases, and further ones over axis 1.
func overAxes(name, torch string, f func(x *node, axes ...int) *node, further ...string) operation {
	second := unary(func(x *node) *node { return f(x, 1) })
	c := under(second, append(further, "special", "nan", "none")...)
	c["all"] = unary(func(x *node) *node { return f(x) })
	c["last"] = unary(func(x *node) *node { return f(x, -1) })
	c["apart"] = unary(func(x *node) *node { return f(x, 0, 2) })
	c["kept"] = unary(func(x *node) *node { return f(x, 1, tensor.Keepdims, -1) })
	return operation{name, torch, c}
}
