"""Functions of one and of two tensors, element by element."""
from cases import INF, NAN, NUMBERS, case, normal, torch, uniform

UNARY = {
    "Neg": torch.neg, "Abs": torch.abs, "Sign": torch.sign, "Sqrt": torch.sqrt, "Exp": torch.exp, "Log": torch.log,
    "Square": torch.square, "ReLU": torch.relu, "Tanh": torch.tanh, "Sigmoid": torch.sigmoid,
    "LeakyReLU": lambda x: torch.nn.functional.leaky_relu(x, 0.1), "Sine": lambda x: torch.sin(3 * x),
    "Softplus": lambda x: torch.nn.functional.softplus(x, threshold=1e9), "Pow": lambda x: x ** 3,
    "Clamp": lambda x: torch.clamp(x, -0.75, 1.25), "AddScalar": lambda x: x + 1.5, "SubScalar": lambda x: x - 1.5,
    "MulScalar": lambda x: x * 1.5, "DivScalar": lambda x: x / 1.5, "RSubScalar": lambda x: 1.5 - x, "RDivScalar": lambda x: 1.5 / x,
    "MaxScalar": lambda x: torch.clamp(x, min=0.75), "MinScalar": lambda x: torch.clamp(x, max=0.75),
}
for name, f in UNARY.items():
    case(name, "odd", f, uniform(0.1, 2, 3, 1, 7) if name in ("Sqrt", "Log") else normal(3, 1, 7))
    # Arguments of 1e30 have no sine that two libraries agree on.
    case(name, "special", f, [v for v in NUMBERS if name != "Sine" or abs(v) != 1e30])
    # NumPy's sign of NaN is NaN, PyTorch's 0. Gradients at NaN are clgrad's own.
    case(name, "nan", (lambda x: x + 0) if name == "Sign" else f, [NAN, 1], grad=False)
    case(name, "empty", f, normal(2, 0, 3))
    case(name, "scalar", f, uniform(0.5, 1))

BINARY = {"Add": torch.add, "Sub": torch.sub, "Mul": torch.mul, "Div": torch.div, "Maximum": torch.maximum, "Minimum": torch.minimum}
for name, f in BINARY.items():
    case(name, "broadcast", f, normal(3, 1, 5), normal(4, 1))
    case(name, "scalar", f, normal(2, 3), uniform(0.5, 1))
    case(name, "empty", f, normal(2, 0, 3), normal(3))
    special = [v for v in NUMBERS if abs(v) != 1e30]
    case(name, "special", f, [[v] for v in special], [special])
    case(name, "nan", f, [[NAN], [1]], [NAN, INF, 2], grad=False)
