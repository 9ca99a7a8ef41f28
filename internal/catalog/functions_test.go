package catalog

// functions are those of one and of two tensors, element by element.
var functions = family{"functions", "Functions, element by element", []operation{
	ofOne("Neg", "torch.neg", (*node).Neg),
	ofOne("Abs", "torch.abs", (*node).Abs),
	ofOne("Sign", "torch.sign", (*node).Sign),
	ofOne("Sqrt", "torch.sqrt", (*node).Sqrt),
	ofOne("Exp", "torch.exp", (*node).Exp),
	ofOne("Log", "torch.log", (*node).Log),
	ofOne("Square", "torch.square", (*node).Square),
	ofOne("ReLU", "torch.relu", (*node).ReLU),
	ofOne("LeakyReLU", "torch.nn.functional.leaky_relu", func(x *node) *node { return x.LeakyReLU(0.1) }),
	ofOne("Sine", "", func(x *node) *node { return x.Sine(3) }),
	ofOne("Tanh", "torch.tanh", (*node).Tanh),
	ofOne("Sigmoid", "torch.sigmoid", (*node).Sigmoid),
	ofOne("Softplus", "torch.nn.functional.softplus", (*node).Softplus),
	ofOne("Pow", "torch.pow", func(x *node) *node { return x.Pow(3) }),
	ofOne("Clamp", "torch.clamp", func(x *node) *node { return x.Clamp(-0.75, 1.25) }),
	ofOne("AddScalar", "torch.add", func(x *node) *node { return x.AddScalar(1.5) }),
	ofOne("SubScalar", "torch.sub", func(x *node) *node { return x.SubScalar(1.5) }),
	ofOne("MulScalar", "torch.mul", func(x *node) *node { return x.MulScalar(1.5) }),
	ofOne("DivScalar", "torch.div", func(x *node) *node { return x.DivScalar(1.5) }),
	ofOne("RSubScalar", "torch.rsub", func(x *node) *node { return x.RSubScalar(1.5) }),
	ofOne("RDivScalar", "torch.reciprocal, times a number", func(x *node) *node { return x.RDivScalar(1.5) }),
	ofOne("MaxScalar", "torch.clamp(min)", func(x *node) *node { return x.MaxScalar(0.75) }),
	ofOne("MinScalar", "torch.clamp(max)", func(x *node) *node { return x.MinScalar(0.75) }),
	ofTwo("Add", "torch.add", (*node).Add),
	ofTwo("Sub", "torch.sub", (*node).Sub),
	ofTwo("Mul", "torch.mul", (*node).Mul),
	ofTwo("Div", "torch.div", (*node).Div),
	ofTwo("Maximum", "torch.maximum", (*node).Maximum),
	ofTwo("Minimum", "torch.minimum", (*node).Minimum),
}}

func ofOne(name, torch string, f func(x *node) *node) operation {
	return operation{name, torch, under(unary(f), "odd", "special", "nan", "empty", "scalar")}
}

func ofTwo(name, torch string, f func(x, y *node) *node) operation {
	return operation{name, torch, under(binary(f), "broadcast", "scalar", "empty", "special", "nan")}
}
