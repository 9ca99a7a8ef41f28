package catalog

// functions are those of one and of two tensors, element by element.
var functions = family{"functions", []operation{
	ofOne("Neg", (*node).Neg),
	ofOne("Abs", (*node).Abs),
	ofOne("Sign", (*node).Sign),
	ofOne("Sqrt", (*node).Sqrt),
	ofOne("Exp", (*node).Exp),
	ofOne("Log", (*node).Log),
	ofOne("Square", (*node).Square),
	ofOne("ReLU", (*node).ReLU),
	ofOne("LeakyReLU", func(x *node) *node { return x.LeakyReLU(0.1) }),
	ofOne("Sine", func(x *node) *node { return x.Sine(3) }),
	ofOne("Tanh", (*node).Tanh),
	ofOne("Sigmoid", (*node).Sigmoid),
	ofOne("Softplus", (*node).Softplus),
	ofOne("Pow", func(x *node) *node { return x.Pow(3) }),
	ofOne("Clamp", func(x *node) *node { return x.Clamp(-0.75, 1.25) }),
	ofOne("AddScalar", func(x *node) *node { return x.AddScalar(1.5) }),
	ofOne("SubScalar", func(x *node) *node { return x.SubScalar(1.5) }),
	ofOne("MulScalar", func(x *node) *node { return x.MulScalar(1.5) }),
	ofOne("DivScalar", func(x *node) *node { return x.DivScalar(1.5) }),
	ofOne("RSubScalar", func(x *node) *node { return x.RSubScalar(1.5) }),
	ofOne("RDivScalar", func(x *node) *node { return x.RDivScalar(1.5) }),
	ofOne("MaxScalar", func(x *node) *node { return x.MaxScalar(0.75) }),
	ofOne("MinScalar", func(x *node) *node { return x.MinScalar(0.75) }),
	ofTwo("Add", (*node).Add),
	ofTwo("Sub", (*node).Sub),
	ofTwo("Mul", (*node).Mul),
	ofTwo("Div", (*node).Div),
	ofTwo("Maximum", (*node).Maximum),
	ofTwo("Minimum", (*node).Minimum),
}}

func ofOne(name string, f func(x *node) *node) operation {
	return operation{name, under(unary(f), "odd", "special", "nan", "empty", "scalar")}
}

func ofTwo(name string, f func(x, y *node) *node) operation {
	return operation{name, under(binary(f), "broadcast", "scalar", "empty", "special", "nan")}
}
