package catalog

// masks are comparisons, choices by their results, and bits.
var masks = family{"masks", "Comparison, choice and bits", []operation{
	compared("Eq", "torch.eq", (*node).Eq),
	compared("Ne", "torch.ne", (*node).Ne),
	compared("Lt", "torch.lt", (*node).Lt),
	compared("Le", "torch.le", (*node).Le),
	compared("Gt", "torch.gt", (*node).Gt),
	compared("Ge", "torch.ge", (*node).Ge),
	known("EqScalar", "torch.eq", func(x *node) *node { return x.EqScalar(1) }),
	known("NeScalar", "torch.ne", func(x *node) *node { return x.NeScalar(1) }),
	known("LtScalar", "torch.lt", func(x *node) *node { return x.LtScalar(1) }),
	known("LeScalar", "torch.le", func(x *node) *node { return x.LeScalar(1) }),
	known("GtScalar", "torch.gt", func(x *node) *node { return x.GtScalar(1) }),
	known("GeScalar", "torch.ge", func(x *node) *node { return x.GeScalar(1) }),
	known("IsNaN", "torch.isnan", (*node).IsNaN),
	known("IsInf", "torch.isinf", (*node).IsInf),
	known("IsFinite", "torch.isfinite", (*node).IsFinite),
	compared("IsClose", "torch.isclose", func(x, y *node) *node { return x.IsClose(y, 0.25, 0.5) }),
	known("LogicalNot", "torch.logical_not", (*node).LogicalNot),
	compared("LogicalAnd", "torch.logical_and", (*node).LogicalAnd),
	compared("LogicalOr", "torch.logical_or", (*node).LogicalOr),
	compared("LogicalXor", "torch.logical_xor", (*node).LogicalXor),
	{"Where", "torch.Tensor.where", under(one(func(in []*node) *node { return in[0].Where(in[1], in[2]) }), "broadcast", "special", "empty")},
	{"MaskedFill", "torch.masked_fill", under(binary(func(x, mask *node) *node { return x.MaskedFill(mask, 1.5) }), "broadcast", "special")},
	{"MaskedSelect", "torch.masked_select", under(binary((*node).MaskedSelect), "broadcast", "special", "none")},
	{"BitwiseNot", "torch.bitwise_not", under(unary((*node).BitwiseNot), "odd", "special", "bytes")},
	{"BitwiseAnd", "torch.bitwise_and", under(binary((*node).BitwiseAnd), "broadcast", "special", "bytes")},
	{"BitwiseOr", "torch.bitwise_or", under(binary((*node).BitwiseOr), "broadcast", "special", "bytes")},
	{"BitwiseXor", "torch.bitwise_xor", under(binary((*node).BitwiseXor), "broadcast", "special", "bytes")},
	{"BitwiseLeftShift", "torch.bitwise_left_shift", under(binary((*node).BitwiseLeftShift), "broadcast", "special")},
	{"BitwiseRightShift", "torch.bitwise_right_shift", under(binary((*node).BitwiseRightShift), "broadcast", "special")},
}}

func compared(name, torch string, f func(x, y *node) *node) operation {
	return operation{name, torch, under(binary(f), "broadcast", "special", "ints", "empty")}
}

func known(name, torch string, f func(x *node) *node) operation {
	return operation{name, torch, under(unary(f), "odd", "special", "ints", "empty")}
}
