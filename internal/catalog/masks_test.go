package catalog

// masks are comparisons, choices by their results, and bits.
var masks = family{"masks", []operation{
	compared("Eq", (*node).Eq),
	compared("Ne", (*node).Ne),
	compared("Lt", (*node).Lt),
	compared("Le", (*node).Le),
	compared("Gt", (*node).Gt),
	compared("Ge", (*node).Ge),
	known("EqScalar", func(x *node) *node { return x.EqScalar(1) }),
	known("NeScalar", func(x *node) *node { return x.NeScalar(1) }),
	known("LtScalar", func(x *node) *node { return x.LtScalar(1) }),
	known("LeScalar", func(x *node) *node { return x.LeScalar(1) }),
	known("GtScalar", func(x *node) *node { return x.GtScalar(1) }),
	known("GeScalar", func(x *node) *node { return x.GeScalar(1) }),
	known("IsNaN", (*node).IsNaN),
	known("IsInf", (*node).IsInf),
	known("IsFinite", (*node).IsFinite),
	compared("IsClose", func(x, y *node) *node { return x.IsClose(y, 0.25, 0.5) }),
	known("LogicalNot", (*node).LogicalNot),
	compared("LogicalAnd", (*node).LogicalAnd),
	compared("LogicalOr", (*node).LogicalOr),
	compared("LogicalXor", (*node).LogicalXor),
	{"Where", under(one(func(in []*node) *node { return in[0].Where(in[1], in[2]) }), "broadcast", "special", "empty")},
	{"MaskedFill", under(binary(func(x, mask *node) *node { return x.MaskedFill(mask, 1.5) }), "broadcast", "special")},
	{"MaskedSelect", under(binary((*node).MaskedSelect), "broadcast", "special", "none")},
	{"BitwiseNot", under(unary((*node).BitwiseNot), "odd", "special", "bytes")},
	{"BitwiseAnd", under(binary((*node).BitwiseAnd), "broadcast", "special", "bytes")},
	{"BitwiseOr", under(binary((*node).BitwiseOr), "broadcast", "special", "bytes")},
	{"BitwiseXor", under(binary((*node).BitwiseXor), "broadcast", "special", "bytes")},
	{"BitwiseLeftShift", under(binary((*node).BitwiseLeftShift), "broadcast", "special")},
	{"BitwiseRightShift", under(binary((*node).BitwiseRightShift), "broadcast", "special")},
}}

func compared(name string, f func(x, y *node) *node) operation {
	return operation{name, under(binary(f), "broadcast", "special", "ints", "empty")}
}

func known(name string, f func(x *node) *node) operation {
	return operation{name, under(unary(f), "odd", "special", "ints", "empty")}
}
