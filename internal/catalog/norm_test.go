package catalog

// norms are those of lines that are divided by their size or their sum, attention, and dropout.
var norms = family{"norm", "Softmax, norms, attention", []operation{
	{"Softmax", "torch.nn.functional.softmax", softmax((*node).Softmax)},
	{"LogSoftmax", "torch.nn.functional.log_softmax", softmax((*node).LogSoftmax)},
	{"Softmin", "torch.nn.functional.softmin", softmax((*node).Softmin)},
}}

func softmax(f func(x *node, axis int) *node) cases {
	along := func(axis int) func(in []*node) []*node { return unary(func(x *node) *node { return f(x, axis) }) }
	return cases{"rows": along(-1), "columns": along(0), "middle": along(1), "long": along(-1), "scalar": along(0), "empty": along(1),
		"large": along(1), "special": along(1), "nan": along(1)}
}
