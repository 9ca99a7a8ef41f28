package catalog

import "github.com/clgrad/clgrad/tensor"

// shapes are views, copies and conversions.
var shapes = family{"shape", []operation{
	view("Reshape", func(x *node) *node { return x.Reshape(2, -1, 3) }),
	view("Transpose", func(x *node) *node { return x.Transpose(2, 0, 1) }),
	{"T", under(unary((*node).T), "odd", "empty", "special")},
	view("Slice", func(x *node) *node { return x.Slice(1, 1, 3) }),
	{"Step", cases{
		"odd": unary(func(x *node) *node { return x.Step(1, 2) }), "special": unary(func(x *node) *node { return x.Step(1, 2) }),
		"backwards":      unary(func(x *node) *node { return x.Step(1, -2) }),
		"last backwards": unary(func(x *node) *node { return x.Step(-1, -1) }),
	}},
	view("Select", func(x *node) *node { return x.Select(1, -1) }),
	{"Expand", cases{
		"odd":     unary(func(x *node) *node { return x.Expand(4, 2, 3, 5) }),
		"none":    unary(func(x *node) *node { return x.Expand(0, 5) }),
		"special": unary(func(x *node) *node { return x.Expand(2, 3) }),
	}},
	view("Copy", (*node).Copy),
	{"To", cases{
		"int32": unary(func(x *node) *node { return x.To(tensor.Int32) }),
		"uint8": unary(func(x *node) *node { return x.To(tensor.Uint8) }),
		"real":  unary(func(x *node) *node { return x.To(x.Device().DefaultType()) }),
	}},
	{"GatherRows", under(binary(func(x, i *node) *node { return x.GatherRows(i.Value()) }), "odd", "none", "special")},
	{"ScatterAddRowsInPlace", under(values(func(in []*tensor.Tensor) []*tensor.Tensor {
		in[0].ScatterAddRowsInPlace(in[1], in[2])
		return in[:1]
	}), "odd", "special")},
}}

func view(name string, f func(x *node) *node) operation {
	return operation{name, under(unary(f), "odd", "special")}
}
