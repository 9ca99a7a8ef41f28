//go:build linux

package main

import "slices"

// domains are the numbers that functions are timed on, where they are not those from -1 to 1.
var domains = map[string][2]float64{
	"Sqrt": {0.1, 3}, "Log": {0.1, 3}, "Acosh": {1.1, 3}, "Log2": {0.1, 3}, "Log10": {0.1, 3}, "Log1p": {-0.5, 3}, "Rsqrt": {0.1, 3},
	"Reciprocal": {0.1, 3}, "RDivScalar": {0.1, 3}, "Atanh": {-0.9, 0.9}, "ErfInv": {-0.9, 0.9}, "Acos": {-0.9, 0.9}, "Asin": {-0.9, 0.9},
	"Div": {0.5, 2}, "Fmod": {0.5, 2}, "Remainder": {0.5, 2}, "FloorDivide": {0.5, 2}, "PowTensor": {0.5, 2}, "Sin": {-6, 6}, "Cos": {-6, 6},
	"Tan": {-6, 6}, "GELU": {-4, 4}, "GELUTanh": {-4, 4}, "SiLU": {-4, 4}, "Softplus": {-4, 4}, "Mish": {-4, 4}, "LogSigmoid": {-4, 4},
}

// unaries are functions of one operand.
var unaries = []struct {
	op    string
	f     func(x *node) *node
	torch string
}{
	{"Neg", (*node).Neg, "torch.neg(a)"},
	{"Abs", (*node).Abs, "torch.abs(a)"},
	{"Sign", (*node).Sign, "torch.sign(a)"},
	{"Sqrt", (*node).Sqrt, "torch.sqrt(a)"},
	{"Exp", (*node).Exp, "torch.exp(a)"},
	{"Log", (*node).Log, "torch.log(a)"},
	{"Square", (*node).Square, "torch.square(a)"},
	{"ReLU", (*node).ReLU, "torch.relu(a)"},
	{"LeakyReLU", func(x *node) *node { return x.LeakyReLU(0.1) }, "F.leaky_relu(a, 0.1)"},
	{"Sine", func(x *node) *node { return x.Sine(3) }, "torch.sin(3 * a)"},
	{"Tanh", (*node).Tanh, "torch.tanh(a)"},
	{"Sigmoid", (*node).Sigmoid, "torch.sigmoid(a)"},
	{"Softplus", (*node).Softplus, "F.softplus(a)"},
	{"Pow", func(x *node) *node { return x.Pow(3) }, "torch.pow(a, 3)"},
	{"Clamp", func(x *node) *node { return x.Clamp(-0.5, 0.5) }, "torch.clamp(a, -0.5, 0.5)"},
	{"AddScalar", func(x *node) *node { return x.AddScalar(1.5) }, "a + 1.5"},
	{"SubScalar", func(x *node) *node { return x.SubScalar(1.5) }, "a - 1.5"},
	{"MulScalar", func(x *node) *node { return x.MulScalar(1.5) }, "a * 1.5"},
	{"DivScalar", func(x *node) *node { return x.DivScalar(1.5) }, "a / 1.5"},
	{"RSubScalar", func(x *node) *node { return x.RSubScalar(1.5) }, "1.5 - a"},
	{"RDivScalar", func(x *node) *node { return x.RDivScalar(1.5) }, "1.5 / a"},
	{"MaxScalar", func(x *node) *node { return x.MaxScalar(0.25) }, "torch.clamp(a, min=0.25)"},
	{"MinScalar", func(x *node) *node { return x.MinScalar(0.25) }, "torch.clamp(a, max=0.25)"},
	{"Sin", (*node).Sin, "torch.sin(a)"},
	{"Cos", (*node).Cos, "torch.cos(a)"},
	{"Tan", (*node).Tan, "torch.tan(a)"},
	{"Asin", (*node).Asin, "torch.asin(a)"},
	{"Acos", (*node).Acos, "torch.acos(a)"},
	{"Atan", (*node).Atan, "torch.atan(a)"},
	{"Sinh", (*node).Sinh, "torch.sinh(a)"},
	{"Cosh", (*node).Cosh, "torch.cosh(a)"},
	{"Asinh", (*node).Asinh, "torch.asinh(a)"},
	{"Acosh", (*node).Acosh, "torch.acosh(a)"},
	{"Atanh", (*node).Atanh, "torch.atanh(a)"},
	{"Exp2", (*node).Exp2, "torch.exp2(a)"},
	{"Expm1", (*node).Expm1, "torch.expm1(a)"},
	{"Log2", (*node).Log2, "torch.log2(a)"},
	{"Log10", (*node).Log10, "torch.log10(a)"},
	{"Log1p", (*node).Log1p, "torch.log1p(a)"},
	{"Rsqrt", (*node).Rsqrt, "torch.rsqrt(a)"},
	{"Reciprocal", (*node).Reciprocal, "torch.reciprocal(a)"},
	{"Erf", (*node).Erf, "torch.erf(a)"},
	{"Erfc", (*node).Erfc, "torch.erfc(a)"},
	{"ErfInv", (*node).ErfInv, "torch.erfinv(a)"},
	{"Floor", (*node).Floor, "torch.floor(a)"},
	{"Ceil", (*node).Ceil, "torch.ceil(a)"},
	{"Trunc", (*node).Trunc, "torch.trunc(a)"},
	{"Round", (*node).Round, "torch.round(a)"},
	{"Frac", (*node).Frac, "torch.frac(a)"},
	{"NanToNum", func(x *node) *node { return x.NanToNum(0.5, 7, -8) }, "torch.nan_to_num(a, 0.5, 7, -8)"},
	{"GELU", (*node).GELU, "F.gelu(a)"},
	{"GELUTanh", (*node).GELUTanh, "F.gelu(a, approximate='tanh')"},
	{"SiLU", (*node).SiLU, "F.silu(a)"},
	{"ELU", func(x *node) *node { return x.ELU(0.7) }, "F.elu(a, 0.7)"},
	{"SELU", (*node).SELU, "F.selu(a)"},
	{"CELU", func(x *node) *node { return x.CELU(0.5) }, "F.celu(a, 0.5)"},
	{"Softsign", (*node).Softsign, "F.softsign(a)"},
	{"Mish", (*node).Mish, "F.mish(a)"},
	{"Hardswish", (*node).Hardswish, "F.hardswish(a)"},
	{"Hardsigmoid", (*node).Hardsigmoid, "F.hardsigmoid(a)"},
	{"Hardtanh", func(x *node) *node { return x.Hardtanh(-0.5, 0.5) }, "F.hardtanh(a, -0.5, 0.5)"},
	{"ReLU6", (*node).ReLU6, "F.relu6(a)"},
	{"LogSigmoid", (*node).LogSigmoid, "F.logsigmoid(a)"},
	{"SoftplusBeta", func(x *node) *node { return x.SoftplusBeta(1.5, 3) }, "F.softplus(a, 1.5, 3)"},
	{"Hardshrink", func(x *node) *node { return x.Hardshrink(0.5) }, "F.hardshrink(a)"},
	{"Softshrink", func(x *node) *node { return x.Softshrink(0.5) }, "F.softshrink(a)"},
	{"Lgamma", (*node).Lgamma, "torch.lgamma(a)"},
	{"Digamma", (*node).Digamma, "torch.digamma(a)"},
	{"Logit", (*node).Logit, "torch.logit(a)"},
}

// binaries are functions of two operands.
var binaries = []struct {
	op    string
	f     func(x, y *node) *node
	torch string
}{
	{"Add", (*node).Add, "a + b"},
	{"Sub", (*node).Sub, "a - b"},
	{"Mul", (*node).Mul, "a * b"},
	{"Div", (*node).Div, "a / b"},
	{"Maximum", (*node).Maximum, "torch.maximum(a, b)"},
	{"Minimum", (*node).Minimum, "torch.minimum(a, b)"},
	{"Atan2", (*node).Atan2, "torch.atan2(a, b)"},
	{"Hypot", (*node).Hypot, "torch.hypot(a, b)"},
	{"PowTensor", (*node).PowTensor, "torch.pow(a, b)"},
	{"Copysign", (*node).Copysign, "torch.copysign(a, b)"},
	{"Fmod", (*node).Fmod, "torch.fmod(a, b.detach())"},
	{"Remainder", (*node).Remainder, "torch.remainder(a, b.detach())"},
	{"LogAddExp", (*node).LogAddExp, "torch.logaddexp(a, b)"},
	{"Xlogy", (*node).Xlogy, "torch.xlogy(a, b)"},
	{"PReLU", (*node).PReLU, "torch.where(a > 0, a, b * a)"},
	{"Lerp", func(x, y *node) *node { return x.Lerp(y, 0.7) }, "torch.lerp(a, b, 0.7)"},
}

// conditions are functions that have no gradient, of reals.
var conditions = []struct {
	op    string
	f     func(x, y *node) *node
	torch string
}{
	{"Heaviside", (*node).Heaviside, "torch.heaviside(a, b)"},
	{"FloorDivide", (*node).FloorDivide, "torch.floor_divide(a, b)"},
	{"TruncDivide", (*node).TruncDivide, "torch.div(a, b, rounding_mode='trunc')"},
	{"Eq", (*node).Eq, "torch.eq(a, b)"},
	{"Ne", (*node).Ne, "torch.ne(a, b)"},
	{"Lt", (*node).Lt, "torch.lt(a, b)"},
	{"Le", (*node).Le, "torch.le(a, b)"},
	{"Gt", (*node).Gt, "torch.gt(a, b)"},
	{"Ge", (*node).Ge, "torch.ge(a, b)"},
	{"EqScalar", func(x, _ *node) *node { return x.EqScalar(0.5) }, "a == 0.5"},
	{"NeScalar", func(x, _ *node) *node { return x.NeScalar(0.5) }, "a != 0.5"},
	{"LtScalar", func(x, _ *node) *node { return x.LtScalar(0.5) }, "a < 0.5"},
	{"LeScalar", func(x, _ *node) *node { return x.LeScalar(0.5) }, "a <= 0.5"},
	{"GtScalar", func(x, _ *node) *node { return x.GtScalar(0.5) }, "a > 0.5"},
	{"GeScalar", func(x, _ *node) *node { return x.GeScalar(0.5) }, "a >= 0.5"},
	{"IsNaN", func(x, _ *node) *node { return x.IsNaN() }, "torch.isnan(a)"},
	{"IsInf", func(x, _ *node) *node { return x.IsInf() }, "torch.isinf(a)"},
	{"IsFinite", func(x, _ *node) *node { return x.IsFinite() }, "torch.isfinite(a)"},
	{"IsClose", func(x, y *node) *node { return x.IsClose(y, 0.25, 0.5) }, "torch.isclose(a, b, 0.25, 0.5)"},
	{"IsCloseOrNaN", func(x, y *node) *node { return x.IsCloseOrNaN(y, 0.25, 0.5) }, "torch.isclose(a, b, 0.25, 0.5, True)"},
	{"LogicalNot", func(x, _ *node) *node { return x.LogicalNot() }, "torch.logical_not(a)"},
	{"LogicalAnd", (*node).LogicalAnd, "torch.logical_and(a, b)"},
	{"LogicalOr", (*node).LogicalOr, "torch.logical_or(a, b)"},
	{"LogicalXor", (*node).LogicalXor, "torch.logical_xor(a, b)"},
}

// bits are functions of integers.
var bits = []struct {
	op    string
	f     func(x, y *node) *node
	torch string
}{
	{"BitwiseNot", func(x, _ *node) *node { return x.BitwiseNot() }, "torch.bitwise_not(a)"},
	{"BitwiseAnd", (*node).BitwiseAnd, "a & b"},
	{"BitwiseOr", (*node).BitwiseOr, "a | b"},
	{"BitwiseXor", (*node).BitwiseXor, "a ^ b"},
	{"BitwiseLeftShift", (*node).BitwiseLeftShift, "a << b"},
	{"BitwiseRightShift", (*node).BitwiseRightShift, "a >> b"},
}

// elements are functions element by element.
func elements() (rows []row) {
	domain := func(op string) (low, high float64) {
		if d, ok := domains[op]; ok {
			return d[0], d[1]
		}
		return -1, 1
	}
	for _, u := range unaries {
		low, high := domain(u.op)
		operands := one(func(n int) operand { return between(low, high, square(n)...) })
		rows = append(rows, row{u.op, "", operands, unary(u.f), u.torch})
	}
	for _, b := range binaries {
		low, high := domain(b.op)
		operands := func(n int) []operand {
			x := between(low, high, square(n)...)
			y := x
			y.Grad = b.op != "Fmod" && b.op != "Remainder" // PyTorch 1.13 has no gradient by the divisor
			return []operand{x, y}
		}
		rows = append(rows, row{b.op, "", operands, binary(b.f), b.torch})
	}
	for _, c := range conditions {
		low, high := domain(c.op)
		operands := func(n int) []operand {
			x := operand{"real", low, high, square(n), false}
			return []operand{x, x}
		}
		rows = append(rows, row{c.op, "", operands, binary(c.f), c.torch})
	}
	for _, b := range bits {
		rows = append(rows, row{b.op, "", ints, binary(b.f), b.torch})
	}
	matrices := func(k int, last operand) func(n int) []operand {
		return func(n int) []operand {
			in := slices.Repeat([]operand{param(square(n)...)}, k)
			last := last
			last.Shape = square(n)
			return append(in, last)
		}
	}
	return append(rows,
		row{"Add", "row", func(n int) []operand { return []operand{param(square(n)...), param(square(n)[1])} }, binary((*node).Add), "a + b"},
		row{"Add", "column", func(n int) []operand { return []operand{param(square(n)...), param(square(n)[0], 1)} }, binary((*node).Add), "a + b"},
		row{"LerpTensor", "", matrices(2, param()), func(in []*node) *node { return in[0].LerpTensor(in[1], in[2]) }, "torch.lerp(a, b, c)"},
		row{"ClampTensor", "", matrices(2, param()), func(in []*node) *node { return in[0].ClampTensor(in[1], in[2]) }, "torch.clamp(a, b, c)"},
		row{"Where", "", func(n int) []operand { return []operand{param(square(n)...), mask(square(n)...), param(square(n)...)} },
			func(in []*node) *node { return in[0].Where(in[1], in[2]) }, "torch.where(b, a, c)"},
		row{"MaskedFill", "", matrices(1, mask()), binary(func(x, m *node) *node { return x.MaskedFill(m, 1.5) }), "a.masked_fill(b, 1.5)"},
		row{"MaskedSelect", "", matrices(1, mask()), binary((*node).MaskedSelect), "a.masked_select(b)"},
	)
}
